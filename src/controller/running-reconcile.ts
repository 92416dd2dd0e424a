/**
 * `RunningReconcile`: one call of a reconciler. A `RunningReconcile` is passed to the reconciler as its context, and to the cache as the
 * `Origin` of the reconciler's writes.
 */
import type { Clock } from '../runtime/clock.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { parseKey } from '../api/object.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'
import type { Origin } from '../cache/origin.ts'
import type { OwnWrites, SentWrite, StoredStates } from '../cache/read-your-writes.ts'
import { readYourWrites } from '../cache/read-your-writes.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import { newUuid } from '../runtime/random.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { LogContext } from '../telemetry/log-context.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ReconcileContext } from './reconciler.ts'

/**
 * Maximum number of events that are held back until the reconcile ends (see `RunningReconciles`). Each further event enqueues the key
 * immediately, which may cause an unnecessary reconcile.
 */
const maxHeldBack = 100

/**
 * The environment of a controller's reconciles: the cache, the client, and the other values that all reconciles of the controller share.
 */
export interface ReconcileEnvironment {
  /** The name of the controller. */
  readonly controller: string
  readonly cache: OperatorCache
  /** The cache to which each written object is reported. */
  readonly writes: OwnWrites
  readonly client: Client
  readonly clock: Clock
  readonly events: EventRecorder
  /** Returns a number in [0, 1), for `reconcileID`. */
  readonly random: () => number
  /** A logger that adds the controller's name to each log line. */
  readonly logger: Logger
}

/**
 * The logger, the ID, the signal and the client are created when they are first read. Most reconciles find nothing to do and use none of
 * these objects. Creating a child logger would double the duration of such a reconcile.
 */
export class RunningReconcile implements ReconcileContext, LogContext, Origin, OwnWrites {
  readonly cache: OperatorCache
  readonly clock: Clock
  readonly events: EventRecorder
  readonly key: string
  readonly #environment: ReconcileEnvironment
  #abort: AbortController | undefined
  #reconcileID: string | undefined
  #logger: Logger | undefined
  #client: Client | undefined
  /** The uid and resourceVersion of each state that this reconcile has written. */
  #written: Set<string> | undefined
  /** The priorities of the held-back events. Each priority is stored under the uid and resourceVersion of the event's object. */
  #heldBack: Map<string, number> | undefined

  constructor(key: string, environment: ReconcileEnvironment) {
    this.key = key
    this.cache = environment.cache
    this.clock = environment.clock
    this.events = environment.events
    this.#environment = environment
  }

  get controller(): string {
    return this.#environment.controller
  }

  get reconcileID(): string {
    return (this.#reconcileID ??= newUuid(this.#environment.random))
  }

  get logger(): Logger {
    return (this.#logger ??= this.#environment.logger.child({ ...parseKey(this.key), reconcileID: this.reconcileID }))
  }

  get signal(): AbortSignal {
    return (this.#abort ??= new AbortController()).signal
  }

  get client(): Client {
    return (this.#client ??= readYourWrites(clientWithSignal(this.#environment.client, this.signal), this))
  }

  /** The error with which the reconcile was aborted; undefined when it was not aborted. */
  get abortReason(): unknown {
    return this.#abort?.signal.reason
  }

  /** Aborts the signal. Only the first call has an effect. */
  abort(reason: Error): void {
    this.#abort ??= new AbortController()
    this.#abort.abort(reason)
  }

  written<R extends ResourceType>(type: R, object: ObjectOf<R>, _origin?: Origin, sent?: SentWrite): boolean {
    const isOwn = this.#environment.writes.written(type, object, this, sent)
    const { metadata } = object as unknown as Partial<KubernetesObject>
    if (isOwn && metadata?.uid && metadata.resourceVersion) (this.#written ??= new Set()).add(stateOf(metadata))
    return isOwn
  }

  stored(type: ResourceType, key: ObjectKey): StoredStates {
    return this.#environment.writes.stored(type, key)
  }

  deleted(type: ResourceType, key: ObjectKey, uid: string, before?: StoredStates): void {
    this.#environment.writes.deleted(type, key, uid, before)
  }

  /**
   * Holds an event back until the reconcile ends. If too many events are already held back, returns false, and the caller must enqueue the
   * key.
   */
  holdsBack({ metadata }: DeepReadonly<KubernetesObject>, priority: number): boolean {
    const heldBack = (this.#heldBack ??= new Map())
    const state = stateOf(metadata)
    if (heldBack.size >= maxHeldBack && !heldBack.has(state)) return false
    heldBack.set(state, Math.max(priority, heldBack.get(state) ?? priority))
    return true
  }

  /** Returns the highest priority of the held-back events that other clients have caused; undefined when there is no such event. */
  heldBackPriority(): number | undefined {
    if (this.#heldBack === undefined) return undefined
    const foreign = [...this.#heldBack].filter(([state]) => this.#written?.has(state) !== true)
    return foreign.length === 0 ? undefined : Math.max(...foreign.map(([, priority]) => priority))
  }
}

function stateOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }): string {
  return `${uid} ${resourceVersion}`
}
