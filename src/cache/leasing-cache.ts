/** `LeasingCache`: the cache of a controller or runnable. This cache can also watch types that are known only at run time. */
import { ProreusError } from '../api/errors.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheListOptions, CacheReader } from './cache.ts'
import type { EventHandler } from './informer.ts'
import type { ObjectEvent } from './object-event.ts'
import { describeType, isSameView } from './view.ts'

/** A lease of a type or view. The cache contains the objects of the type or view at least until the lease is released. */
export interface CacheLease<R extends ResourceType = ResourceType> {
  /** True when the cache has the objects of the type. False before the first list is complete, and after the release. */
  readonly synced: boolean
  /**
   * Resolves when the cache has the objects of the type. The promise stays pending while the CRD or a permission is missing, so pass a
   * signal. Rejects with one of these errors:
   *
   * - the signal's reason, if the signal aborts first
   * - `PRO_ABORTED`, if the lease is released first
   * - `PRO_INPUT`, if the lease was released before the call
   */
  whenSynced(signal?: AbortSignal): Promise<void>
  /**
   * Calls `listener` for each object in the cache, and then synchronously after each change of the cache, including changes that this
   * process makes. An error that `listener` throws is only logged. The returned function and `release` remove `listener`.
   *
   * @throws {ProreusError} `PRO_INPUT` when the lease has been released.
   */
  onChange(listener: (event: ObjectEvent<ObjectOf<R>>) => void): () => void
  /**
   * Releases the lease; later calls have no effect. If the process then has no other lease of the type, and no controller, runnable or
   * webhook of the process declares the type, the watch ends, and the objects are removed from memory.
   */
  release(): void
}

/**
 * The cache of a controller or runnable. The cache contains the declared types, and the types that the controller or runnable has leased.
 */
export interface OperatorCache extends CacheReader {
  /**
   * Watches a type or view until the returned lease is released. Use this method for types that are known only at run time, e.g. because an
   * object names them. Declare all other types in `owns`, `watches` or `reads`.
   *
   * - RBAC: no rules are generated for the type. The option `rbac` of the operator or controller must grant the verbs `list` and `watch`.
   * - Reads: a read of the type throws `PRO_INPUT` until a lease of the type has synced. `cache.list` cannot use an index for the type.
   * - Watches: all leases of a type share one watch. A lease of a declared type starts no watch, because the type is already watched.
   * - Release: leases of a runnable are released when its `run` ends, and leases of a controller when the process stops.
   *
   * @example
   * const lease = cache.acquire(resourceType({ group, version, kind, plural }))
   * await lease.whenSynced(signal)
   * const object = cache.get(type, key)
   * lease.release()
   */
  acquire<R extends ResourceType>(type: R): CacheLease<R>
}

/** A lease of an informer, with only the members that a `LeasingCache` uses. */
interface InformerLease<R extends ResourceType> {
  readonly informer: {
    readonly synced: boolean
    addHandler(handler: EventHandler<ObjectOf<R>>): () => void
  }
  whenSynced(signal?: AbortSignal): Promise<void>
  release(): void
}

/** A `Cache`, with only the members that a `LeasingCache` uses. The cache contains all types that the process watches. */
export interface LeaseSource extends CacheReader {
  acquire<R extends ResourceType>(type: R): InformerLease<R>
}

/** A leased type or view, and all leases of it. */
interface Leased {
  readonly type: ResourceType
  readonly leases: Set<CacheLease>
}

export class LeasingCache implements OperatorCache {
  readonly #declared: CacheReader
  readonly #source: LeaseSource
  /** The leased types and views, without duplicates. */
  readonly #leased = new Set<Leased>()

  /** @param declared reads the declared types, and throws for all other types. */
  constructor(declared: CacheReader, source: LeaseSource) {
    this.#declared = declared
    this.#source = source
  }

  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    return this.#readerOf(type).get(type, key)
  }

  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    return this.#readerOf(type).list(type, options)
  }

  acquire<R extends ResourceType>(type: R): CacheLease<R> {
    const inner = this.#source.acquire(type)
    const listeners = new Set<() => void>()
    let released = false
    const lease: CacheLease<R> = {
      get synced() {
        return !released && inner.informer.synced
      },
      whenSynced: (signal) => inner.whenSynced(signal),
      onChange: (listener) => {
        const remove = inner.informer.addHandler({
          added: (object, initial) => listener({ type: 'added', object, initial }),
          updated: (object, old) => listener({ type: 'updated', object, old }),
          deleted: (object) => listener({ type: 'deleted', object }),
        })
        listeners.add(remove)
        return () => {
          listeners.delete(remove)
          remove()
        }
      },
      release: () => {
        if (released) return
        released = true
        leased.leases.delete(lease)
        if (leased.leases.size === 0) this.#leased.delete(leased)
        for (const remove of listeners) remove()
        inner.release()
      },
    }
    const leased = this.#find(type) ?? { type, leases: new Set() }
    this.#leased.add(leased)
    leased.leases.add(lease)
    return lease
  }

  /** Releases all leases that have not been released. */
  releaseAll(): void {
    for (const { leases } of this.#leased) for (const lease of leases) lease.release()
  }

  /**
   * Returns the cache from which a type is read: `#source` for a leased type, otherwise `#declared`. Throws when a leased type has not
   * synced.
   */
  #readerOf(type: ResourceType): CacheReader {
    const leased = this.#find(type)
    if (leased === undefined) return this.#declared
    for (const { synced } of leased.leases) if (synced) return this.#source
    const text = `${describeType(type)} has not synced yet: await \`whenSynced\` of its lease before you read it.`
    throw new ProreusError('PRO_INPUT', text)
  }

  #find(type: ResourceType): Leased | undefined {
    for (const leased of this.#leased) if (isSameView(leased.type, type)) return leased
    return undefined
  }
}
