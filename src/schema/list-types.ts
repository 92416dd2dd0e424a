/**
 * `x-kubernetes-list-type`: validates that the items of lists of type set or map are unique
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype`).
 */
import type { FieldError } from '../api/field-error.ts'
import { duplicate, invalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, setOwn } from '../api/json.ts'
import { isDeeperThan, tooDeep } from './depth.ts'
import type { SchemaNode } from './node.ts'
import { indexPath } from '../api/field-path.ts'

/**
 * Returns true if a list is a valid set or map. In most lists, the items are strings or have one string as their key. A fast path handles
 * these lists.
 */
export function isProperList(node: SchemaNode, list: readonly JsonValue[]): boolean {
  return node.listType === undefined || hasDistinctStrings(node, list) || listErrors(node, list, '', 1).length === 0
}

/**
 * Returns true if all items of a set are distinct strings, or if all items of a map with one key field have distinct strings in this field.
 * Returns false for every other list, although such a list can also be valid. For a list of at most `maxSlots / 2` items, the function
 * allocates memory only after too many hash collisions.
 */
function hasDistinctStrings({ listType, listMapKeys }: SchemaNode, list: readonly JsonValue[]): boolean {
  const key = listType === 'map' ? listMapKeys[0] : undefined
  if (listType === 'map' && (key === undefined || listMapKeys.length > 1)) return false
  const known = list.length <= maxSlots / 2 ? areDistinct(list, key) : undefined
  return known ?? areManyDistinct(list, key)
}

function areManyDistinct(list: readonly JsonValue[], key: string | undefined): boolean {
  const seen = new Set<JsonValue>()
  for (const item of list) {
    const value = identityOf(item, key)
    if (typeof value !== 'string') return false
    seen.add(value)
  }
  return seen.size === list.length
}

const minSlots = 128
const maxSlots = 1024
/** The slots of a hash table. An empty slot contains 0. Any other slot contains 1 plus the index of an item in the current list. */
const slots = new Uint16Array(maxSlots)
/**
 * A prime number near the quotient of 2^32 and the golden ratio. Multiplication by this number distributes similar hash codes over the
 * table (Fibonacci hashing).
 */
const goldenRatio = 0x9e3779b1
/**
 * Maximum average number of collisions per item. A list with more collisions probably contains strings that were chosen to collide. Such a
 * list is checked with a `Set` instead.
 */
const maxCollisions = 4

/**
 * Returns whether all items are distinct strings; undefined after too many collisions. If `key` is given, the values of this field are
 * compared instead of the items.
 *
 * A hash code depends only on the length and at most four characters of a string. A `Set` is slower, because a `Set` hashes all characters.
 */
function areDistinct(list: readonly JsonValue[], key: string | undefined): boolean | undefined {
  let size = minSlots
  while (size < list.length * 2) size *= 2
  slots.fill(0, 0, size)
  const mask = size - 1
  const shift = Math.clz32(mask)
  let collisions = maxCollisions * list.length
  for (let index = 0; index < list.length; index += 1) {
    const value = identityOf(list[index]!, key)
    if (typeof value !== 'string') return false
    let slot = Math.imul(hashOf(value), goldenRatio) >>> shift
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (identityOf(list[slots[slot]! - 1]!, key) === value) return false
      collisions -= 1
      if (collisions < 0) return undefined
    }
    slots[slot] = index + 1
  }
  return true
}

function hashOf(text: string): number {
  const last = text.length - 1
  if (last < 2) return last < 0 ? 0 : text.charCodeAt(0) * 31 + text.charCodeAt(last)
  const end = text.charCodeAt(last) + text.charCodeAt(last - 1) * 11 + text.charCodeAt(last - 2) * 113
  return end + text.length * 31 + text.charCodeAt(last >> 1) * 1021
}

function identityOf(item: JsonValue, key: string | undefined): JsonValue | undefined {
  if (key === undefined) return item
  return isObject(item) ? item[key] : undefined
}

/** Returns at most `most` errors of a list that must be a set or a map. */
export function listErrors(node: SchemaNode, list: readonly JsonValue[], path: string, most = Infinity): FieldError[] {
  if (node.listType === undefined) return []
  if (isDeeperThan(list)) return [tooDeep(path, list)]
  if (node.listType === 'set') return secondOccurrences(list, most).map((index) => duplicate(indexPath(path, index), list[index]))
  for (const [index, item] of list.entries()) {
    if (item !== null && !isObject(item)) return [invalid(indexPath(path, index), item, 'must be an object for an array of list-type map')]
  }
  const [onlyKey, ...otherKeys] = node.listMapKeys
  const single = onlyKey !== undefined && otherKeys.length === 0
  const identities = list.map((item) => (single ? keyField(item, onlyKey) : keyOf(node.listMapKeys, item)))
  return secondOccurrences(identities, most).map((index) => duplicate(indexPath(path, index), keyOf(node.listMapKeys, list[index]!)))
}

/** Returns the key fields of an item. A missing key field differs from every value of that field. A null item has no key fields. */
function keyOf(keys: readonly string[], item: JsonValue): JsonObject {
  const key: JsonObject = {}
  for (const name of keys) {
    const value = keyField(item, name)
    if (value !== undefined) setOwn(key, name, value)
  }
  return key
}

function keyField(item: JsonValue, name: string): JsonValue | undefined {
  return isObject(item) ? getOwn(item, name) : undefined
}

/** Returns the index of the second occurrence of each value that occurs more than once. Returns at most `most` indexes. */
function secondOccurrences(list: readonly (JsonValue | undefined)[], most: number): number[] {
  const scalars = new Map<JsonValue | undefined, number>()
  const compounds = new Map<string, number>()
  const found: number[] = []
  list.forEach((item, index) => {
    const isCompound = typeof item === 'object' && item !== null
    const count = isCompound ? increment(compounds, canonicalJson(item)) : increment(scalars, item)
    if (count === 2 && found.length < most) found.push(index)
  })
  return found
}

function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}
