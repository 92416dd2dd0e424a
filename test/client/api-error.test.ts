import t from 'tap'
import type { Status } from '../../src/api/status.ts'
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

t.test('a 409 without a reason is a Conflict, or AlreadyExists for a create', async (t) => {
  const bare = (method: string): errors.ApiError => {
    const request = { method, path: '/x' }
    return new errors.ApiError(errors.statusOf(409, 'no', request), request)
  }
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
    t.strictSame([bare(method).reason, errors.isConflict(bare(method))], ['Conflict', true])
  t.strictSame([bare('POST').reason, errors.isAlreadyExists(bare('POST'))], ['AlreadyExists', true])
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 409 } as const
  t.equal(new errors.ApiError(status, { method: 'POST', path: '/x' }).reason, 'AlreadyExists', 'also in a Status without a reason')
  t.equal(new errors.ApiError(status, { method: 'PUT', path: '/x' }).reason, 'Conflict')
})

t.test('isTooLargeResourceVersion looks at the causes', async (t) => {
  const status = failure(504, 'Timeout', 'Too large resource version: 9, current: 5', { causes: [{ reason: 'ResourceVersionTooLarge' }] })
  t.ok(errors.isTooLargeResourceVersion(new errors.ApiError(status)))
  t.notOk(errors.isTooLargeResourceVersion(new errors.ApiError(failure(504, 'Timeout', 'x'))))
})

t.test('a web page is shortened', async (t) => {
  const status = errors.statusOf(502, `<html>\n\n${'x'.repeat(5000)}`, { method: 'GET', path: '/x' })
  t.ok((status.message ?? '').length < 1100)
  t.notMatch(status.message, /\n/)
})

