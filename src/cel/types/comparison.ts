/** Equality and order of CEL values. */
import { jsonEqual } from '../../api/json.ts'
import { CelError, noSuchOverload } from './errors.ts'
import { keysFor, ownKeys } from './list-identity.ts'
import { PreservedValue, SchemaList, SchemaMap, SchemaObject } from './schema-values.ts'
import type { Value } from './values.ts'
import { Double, Duration, ListValue, MapValue, OpaqueValue, OptionalValue, Timestamp, TypeValue, Uint } from './values.ts'

/**
 * Returns true if two values are equal:
 *
 * - Two numbers are equal if they have the same value, even if their types differ.
 * - If `a` is a `PreservedValue`, it is equal to every `b` with the same JSON data.
 * - Other values are equal only if they have the same type.
 *
 * @throws {CelError} `no such overload` if `a` is a Kubernetes value (see `isKubernetesValue`), and `b` is neither null nor of the type of
 *   `a`.
 * @throws {CelError} if an item or a field of `a` or `b` cannot be read. In some cases, the error is ignored (see `readEqual` and
 *   `maybeEqual`).
 */
export function equals(a: Value, b: Value): boolean {
  // A shortcut for `a === b` would be wrong, because in kube-apiserver, some values do not equal themselves:
  // - An authorizer. The comparison of an authorizer with itself is an error.
  // - A list of type `set` that contains an integer, for example 1, if the schema of the items has the type `number`. Lists of type `set`
  //   are compared by the keys of their items. The key of the integer is an int64 in the left operand, but a float64 in the right operand
  //   (see list-identity.ts).
  if (a === null || b === null || typeof a === 'string') return a === b
  if (isNumber(a)) return isNumber(b) && numbersEqual(a, b)
  if (typeof a !== 'object') return a === b
  if (a instanceof ListValue) return b instanceof ListValue ? listsEqual(a, b) : otherType(a instanceof SchemaList)
  if (a instanceof MapValue) return b instanceof MapValue ? mapsEqual(a, b) : otherType(a instanceof SchemaObject || a instanceof SchemaMap)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    return a.hasValue && b.hasValue
      ? readEqual(
          () => a.value!,
          () => b.value!,
        )
      : a.hasValue === b.hasValue
  }
  if (a instanceof TypeValue) return b instanceof TypeValue && a.type.name === b.type.name
  if (a instanceof PreservedValue) return a.isData(b)
  if (a instanceof OpaqueValue) return b instanceof OpaqueValue && a.typeName === b.typeName ? a.equals(b) : otherType(true)
  return a instanceof Uint8Array && b instanceof Uint8Array && compareBytes(a, b) === 0
}

/** Like `equals`, but returns undefined if `equals` throws a `CelError`. */
export function equalsIfComparable(a: Value, b: Value): boolean | undefined {
  try {
    return equals(a, b)
  } catch (error) {
    if (error instanceof CelError) return undefined
    throw error
  }
}

/**
 * Like `equals`, but throws if `value` is a Kubernetes value (see `isKubernetesValue`) and `other` is null. This function corresponds to
 * the method `Equal` of the value's Go type, which does not accept null. `equals` corresponds to cel-go's function `Equal`, which accepts
 * null.
 */
function ownEquals(value: Value, other: Value): boolean {
  return other === null && isKubernetesValue(value) ? otherType(true) : equals(value, other)
}

/**
 * Compares the results of `left` and `right`. If `left` throws, the error is thrown. If `right` throws a `CelError`, there are two cases.
 * If the left value is a Kubernetes value (see `isKubernetesValue`), the error is thrown. For any other left value, false is returned.
 */
function readEqual(left: () => Value, right: () => Value, same = ownEquals): boolean {
  const value = left()
  let other: Value
  try {
    other = right()
  } catch (error) {
    if (!(error instanceof CelError) || isKubernetesValue(value)) throw error
    return false
  }
  return same(value, other)
}

/**
 * Returns true if the value is a Kubernetes value. A Kubernetes value meets two conditions:
 *
 * - The Go type of the value is defined in Kubernetes.
 * - The `Equal` method of this Go type reports `no such overload` for a value of any other type.
 *
 * A `PreservedValue` is not a Kubernetes value. The Go type of a `PreservedValue` is defined in Kubernetes, but the `Equal` method of this
 * Go type never reports an error.
 */
function isKubernetesValue(value: Value): boolean {
  if (value instanceof SchemaList || value instanceof SchemaObject || value instanceof SchemaMap) return true
  return value instanceof OpaqueValue && !(value instanceof PreservedValue)
}

/** Like `readEqual` with `equals`, but returns true if `readEqual` throws a `CelError`. */
function maybeEqual(left: () => Value, right: () => Value): boolean {
  try {
    return readEqual(left, right, equals)
  } catch (error) {
    if (error instanceof CelError) return true
    throw error
  }
}

/**
 * Reports whether a list contains a value. If the comparison with an item throws a `CelError`, the search continues. If no item is equal
 * and the list has a schema, the first of these errors is thrown (`unstructuredList.Contains`). If the list has no schema, the
 * errors are ignored.
 */
