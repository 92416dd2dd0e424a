/** The context of a webhook handler. */
import type { ResourceType } from '../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { CacheReader } from '../../cache/cache.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The authenticated requester. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A resource as the API server names it in a review. */
export interface GroupVersionResource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural name, without a subresource. */
  readonly resource: string
}

/** The `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions` of `meta/v1` that the requester sent; undefined for CONNECT. */
export interface OperationOptions {
  readonly apiVersion?: string
  readonly kind?: string
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
  /** For server-side apply only. */
  readonly force?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** The parts of the context that need no cluster; also available offline, to `proreus validate`. */
export interface ReviewContext<T = unknown> {
  readonly operation: Operation
  readonly dryRun: boolean
  readonly user: UserInfo
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** Empty until the API server has generated it. */
  readonly name: string
  /** The resource, in the version that the webhook is registered for. */
  readonly resource: GroupVersionResource
  /** `status`, `scale`, `exec`, …; empty for the object itself. */
  readonly subResource: string
  readonly options: OperationOptions
  /** The object before an update or a delete. */
  readonly oldObject: DeepReadonly<T> | undefined
  /** Aborts when the response is no longer needed: deadline passed, API server gone, process stopping. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Adds a warning, which kubectl prints; keep it below 120 characters. */
  warn(text: string): void
  /**
   * Adds an annotation to the API server's audit event of the request, whether it is allowed or denied. The API server prefixes the key
   * with the name of the webhook: `validate-memcached-v1.cache.example.com/KEY`. The first value of a key wins: as in kube-apiserver,
   * another value is logged and ignored.
   *
   * @throws {ProreusError} `PRO_INPUT` for a key that the API server would drop: a key has up to 63 letters, digits, `-`, `_` and `.`,
   * begins and ends with a letter or digit, and contains no `/`.
   */
  audit(key: string, value: string): void
}

/** The action to check; see `resourceAttributes` of a SubjectAccessReview. */
export interface AccessAttributes {
  /** `get`, `list`, `create`, `update`, `patch`, `delete`, …, or a verb of your own RBAC rules, such as `use`. */
  readonly verb: string
  /** The type to act on: a kind of yours, one like `core.secret`, or the result of `resourceType({ … })`. */
  readonly type: ResourceType
  readonly subresource?: string
  /** Default: the namespace of the request; empty: all namespaces. Ignored for cluster-scoped types. */
  readonly namespace?: string
  /** Default: any name. */
  readonly name?: string
}

/** The context of handlers that may read the cluster. */
export interface AdmissionContext<T = unknown> extends ReviewContext<T> {
  /**
   * A client for the API server, whose requests are aborted with `signal`. A webhook whose handlers write with it declares `sideEffects:
   * 'NoneOnDryRun'`, and they write nothing when `dryRun` is true.
   */
  readonly client: Client
  /**
   * Reads from the informers of this process, without a request; objects are frozen, and may be older than those of the API server. It
   * serves the types in the webhook's `reads`, which are synced before the handler is called.
   *
   * A read of any other type throws (`PRO_INPUT`), even if a controller of this process watches that type, because the webhook would break
   * in a process without that controller. A read also throws when the cache cannot know whether the object exists: for a namespaced type
   * without a namespace in the key and, in a process that is limited to some namespaces, for another namespace or all namespaces.
   */
  readonly cache: CacheReader
  /**
   * Checks whether the requester has another permission, with a SubjectAccessReview whose result is cached for some seconds. Add the rule
   * `accessReviewRule` to `rbac`.
   *
   * ```ts
   * const allowed = await context.requesterCan({ verb: 'create', type: core.pod })
   * return allowed ? [] : [forbidden('spec.template', `user "${context.user.username}" cannot create pods`)]
   * ```
   *
   * @throws {ProreusError} `PRO_API` or `PRO_PERMISSION` when the SubjectAccessReview fails; a missing permission is not an error.
   */
  requesterCan(attributes: AccessAttributes): Promise<boolean>
}
