import t from 'tap'
import { failure } from '../../src/api/status.ts'
import * as errors from '../../src/client/api-error.ts'

const cases: [string, number, string, (error: unknown) => boolean][] = [
  ['isNotFound', 404, 'NotFound', errors.isNotFound],
  ['isAlreadyExists', 409, 'AlreadyExists', errors.isAlreadyExists],
  ['isConflict', 409, 'Conflict', errors.isConflict],
  ['isInvalid', 422, 'Invalid', errors.isInvalid],
  ['isBadRequest', 400, 'BadRequest', errors.isBadRequest],
  ['isForbidden', 403, 'Forbidden', errors.isForbidden],
  ['isUnauthorized', 401, 'Unauthorized', errors.isUnauthorized],
  ['isExpired', 410, 'Expired', errors.isExpired],
  ['isTooManyRequests', 429, 'TooManyRequests', errors.isTooManyRequests],
  ['isUnsupportedMediaType', 415, 'UnsupportedMediaType', errors.isUnsupportedMediaType],
]
for (const [name, code, reason, predicate] of cases) {
  t.test(name, async (t) => {
    t.ok(predicate(new errors.ApiError(failure(code, reason, 'x'))))
    t.ok(errors.isApiError(new errors.ApiError(failure(code, reason, 'x'))))
    t.notOk(predicate(new errors.ApiError(failure(500, 'InternalError', 'x'))))
    t.notOk(predicate(new Error('x')))
    const [other] = cases.filter(([, , otherReason]) => otherReason !== reason)
    t.notOk(predicate(new errors.ApiError(failure(code, other![2], 'x'))), 'the reason decides, not the code')
  })
}

t.test('a 410 without a reason is expired too', async (t) => {
  t.ok(errors.isExpired(new errors.ApiError(errors.statusOf(410, 'gone', { method: 'GET', path: '/x' }))))
})

t.test('a 409 without a reason is a conflict, but for a create an object that is there already', async (t) => {
  const bare = (method: string): errors.ApiError => {
    const request = { method, path: '/x' }
    return new errors.ApiError(errors.statusOf(409, 'no', request), request)
  }
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
    t.strictSame([bare(method).reason, errors.isConflict(bare(method))], ['Conflict', true])
  t.strictSame([bare('POST').reason, errors.isAlreadyExists(bare('POST'))], ['AlreadyExists', true])
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 409 } as const
  t.equal(new errors.ApiError(status, { method: 'POST', path: '/x' }).reason, 'AlreadyExists', 'also in a Status that says no reason')
  t.equal(new errors.ApiError(status, { method: 'PUT', path: '/x' }).reason, 'Conflict')
})

t.test('isTooLargeResourceVersion looks at the causes', async (t) => {
  const status = failure(504, 'Timeout', 'Too large resource version: 9, current: 5', { causes: [{ reason: 'ResourceVersionTooLarge' }] })
  t.ok(errors.isTooLargeResourceVersion(new errors.ApiError(status)))
  t.notOk(errors.isTooLargeResourceVersion(new errors.ApiError(failure(504, 'Timeout', 'x'))))
})

t.test('a web page is not repeated in full', async (t) => {
  const status = errors.statusOf(502, `<html>\n\n${'x'.repeat(5000)}`, { method: 'GET', path: '/x' })
  t.ok((status.message ?? '').length < 1100)
  t.notMatch(status.message, /\n/)
})
