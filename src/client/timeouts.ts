/** `timeoutOf`: the time limit of one attempt of a request, which may differ by verb. */
import type { ApiRequest } from './api-request.ts'

/** The verbs for which separate time limits can be set. The names are those of RBAC, so a server-side apply is a `patch`. */
export type TimedVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Time limits in milliseconds by verb. `default` applies to verbs without an entry, and to requests without a verb. */
export type VerbTimeouts = Readonly<Partial<Record<TimedVerb | 'default', number>>>

/**
 * The default in milliseconds. The API server ends a request after 60 s (--request-timeout). The default is longer, so the client receives
 * the response that explains the timeout.
 */
const defaultTimeoutMs = 65_000

/** Returns the time limit of one attempt of `request`. A limit of the request itself takes precedence over `limits`. */
export function timeoutOf(request: ApiRequest, limits: number | VerbTimeouts = defaultTimeoutMs): number {
  if (request.timeoutMs !== undefined) return request.timeoutMs
  if (typeof limits === 'number') return limits
  const verb = request.verb === 'apply' ? 'patch' : request.verb
  return limits[verb as TimedVerb] ?? limits.default ?? defaultTimeoutMs
}
