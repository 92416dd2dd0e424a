/** `Cache`: reads objects of the watched types from memory. It has one informer for each type, and for each view of a type. */
import type { Clock } from '../runtime/clock.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { CacheIndex } from './cache-index.ts'
import { Informer } from './informer.ts'
import type { InformerLease } from './informers.ts'
import { Informers } from './informers.ts'
import type { Origin } from './origin.ts'
import type { OwnWrites, SentWrite, StoredStates } from './read-your-writes.ts'
import type { StoreListOptions } from './store.ts'
import { namespacesOf, nameOfView } from './view.ts'

export interface CacheOptions {
  readonly logger: Logger
  readonly clock?: Clock
  /** Returns a number in [0, 1), for the timeouts of watches and the jitter of retries; `Math.random` when absent. */
  readonly random?: () => number
  /** The namespaces to watch; all namespaces when absent or empty. Objects of cluster-scoped types are always watched. */
  readonly namespaces?: readonly string[]
}

export interface InformerStatus {
  /** The type as `plural.group`. */
  readonly type: string
  readonly version: string
  /** Describes the view. Absent if the informer has all objects of the type. */
  readonly view?: string
  readonly synced: boolean
  /** The number of objects in the cache. */
  readonly objects: number
  readonly lastError?: string
}

/** Selects objects by namespace, by labels, and by a key of a `CacheIndex`. */
export type CacheListOptions<R extends ResourceType = ResourceType> = StoreListOptions<ObjectOf<R>>

/** Reads frozen objects from memory, without a request to the API server. */
export interface CacheReader {
  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[]
}

export class Cache implements CacheReader, OwnWrites {
  readonly #options: CacheOptions
  readonly #informers: Informers

  constructor(client: Pick<Client, 'list' | 'watch'>, options: CacheOptions) {
    this.#options = options
    this.#informers = new Informers((type) => new Informer<KubernetesObject>({ ...options, client, type }))
  }

  /**
   * Returns the informer of a type or view. The first call creates the informer, and starts it if `start` has been called. The informer
   * runs until the signal of `start` aborts.
   */
  informer<R extends ResourceType>(type: R): Informer<ObjectOf<R>> {
    return this.#informers.keep(type) as unknown as Informer<ObjectOf<R>>
  }

  /**
   * Watches a type or view until the lease is released. Use this method for types that are known only at run time.
   *
   * All leases of a type or view share the informer that the method `informer` returns. The release of the last lease stops this informer,
   * unless `informer` was called for the type or view. While the informer is stopped, reads of the type or view throw. The next `acquire`
   * lists the objects again.
   */
  acquire<R extends ResourceType>(type: R): InformerLease<R> {
    return this.#informers.acquire(type)
  }

  /** Adds an index, and watches its type if the cache does not watch it yet. */
  addIndex(index: CacheIndex): void {
    this.informer(index.type).addIndex(index)
  }

  /** The namespaces to which the cache is limited; empty when the cache is not limited. */
  get namespaces(): readonly string[] {
    return this.#options.namespaces ?? []
  }

  /**
   * Returns the object with this key; undefined when the cache does not contain it. Before the cache has synced, an existing object may be
   * missing. For a cluster-scoped type, the namespace is ignored, as in `Client`.
   *
   * @throws {ProreusError} `PRO_INPUT` when the type or the namespace is not watched, or when the type is namespaced and the key has no
   *   namespace. The cache then cannot know whether the object exists.
   */
  get<R extends ResourceType>(type: R, { namespace, name }: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    const { store } = this.#watched(type)
    if (!type.namespaced) return store.get({ name })
    if (namespace === undefined || namespace === '') {
      const text = `${groupResourceOf(type)} have a namespace: name it in the key to read ${quote(name)} from the cache.`
      throw new ProreusError('PRO_INPUT', text)
    }
    this.#checkNamespace(type, namespace)
    return store.get({ namespace, name })
  }

