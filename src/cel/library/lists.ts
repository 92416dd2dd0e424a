/** The functions of Kubernetes' list library, of cel-go's lists extension in version 3, and of cel-go's sets extension. */
import { compare, contains, equalsIfComparable, isComparable } from '../types/comparison.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError, noSuchOverload } from '../types/errors.ts'
import type { Int } from '../types/integers.ts'
import { addInts, toIndex } from '../types/integers.ts'
import { SchemaList } from '../types/schema-values.ts'
import { duration } from '../types/times.ts'
import type { ListValue, Value } from '../types/values.ts'
import { Double, Duration, itemsOf, PlainList, Uint, typeNameOf } from '../types/values.ts'
import { ListValue as List } from '../types/values.ts'
import { checkedUint } from '../types/integers.ts'

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'] as const

function isSorted(list: ListValue): boolean {
  for (let index = 1; index < list.size; index += 1) if (compare(list.at(index - 1), list.at(index)) > 0) return false
  return true
}

/** Returns the implementation of `min` or `max`. If several items are equal, the first one is the result. */
function extreme(name: string, direction: 1 | -1) {
  return (list: ListValue): Value => {
    if (list.size === 0) throw new CelError(`${name} called on empty list`)
    let found = list.at(0)
    for (let index = 1; index < list.size; index += 1) {
      const item = list.at(index)
      if (compare(item, found) * direction > 0) found = item
    }
    return found
  }
}

const sums: Readonly<Record<string, (list: ListValue) => Value>> = {
  int: (list) => itemsOfType<Int>(list, 'int').reduce<Int>((sum, item) => addInts(sum, item), 0),
  uint: (list) => new Uint(itemsOfType<Uint>(list, 'uint').reduce((sum, { value }) => checkedUint(sum + value), 0n)),
  double: (list) => new Double(itemsOfType<Double>(list, 'double').reduce((sum, { value }) => sum + value, 0)),
  duration: (list) =>
    itemsOfType<Duration>(list, 'google.protobuf.Duration').reduce((sum, { nanos }) => duration(sum.nanos + nanos), new Duration(0n)),
}

/** Returns all items of a list. Throws if an item does not have the type `name`, because `sum` adds only items of one type. */
function itemsOfType<Item extends Value>(list: ListValue, name: string): Item[] {
  const items = [...list]
  if (!items.every((item) => typeNameOf(item) === name)) throw noSuchOverload()
  return items as Item[]
}

function indexOf(list: ListValue, item: Value): number {
  for (let index = 0; index < list.size; index += 1) if (equalsIfComparable(list.at(index), item) === true) return index
  return -1
}

function lastIndexOf(list: ListValue, item: Value): number {
  for (let index = list.size - 1; index >= 0; index -= 1) if (equalsIfComparable(list.at(index), item) === true) return index
  return -1
}

function slice(list: ListValue, start: Int, end: Int): ListValue {
  const call = `cannot slice(${start}, ${end})`
  if (start < 0 || end < 0) throw new CelError(`${call}, negative indexes not supported`)
  if (start > end) throw new CelError(`${call}, start index must be less than or equal to end index`)
  if (list.size < end) throw new CelError(`${call}, list is length ${list.size}`)
  return new PlainList(itemsOf(list).slice(toIndex(start), toIndex(end)))
}

function flatten(list: ListValue, depth: Int = 1): ListValue {
  if (depth < 0) throw new CelError('level must be non-negative')
  const levels = toIndex(depth)
  const flat = (items: ListValue, left: number): (Value | CelError)[] =>
    itemsOf(items).flatMap((item) => (left > 0 && item instanceof List ? flat(item, left - 1) : [item]))
  return new PlainList(flat(list, levels))
}

/** Returns an item of a list; undefined if the item does not match its schema. */
function itemOrUndefined(list: ListValue, index: number): Value | undefined {
  try {
    return list.at(index)
  } catch (error) {
    if (error instanceof CelError) return undefined
    throw error
  }
}

