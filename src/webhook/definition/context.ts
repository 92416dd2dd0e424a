/** The context that webhook handlers receive. */
import type { DeepReadonly } from '../../api/json.ts'
import type { UserInfo } from '../../api/user-info.ts'
import type { CacheReader } from '../../cache/cache.ts'
import type { Client } from '../../client/client.ts'
import type { ResourceAccess } from '../../client/is-allowed.ts'
import type { Logger } from '../../telemetry/logger.ts'

export type { UserInfo }

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The resource of an admission request. */
export interface GroupVersionResource {
  /** The API group; empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural name, without a subresource. */
  readonly resource: string
}

/**
 * The options that the requester sent: `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions` of `meta/v1`. They are empty for
 * CONNECT.
 */
export interface OperationOptions {
  readonly apiVersion?: string
  readonly kind?: string
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
  /** Present only in server-side apply requests. */
  readonly force?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/**
 * The context of the handlers `default` and `validate`. These handlers do not read the cluster, so the command `proreus validate` can call
 * them without a cluster.
 */
export interface ReviewContext<T = unknown> {
  readonly operation: Operation
  readonly dryRun: boolean
  readonly user: UserInfo
  /** The namespace of the object; empty for a cluster-scoped object. */
  readonly namespace: string
  /** The name of the object; empty if the API server has not yet generated it. */
  readonly name: string
  /** The resource, in the version for which the webhook is registered. */
  readonly resource: GroupVersionResource
  /** The subresource of the request, such as `status`, `scale` or `exec`; empty when the request has none. */
  readonly subResource: string
  readonly options: OperationOptions
  /** The stored object; defined for UPDATE and DELETE. */
  readonly oldObject: DeepReadonly<T> | undefined
  /**
   * Aborts when the response is no longer needed: the deadline has passed, the API server has closed the connection, or the process is
   * stopping.
   */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Adds a warning to the response; kubectl prints it. A warning should have fewer than 120 characters. */
  warn(text: string): void
  /**
   * Adds an annotation to the audit event of this request, even if the request is denied. The API server prefixes the key with the name of
   * the webhook: `validate-memcached-v1.cache.example.com/KEY`. If handlers set different values for a key, the first value is kept, as in
   * kube-apiserver. The other values are logged.
   *
   * @throws {ProreusError} `PRO_INPUT` for an invalid key, which the API server would drop. A valid key has at most 63 letters, digits,
   *   `-`, `_` and `.`, and begins and ends with a letter or digit.
   */
  audit(key: string, value: string): void
}

/** The permission to check, as in `ResourceAccess`. The default of `namespace` is the namespace of the request. */
export type AccessAttributes = ResourceAccess

/** The context of handlers that may read the cluster: `validateInCluster` and `validateDelete`. */
export interface AdmissionContext<T = unknown> extends ReviewContext<T> {
  /**
   * A client for the API server. Its requests are aborted when `signal` aborts. If a handler writes with this client, the webhook must
   * declare `sideEffects: 'NoneOnDryRun'`, and the handler must write nothing when `dryRun` is true.
   */
  readonly client: Client
  /**
   * Reads from the informers of this process, without a request to the API server. The objects are frozen, and may be older than those in
   * the API server. Only the types in the webhook's `reads` can be read. The informers of these types have synced before the handler is
   * called.
   *
   * A read throws `PRO_INPUT` in these cases:
   *
   * - The type is not in `reads`. The read throws even if a controller in this process watches the type. Otherwise, the webhook would fail
   *   only in processes without this controller.
   * - The type is namespaced, and the key has no namespace.
   * - The process is limited to certain namespaces, and the read is for another namespace or for all namespaces.
   */
  readonly cache: CacheReader
  /**
   * Resolves to true if the requester has the permission. The API server has already checked the permission for the request itself. The
   * result of the SubjectAccessReview is cached for a few seconds. The webhook needs `accessReviewRule` in its `rbac`.
   *
   * ```ts
   * const allowed = await context.requesterCan({ verb: 'create', type: core.pod })
   * return allowed ? [] : [forbidden('spec.template', `user "${context.user.username}" cannot create pods`)]
   * ```
   *
   * @throws {ProreusError} `PRO_API` or `PRO_PERMISSION` when the SubjectAccessReview fails. A missing permission is not an error.
   */
  requesterCan(attributes: AccessAttributes): Promise<boolean>
}
