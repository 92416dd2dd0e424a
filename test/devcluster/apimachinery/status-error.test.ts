/** Tests that error responses have the same fields and messages as those of kube-apiserver. */
import t from 'tap'
import { required } from '../../../src/api/field-error.ts'
import type { Status } from '../../../src/api/status.ts'
import * as errors from '../../../src/devcluster/apimachinery/status-error.ts'

const pods = { group: '', kind: 'Pod', plural: 'pods' }
const foos = { group: 'ex.com', kind: 'Foo', plural: 'foos' }
const podDetails = { name: 'a', kind: 'pods' }
const fooDetails = { name: 'a', group: 'ex.com', kind: 'foos' }

const answers: [error: errors.StatusError, code: number, reason: string | undefined, message: string, details?: Status['details']][] = [
  [errors.notFound(pods, 'a'), 404, 'NotFound', 'pods "a" not found', podDetails],
  [errors.notFound(foos, 'a'), 404, 'NotFound', 'foos.ex.com "a" not found', fooDetails],
  [errors.notFound(foos, ''), 404, 'NotFound', 'foos.ex.com "" not found', { group: 'ex.com', kind: 'foos' }],
  [errors.unknownResource(), 404, 'NotFound', 'the server could not find the requested resource', {}],
  [errors.alreadyExists(foos, 'a'), 409, 'AlreadyExists', 'foos.ex.com "a" already exists', fooDetails],
  [errors.alreadyExists(pods, 'a', true), 409, 'AlreadyExists', 'object is being deleted: pods "a" already exists', podDetails],
  [
    errors.conflict(pods, 'a'),
    409,
    'Conflict',
    'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
    podDetails,
  ],
  [errors.conflict(foos, 'a', 'why'), 409, 'Conflict', 'Operation cannot be fulfilled on foos.ex.com "a": why', fooDetails],
  [errors.applyConflict('x', [{ field: '.a' }]), 409, 'Conflict', 'x', { causes: [{ field: '.a' }] }],
  [errors.badRequest('x'), 400, 'BadRequest', 'x'],
  [
    errors.invalidObject(foos, 'a', [required('spec.b')]),
    422,
    'Invalid',
    'Foo.ex.com "a" is invalid: spec.b: Required value',
    {
      name: 'a',
      group: 'ex.com',
      kind: 'Foo',
      causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.b' }],
    },
  ],
  [errors.unprocessable(), 422, 'Invalid', 'the server rejected our request due to an error in our request', {}],
  [errors.unprocessable('x'), 422, 'Invalid', 'x', {}],
  [errors.forbidden(foos, 'a', 'why'), 403, 'Forbidden', 'foos.ex.com "a" is forbidden: why', fooDetails],
  [
    errors.forbidden(pods, '', 'why', [{ reason: 'R' }]),
    403,
    'Forbidden',
    'pods is forbidden: why',
    { kind: 'pods', causes: [{ reason: 'R' }] },
  ],
  [errors.expired('old'), 410, 'Expired', 'old'],
  [errors.methodNotAllowed(), 405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}],
  [errors.unsupportedMediaType('x'), 415, 'UnsupportedMediaType', 'x'],
  [errors.unsupportedMediaType('x', {}), 415, 'UnsupportedMediaType', 'x', {}],
  [errors.internalError('x'), 500, 'InternalError', 'Internal error occurred: x', { causes: [{ message: 'x' }] }],
  [errors.bareError('x'), 500, undefined, 'x'],
  [
    errors.invalidResourceVersion('a"b'),
    500,
    undefined,
    'resourceVersion: Invalid value: "a\\"b": strconv.ParseUint: parsing "a\\"b": invalid syntax',
  ],
  [
    errors.tooLargeResourceVersion(9, 7),
    504,
    'Timeout',
    'Timeout: Too large resource version: 9, current: 7',
    { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
  ],
]

t.test('every error contains a complete Status', (t) => {
  for (const [error, code, reason, message, details] of answers) {
    t.strictSame(
      error.status,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message,
        ...(reason === undefined ? {} : { reason }),
        ...(details === undefined ? {} : { details }),
        code,
      },
      message,
    )
    t.equal(error.message, message)
    t.equal(error.name, 'StatusError')
  }
  t.strictSame(errors.expired('old', 'token').status.metadata, { continue: 'token' })
  t.equal(errors.notANumber('ParseInt', '1"'), 'strconv.ParseInt: parsing "1\\"": invalid syntax')
  t.equal(new errors.StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'R' }).message, 'R')
  t.equal(new errors.StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }).message, 'unknown error')
  t.end()
})
