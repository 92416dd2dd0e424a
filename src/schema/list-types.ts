/** `x-kubernetes-list-type`: uniqueness within lists that are sets or maps. */
import type { FieldError } from '../api/field-error.ts'
import { duplicate, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, setOwn } from '../api/json.ts'
import { isDeeperThan, tooDeep } from './depth.ts'
import type { SchemaNode } from './node.ts'
import { indexPath } from './path.ts'

/** What is wrong with a list that must be a set or a map. */
export function listErrors(node: SchemaNode, list: readonly JsonValue[], path: string): FieldError[] {
  if (node.listType === undefined) return []
  if (isDeeperThan(list)) return [tooDeep(path, list)]
  if (node.listType === 'set') return secondOccurrences(list).map((index) => duplicate(indexPath(path, index), list[index]))
  for (const [index, item] of list.entries()) {
    if (item !== null && !isObject(item)) return [invalid(indexPath(path, index), item, 'must be an object for an array of list-type map')]
  }
  const keys = list.map((item) => keyOf(node.listMapKeys, item))
  return secondOccurrences(keys).map((index) => duplicate(indexPath(path, index), keys[index]))
}

/** The key fields of an item; one that is missing counts as a value of its own, and null as an item without any. */
function keyOf(keys: readonly string[], item: JsonValue): JsonObject {
  const key: JsonObject = {}
  if (!isObject(item)) return key
  for (const name of keys) {
    const value = getOwn(item, name)
    if (value !== undefined) setOwn(key, name, value)
  }
  return key
}

/** The indexes at which a value comes for the second time; further repetitions are not told. */
function secondOccurrences(list: readonly JsonValue[]): number[] {
  const counts = new Map<JsonValue, number>()
  const found: number[] = []
  list.forEach((item, index) => {
    // No scalar's key is a string that begins with { or [, so that scalars and compounds never meet.
    const key = typeof item === 'object' && item !== null ? canonicalJson(item) : typeof item === 'string' ? `"${item}` : item
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    if (count === 1) found.push(index)
  })
  return found
}