  /**
   * Returns the objects of a type that match the options. Without `namespace`, the objects of all watched namespaces are returned.
   *
   * @throws {ProreusError} `PRO_INPUT` when the type or the namespace is not watched, the index was not declared, or the label selector is
   * invalid; `PRO_CONFIG_INVALID` for an invalid or unknown option.
   */
  list<R extends ResourceType>(type: R, options: CacheListOptions<NoInfer<R>> = {}): readonly DeepReadonly<ObjectOf<R>>[] {
    const { store } = this.#watched(type)
    if (options.namespace === undefined || options.namespace === '') return store.list(options)
    if (!type.namespaced) return store.list({ ...options, namespace: undefined })
    this.#checkNamespace(type, options.namespace)
    return store.list(options)
  }

  stored(type: ResourceType, { namespace, name }: ObjectKey): StoredStates {
    const key = type.namespaced ? { namespace, name } : { name }
    const states = new Map<ResourceType, DeepReadonly<KubernetesObject>>()
    for (const { type: view, store } of this.#ofType(type)) {
      const object = store.get(key)
      if (object !== undefined) states.set(view, object)
    }
    return states
  }

  written<R extends ResourceType>(type: R, object: ObjectOf<R>, origin?: Origin, sent?: SentWrite): boolean {
    let isOwn = true
    for (const informer of this.#ofType(type)) isOwn = informer.written(object as KubernetesObject, origin, sent) && isOwn
    return isOwn
  }

  deleted(type: ResourceType, key: ObjectKey, uid: string, before: StoredStates = new Map()): void {
    const uids = [...new Set([...before.values()].map(({ metadata }) => metadata.uid))]
    for (const informer of this.#ofType(type)) informer.deleted(type.namespaced ? key : { name: key.name }, uid, uids)
  }

  /** Starts all informers. Resolves when the signal has aborted and all informers have stopped. */
  start(signal: AbortSignal): Promise<void> {
    return this.#informers.start(signal)
  }

  /**
   * Resolves when all informers that exist at the time of the call have synced. Rejects with the signal's reason when the signal aborts
   * first.
   */
  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.#informers.whenSynced(signal)
  }

  /** Returns the status of each informer, even if the cache has not been started. */
  status(): InformerStatus[] {
    return [...this.#informers].map(({ type, store, synced, lastError }) => ({
      type: groupResourceOf(type),
      version: type.version,
      ...(nameOfView(type) === '' ? {} : { view: nameOfView(type) }),
      synced,
      objects: store.size,
      ...(lastError === undefined ? {} : { lastError }),
    }))
  }

  #checkNamespace(type: ResourceType, namespace: string): void {
    const namespaces = namespacesOf(type, this.namespaces)
    if (namespaces.length === 0 || namespaces.includes(namespace)) return
    const text = `${groupResourceOf(type)} of the namespace ${quote(namespace)} are not in the cache, which is limited to ${namespaces.map(quote).join(', ')}: read them with the client.`
    throw new ProreusError('PRO_INPUT', text)
  }

  #watched<R extends ResourceType>(type: R): Informer<ObjectOf<R>> {
    const informer = this.#informers.find(type)
    if (informer === undefined) {
      const views = [...this.#ofType(type)].map((other) => nameOfView(other.type)).filter((view) => view !== '')
      throw new ProreusError('PRO_INPUT', `${groupResourceOf(type)} is not watched: ${adviceFor(views)}`)
    }
    return informer as unknown as Informer<ObjectOf<R>>
  }

  *#ofType(type: ResourceType): Generator<Informer> {
    for (const informer of this.#informers) if (isSameType(informer.type, type)) yield informer
  }
}

function adviceFor(views: readonly string[]): string {
  if (views.length === 0) return "name it in the controller's `owns` or `watches`, or read it with the client."
  const found = views.map(quote).join(', ')
  return `the cache has only the ${views.length === 1 ? 'view' : 'views'} ${found} of it. Pass the view to the cache, or read with the client.`
}
