/** A request to the API server. */
import type { ResourceType } from '../api/group-version-kind.ts'
import type { Impersonation } from './impersonation.ts'
import type { Query } from './resource-path.ts'

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query?: Query
  readonly body?: string
  /** The `Content-Type` header. Default `application/json`. */
  readonly contentType?: string
  /** The `Accept` header. Default `application/json`. */
  readonly accept?: string
  /** The Kubernetes verb, for metrics. Default: the method in lower case. */
  readonly verb?: string
  /** The `User-Agent` header. Default: the user agent of the transport. */
  readonly userAgent?: string
  /** The user to impersonate, instead of the user that the connection impersonates. */
  readonly impersonate?: Impersonation | undefined
  /** The type of the objects. If the API server does not serve this type, the error message names the type. */
  readonly type?: ResourceType
  readonly signal?: AbortSignal | undefined
  /**
   * Called for each attempt, immediately before the request is written to a connection. When the guard throws, the request is not sent, and
   * the promise of the request rejects with the thrown error. The guard must be synchronous.
   */
  readonly guard?: (() => void) | undefined
  /** Time limit of one attempt in milliseconds, instead of the limit of the transport. */
  readonly timeoutMs?: number | undefined
  /** Maximum size of a 2xx response in bytes, instead of the limit of the transport. */
  readonly maxResponseBytes?: number | undefined
}
