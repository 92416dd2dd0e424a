/** Arithmetic, equality, order and membership operators. The planner implements the overloads that have no implementation here. */
import { compare, contains, equals, equalsIfComparable } from '../types/comparison.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Int } from '../types/integers.ts'
import { addInts, checkedUint, divideInts, multiplyInts, negateInt, remainderOfInts, subtractInts } from '../types/integers.ts'
import { keysFor, ownKeys } from '../types/list-identity.ts'
import { addDuration, duration, subtractTimestamps } from '../types/times.ts'
import type { Duration, ListValue, MapValue, PlainMap, Timestamp, Value } from '../types/values.ts'
import { Double, itemsOf, PlainList, Uint } from '../types/values.ts'

function onDoubles(operation: (a: number, b: number) => number) {
  return (a: Double, b: Double) => new Double(operation(a.value, b.value))
}

function onUints(operation: (a: bigint, b: bigint) => bigint) {
  return (a: Uint, b: Uint) => new Uint(checkedUint(operation(a.value, b.value)))
}

/**
 * Concatenates two lists (`k8s.io/apiserver/pkg/cel/common: valuesunstructured.go, Add`). The type of `a` determines what happens to an
 * item of `b`:
 *
 * - `set`: the item is appended only if `a` lacks it.
 * - `map`: the item replaces the item of `a` with the same key. If no item of `a` has this key, the item is appended.
 * - any other list: the item is appended.
 */
function concatenate(a: ListValue, b: ListValue): ListValue {
  if (a.semantics === undefined) return new PlainList([...itemsOf(a), ...itemsOf(b)])
  const items = itemsOf(a)
  const own = ownKeys(a)
  const positions = new Map(own.map((key, index) => [key, index]))
  const keys = keysFor(a, b, own)
  for (let index = 0; index < b.size; index += 1) {
    const key = keys[index]
    const position = key === undefined ? undefined : positions.get(key)
    if (position === undefined) {
      if (a.semantics === 'set' && key !== undefined) {
        positions.set(key, items.length)
        // If `a` is a SchemaList of type `set`, `own` is the array in which `a` stores the keys of its items (see `ownKeys`). `push` then
        // adds the key of an item of `b` to the stored keys of `a`, although the item is not added to `a`. kube-apiserver does the same. A
        // later `==` or `+` with `a` as the left operand therefore also uses the added key.
        own.push(key)
      }
      items.push(b.at(index))
    } else if (a.semantics !== 'set') items[position] = b.at(index)
  }
  return new PlainList(items, a.semantics)
}

function concatenateBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Uint8Array.from([...a, ...b])
}

const sums: readonly Overload[] = [
  define('_+_(bytes, bytes) -> bytes', 'add_bytes', concatenateBytes),
  define(
    '_+_(double, double) -> double',
    'add_double',
    onDoubles((a, b) => a + b),
  ),
  define('_+_(duration, duration) -> duration', 'add_duration_duration', (a: Duration, b: Duration) => duration(a.nanos + b.nanos)),
  define('_+_(duration, timestamp) -> timestamp', 'add_duration_timestamp', (a: Duration, b: Timestamp) => addDuration(b, a.nanos)),
  define('_+_(timestamp, duration) -> timestamp', 'add_timestamp_duration', (a: Timestamp, b: Duration) => addDuration(a, b.nanos)),
  define('_+_(int, int) -> int', 'add_int64', addInts),
  define('_+_(list<A>, list<A>) -> list<A>', 'add_list', concatenate),
  define('_+_(string, string) -> string', 'add_string', (a: string, b: string) => a + b),
  define(
    '_+_(uint, uint) -> uint',
    'add_uint64',
    onUints((a, b) => a + b),
  ),
  define(
    '_-_(double, double) -> double',
    'subtract_double',
    onDoubles((a, b) => a - b),
  ),
  define('_-_(duration, duration) -> duration', 'subtract_duration_duration', (a: Duration, b: Duration) => duration(a.nanos - b.nanos)),
  define('_-_(int, int) -> int', 'subtract_int64', subtractInts),
  define('_-_(timestamp, duration) -> timestamp', 'subtract_timestamp_duration', (a: Timestamp, b: Duration) => addDuration(a, -b.nanos)),
  define('_-_(timestamp, timestamp) -> duration', 'subtract_timestamp_timestamp', subtractTimestamps),
  define(
    '_-_(uint, uint) -> uint',
    'subtract_uint64',
    onUints((a, b) => a - b),
  ),
]

function divideUints(what: string, operation: (a: bigint, b: bigint) => bigint) {
  return (a: Uint, b: Uint) => {
    if (b.value === 0n) throw new CelError(what)
    return new Uint(operation(a.value, b.value))
  }
}

