/**
 * The order of a list after a strategic merge patch. The items of the patch have the order of the patch. The other items have their old
 * order.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { goText, goTypeName } from '../types/go-text.ts'
import { PatchError } from './patch-error.ts'

type Items = readonly JsonValue[]

/** Returns the value of an item's merge key. For a list of scalars, `mergeKey` is empty, and the item itself is returned. */
export function mergeKeyOf(item: JsonValue, mergeKey: string): JsonValue {
  if (mergeKey === '') return item
  if (!isObject(item)) throw new PatchError('internal', `expected a map[string]interface {}, but received a ${goTypeName(item)}`)
  const value = item[mergeKey]
  if (value === undefined) throw new PatchError('internal', `map: ${goText(item)} does not contain declared merge key: ${mergeKey}`)
  return value
}

/**
 * Splits `items` into two lists. The first list contains each item whose value of the merge key is equal to that of an item of `by`. The
 * second list contains the other items. If `mergeKey` is empty, the items themselves are compared.
 */
export function partition(items: Items, by: Items, mergeKey: string): [patched: Items, others: Items] {
  const known = new Set(by.map((item) => mergeKeyOf(item, mergeKey)))
  return [items.filter((item) => known.has(mergeKeyOf(item, mergeKey))), items.filter((item) => !known.has(mergeKeyOf(item, mergeKey)))]
}

/**
 * Returns all items in one list. The patched items have the order of the list `order`. The other items have the order of the old list
 * `before`. An unpatched item that preceded a patched item in the old list also precedes that patched item in the result.
 */
export function inOrder(patched: Items, others: Items, order: Items, before: Items, mergeKey: string): JsonValue[] {
  const place = (item: JsonValue, among: Items): number => {
    const identity = mergeKeyOf(item, mergeKey)
    return among.findIndex((other) => mergeKeyOf(other, mergeKey) === identity)
  }
  const right = patched.toSorted((a, b) => place(a, order) - place(b, order))
  const left = others.toSorted((a, b) => place(a, before) - place(b, before))
  const list: JsonValue[] = []
  while (left.length > 0 && right.length > 0) {
    const [mine, theirs] = [place(left[0]!, before), place(right[0]!, before)]
    list.push(mine >= 0 && theirs >= 0 && mine < theirs ? left.shift()! : right.shift()!)
  }
  return [...list, ...left, ...right]
}

/** Returns the items whose merge key has another value than `identity`. */
export function deleteItems(items: Items, mergeKey: string, identity: JsonValue): Items {
  return items.filter((item) => (item as JsonObject)[mergeKey] !== identity)
}

/**
 * Removes duplicate scalars. The last item of the list moves to the position of a removed duplicate
 * (k8s.io/apimachinery/pkg/util/strategicpatch: deduplicateScalars).
 */
export function uniqueScalars(items: Items): JsonValue[] {
  const list = [...items]
  for (let i = 0; i < list.length; i += 1) {
    for (let j = i + 1; j < list.length; j += 1) {
      if (list[i] !== list[j]) continue
      const last = list.pop()!
      if (j < list.length) list[j] = last
      j -= 1
    }
  }
  return list
}
