/** Which refusals let a request be sent again, and when. */
import type { ApiRequest } from './transport.ts'

/** How often one request is sent again. */
export const maxRepeats = 5
/** A server that asks for a longer pause is not worth blocking a caller for: the error carries `retryAfterSeconds`. */
const maxRetryAfterSeconds = 30

/** Seconds; the API server sends no dates. */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const value = headers['retry-after']
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}

/** 429 means that the request was not looked at, so any may be sent again; after a 503 that is known of idempotent ones alone. */
export function isRepeatable(request: ApiRequest, statusCode: number, retryAfter: number | undefined): boolean {
  if (retryAfter === undefined || retryAfter > maxRetryAfterSeconds) return false
  if (statusCode === 429) return true
  return statusCode === 503 && request.method !== 'POST' && request.contentType !== 'application/json-patch+json'
}