function sortBy(list: ListValue, keys: ListValue): ListValue {
  if (list.size !== keys.size) {
    throw new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  if (list.size === 0) return list
  const values = Array.from({ length: keys.size }, (_, index) => itemOrUndefined(keys, index))
  const [first] = values
  if (first === undefined || !isComparable(first)) throw new CelError('list elements must be comparable')
  if (values.some((value) => value === undefined || typeNameOf(value) !== typeNameOf(first))) {
    throw new CelError('list elements must have the same type')
  }
  const order = values.map((_, index) => index).sort((a, b) => compare(values[a]!, values[b]!))
  const items = itemsOf(list)
  return new PlainList(order.map((index) => items[index]!))
}

/**
 * Maximum number of items that `range` creates. The cost limit does not bound the memory of a single call, because the cost of a list is
 * added only after the list has been built.
 */
const maxRange = 1_000_000

function range(count: Int): ListValue {
  if (count > maxRange) throw new CelError('operation cancelled: actual cost limit exceeded')
  return new PlainList(Array.from({ length: Math.max(0, toIndex(count)) }, (_, index) => index))
}

function distinct(list: ListValue): ListValue {
  const found: Value[] = []
  for (const item of list) if (!found.some((known) => equalsIfComparable(item, known) === true)) found.push(item)
  return new PlainList(found)
}

function containsAll(list: ListValue, part: ListValue): boolean {
  for (let index = 0; index < part.size; index += 1) {
    // If an item of `part` does not match its schema, `part.at` throws an error. If `list` is a `SchemaList`, e.g. a field of the validated
    // object, `containsAll` throws the same error. If `list` is any other list, e.g. a list that an expression created, `containsAll`
    // returns false.
    const item = list instanceof SchemaList ? part.at(index) : itemOrUndefined(part, index)
    if (item === undefined || !contains(list, item)) return false
  }
  return true
}

/** Returns true when the lists have an item in common. An item that cannot be read or compared counts as different. */
function intersects(a: ListValue, b: ListValue): boolean {
  for (let index = 0; index < a.size; index += 1) {
    try {
      if (contains(b, a.at(index))) return true
    } catch (error) {
      if (!(error instanceof CelError)) throw error
    }
  }
  return false
}

export const lists: readonly Overload[] = [
  ...comparable.flatMap((type) => [
    define(`list<${type}>::isSorted() -> bool`, `list_${type}_is_sorted_bool`, isSorted),
    define(`list<${type}>::max() -> ${type}`, `list_${type}_max_${type}`, extreme('max', 1)),
    define(`list<${type}>::min() -> ${type}`, `list_${type}_min_${type}`, extreme('min', -1)),
  ]),
  ...Object.entries(sums).map(([type, sum]) => define(`list<${type}>::sum() -> ${type}`, `list_${type}_sum_${type}`, sum)),
  define('list<A>::indexOf(A) -> int', 'list_a_index_of_int', indexOf),
  define('list<A>::lastIndexOf(A) -> int', 'list_a_last_index_of_int', lastIndexOf),
  define('list<T>::slice(int, int) -> list<T>', 'list_slice', slice),
  define('list<list<T>>::flatten() -> list<T>', 'list_flatten', (list: ListValue) => flatten(list)),
  define('list<dyn>::flatten(int) -> list<dyn>', 'list_flatten_int', flatten),
  ...['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'].flatMap((type) => {
    const name = type === 'duration' ? 'google.protobuf.Duration' : type === 'timestamp' ? 'google.protobuf.Timestamp' : type
    return [
      define(`list<${type}>::sort() -> list<${type}>`, `list_${name}_sort`, (list: ListValue) => sortBy(list, list)),
      define(`list<T>::@sortByAssociatedKeys(list<${type}>) -> list<T>`, `list_${name}_sortByAssociatedKeys`, sortBy),
    ]
  }),
  define('lists.range(int) -> list<int>', 'lists_range', range),
  define('list<T>::reverse() -> list<T>', 'list_reverse', (list: ListValue) => new PlainList(itemsOf(list).reverse())),
  define('list<T>::distinct() -> list<T>', 'list_distinct', distinct),
  define('sets.contains(list<T>, list<T>) -> bool', 'list_sets_contains_list', containsAll),
  define(
    'sets.equivalent(list<T>, list<T>) -> bool',
    'list_sets_equivalent_list',
    (a: ListValue, b: ListValue) => containsAll(a, b) && containsAll(b, a),
  ),
  define('sets.intersects(list<T>, list<T>) -> bool', 'list_sets_intersects_list', intersects),
]
