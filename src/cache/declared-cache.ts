/** `DeclaredCache`: limits the cache to the types and views that one controller or webhook declares. */
import { ProreusError } from '../api/errors.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { isSameType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheListOptions, CacheReader } from './cache.ts'
import { describeType, isSameView } from './view.ts'

/**
 * Limits the reads of one controller or webhook to the types and views that the controller or webhook declares. A read of any other type or
 * view is rejected, even if another controller or webhook of the process declares this type or view. Without this limit, the result of an
 * undeclared read would depend on whether the other controller or webhook is enabled, and on whether the informer of the type has synced.
 */
export class DeclaredCache implements CacheReader {
  readonly #cache: CacheReader
  readonly #types: readonly ResourceType[]
  readonly #refusal: (type: string) => string

  /**
   * @param refusal returns the error message for a read of a type. It is called only if `types` contains neither the type nor any view of
   *   the type. Its argument is the type as `plural.group`. For a read of a view, the argument also contains the description of the view,
   *   as in `pods (labels app=web)`.
   */
  constructor(cache: CacheReader, types: readonly ResourceType[], refusal: (type: string) => string) {
    this.#cache = cache
    this.#types = types
    this.#refusal = refusal
  }

  /** @throws {ProreusError} `PRO_INPUT` for an undeclared type. For a declared type, the errors are those of `Cache.get`. */
  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    this.#check(type)
    return this.#cache.get(type, key)
  }

  /** @throws {ProreusError} `PRO_INPUT` for an undeclared type. For a declared type, the errors are those of `Cache.list`. */
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    this.#check(type)
    return this.#cache.list(type, options)
  }

  #check(type: ResourceType): void {
    if (this.#types.includes(type) || this.#types.some((declared) => isSameView(declared, type))) return
    const other = this.#types.find((declared) => isSameType(declared, type))
    if (other === undefined) throw new ProreusError('PRO_INPUT', this.#refusal(describeType(type)))
    const text = `${describeType(type)} is not declared, but ${describeType(other)} is: pass that one to the cache, or declare this one, too.`
    throw new ProreusError('PRO_INPUT', text)
  }
}
