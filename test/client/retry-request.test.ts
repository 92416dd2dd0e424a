import t from 'tap'
import { isRepeatable, retryAfterOf, secondsOf } from '../../src/client/retry-request.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'

const request = (method: string, contentType?: string): ApiRequest => ({ method, path: '/', contentType }) as ApiRequest

t.test('a request that was not processed is retried, unless Retry-After is above 30 s', async (t) => {
  for (const [method, code, retryAfter, expected] of [
    ['POST', 429, 0, true],
    ['POST', 429, 30, true],
    ['POST', 429, 31, false],
    ['GET', 429, undefined, false],
    ['GET', 503, 1, true],
    ...['HEAD', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, 503, 30, true] as const),
    ['PUT', 503, 31, false],
    ['DELETE', 503, undefined, false],
    ['POST', 503, 1, false],
    ['GET', 500, 1, false],
  ] as const) {
    t.equal(isRepeatable(request(method), code, retryAfter), expected, `${method} ${code} ${retryAfter}`)
  }
})

t.test('a JSON patch is not retried after a 503, since it may have been applied', async (t) => {
  t.equal(isRepeatable(request('PATCH', 'application/json-patch+json'), 503, 1), false)
  t.equal(isRepeatable(request('PATCH', 'application/json-patch+json'), 429, 1), true)
  t.equal(isRepeatable(request('PATCH', 'application/merge-patch+json'), 503, 1), true)
})

t.test('Retry-After counts in whole seconds', async (t) => {
  t.equal(retryAfterOf({ 'retry-after': '7' }), 7)
  for (const value of [undefined, '', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT', ['1', '2']])
    t.equal(retryAfterOf({ 'retry-after': value }), undefined)
})

t.test('a Retry-After is a non-negative 32-bit integer, or it is ignored', async (t) => {
  for (const seconds of [0, 1, 2 ** 31 - 1]) t.strictSame([secondsOf(seconds), secondsOf(String(seconds))], [seconds, seconds])
  for (const value of [-1, 1.5, 2 ** 31, 1e300, Infinity, NaN, 10n, '9'.repeat(400), 'x', ' 7', null, true, [7], { valueOf: 7 }])
    t.equal(secondsOf(value), undefined, String(value))
})
