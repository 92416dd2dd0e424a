/** Reads the Retry-After of a response, and decides whether the failed request is retried. */
import type { ApiRequest } from './api-request.ts'

/** Maximum number of retries of one request. */
export const maxRepeats = 5
/**
 * The longest Retry-After, in seconds, after which a request is retried. If the Retry-After is longer, the request fails at once, so the
 * caller is not blocked. The error contains the Retry-After as `retryAfterSeconds`.
 *
 * The cache shortens a longer Retry-After to this limit. Otherwise, one response could stop the updates of the cache for hours.
 */
export const maxRetryAfterSeconds = 30

/** The largest value of an `int32`, the type of `retryAfterSeconds` in a `Status`. */
const maxInt32 = 2 ** 31 - 1

/** Maximum jitter, as a fraction of the pause. */
const jitter = 0.2

/**
 * Returns the pause before a retry in milliseconds: the Retry-After plus random jitter. `random` is a number in [0, 1). An overloaded API
 * server sends the same Retry-After to many clients at the same time. Because of the jitter, the clients retry at different times.
 */
export function pauseMs(retryAfterSeconds: number, random: number): number {
  return retryAfterSeconds * 1000 * (1 + jitter * random)
}

/**
 * Returns the Retry-After header in seconds. Returns undefined when the header is missing or contains a date. The API server never sends a
 * date.
 */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  return secondsOf(headers['retry-after'])
}

/**
 * Returns the seconds of a Retry-After header, or of `details.retryAfterSeconds` of a `Status`. Returns undefined for a negative
 * number, for a number above the maximum of an `int32`, and for any value that is not an integer.
 */
export function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= maxInt32 ? seconds : undefined
}

/**
 * Returns true when a failed request may be retried. The response must have a Retry-After of at most 30 s. After 429, any request may be
 * retried, because the server has not processed it. After 503, only an idempotent request may be retried. POST requests and JSON patches
 * are not idempotent.
 */
export function isRepeatable(request: ApiRequest, statusCode: number, retryAfter: number | undefined): boolean {
  if (retryAfter === undefined || retryAfter > maxRetryAfterSeconds) return false
  if (statusCode === 429) return true
  return statusCode === 503 && request.method !== 'POST' && request.contentType !== 'application/json-patch+json'
}
