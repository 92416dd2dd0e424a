import t from 'tap'
import { ApiError, isExpired, isForbidden } from '../../src/client/api-error.ts'
import { Answers, type ProxiedRequest } from '../../src/testing/faults/answers.ts'

const request = (path: string): ProxiedRequest => ({ method: 'GET', path, query: new URLSearchParams(), userAgent: '' })

t.test('an answer is a Status like that of the API server', (t) => {
  const answers = new Answers()
  const cases = [
    [429, 'TooManyRequests', 'Too many requests, please try again later.'],
    [500, 'InternalError', 'Internal error occurred: the fault proxy answers'],
    [503, 'ServiceUnavailable', 'the server is currently unable to handle the request'],
    [504, 'Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
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

t.test('the predicates for API errors recognise the answers', async (t) => {
  const answers = new Answers()
  const errorOf = (code: 403 | 410): ApiError => {
    answers.add(code, { count: 1 })
    return new ApiError(answers.take(request('/'))!.status)
  }
  t.ok(isForbidden(errorOf(403)))
  t.ok(isExpired(errorOf(410)))
})

t.test('another status code and a misspelled option are refused', async (t) => {
  const answers = new Answers()
  t.throws(() => answers.add(418 as never, {}), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'The options of proxy.answer are invalid: code: must be one of 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504, found 418.',
  })
  t.throws(() => answers.add('503' as never, {}), /found "503"/)
  t.throws(() => answers.add(503, { counts: 1 } as never), /counts: unknown field; did you mean count\?/)
  t.equal(answers.take(request('/')), undefined)
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
