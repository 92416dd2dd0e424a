import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import type { ProxiedRequest } from '../../../src/testing/faults/answers.ts'
import { Answers } from '../../../src/testing/faults/answers.ts'

const request = (path: string): ProxiedRequest => ({ method: 'GET', path, query: new URLSearchParams(), userAgent: 'a' })

t.test('each code has the message of the API server by default', async (t) => {
  for (const [code, reason, message] of [
    [429, 'TooManyRequests', 'Too many requests, please try again later.'],
    [500, 'InternalError', 'Internal error occurred: the fault proxy answers'],
    [503, 'ServiceUnavailable', 'the server is currently unable to handle the request'],
  ] as const) {
    const answers = new Answers()
    const fault = answers.add(code, {})
    t.strictSame(answers.take(request('/')), { status: failure(code, reason, message, {}) })
    fault.end()
    answers.add(code, { message: 'other', retryAfterSeconds: 0 })
    t.strictSame(answers.take(request('/')), { status: failure(code, reason, 'other', { retryAfterSeconds: 0 }), retryAfterSeconds: 0 })
  }
})

t.test('the first matching answer is used, as often as configured', async (t) => {
  const answers = new Answers()
  const [twice, never, always] = [
    answers.add(429, { count: 2, match: ({ path }) => path === '/a' }),
    answers.add(500, { count: 0 }),
    answers.add(503, {}),
  ]
  const codes = ['/b', '/a', '/a', '/a', '/b'].map((path) => answers.take(request(path))?.status.code)
  t.strictSame(codes, [503, 429, 429, 503, 503])
  t.strictSame([twice.answered, never.answered, always.answered], [2, 0, 3])
  for (const _ of [1, 2]) always.end()
  t.equal(answers.take(request('/a')), undefined)
  t.equal(always.answered, 3)
})

t.test('a healed answer is not used', async (t) => {
  const answers = new Answers()
  for (const code of [429, 503] as const) answers.add(code, {})
  answers.heal()
  t.equal(answers.take(request('/')), undefined)
})