export function contains(list: ListValue, value: Value): boolean {
  const { size } = list
  const isOfSchema = list instanceof SchemaList
  let problem: CelError | undefined
  for (let index = 0; index < size; index += 1) {
    try {
      if (isOfSchema ? ownEquals(list.at(index), value) : ownEquals(value, list.at(index))) return true
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      problem ??= error
    }
  }
  if (isOfSchema && problem !== undefined) throw problem
  return false
}

/** Returns false, the result of comparing values of different types. Throws `no such overload` if `isKubernetes` is true. */
function otherType(isKubernetes: boolean): false {
  if (isKubernetes) throw noSuchOverload()
  return false
}

type AnyNumber = number | bigint | Double | Uint

function isNumber(value: Value): value is AnyNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Double || value instanceof Uint
}

/** Returns the JavaScript number or bigint of a CEL number. JavaScript compares a bigint with a number exactly. */
function plainNumber(value: AnyNumber): number | bigint {
  return typeof value === 'object' ? value.value : value
}

function numbersEqual(a: AnyNumber, b: AnyNumber): boolean {
  const left = plainNumber(a)
  const right = plainNumber(b)
  return left >= right && left <= right
}

function listsEqual(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false
  if (a.semantics === undefined) {
    // If `a` has no schema, and the comparison of two items ends with an error, the two items count as equal (`cel-go/common/types:
    // list.go, Equal`).
    const same = a instanceof SchemaList ? readEqual : maybeEqual
    for (let index = 0; index < a.size; index += 1) {
      const left = (): Value => a.at(index)
      if (!same(left, () => b.at(index))) return false
    }
    return true
  }
  const keys = ownKeys(a)
  const own = new Map(keys.map((key, index) => [key, index]))
  return keysFor(a, b, keys).every((key, index) => {
    const known = key === undefined ? undefined : own.get(key)
    return known !== undefined && (a.semantics === 'set' || equals(a.at(known), b.at(index)))
  })
}

function mapsEqual(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  const same = a instanceof SchemaObject || a instanceof SchemaMap ? readEqual : maybeEqual
  for (const key of a.keys()) {
    const left = read(() => a.find(key))
    const right = read(() => b.find(key))
    if (left === undefined || right === undefined) {
      if (left !== right) return false
    } else if (!same(left, right)) return false
  }
  if (!(a instanceof SchemaObject)) return true
  if (!(b instanceof SchemaObject)) return a.unknownFields().length === 0 || otherType(true)
  // A field that the schema does not describe is compared as JSON, but only if both objects have this field.
  return a.unknownFields().every((field) => !Object.hasOwn(b.data, field) || jsonEqual(a.data[field], b.data[field]))
}

/**
 * Calls `find` at once. If `find` finds no entry, returns undefined. Otherwise, returns a function that returns the result of `find`, or
 * throws the `CelError` that `find` has thrown.
 */
function read(find: () => Value | undefined): (() => Value) | undefined {
  try {
    const value = find()
    return value === undefined ? undefined : () => value
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    return () => {
      throw error
    }
  }
}

/**
 * Compares two values of the same ordered type, or two numbers. Returns -1, 0 or 1.
 *
 * @throws {CelError} for other values, and for NaN.
 */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string') {
    if (typeof b === 'string') return compareStrings(a, b)
  } else if (isNumber(a)) {
    if (isNumber(b)) return compareNumbers(a, b)
  } else if (typeof a === 'boolean') {
    if (typeof b === 'boolean') return Number(a) - Number(b)
  } else if (a instanceof Timestamp) {
    if (b instanceof Timestamp) return sign(a.seconds, b.seconds) || sign(a.nanos, b.nanos)
  } else if (a instanceof Duration) {
    if (b instanceof Duration) return sign(a.nanos, b.nanos)
  } else if (a instanceof Uint8Array) {
    if (b instanceof Uint8Array) return compareBytes(a, b)
  }
  throw noSuchOverload()
}

export function isComparable(value: Value): boolean {
  return (
    ['string', 'boolean'].includes(typeof value) ||
    isNumber(value) ||
    value instanceof Timestamp ||
    value instanceof Duration ||
    value instanceof Uint8Array
  )
}

function sign<Ordered extends number | bigint>(a: Ordered, b: Ordered): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareNumbers(a: AnyNumber, b: AnyNumber): number {
  const left = plainNumber(a)
  const right = plainNumber(b)
  if (left < right) return -1
  if (left > right) return 1
  if (left >= right) return 0
  throw new CelError('NaN values cannot be ordered')
}

/**
 * Compares strings by code points. This is also the order of the strings' UTF-8 bytes, which Go compares. JavaScript compares UTF-16 units,
 * in which surrogate pairs come before U+E000 to U+FFFF.
 */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (left === right) continue
    const surrogates = [left, right].map((code) => code >= 0xd800 && code <= 0xdfff)
    return surrogates[0] === surrogates[1] ? sign(left, right) : surrogates[0] === true ? 1 : -1
  }
  return sign(a.length, b.length)
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}
