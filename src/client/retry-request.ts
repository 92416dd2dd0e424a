/** Decides which failed requests are retried, and when. */
import type { ApiRequest } from './api-request.ts'

/** Maximum number of retries of one request. */
export const maxRepeats = 5
/**
 * After a response with a longer Retry-After, the request is not retried, because the caller should not be blocked for so long; the error
 * has `retryAfterSeconds`.
 */
const maxRetryAfterSeconds = 30

/** Returns the Retry-After header in seconds; undefined when it is missing or a date, which the API server does not send. */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const value = headers['retry-after']
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}

/**
 * Returns whether a failed request may be retried: with a Retry-After of at most 30 s, any request after 429, which means that the request
 * was not processed, and an idempotent one after 503.
 */
export function isRepeatable(request: ApiRequest, statusCode: number, retryAfter: number | undefined): boolean {
  if (retryAfter === undefined || retryAfter > maxRetryAfterSeconds) return false
  if (statusCode === 429) return true
  return statusCode === 503 && request.method !== 'POST' && request.contentType !== 'application/json-patch+json'
}
