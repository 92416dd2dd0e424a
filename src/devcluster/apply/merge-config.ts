/** Merges an applied configuration into an object. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { Typing } from './typing.ts'
import { itemsByElement } from './typing.ts'

/**
 * Merges `config` into `live`, and returns the result. If the values of a scalar or atomic field differ, the result has the value from
 * `config`.
 */
export function mergeConfig(live: JsonValue | undefined, config: JsonValue, typing: Typing): JsonValue {
  if (isObject(config) && isObject(live) && !typing.atomicMap) {
    const merged: JsonObject = { ...live }
    for (const [key, value] of Object.entries(config)) {
      if (value !== undefined) setOwn(merged, key, mergeConfig(getOwn(live, key), value, typing.field(key)))
    }
    return merged
  }
  if (Array.isArray(config) && Array.isArray(live)) return mergeLists(live, config, typing)
  return config
}

function mergeLists(live: JsonValue[], config: JsonValue[], typing: Typing): JsonValue[] {
  const [before, wanted] = [itemsByElement(live, typing), itemsByElement(config, typing)]
  if (before === undefined || wanted === undefined) return config
  const item = typing.item()
  return mergedOrder([...before.keys()], [...wanted.keys()]).map((element) => {
    const config = wanted.get(element)
    return config === undefined ? before.get(element)! : mergeConfig(before.get(element), config, item)
  })
}

/**
 * Returns the path elements of the merged list in the order of its items (structured-merge-diff/typed: merge.go). A common item is an item
 * of both lists.
 *
 * - The items of `applied` keep their order.
 * - If the common items have the same order in both lists, an item that is only in one list stays between the common items that surround it
 *   in that list.
 * - Between two common items, the items of `live` come before the items of `applied`.
 *
 * @example
 * mergedOrder(['a', 'x', 'b'], ['a', 'y', 'b']) // ['a', 'x', 'y', 'b']
 */
function mergedOrder(live: readonly string[], applied: readonly string[]): string[] {
  const [inLive, inApplied] = [new Set(live), new Set(applied)]
  const shared = applied.filter((element) => inLive.has(element))
  const order: string[] = []
  const taken = new Set<string>()
  const take = (element: string): void => {
    order.push(element)
    taken.add(element)
    if (shared[0] === element) shared.shift()
  }
  let [l, r] = [0, 0]
  while (l < live.length || r < applied.length) {
    const [mine, theirs] = [live[l], applied[r]]
    if (mine !== undefined && mine === theirs) {
      take(mine)
      l += 1
      r += 1
    } else if (mine !== undefined && theirs !== undefined && inApplied.has(mine) && shared[0] !== undefined && shared[0] !== mine) {
      // Both the live list and the applied list contain `mine` and `shared[0]`, and `shared[0]` comes before `mine` in the applied list.
      // The loop therefore skips `mine` in the live list. The loop adds `mine` later, when it reaches `mine` in the applied list.
      l += 1
    } else if (mine !== undefined && !inApplied.has(mine)) {
      order.push(mine)
      l += 1
    } else {
      if (mine !== undefined && taken.has(mine)) l += 1
      if (theirs !== undefined) {
        take(theirs)
        r += 1
      }
    }
  }
  return order
}
