/** `webhook(kind, handlers)`: what an operator has to say about objects of its kind before they are stored. */
import type { FieldError } from '../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import type { Infer, Kind } from '../api/kind.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { Status } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** Who asked for the change, as the API server authenticated them. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
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
  /** `status`, `scale`, …; empty for the object itself. */
  readonly subResource: string
  /** The object before an update or a delete. */
  readonly oldObject: DeepReadonly<T> | undefined
  /** Aborts when nobody waits for the answer any more: deadline passed, API server gone, process ending. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Shown to the user by kubectl; keep it below 120 characters. */
  warn(text: string): void
}

/** A review that may ask the cluster. */
export interface AdmissionContext<T = unknown> extends ReviewContext<T> {
  /** Goes to the API server. Its requests are aborted with `signal`. */
  readonly client: Client
}

type Awaitable<T> = T | Promise<T>

/** Empty means allowed. A failure `Status` refuses with exactly that, e.g. `failure(403, 'Forbidden', …)`. */
export type Verdict = readonly FieldError[] | Status

/** Handlers and settings; `T` is the object as stored, with the schema's defaults. Objects are frozen: return a changed copy. */
export interface WebhookHandlers<T> {
  /**
   * Fills in what depends on more than the schema's defaults, which are there already; gives the changed copy, or the same object.
   * Fields that the schema requires may still be missing, so that they can be filled in here. Not called when a value has the wrong type.
   */
  default?(object: DeepReadonly<T>, context: ReviewContext<T>): Awaitable<DeepReadonly<T>>
  /**
   * What must hold beyond the schema, and can be said without the cluster. `old` is there on an update.
   * Also asked about an object that the schema refuses, so that the user gets all errors at once; what it throws then is ignored.
   */
  validate?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: ReviewContext<T>): Awaitable<readonly FieldError[]>
  /**
   * What only the cluster can tell. Asked about the final object, in the validating webhook;
   * and about one that `validate` already refuses, so that the user gets all errors at once.
   */
  admit?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: AdmissionContext<T>): Awaitable<Verdict>
  /** Whether the object may be deleted; without it every delete is allowed. */
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext<T>): Awaitable<Verdict>
}

export interface WebhookSettings {
  /** Default: `CREATE` and `UPDATE`, and `DELETE` when there is a `validateDelete`. */
  readonly operations?: readonly Operation[]
  /** How long the API server waits for an answer, 1 to 30. Default 10. */
  readonly timeoutSeconds?: number
  /** What the API server does when it gets no answer. Default `Fail`. */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /**
   * Default true: the mutating webhook refuses an invalid object at once, with the schema's errors and the kind's own.
   * The API server runs the schema before validating webhooks; those alone could never show both kinds of errors in the same way.
   */
  readonly refuseInvalidEarly?: boolean
  /** What the handlers need to be allowed to do. */
  readonly rbac?: readonly PolicyRule[]
}

/** A webhook as the server and the manifests see it: settings complete, types erased. */
export interface WebhookDefinition {
  readonly kind: Kind
  readonly operations: readonly Operation[]
  readonly timeoutSeconds: number
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly refuseInvalidEarly: boolean
  readonly rbac: readonly PolicyRule[]
  /**
   * The handlers for one served version. They are written for the stored version; with `matchPolicy: Equivalent` the API server
   * also sends them every other version's objects, converted. The paths of other versions apply their schema alone.
   */
  handlersOf(version: string): WebhookHandlers<JsonObject>
}

const noHandlers: WebhookHandlers<JsonObject> = Object.freeze({})

/**
 * Defines the admission webhooks of a kind: schema defaults and validation come with it, `handlers` add the kind's own.
 *
 * @example
 * webhook(memcached, {
 *   default: (object) => (object.spec.image === '' ? { ...object, spec: { ...object.spec, image: 'memcached:1.6' } } : object),
 *   validate: (object, old) => (old && object.spec.size < old.spec.size ? [forbidden('spec.size', 'may not shrink')] : []),
 * })
 */
export function webhook<K extends Kind>(kind: K, handlers: WebhookHandlers<Infer<K>> & WebhookSettings = {}): WebhookDefinition {
  const erased = handlers as unknown as WebhookHandlers<JsonObject>
  const operations: readonly Operation[] = handlers.validateDelete === undefined ? ['CREATE', 'UPDATE'] : ['CREATE', 'UPDATE', 'DELETE']
  return Object.freeze({
    kind,
    operations: handlers.operations ?? operations,
    timeoutSeconds: handlers.timeoutSeconds ?? 10,
    failurePolicy: handlers.failurePolicy ?? 'Fail',
    refuseInvalidEarly: handlers.refuseInvalidEarly ?? true,
    rbac: handlers.rbac ?? [],
    handlersOf: (version: string) => (version === kind.version ? erased : noHandlers),
  })
}
