/** The settings of a controller, which are passed to `defineController`. */
import type { Clock } from '../runtime/clock.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KeyOf, KubernetesObject } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import type { MapFunction } from './enqueue.ts'
import type { Predicate } from './predicates.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { ReconcileContext, Result } from './reconciler.ts'
import type { Source } from './source.ts'

/** A type of dependents. An event of a dependent enqueues the dependent's controlling owner, if all `predicates` accept the event. */
export interface OwnedType<R extends ResourceType = ResourceType> {
  readonly type: R
  /**
   * True: an event of a dependent enqueues each object of the primary type that `metadata.ownerReferences` names. Default false: the event
   * enqueues only the controlling owner.
   */
  readonly everyOwner?: boolean
  readonly predicates?: readonly Predicate<ObjectOf<R>>[]
}

/** A watched type. When an event of one of its objects arrives, `map` returns the keys of the primary objects to enqueue. */
export interface WatchedType<R extends ResourceType = ResourceType> extends Omit<OwnedType<R>, 'everyOwner'> {
  /** Returns the keys of the primary objects to enqueue when an object of this type changes. `map` may read the cache. */
  readonly map: MapFunction<ObjectOf<R>>
}

/** The finalizer of a controller, and the function that cleans up before an object is removed. */
export interface FinalizerSettings<T extends KubernetesObject> {
  /**
   * The name in `metadata.finalizers`: a domain, a slash and a name, e.g. `example.com/cleanup`. No other controller may use this name. A
   * domain alone, e.g. `cleanup.example.com`, is also accepted, because existing objects may have such a finalizer. The API server returns
   * a warning for such a name.
   */
  readonly name: string
  /**
   * Cleans up after an object that is being deleted, e.g. deletes a database outside the cluster. `finalize` must be idempotent: it may be
   * called several times for one object, and for an object whose reconcile never finished.
   *
   * - When `finalize` resolves without a result, the finalizer is removed. The API server removes the object when it has no finalizers
   *   left.
   * - When `finalize` resolves with `requeueAfterMs` or `requeue`, the finalizer stays, and `finalize` is called again later.
   * - When `finalize` throws, it is called again with back-off.
   */
  finalize(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
}

export interface ControllerSettings<T extends KubernetesObject, Watched extends readonly ResourceType[] = readonly ResourceType[]> {
  /** The name of the controller in metrics and logs. It must be unique in the process. Default: the kind in lower case. */
  readonly name?: string
  /**
   * Reconciles an object. The object is read from the cache. `reconcile` is called when the object, a dependent or a watched object may
   * have changed. `reconcile` must be idempotent.
   */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
  /**
   * Called instead of `reconcile` when the object is gone: its deletion event was received, or the API server responded with 404. `deleted`
   * may be called several times for one object, and for an object that was never reconciled.
   */
  deleted?(key: KeyOf<T>, context: ReconcileContext): Promise<Result>
  /**
   * Delays the removal of deleted objects until `finalize` has cleaned up. The finalizer is added before the first `reconcile` of an
   * object. With a finalizer, `reconcile` is not called for an object that is being deleted. The RBAC rule for patching the objects is
   * added automatically.
   */
  readonly finalizer?: FinalizerSettings<T>
  /** The types of dependents: objects whose controller reference points to an object of the primary type. */
  readonly owns?: readonly (ResourceType | OwnedType)[]
  readonly watches?: { readonly [Index in keyof Watched]: WatchedType<Watched[Index]> }
  /** External sources of events, e.g. `source.interval(60_000, keys)`. They run while the controller works. Default: none. */
  readonly sources?: readonly Source[]
  /**
   * The mean time between two resyncs in milliseconds. The actual time is up to 10 % shorter or longer. A resync enqueues all objects of
   * the primary type that the predicates accept. The objects are enqueued with the low priority -100. Objects that exist when the
   * controller starts have the same priority. Default: 10 hours. If the value is 0, there is no resync.
   */
  readonly resyncPeriodMs?: number
  /**
   * The indexes that the reconciler and the map functions pass to `cache.list`. The type of an index must be the primary type, or a type in
   * `owns` or `watches`.
   */
  readonly indexes?: readonly CacheIndex[]
  /** An event of the primary type enqueues its object only if all predicates accept the event. Default: all events. */
  readonly predicates?: readonly Predicate<T>[]
  /**
   * Filters the events of the primary type and of the types in `owns` and `watches`. A rejected event enqueues nothing, and is not passed
   * to the `predicates` of its type. Default: all events.
   */
  readonly eventFilter?: Predicate
  /** Maximum number of objects that are reconciled at the same time. Default 1. */
  readonly workers?: number
  /**
   * Minimum time in milliseconds between the starts of two reconciles of one object. All events, retries and requeues that are due during
   * this time cause a single reconcile, at the end of this time. A minimum is useful for objects that change often, and for expensive
   * reconciles. Default 0: no minimum.
   */
  readonly minIntervalMs?: number
  /**
   * Default false: only the leader reconciles, and the other replicas stand by. True: every replica reconciles, so two replicas can
   * reconcile one object at the same time. Set true only for work that each replica does for itself.
   */
  readonly everyReplica?: boolean
  /**
   * Creates the rate limiter that delays keys after failed reconciles and after `requeue`. The function is called once in each process.
   * Default: `exponentialBackoff()`, which delays by 5 ms × 2^failures, at most 1000 s.
   */
  readonly rateLimiter?: (context: { readonly clock: Clock }) => RateLimiter
  /**
   * The RBAC rules that the reconciler needs. The rules for reading and watching the primary type and the types in `owns` and `watches` are
   * added automatically.
   */
  readonly rbac?: readonly PolicyRule[]
  /**
   * The time limit of a reconcile in milliseconds. When a reconcile has run for this time, the `signal` in the context of the reconcile
   * aborts. Default: no limit.
   */
  readonly reconciliationTimeoutMs?: number
}
