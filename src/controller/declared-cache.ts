/** The cache as one controller may read it: the types that it watches, which have synced before it works, and no others. */
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheListOptions, CacheReader } from '../cache/cache.ts'

/**
 * A type that only another controller of the process watches is refused: what is found of it would depend on that one's being there,
 * and on how far its first list has come.
 */
export class DeclaredCache implements CacheReader {
  readonly #cache: CacheReader
  readonly #controller: string
  readonly #types: readonly ResourceType[]

  /** @param types what the controller named `controller` watches. */
  constructor(cache: CacheReader, controller: string, types: readonly ResourceType[]) {
    this.#cache = cache
    this.#controller = controller
    this.#types = types
  }

  /** @throws {ProreusError} `PRO_INPUT` for a type that is not declared, and as `Cache.get`. */
  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    this.#check(type)
    return this.#cache.get(type, key)
  }

  /** @throws {ProreusError} `PRO_INPUT` for a type that is not declared, and as `Cache.list`. */
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    this.#check(type)
    return this.#cache.list(type, options)
  }

  #check(type: ResourceType): void {
    if (this.#types.includes(type) || this.#types.some((declared) => isSameType(declared, type))) return
    const advice = 'name it in its `owns` or `watches`, or read it with the client'
    throw new ProreusError('PRO_INPUT', `${groupResourceOf(type)} is not watched by the controller ${quote(this.#controller)}: ${advice}.`)
  }
}
