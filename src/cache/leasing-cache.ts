/** `LeasingCache`: the cache of a controller or runnable, which can also watch types that are known only at run time. */
import { ProreusError } from '../api/errors.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheListOptions, CacheReader } from './cache.ts'
import type { EventHandler } from './informer.ts'
import type { ObjectEvent } from './object-event.ts'
import { describeType, isSameView } from './view.ts'

/** Keeps a type or view in the cache until it is released. */
export interface CacheLease<R extends ResourceType = ResourceType> {
  /** True when the cache has the objects of the type. False before the first list is complete, and after the release. */
  readonly synced: boolean
  /**
   * Resolves when the cache has the objects of the type. While the CRD or a permission is missing, it waits, so
   * it needs a signal. Rejects with the signal's reason, and with `PRO_ABORTED` when the lease is released first.
   */
  whenSynced(signal?: AbortSignal): Promise<void>
  /**
   * Calls `listener` for each object in the cache, and then for each change, also for changes that this process makes. It is called
   * synchronously after the cache has changed; an error that it throws is logged and otherwise ignored. The returned function removes it, as
   * `release` does.
   */
  onChange(listener: (event: ObjectEvent<ObjectOf<R>>) => void): () => void
  /** Releases the lease; later calls have no effect. With the last lease of the process, the watch ends, and the objects leave the memory. */
  release(): void
}

/** The cache of a controller or runnable. It reads the declared types, and those for which it holds a lease. */
export interface OperatorCache extends CacheReader {
  /**
   * Watches a type or view until the returned lease is released. It is for types that are known only at run time, e.g. because an object
   * names them; declare others in `owns`, `watches` or `reads`. All holders of a type share one watch, and a lease of a declared type starts none.
   *
   * No RBAC rules are generated for the type: the verbs `list` and `watch` must be in `rbac` of the operator or controller.
   *
   * A read of the type throws `PRO_INPUT` until the lease has synced. `cache.list` has no indexes for it. Leases of a runnable are released
   * when its `run` ends, and those of a controller when the process stops.
   *
   * @example
   * const lease = cache.acquire(resourceType({ group, version, kind, plural }))
   * await lease.whenSynced(signal)
   * const object = cache.get(type, key)
   * lease.release()
   */
  acquire<R extends ResourceType>(type: R): CacheLease<R>
}

/** The informer of a type, held by one lease. */
interface InformerLease<R extends ResourceType> {
  readonly informer: {
    readonly synced: boolean
    addHandler(handler: EventHandler<ObjectOf<R>>): () => void
  }
  whenSynced(signal?: AbortSignal): Promise<void>
  release(): void
}

/** The cache of the process, as far as a `LeasingCache` uses it. */
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
  /** The leased types and views, each once. */
  readonly #leased = new Set<Leased>()

  /** @param declared reads the declared types, and throws for others. */
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
        return remove
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

  /** Releases all leases that are still held. */
  releaseAll(): void {
    for (const { leases } of this.#leased) for (const lease of leases) lease.release()
  }

  /** Returns the cache that has a type: that of the process for a leased type, otherwise that of the declared types. */
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
