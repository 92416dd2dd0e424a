/**
 * Functions on optional values. The planner implements `or` and `orValue`, because these two evaluate their argument only if the optional
 * is empty.
 */
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import { SchemaList, SchemaMap, SchemaObject } from '../types/schema-values.ts'
import type { Value } from '../types/values.ts'
import { Double, Duration, ListValue, MapValue, none, OptionalValue, PlainList, Timestamp, Uint } from '../types/values.ts'

/**
 * Returns true if a value is the zero value of its type, as cel-go defines it. Always returns false for these values:
 *
 * - lists, maps and objects that have a schema
 * - optionals
 * - values of the types that Kubernetes defines, such as quantities and URLs
 */
function isZero(value: Value): boolean {
  if (value instanceof SchemaList || value instanceof SchemaObject || value instanceof SchemaMap) return false
  if (value === null || value === '' || value === 0 || value === false) return true
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
  // The zero time of Go is 0001-01-01T00:00:00Z.
  return value instanceof Timestamp && value.seconds === -62135596800 && value.nanos === 0
}

function unwrap(list: ListValue): ListValue {
  const items: Value[] = []
  for (const item of list) {
    if (!(item instanceof OptionalValue)) throw new CelError(`value ${String(item)} is not optional`)
    if (item.hasValue) items.push(item.value!)
  }
  return new PlainList(items)
}

export const optionals: readonly Overload[] = [
  define('optional.of(V) -> optional<V>', 'optional_of', (value: Value) => new OptionalValue(value)),
  define('optional.ofNonZeroValue(V) -> optional<V>', 'optional_ofNonZeroValue', (value: Value) =>
    isZero(value) ? none : new OptionalValue(value),
  ),
  define('optional.none() -> optional<V>', 'optional_none', () => none),
  define('optional.unwrap(list<optional<V>>) -> list<V>', 'optional_unwrap', unwrap),
  define('list<optional<V>>::unwrapOpt() -> list<V>', 'optional_unwrapOpt', unwrap),
  define('optional<V>::value() -> V', 'optional_value', ({ value }: OptionalValue) => {
    if (value === undefined) throw new CelError('optional.none() dereference')
    return value
  }),
  define('optional<V>::hasValue() -> bool', 'optional_hasValue', ({ hasValue }: OptionalValue) => hasValue),
  define('optional<V>::or(optional<V>) -> optional<V>', 'optional_or_optional'),
  define('optional<V>::orValue(V) -> V', 'optional_orValue_value'),
  define('list<V>::first() -> optional<V>', 'list_first', (list: ListValue) => (list.size === 0 ? none : new OptionalValue(list.at(0)))),
  define('list<V>::last() -> optional<V>', 'list_last', (list: ListValue) =>
    list.size === 0 ? none : new OptionalValue(list.at(list.size - 1)),
  ),
]
