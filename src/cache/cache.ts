/** `Cache`: reads objects of the watched types from memory. It has one informer for each type. */
import type { Clock } from '../runtime/clock.ts'
import { aborted } from '../runtime/waiting.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { CacheIndex } from './cache-index.ts'
import { Informer } from './informer.ts'
import type { Origin } from './origin.ts'
import type { OwnWrites } from './read-your-writes.ts'
import type { StoreListOptions } from './store.ts'

export interface CacheOptions {
  readonly logger: Logger
  readonly clock?: Clock
  /** The namespaces to watch; all namespaces when absent or empty. Objects of cluster-scoped types are always watched. */
  readonly namespaces?: readonly string[]
}

export interface InformerStatus {
  /** The type as `plural.group`. */
  readonly type: string
  readonly synced: boolean
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
  readonly #client: Pick<Client, 'list' | 'watch'>
  readonly #options: CacheOptions
  readonly #informers = new Map<string, Informer>()
  /** The informers by the object that describes their type, which is nearly always the same one. It saves the string of `idOf`. */
  readonly #known = new WeakMap<ResourceType, Informer>()
  readonly #running = new Set<Promise<void>>()
  #signal: AbortSignal | undefined

  constructor(client: Pick<Client, 'list' | 'watch'>, options: CacheOptions) {
    this.#client = client
    this.#options = options
  }

  /** Returns the informer of a type. The first call for a type creates the informer, and starts it if the cache is started. */
  informer<R extends ResourceType>(type: R): Informer<ObjectOf<R>> {
    const id = idOf(type)
    const existing = this.#informers.get(id)
    if (existing !== undefined) return existing as unknown as Informer<ObjectOf<R>>
    const informer = new Informer<KubernetesObject>({ ...this.#options, client: this.#client, type })
    this.#informers.set(id, informer)
    if (this.#signal !== undefined) this.#run(informer, this.#signal)
    return informer as unknown as Informer<ObjectOf<R>>
  }

  /** Adds an index, and watches its type if the cache does not watch it yet. */
  addIndex(index: CacheIndex): void {
    this.informer(index.type).addIndex(index)
  }

  /** The namespaces to which the cache is limited; empty for all namespaces. */
  get namespaces(): readonly string[] {
    return this.#options.namespaces ?? []
  }

  /**
   * Returns the object with this key; undefined when the cache does not contain it. Before the cache has synced, an existing object may be
   * missing. For a cluster-scoped type, the namespace is ignored, as in `Client`.
   *
   * @throws {ProreusError} `PRO_INPUT` when the cache cannot know whether the object exists: the type or the namespace is not watched, or
   * the key has no namespace and the type is namespaced.
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
   * Returns the objects of a type that match the options. Without `namespace`, it returns objects of all watched namespaces.
   *
   * @throws {ProreusError} `PRO_INPUT` when the type or the namespace is not watched, or the index was not declared.
   */
  list<R extends ResourceType>(type: R, options: CacheListOptions<NoInfer<R>> = {}): readonly DeepReadonly<ObjectOf<R>>[] {
    const { store } = this.#watched(type)
    if (options.namespace === undefined || options.namespace === '') return store.list(options)
    if (!type.namespaced) return store.list({ ...options, namespace: undefined })
    this.#checkNamespace(type, options.namespace)
    return store.list(options)
  }

  written<R extends ResourceType>(type: R, object: ObjectOf<R>, origin?: Origin): void {
    this.#informers.get(idOf(type))?.written(object as KubernetesObject, origin)
  }

  deleted(type: ResourceType, key: ObjectKey, uid: string): void {
    this.#informers.get(idOf(type))?.deleted(type.namespaced ? key : { name: key.name }, uid)
  }

  /** Starts all informers. Resolves when the signal has aborted and all informers have stopped. */
  async start(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const informer of this.#informers.values()) this.#run(informer, signal)
    await aborted(signal)
    await Promise.all(this.#running)
  }

  /**
   * Resolves when all informers that exist at the time of the call have synced. Rejects with the signal's reason when the signal aborts
   * first.
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)))
  }

  status(): InformerStatus[] {
    return [...this.#informers.values()].map(({ type, synced, lastError }) => ({
      type: groupResourceOf(type),
      synced,
      ...(lastError === undefined ? {} : { lastError }),
    }))
  }

  #run(informer: Informer, signal: AbortSignal): void {
    const running = informer.start(signal)
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
  }

  #checkNamespace(type: ResourceType, namespace: string): void {
    const { namespaces } = this
    if (namespaces.length === 0 || namespaces.includes(namespace)) return
    const text = `${groupResourceOf(type)} of the namespace ${quote(namespace)} are not in the cache, which is limited to ${namespaces.map(quote).join(', ')}: read them with the client.`
    throw new ProreusError('PRO_INPUT', text)
  }

  #watched<R extends ResourceType>(type: R): Informer<ObjectOf<R>> {
    const known = this.#known.get(type)
    if (known !== undefined) return known as unknown as Informer<ObjectOf<R>>
    const informer = this.#informers.get(idOf(type))
    if (informer === undefined) {
      throw new ProreusError(
        'PRO_INPUT',
        `${groupResourceOf(type)} is not watched: name it in the controller's \`owns\` or \`watches\`, or read it with the client.`,
      )
    }
    this.#known.set(type, informer)
    return informer as unknown as Informer<ObjectOf<R>>
  }
}

/** Returns the key of an informer. It includes the version, because objects differ between the versions of a type. */
function idOf(type: ResourceType): string {
  return `${type.group}/${type.version}/${type.plural}`
}
