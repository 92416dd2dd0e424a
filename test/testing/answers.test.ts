import t from 'tap'
import { Answers, type ProxiedRequest } from '../../src/testing/faults/answers.ts'

const request = (path: string): ProxiedRequest => ({ method: 'GET', path, query: new URLSearchParams(), userAgent: '' })

t.test('an answer is a Status like that of the API server', (t) => {
  const answers = new Answers()
  const cases = [
    [429, 'TooManyRequests', 'Too many requests, please try again later.'],
    [500, 'InternalError', 'Internal error occurred: the fault proxy answers'],
    [503, 'ServiceUnavailable', 'the server is currently unable to handle the request'],
  ] as const
  for (const [code, reason, message] of cases) {
    answers.add(code, { count: 1 })
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message }
    t.strictSame(answers.take(request('/')), { status: { ...status, details: {} } })
    answers.add(code, { count: 1, message: 'mine', retryAfterSeconds: 3 })
    t.strictSame(answers.take(request('/')), {
      status: { ...status, message: 'mine', details: { retryAfterSeconds: 3 } },
      retryAfterSeconds: 3,
    })
    t.equal(answers.take(request('/')), undefined)
  }
  t.end()
})

t.test('the first matching answer is used, as often as configured', (t) => {
  const answers = new Answers()
  const code = (path = '/'): number | undefined => answers.take(request(path))?.status.code
  const first = answers.add(429, { count: 2, match: ({ path }) => path === '/a' })
  const second = answers.add(503, {})
  const never = answers.add(500, { count: 0 })
  t.strictSame([code('/a'), code('/b'), code('/a'), code('/a')], [429, 503, 429, 503])
  t.strictSame([first.answered, second.answered, never.answered], [2, 2, 0])
  first.end()
  second.end()
  second.end()
  t.equal(code('/a'), undefined)
  answers.add(500, {})
  answers.heal()
  t.equal(code('/a'), undefined)
  t.end()
})
