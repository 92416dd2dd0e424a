/** `ApiError`: a failure response of the API server, and functions that check its reason. */
import { ProreusError } from '../api/errors.ts'
import { isObject } from '../api/json.ts'
import type { Status, StatusCause } from '../api/status.ts'
import { failure } from '../api/status.ts'
import { secondsOf } from './retry-request.ts'

/** The failed request, and advice about it. */
export interface ApiErrorContext {
  readonly method: string
  readonly path: string
  /** Advice for the user, which is appended to the message. */
  readonly note?: string
}

/** The error for a failure response of the API server, or for the ERROR event that ends a watch. */
export class ApiError extends ProreusError {
  override readonly name: string = 'ApiError'
  readonly status: Status
  readonly statusCode: number
  /**
   * The reason of the `Status`: `NotFound`, `Conflict`, `Invalid`, …. Check the reason rather than the message, because the message may
   * change.
   */
  readonly reason: string
  readonly causes: readonly StatusCause[]
  /**
   * The time in seconds after which the server accepts a retry: `details.retryAfterSeconds` of the `Status`, or else the `Retry-After`
   * header. The server may send any number below 2^31, so code that waits should limit the time.
   */
  readonly retryAfterSeconds?: number
  readonly request?: { readonly method: string; readonly path: string }

  constructor(status: Status, context?: ApiErrorContext) {
    // A proxy or an aggregated API server may send any JSON, so the types of the fields are checked.
    const { code, reason, message, details }: { readonly [Field in keyof Status]?: unknown } = status
    const { causes, retryAfterSeconds } = isObject(details) ? details : {}
    const statusCode = typeof code === 'number' ? code : 500
    super('PRO_API', messageFor(textOf(message), statusCode, context))
    this.status = status
    this.statusCode = statusCode
    this.reason = textOf(reason) || reasonOf(statusCode, context?.method)
    this.causes = Array.isArray(causes) ? causes.filter(isObject) : []
    const retryAfter = secondsOf(retryAfterSeconds)
    if (retryAfter !== undefined) this.retryAfterSeconds = retryAfter
    if (context !== undefined) this.request = { method: context.method, path: context.path }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function messageFor(message: string, statusCode: number, context: ApiErrorContext | undefined): string {
  const text = message || `the API server answered ${context === undefined ? '' : `${context.method} ${context.path} `}with ${statusCode}`
  return context?.note === undefined ? text : `${text} (${context.note})`
}

/**
 * Returns the reason for a response whose body contains no reason. Like client-go, the function derives the reason from the HTTP status
 * code.
 */
function reasonOf(code: number, method = 'GET'): string {
  if (code === 409) return method === 'POST' ? 'AlreadyExists' : 'Conflict'
  const reasons: Readonly<Record<number, string>> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    405: 'MethodNotAllowed',
    406: 'NotAcceptable',
    410: 'Gone',
    413: 'RequestEntityTooLarge',
    415: 'UnsupportedMediaType',
    422: 'Invalid',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  }
  return reasons[code] ?? 'Unknown'
}

/** Maximum number of characters that an error message quotes from a response body. A proxy may respond with a whole web page. */
export const longestText = 1000

/**
 * Returns the `Status` of a failure response. If the body is not a `Status`, the function creates a `Status` from the HTTP status code. The
 * message of this `Status` contains the beginning of the body, e.g. `404 page not found`.
 */
export function statusOf(code: number, text: string, request: { method: string; path: string }, retryAfterSeconds?: number): Status {
  const body = parse(text)
  const status =
    isObject(body) && body.kind === 'Status'
      ? ({ ...body, code: typeof body.code === 'number' ? body.code : code } as unknown as Status)
      : textStatus(code, text, request)
  if (retryAfterSeconds === undefined || secondsOf(status.details?.retryAfterSeconds) !== undefined) return status
  return { ...status, details: { ...status.details, retryAfterSeconds } }
}

function textStatus(code: number, text: string, request: { method: string; path: string }): Status {
  const line = text.trim().replace(/\s+/g, ' ').slice(0, longestText)
  const message = `the API server answered ${request.method} ${request.path} with ${code}${line === '' ? '' : `: ${line}`}`
  return failure(code, reasonOf(code, request.method), message)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the body is not JSON, so the message contains the body as text
  }
}

/** True when `error` is an `ApiError`. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError
}

function hasReason(error: unknown, ...reasons: readonly string[]): error is ApiError {
  return error instanceof ApiError && reasons.includes(error.reason)
}

/** Returns true if the request failed because the object does not exist, or because the API server does not serve its type. */
export function isNotFound(error: unknown): error is ApiError {
  return hasReason(error, 'NotFound')
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return hasReason(error, 'AlreadyExists')
}

/**
 * Returns true if the request failed because the object has changed since it was read. For server-side apply, returns true if the request
 * failed because another field manager owns a field.
 */
export function isConflict(error: unknown): error is ApiError {
  return hasReason(error, 'Conflict')
}

export function isInvalid(error: unknown): error is ApiError {
  return hasReason(error, 'Invalid')
}

export function isBadRequest(error: unknown): error is ApiError {
  return hasReason(error, 'BadRequest')
}

export function isForbidden(error: unknown): error is ApiError {
  return hasReason(error, 'Forbidden')
}

export function isUnauthorized(error: unknown): error is ApiError {
  return hasReason(error, 'Unauthorized')
}

/** True for status 410: the server no longer has the events after the resourceVersion, or the continue token has expired. */
export function isExpired(error: unknown): error is ApiError {
  return hasReason(error, 'Expired', 'Gone')
}

export function isTooManyRequests(error: unknown): error is ApiError {
  return hasReason(error, 'TooManyRequests')
}

export function isUnsupportedMediaType(error: unknown): error is ApiError {
  return hasReason(error, 'UnsupportedMediaType')
}

/** Returns true if the request failed because its resourceVersion is newer than the latest resourceVersion of the API server. */
export function isTooLargeResourceVersion(error: unknown): error is ApiError {
  return hasReason(error, 'Timeout') && (error as ApiError).causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
}
