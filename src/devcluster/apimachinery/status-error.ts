/** `StatusError`: an error that contains the `Status` of the response. The messages are those of kube-apiserver. */
import type { FieldError } from '../../api/field-error.ts'
import { invalidStatus, quote } from '../../api/field-error.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { Status, StatusCause, StatusDetails } from '../../api/status.ts'
import { failure } from '../../api/status.ts'

/** The group, kind and plural of a type, for error messages. Every `ResourceInfo` has these fields. */
export interface ErrorSubject {
  readonly group: string
  readonly kind: string
  readonly plural: string
}

export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: Status

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'unknown error')
    this.status = status
  }
}

/** Returns the `details` that most errors have: the name of the object, and the group and plural of its type. */
function detailsOf(info: ErrorSubject, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(info.group === '' ? {} : { group: info.group }), kind: info.plural }
}

export function notFound(info: ErrorSubject, name: string): StatusError {
  return new StatusError(failure(404, 'NotFound', `${groupResourceOf(info)} "${name}" not found`, detailsOf(info, name)))
}

/** Returns the 404 error for an unknown resource or subresource of an existing API group. */
export function unknownResource(): StatusError {
  return new StatusError(failure(404, 'NotFound', 'the server could not find the requested resource', {}))
}

export function alreadyExists(info: ErrorSubject, name: string, isBeingDeleted = false): StatusError {
  const text = `${isBeingDeleted ? 'object is being deleted: ' : ''}${groupResourceOf(info)} "${name}" already exists`
  return new StatusError(failure(409, 'AlreadyExists', text, detailsOf(info, name)))
}

/** The message for a stale resourceVersion (k8s.io/apiserver/pkg/registry/generic/registry: OptimisticLockErrorMsg). */
const objectModified = 'the object has been modified; please apply your changes to the latest version and try again'

export function conflict(info: ErrorSubject, name: string, detail: string = objectModified): StatusError {
  const message = `Operation cannot be fulfilled on ${groupResourceOf(info)} "${name}": ${detail}`
  return new StatusError(failure(409, 'Conflict', message, detailsOf(info, name)))
}

/** Returns the 409 error for a server-side apply request that conflicts with other field managers. */
export function applyConflict(message: string, causes: StatusCause[]): StatusError {
  return new StatusError(failure(409, 'Conflict', message, { causes }))
}

export function badRequest(text: string): StatusError {
  return new StatusError(failure(400, 'BadRequest', text))
}

/** Returns the 422 error for an invalid object, with one cause for each field error. */
export function invalidObject(info: Pick<ErrorSubject, 'group' | 'kind'>, name: string, errors: readonly FieldError[]): StatusError {
  return new StatusError(invalidStatus(info, name, errors))
}

/** Returns a 422 error without causes, such as the error for a JSON patch whose `test` operation fails. */
export function unprocessable(message = 'the server rejected our request due to an error in our request'): StatusError {
  return new StatusError(failure(422, 'Invalid', message, {}))
}

export function forbidden(info: ErrorSubject, name: string, detail: string, causes?: StatusCause[]): StatusError {
  const subject = name === '' ? groupResourceOf(info) : `${groupResourceOf(info)} "${name}"`
  const details = { ...detailsOf(info, name), ...(causes && { causes }) }
  return new StatusError(failure(403, 'Forbidden', `${subject} is forbidden: ${detail}`, details))
}

/**
 * Returns the 410 error for a resourceVersion or continue token that is older than the stored history. `continueToken` becomes
 * `metadata.continue` of the response. With `continueToken`, the client can continue the list at the current revision, and the list is then
 * inconsistent.
 */
export function expired(message: string, continueToken?: string): StatusError {
  const status = failure(410, 'Expired', message)
  return new StatusError(continueToken === undefined ? status : { ...status, metadata: { continue: continueToken } })
}

export function methodNotAllowed(text = 'the server does not allow this method on the requested resource'): StatusError {
  return new StatusError(failure(405, 'MethodNotAllowed', text, {}))
}

export function unsupportedMediaType(text: string, details?: StatusDetails): StatusError {
  return new StatusError(failure(415, 'UnsupportedMediaType', text, details))
}

export function internalError(text: string): StatusError {
  return new StatusError(failure(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] }))
}

/** Returns a 500 error without a reason. This is kube-apiserver's response to a Go error that is not a `Status`. */
export function bareError(text: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: text, code: 500 })
}

/** Returns the 500 error for a `resourceVersion` parameter that is not a number. */
export function invalidResourceVersion(text: string): StatusError {
  return bareError(`resourceVersion: Invalid value: ${quote(text)}: ${notANumber('ParseUint', text)}`)
}

/** Returns the message of Go's `strconv` for a string that is not a number. */
export function notANumber(parser: 'ParseInt' | 'ParseUint', text: string): string {
  return `strconv.${parser}: parsing ${quote(text)}: invalid syntax`
}

/** Returns the 504 error for a requested resourceVersion that is newer than the current one. */
export function tooLargeResourceVersion(requested: number, current: number): StatusError {
  return new StatusError(
    failure(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
  )
}
