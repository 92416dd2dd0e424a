/** What handlers are told about a request, and what they may ask and say. */
import type { DeepReadonly } from '../api/json.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AccessAttributes } from './access.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** Who asked for the change, as the API server authenticated them. */
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
  /** The plural, without a subresource. */
  readonly resource: string
}

/** The `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions` of `meta/v1` that the requester sent; none with CONNECT. */
export interface OperationOptions {
  readonly apiVersion?: string
  readonly kind?: string
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
  /** Of a server-side apply. */
  readonly force?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** What is known about a request without asking the cluster; also offline, for `proreus validate`. */
export interface ReviewContext<T = unknown> {
  readonly operation: Operation
  readonly dryRun: boolean
  readonly user: UserInfo
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** Empty while the API server has still to generate it. */
  readonly name: string
  /** What the request is about, in the version that the webhook is registered for. */
  readonly resource: GroupVersionResource
  /** `status`, `scale`, `exec`, …; empty for the object itself. */
  readonly subResource: string
  readonly options: OperationOptions
  /** The object before an update or a delete. */
  readonly oldObject: DeepReadonly<T> | undefined
  /** Aborts when nobody waits for the answer any more: deadline passed, API server gone, process ending. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Shown to the user by kubectl; keep it below 120 characters. */
  warn(text: string): void
  /**
   * Adds an annotation to the API server's audit event of the request, whether it is allowed or not; there the key stands after the name
   * of the webhook: `validate-memcached-v1.cache.example.com/KEY`. What is there stays: a key that comes again with another value is logged
   * and changes nothing, as the API server does it.
   *
   * @throws {ProreusError} `PRO_INPUT` for a key that the API server would drop: one is up to 63 letters, digits, `-`, `_` and `.`,
   * with a letter or digit at both ends, and no `/`.
   */
  audit(key: string, value: string): void
}

/** A review that may ask the cluster. */
export interface AdmissionContext<T = unknown> extends ReviewContext<T> {
  /**
   * Goes to the API server. Its requests are aborted with `signal`. Handlers that write with it say `sideEffects: 'NoneOnDryRun'`,
   * and write nothing while `dryRun`.
   */
  readonly client: Client
  /**
   * What the informers of this process hold: no request, objects are frozen, and may be a moment behind the API server. Reads the types
   * that the webhook names in its `reads`; these have arrived before the handler is called.
   *
   * A read of another type throws (`PRO_INPUT`), also where a controller of this process watches it: not every process that serves the
   * webhook need have that controller. So does a read of a namespace that the process does not watch, of all namespaces when it watches
   * some, or without the namespace that objects of the type have: there "not found" would mean nothing.
   */
  readonly cache: CacheReader
  /**
   * Whether who sent the request may do something else as well: a SubjectAccessReview, whose answer is used again for some seconds.
   * Takes the rule `accessReviewRule` in `rbac`.
   *
   * ```ts
   * const allowed = await context.requesterCan({ verb: 'create', type: core.pod })
   * return allowed ? [] : [forbidden('spec.template', `user "${context.user.username}" cannot create pods`)]
   * ```
   *
   * @throws {ProreusError} `PRO_API` or `PRO_PERMISSION` when the API server does not say; never for a plain no.
   */
  requesterCan(attributes: AccessAttributes): Promise<boolean>
}
