/** `defineCacheIndex(type, name, keysOf)`: finds cached objects by something else than their key, without a walk through all of them. */
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { expect, isType } from '../api/option-checks.ts'
import type { Index } from './store.ts'

/** An index of the objects of one type. Reads name it by itself, so that two of one name never meet. */
export interface CacheIndex<R extends ResourceType = ResourceType> extends Index<ObjectOf<R>> {
  readonly type: R
}

/**
 * Defines an index: declared in `indexes` of the controller or webhook that reads by it, kept by the cache from then on.
 * What `IndexField` and `MatchingFields` are in controller-runtime.
 *
 * @param name for messages.
 * @param keysOf under which keys an object is found: one, several or none. Must be pure, as it is asked again for an object that leaves.
 * An object for which it throws is logged, and found under none.
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

/** What `defineCacheIndex` returns. */
export const isCacheIndex: OptionCheck = expect(
  'what defineCacheIndex returns',
  (value) => isObject(value) && isType(value['type']) && 'keysOf' in value,
)

/** What is wrong with the `indexes` that are declared beside these types. */
export function indexProblems(indexes: readonly CacheIndex[], types: readonly ResourceType[], advice: string): string[] {
  const follows = (indexed: ResourceType): boolean => types.some((type) => isSameType(type, indexed))
  return indexes
    .filter(({ type }) => !follows(type))
    .map(({ type, name }) => `indexes: ${quote(name)} is of ${groupResourceOf(type)}, which is not followed: ${advice}`)
}
