/** The error that all code below the HTTP layer throws: a `Status` with kube-apiserver's message. */
import type { FieldError } from '../../api/field-error.ts'
import { invalidStatus, quote } from '../../api/field-error.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { Status, StatusCause, StatusDetails } from '../../api/status.ts'
import { failure } from '../../api/status.ts'

/** The names of a type in error messages; every `ResourceInfo` is one. */
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

/** Returns the details that most errors have: name, group and plural. */
function detailsOf(info: ErrorSubject, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(info.group === '' ? {} : { group: info.group }), kind: info.plural }
}

export function notFound(info: ErrorSubject, name: string): StatusError {
  return new StatusError(failure(404, 'NotFound', `${groupResourceOf(info)} "${name}" not found`, detailsOf(info, name)))
}

/** Returns the 404 for an unknown resource in a known group version. */
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

/** Returns the 409 for a server-side apply that conflicts with other managers. */
export function applyConflict(message: string, causes: StatusCause[]): StatusError {
  return new StatusError(failure(409, 'Conflict', message, { causes }))
}

export function badRequest(text: string): StatusError {
  return new StatusError(failure(400, 'BadRequest', text))
}

/** Returns a 422 with one cause for each field error. */
export function invalidObject(info: Pick<ErrorSubject, 'group' | 'kind'>, name: string, errors: readonly FieldError[]): StatusError {
  return new StatusError(invalidStatus(info, name, errors))
}

/** Returns a 422 without causes, e.g. for a JSON patch whose test fails. */
export function unprocessable(message = 'the server rejected our request due to an error in our request'): StatusError {
  return new StatusError(failure(422, 'Invalid', message, {}))
}

export function forbidden(info: ErrorSubject, name: string, detail: string, causes?: StatusCause[]): StatusError {
  const subject = name === '' ? groupResourceOf(info) : `${groupResourceOf(info)} "${name}"`
  const details = { ...detailsOf(info, name), ...(causes && { causes }) }
  return new StatusError(failure(403, 'Forbidden', `${subject} is forbidden: ${detail}`, details))
}

/**
 * Returns the 410 for a resourceVersion or continue token older than the history. With `continueToken`, the client can continue the list at
 * a newer revision (an inconsistent list).
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

/** Returns a 500 without a reason, kube-apiserver's response to a Go error that is not a `Status`. */
export function bareError(text: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: text, code: 500 })
}

/** Returns the 500 for a resourceVersion parameter that is not a number. */
export function invalidResourceVersion(text: string): StatusError {
  return bareError(`resourceVersion: Invalid value: ${quote(text)}: ${notANumber('ParseUint', text)}`)
}

/** Returns Go's message for a string that is not a number. */
export function notANumber(parser: 'ParseInt' | 'ParseUint', text: string): string {
  return `strconv.${parser}: parsing ${quote(text)}: invalid syntax`
}

/** Returns the 504 for a resourceVersion that the store has not reached. */
export function tooLargeResourceVersion(requested: number, current: number): StatusError {
  return new StatusError(
    failure(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
  )
}
