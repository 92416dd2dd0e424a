/** The cache as one controller or webhook may read it: the types that it declares, which have synced before it works, and no others. */
import { ProreusError } from '../api/errors.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import type { CacheListOptions, CacheReader } from './cache.ts'

/**
 * A type that only another one of the process declares is refused: what is found of it would depend on that one's being there, and on
 * how far its first list has come.
 */
export class DeclaredCache implements CacheReader {
  readonly #cache: CacheReader
  readonly #types: readonly ResourceType[]
  readonly #refusal: (type: string) => string

  /** @param refusal says that a type, written as `plural.group`, is none of `types`, and where it is to be declared. */
  constructor(cache: CacheReader, types: readonly ResourceType[], refusal: (type: string) => string) {
    this.#cache = cache
    this.#types = types
    this.#refusal = refusal
  }

  /** @throws {ProreusError} `PRO_INPUT` for a type that is not declared, and as the `get` of the cache. */
  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    this.#check(type)
    return this.#cache.get(type, key)
  }

  /** @throws {ProreusError} `PRO_INPUT` for a type that is not declared, and as the `list` of the cache. */
  list<R extends ResourceType>(type: R, options?: CacheListOptions<NoInfer<R>>): readonly DeepReadonly<ObjectOf<R>>[] {
    this.#check(type)
    return this.#cache.list(type, options)
  }

  #check(type: ResourceType): void {
    if (this.#types.includes(type) || this.#types.some((declared) => isSameType(declared, type))) return
    throw new ProreusError('PRO_INPUT', this.#refusal(groupResourceOf(type)))
  }
}
