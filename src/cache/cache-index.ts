/** `defineCacheIndex(type, name, keysOf)`: finds cached objects by a key that is derived from their content. */
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { expect, isType } from '../api/option-checks.ts'
import type { Index } from './store.ts'
import { describeType, isSameView } from './view.ts'

/**
 * An index on the objects of one type or view. Callers pass the index itself to `cache.list`, not the name of the index. Therefore, two
 * indexes with the same name never conflict.
 */
export interface CacheIndex<R extends ResourceType = ResourceType> extends Index<ObjectOf<R>> {
  readonly type: R
}

/**
 * Defines an index on cached objects, like `IndexField` and `MatchingFields` in controller-runtime. Declare the index in `indexes` of each
 * controller or webhook that passes the index to `cache.list`.
 *
 * @param name the name of the index in log and error messages.
 * @param keysOf returns one key of an object, a list of keys, or undefined when the object has no key. `keysOf` must be pure: when an
 *   object is updated or removed, `keysOf` is called again with the old object, and must return the same keys as before. When `keysOf`
 *   throws, the error is logged, and the object is not in the index.
 *
 * @example
 * const sitesBySecret = defineCacheIndex(site, 'secret', ({ spec }) => spec.certificate)
 *
 * defineController(site, {
 *   indexes: [sitesBySecret],
 *   watches: [
 *     {
 *       type: core.secret,
 *       map: ({ metadata: { namespace, name } }, { cache }) => cache.list(site, { namespace, index: [sitesBySecret, name] }).map(keyOf),
 *     },
 *   ],
 *   reconcile,
 * })
 */
export function defineCacheIndex<R extends ResourceType>(
  type: R,
  name: string,
  keysOf: (object: DeepReadonly<ObjectOf<R>>) => string | readonly string[] | undefined,
): CacheIndex<R> {
  return Object.freeze({ type, name, keysOf })
}

/** Accepts a result of `defineCacheIndex`. */
export const isCacheIndex: OptionCheck = expect(
  'what defineCacheIndex returns',
  (value) => isObject(value) && isType(value['type']) && 'keysOf' in value,
)

/** Returns an error message for each index whose type is not in `types`. */
export function indexProblems(indexes: readonly CacheIndex[], types: readonly ResourceType[], advice: string): string[] {
  const follows = (indexed: ResourceType): boolean => types.some((type) => isSameView(type, indexed))
  return indexes
    .filter(({ type }) => !follows(type))
    .map(({ type, name }) => `indexes: ${quote(name)} is on ${describeType(type)}, which is not watched: ${advice}`)
}
