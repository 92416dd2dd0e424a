/** The settings of a controller. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KeyOf, KubernetesObject } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import type { MapFunction } from './enqueue.ts'
import type { Predicate } from './predicates.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { ReconcileContext, Result } from './reconciler.ts'

/** A type of dependents; `predicates` filter its events. */
export interface OwnedType<R extends ResourceType = ResourceType> {
  readonly type: R
  readonly predicates?: readonly Predicate<ObjectOf<R>>[]
}

/** A watched type, with a function that maps its objects to the primary objects to enqueue. */
export interface WatchedType<R extends ResourceType = ResourceType> extends OwnedType<R> {
  /** Returns the keys to enqueue for an object of the type; it may read the cache. */
  readonly map: MapFunction<ObjectOf<R>>
}

export interface ControllerSettings<T extends KubernetesObject, Watched extends readonly ResourceType[] = readonly ResourceType[]> {
  /** Name of the controller in metrics and logs, unique in the process. Default: the lower-case kind. */
  readonly name?: string
  /** Called with the cached object when it, a dependent or a watched object may have changed. Must be idempotent. */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
  /**
   * Called instead of `reconcile` when the object is gone: its deletion event was seen, or the API server answered 404. It may be called
   * several times for an object, and for objects that were never reconciled.
   */
  deleted?(key: KeyOf<T>, context: ReconcileContext): Promise<Result>
  /** Types of dependents, whose controller reference points to an object of the primary type. */
  readonly owns?: readonly (ResourceType | OwnedType)[]
  readonly watches?: { readonly [Index in keyof Watched]: WatchedType<Watched[Index]> }
  /** Indexes that the reconciler and the map functions pass to `cache.list`, on the primary type or on owned or watched types. */
  readonly indexes?: readonly CacheIndex[]
  /** Filters for events of the primary type. Default: all events. */
  readonly predicates?: readonly Predicate<T>[]
  /** Maximum number of objects that are reconciled at the same time. Default 1. */
  readonly workers?: number
  /**
   * Creates the back-off of failed reconciles and of `requeue`; called once for each start of the controller. Default:
   * `exponentialBackoff()`, 5 ms × 2^failures, at most 1000 s.
   */
  readonly rateLimiter?: () => RateLimiter
  /** RBAC rules that the reconciler needs. The rules for watching types are added to them. */
  readonly rbac?: readonly PolicyRule[]
  /** Time after which the signal of a reconcile aborts. Default: no limit. */
  readonly reconciliationTimeoutMs?: number
}