t.test('a status code without a body has the reason of client-go', async (t) => {
  const reasons: readonly (readonly [number, string])[] = [
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [405, 'MethodNotAllowed'],
    [406, 'NotAcceptable'],
    [409, 'Conflict'],
    [410, 'Gone'],
    [413, 'RequestEntityTooLarge'],
    [415, 'UnsupportedMediaType'],
    [422, 'Invalid'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [504, 'Timeout'],
    [418, 'Unknown'],
  ]
  for (const [code, reason] of reasons) {
    const status = errors.statusOf(code, 'oh', { method: 'PUT', path: '/x' })
    t.strictSame(status, failure(code, reason, `the API server answered PUT /x with ${code}: oh`))
    t.equal(new errors.ApiError({ ...status, reason: '' }, { method: 'PUT', path: '/x' }).reason, reason)
  }
  t.equal(new errors.ApiError(failure(409, '', 'x')).reason, 'Conflict', 'without a request')
})

t.test('an error has the fields of its Status and its request', async (t) => {
  const causes = [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.size' }]
  const status = failure(422, 'Invalid', 'no size', { causes, retryAfterSeconds: 3 })
  const error = new errors.ApiError(status, { method: 'POST', path: '/x', note: 'give one' })
  t.strictSame(
    { ...error, name: error.name, message: error.message },
    {
      name: 'ApiError',
      code: 'PRO_API',
      message: 'no size (give one)',
      status,
      statusCode: 422,
      reason: 'Invalid',
      causes,
      retryAfterSeconds: 3,
      request: { method: 'POST', path: '/x' },
    },
  )
})

t.test('an empty Status is an InternalError, without a request or a retry time', async (t) => {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const
  const error = new errors.ApiError(status)
  t.strictSame(
    { statusCode: error.statusCode, reason: error.reason, causes: error.causes, status: error.status },
    { statusCode: 500, reason: 'InternalError', causes: [], status },
  )
  t.equal(error.retryAfterSeconds, undefined)
  t.equal(error.request, undefined)
})

t.test('fields of a Status that have the wrong type count as absent', async (t) => {
  const request = { method: 'GET', path: '/x' }
  const odd = { kind: 'Status', message: { toString: 5 }, reason: 7, code: 'x', details: { causes: [null, 'a', { reason: 'r' }] } }
  const error = new errors.ApiError(errors.statusOf(504, JSON.stringify(odd), request), request)
  t.match(error, { statusCode: 504, reason: 'Timeout', message: 'the API server answered GET /x with 504' })
  t.strictSame(error.causes, [{ reason: 'r' }])
  for (const details of [null, 'x', { causes: {} }, { causes: null }]) {
    const { causes } = new errors.ApiError(errors.statusOf(504, JSON.stringify({ ...odd, details }), request), request)
    t.strictSame(causes, [])
  }
  const event = new errors.ApiError({ ...odd, details: null } as unknown as Status)
  t.match(event, { statusCode: 500, reason: 'InternalError', message: 'the API server answered with 500' })
})

t.test('an error without a message describes the request and the status code', async (t) => {
  const status = { ...failure(418, 'Odd', ''), message: '' }
  t.equal(new errors.ApiError(status).message, 'the API server answered with 418')
  t.equal(new errors.ApiError(status, { method: 'GET', path: '/x' }).message, 'the API server answered GET /x with 418')
  t.equal(new errors.ApiError(status, { method: 'GET', path: '/x', note: 'n' }).message, 'the API server answered GET /x with 418 (n)')
})

t.test('a body that is a Status is used as it is, with the HTTP code if it has none', async (t) => {
  const request = { method: 'GET', path: '/x' }
  const status = failure(404, 'NotFound', 'gone', { name: 'x' })
  t.strictSame(errors.statusOf(500, JSON.stringify(status), request), status)
  const { code: _, ...rest } = status
  t.strictSame(errors.statusOf(500, JSON.stringify(rest), request), { ...rest, code: 500 })
  for (const text of ['{"kind":"Pod"}', 'null', '[]', '"Status"'])
    t.strictSame(errors.statusOf(500, text, request), failure(500, 'InternalError', `the API server answered GET /x with 500: ${text}`))
  t.equal(errors.statusOf(500, ' \n', request).message, 'the API server answered GET /x with 500')
})

t.test('Retry-After is in the details, unless the Status has retryAfterSeconds', async (t) => {
  const request = { method: 'GET', path: '/x' }
  const text = (status: object): string => JSON.stringify(status)
  t.strictSame(errors.statusOf(429, text(failure(429, 'TooManyRequests', 'busy', { name: 'x' })), request, 5).details, {
    name: 'x',
    retryAfterSeconds: 5,
  })
  t.strictSame(errors.statusOf(429, text(failure(429, 'TooManyRequests', 'busy', { retryAfterSeconds: 1 })), request, 5).details, {
    retryAfterSeconds: 1,
  })
  t.strictSame(errors.statusOf(429, 'busy', request, 0).details, { retryAfterSeconds: 0 })
  const odd = JSON.stringify({ kind: 'Status', details: { retryAfterSeconds: 'x' } })
  t.equal(new errors.ApiError(errors.statusOf(429, odd, request, 5)).retryAfterSeconds, 5)
  t.equal(new errors.ApiError(errors.statusOf(429, odd, request)).retryAfterSeconds, undefined)
  t.notOk('details' in errors.statusOf(429, 'busy', request))
})

t.test('other errors match no predicate', async (t) => {
  const lookalike = Object.assign(new Error('x'), { reason: 'NotFound', causes: [] })
  t.notOk(errors.isNotFound(lookalike))
  t.notOk(errors.isApiError(lookalike))
  t.notOk(errors.isNotFound(undefined))
})

t.test('isTooLargeResourceVersion requires the cause and the reason', async (t) => {
  const causes = [{ reason: 'Other' }, { reason: 'ResourceVersionTooLarge' }]
  t.ok(errors.isTooLargeResourceVersion(new errors.ApiError(failure(504, 'Timeout', 'x', { causes }))))
  t.notOk(errors.isTooLargeResourceVersion(new errors.ApiError(failure(504, 'InternalError', 'x', { causes }))))
})

t.test('a long text is cut at 1000 characters', async (t) => {
  const start = 'the API server answered GET /x with 502: '
  const message = (length: number): string | undefined => errors.statusOf(502, 'x'.repeat(length), { method: 'GET', path: '/x' }).message
  t.equal(message(1000), start + 'x'.repeat(1000))
  t.equal(message(1001), start + 'x'.repeat(1000))
})