const products: readonly Overload[] = [
  define(
    '_*_(double, double) -> double',
    'multiply_double',
    onDoubles((a, b) => a * b),
  ),
  define('_*_(int, int) -> int', 'multiply_int64', multiplyInts),
  define(
    '_*_(uint, uint) -> uint',
    'multiply_uint64',
    onUints((a, b) => a * b),
  ),
  define(
    '_/_(double, double) -> double',
    'divide_double',
    onDoubles((a, b) => a / b),
  ),
  define('_/_(int, int) -> int', 'divide_int64', divideInts),
  define(
    '_/_(uint, uint) -> uint',
    'divide_uint64',
    divideUints('division by zero', (a, b) => a / b),
  ),
  define('_%_(int, int) -> int', 'modulo_int64', remainderOfInts),
  define(
    '_%_(uint, uint) -> uint',
    'modulo_uint64',
    divideUints('modulus by zero', (a, b) => a % b),
  ),
  define('-_(double) -> double', 'negate_double', (value: Double) => new Double(-value.value)),
  define('-_(int) -> int', 'negate_int64', (value: Int) => negateInt(value)),
  define('!_(bool) -> bool', 'logical_not', (value: boolean) => !value),
]

const numbers = ['int', 'uint', 'double'] as const
const numberIds = { int: 'int64', uint: 'uint64', double: 'double' } as const
const others = ['bool', 'string', 'bytes', 'timestamp', 'duration'] as const

/**
 * Declares an order operator, such as `<`, for all pairs of comparable types.
 *
 * @param holds converts the result of `compare` (-1, 0 or 1) to the result of the operator.
 * @param native faster implementation for two ints, the most common case.
 */
function orderOverloads(operator: string, id: string, holds: (order: number) => boolean, native: (a: Int, b: Int) => boolean): Overload[] {
  const implementation = (a: Value, b: Value) => holds(compare(a, b))
  const mixed = numbers.flatMap((a) =>
    numbers.map((b) => {
      const suffix = a === b ? numberIds[a] : `${numberIds[a]}_${numberIds[b]}`
      return define(`${operator}(${a}, ${b}) -> bool`, `${id}_${suffix}`, a === 'int' && b === 'int' ? native : implementation)
    }),
  )
  return [...mixed, ...others.map((type) => define(`${operator}(${type}, ${type}) -> bool`, `${id}_${type}`, implementation))]
}

function isInList(value: Value, list: ListValue): boolean {
  return contains(list, value)
}

function isInMap(value: Value, map: MapValue): boolean {
  return map.find(value) !== undefined
}

/** Adds an entry to the map that a macro builds. Throws if the key already exists. */
export function insertInto(map: PlainMap, key: Value, value: Value): void {
  if (!map.insert(key, value)) throw new CelError(`insert failed: key ${String(key)} already exists`)
}

export function insertAllInto(map: PlainMap, added: MapValue): void {
  for (const key of added.keys()) insertInto(map, key, added.find(key) ?? null)
}

export const operators: readonly Overload[] = [
  define('_?_:_(bool, A, A) -> A', 'conditional'),
  define('_&&_(bool, bool) -> bool', 'logical_and'),
  define('_||_(bool, bool) -> bool', 'logical_or'),
  define('@not_strictly_false(bool) -> bool', 'not_strictly_false'),
  define('_==_(A, A) -> bool', 'equals', equals),
  // Values that cannot be compared count as not equal.
  define('_!=_(A, A) -> bool', 'not_equals', (a: Value, b: Value) => equalsIfComparable(a, b) !== true),
  ...sums,
  ...products,
  ...orderOverloads(
    '_<_',
    'less',
    (order) => order < 0,
    (a, b) => a < b,
  ),
  ...orderOverloads(
    '_<=_',
    'less_equals',
    (order) => order <= 0,
    (a, b) => a <= b,
  ),
  ...orderOverloads(
    '_>_',
    'greater',
    (order) => order > 0,
    (a, b) => a > b,
  ),
  ...orderOverloads(
    '_>=_',
    'greater_equals',
    (order) => order >= 0,
    (a, b) => a >= b,
  ),
  define('_[_](list<A>, int) -> A', 'index_list'),
  define('_[_](map<A, B>, A) -> B', 'index_map'),
  define('_[_](optional<list<A>>, int) -> optional<A>', 'optional_list_index_int'),
  define('_[_](optional<map<A, B>>, A) -> optional<B>', 'optional_map_index_value'),
  define('_[?_](list<A>, int) -> optional<A>', 'list_optindex_optional_int'),
  define('_[?_](optional<list<A>>, int) -> optional<A>', 'optional_list_optindex_optional_int'),
  define('_[?_](map<A, B>, A) -> optional<B>', 'map_optindex_optional_value'),
  define('_[?_](optional<map<A, B>>, A) -> optional<B>', 'optional_map_optindex_optional_value'),
  define('@in(A, list<A>) -> bool', 'in_list', isInList),
  define('@in(A, map<A, B>) -> bool', 'in_map', isInMap),
  define('cel.@mapInsert(map<K, V>, map<K, V>) -> map<K, V>', '@mapInsert_map_map'),
  define('cel.@mapInsert(map<K, V>, K, V) -> map<K, V>', '@mapInsert_map_key_value'),
]
