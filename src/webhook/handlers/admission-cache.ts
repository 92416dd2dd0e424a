/** The informers' cache for webhook handlers: limited to the types in `reads`, and never read before it has synced. */
import { ProreusError } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { CacheListOptions, CacheReader } from '../../cache/cache.ts'

/** The parts of the process's cache that handlers use. */
export interface ProcessCache extends CacheReader {
  /** Starts watching the type, if the process does not watch it yet. */
  informer(type: ResourceType): { readonly synced: boolean; whenSynced(signal?: AbortSignal): Promise<void> }
  /** The namespaces that the cache is limited to; empty for all namespaces. */
  readonly namespaces: readonly string[]
}

export class AdmissionCache implements CacheReader {
  readonly #cache: ProcessCache | undefined

  /** @param cache the cache of the process; when undefined, every read throws. */
  constructor(cache: ProcessCache | undefined) {
    this.#cache = cache
  }

  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    return this.#filled(type).get(type, key)
  }

  /**
   * Throws for a list of all namespaces in a process that is limited to some: a rule about all objects would silently become a rule about
   * some.
   */
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    const cache = this.#filled(type)
    if (type.namespaced && cache.namespaces.length > 0 && (options?.namespace ?? '') === '') {
      const text = `${groupResourceOf(type)} of all namespaces are not in the cache, which is limited to ${cache.namespaces.map(quote).join(', ')}: list one of these namespaces, or use the client.`
      throw new ProreusError('PRO_INPUT', text)
    }
    return cache.list(type, options)
  }

  /** Resolves when the caches of these types have synced; rejects with the signal's reason. */
  async whenFilled(types: readonly ResourceType[], signal: AbortSignal): Promise<void> {
    const cache = this.#cache
    if (cache !== undefined) await Promise.all(types.map((type) => cache.informer(type).whenSynced(signal)))
  }

  #filled(type: ResourceType): ProcessCache {
    const cache = this.#cache
    if (cache === undefined) {
      throw new ProreusError('PRO_INPUT', `${groupResourceOf(type)} cannot be read: this process has no cache. Read them with the client.`)
    }
    if (!cache.informer(type).synced) {
      throw new ProreusError('PRO_INPUT', `${groupResourceOf(type)} have not all arrived in the cache yet: try again in a moment.`)
    }
    return cache
  }
}
