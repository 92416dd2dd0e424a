/** Decides which failed requests are retried, and when. */
import type { ApiRequest } from './transport.ts'

/** Maximum number of retries of one request. */
export const maxRepeats = 5
/** A longer Retry-After is not worth blocking the caller: the error carries `retryAfterSeconds` instead. */
const maxRetryAfterSeconds = 30

/** Seconds; the API server sends no dates. */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const value = headers['retry-after']
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}

/** After 429, which means that the request was not processed, any request may be retried; after 503 only idempotent ones. */
export function isRepeatable(request: ApiRequest, statusCode: number, retryAfter: number | undefined): boolean {
  if (retryAfter === undefined || retryAfter > maxRetryAfterSeconds) return false
  if (statusCode === 429) return true
  return statusCode === 503 && request.method !== 'POST' && request.contentType !== 'application/json-patch+json'
}
