/**
 * Gives webhook handlers read access to the process's informer cache. While the informer of a type has not synced, a read of this type
 * throws.
 */
import { ProreusError } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { CacheListOptions, CacheReader } from '../../cache/cache.ts'
import { viewOf } from '../../cache/view.ts'

/** The methods of the process's cache that webhook handlers use. */
export interface ProcessCache extends CacheReader {
  /** Returns the informer of the type. If the process does not watch the type yet, starts a watch. */
  informer(type: ResourceType): { readonly synced: boolean; whenSynced(signal?: AbortSignal): Promise<void> }
  /** The namespaces to which the cache is limited; empty if it is not limited. */
  readonly namespaces: readonly string[]
}

export class AdmissionCache implements CacheReader {
  readonly #cache: ProcessCache | undefined

  /** @param cache the cache of the process. When it is undefined, every read throws. */
  constructor(cache: ProcessCache | undefined) {
    this.#cache = cache
  }

  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    return this.#filled(type).get(type, key)
  }

  /**
   * Lists objects from the cache.
   *
   * If the cache is limited to certain namespaces, `options` must contain a namespace for a namespaced type. Otherwise, a handler that
   * checks all objects of the type would silently check only some of them. A view with its own `namespaces` needs no namespace in
   * `options`.
   *
   * @throws {ProreusError} `PRO_INPUT` when the namespace is missing, when the informer of the type has not synced, or when the process has
   *   no cache.
   */
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    const cache = this.#filled(type)
    if (type.namespaced && viewOf(type)?.namespaces === undefined && cache.namespaces.length > 0 && (options?.namespace ?? '') === '') {
      const text = `${groupResourceOf(type)} of all namespaces are not in the cache, which is limited to ${cache.namespaces.map(quote).join(', ')}: list one of these namespaces, or use the client.`
      throw new ProreusError('PRO_INPUT', text)
    }
    return cache.list(type, options)
  }

  /** Resolves when the informers of all `types` have synced. Rejects with the reason of the signal when the signal aborts. */
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
