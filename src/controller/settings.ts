/** The settings of a controller, which `defineController` takes. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KeyOf, KubernetesObject } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import type { MapFunction } from './enqueue.ts'
import type { Predicate } from './predicates.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { ReconcileContext, Result } from './reconciler.ts'

/** A type of dependents. An event of a dependent enqueues the dependent's controlling owner, if all `predicates` accept the event. */
export interface OwnedType<R extends ResourceType = ResourceType> {
  readonly type: R
  readonly predicates?: readonly Predicate<ObjectOf<R>>[]
}

/** A watched type. When an event of one of its objects arrives, `map` returns the keys of the primary objects to enqueue. */
export interface WatchedType<R extends ResourceType = ResourceType> extends OwnedType<R> {
  /** Returns the keys of the primary objects to enqueue when this object changes. It may read the cache. */
  readonly map: MapFunction<ObjectOf<R>>
}

export interface ControllerSettings<T extends KubernetesObject, Watched extends readonly ResourceType[] = readonly ResourceType[]> {
  /** The name of the controller in metrics and logs. It must be unique in the process. Default: the kind in lower case. */
  readonly name?: string
  /** Called with an object from the cache when the object, a dependent or a watched object may have changed. It must be idempotent. */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
  /**
   * Called instead of `reconcile` when the object is gone: its deletion event was received, or the API server responded with 404. It may be
   * called several times for one object, and for an object that was never reconciled.
   */
  deleted?(key: KeyOf<T>, context: ReconcileContext): Promise<Result>
  /** The types of dependents: objects whose controller reference points to an object of the primary type. */
  readonly owns?: readonly (ResourceType | OwnedType)[]
  readonly watches?: { readonly [Index in keyof Watched]: WatchedType<Watched[Index]> }
  /**
   * The indexes that the reconciler and the map functions pass to `cache.list`. Their types must be the primary type, or types in `owns` or
   * `watches`.
   */
  readonly indexes?: readonly CacheIndex[]
  /** An event of the primary type enqueues its object only if all predicates accept the event. Default: all events. */
  readonly predicates?: readonly Predicate<T>[]
  /** Maximum number of objects that are reconciled at the same time. Default 1. */
  readonly workers?: number
  /**
   * True to reconcile on every replica. Default false: only the leader reconciles, and the other replicas stand by. Two replicas may then
   * reconcile one object at the same time, so this is for work that each replica does for itself.
   */
  readonly everyReplica?: boolean
  /**
   * Creates the rate limiter that delays keys after failed reconciles and after `requeue`. It is called once in the life of the process. Default: `exponentialBackoff()`, which delays by 5 ms × 2^failures, at most 1000 s.
   */
  readonly rateLimiter?: () => RateLimiter
  /** The RBAC rules that the reconciler needs. The rules for watching the types are added automatically. */
  readonly rbac?: readonly PolicyRule[]
  /** Time after which `signal` of a reconcile's context aborts, in milliseconds. Default: no limit. */
  readonly reconciliationTimeoutMs?: number
}
