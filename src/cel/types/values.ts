/** The values of CEL expressions. */
import { CelError, EvaluationPanic } from './errors.ts'
import type { Int } from './integers.ts'
import type { Type } from './types.ts'

/**
 * A CEL value. Booleans, strings and null are plain JavaScript values. An int is a number or a bigint (see `Int`), and bytes are a
 * `Uint8Array`. All other types have a class.
 */
export type Value = boolean | string | Int | null | Double | Uint | Uint8Array | Timestamp | Duration | ListValue | MapValue | Other

export type Other = TypeValue | OptionalValue | OpaqueValue

/** A CEL double. A plain JavaScript number is a CEL int, because ints are far more common than doubles in Kubernetes objects. */
export class Double {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A point in time with nanosecond precision. */
export class Timestamp {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly seconds: number
  readonly nanos: number
  /** The UTC offset with which the timestamp was written, in minutes. The timestamp is formatted with the same offset. */
  readonly offsetMinutes: number
  constructor(seconds: number, nanos: number, offsetMinutes = 0) {
    this.seconds = seconds
    this.nanos = nanos
    this.offsetMinutes = offsetMinutes
  }
}

export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/**
 * Determines how lists are compared and concatenated. The value is `set` for a list of type `set`, the names of the key fields for a list
 * of type `map`, and undefined for any other list. If the value is undefined, items are compared by index, and concatenation appends all
 * items.
 */
export type ListSemantics = 'set' | readonly string[] | undefined

export abstract class ListValue {
  abstract readonly size: number
  abstract at(index: number): Value
  readonly semantics: ListSemantics
  constructor(semantics?: ListSemantics) {
    this.semantics = semantics
  }
  *[Symbol.iterator](): Iterator<Value> {
    for (let index = 0; index < this.size; index += 1) yield this.at(index)
  }
}

/** A list that an expression created. If an item could not be converted, `items` contains the error instead, and `at` throws this error. */
export class PlainList extends ListValue {
  readonly items: readonly (Value | CelError)[]
  constructor(items: readonly (Value | CelError)[], semantics?: ListSemantics) {
    super(semantics)
    this.items = items
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    const item = this.items[index]!
    if (item instanceof CelError) throw item
    return item
  }
}

/** Returns the items of a list. If an item cannot be converted, the result contains the error of the conversion instead of the item. */
export function itemsOf(list: ListValue): (Value | CelError)[] {
  return Array.from({ length: list.size }, (_, index) => {
    try {
      return list.at(index)
    } catch (error) {
      if (error instanceof CelError) return error
      throw error
    }
  })
}

export abstract class MapValue {
  abstract readonly size: number
  abstract find(key: Value): Value | undefined
  abstract keys(): readonly Value[]
}

/**
 * A map that an expression created. A lookup by an int also finds the equal uint key, and a lookup by a uint also finds the equal int key.
 * A lookup by a double that is an integer also finds the equal int key or uint key (see `equalKeys`).
 */
export class PlainMap extends MapValue {
  readonly #entries = new Map<unknown, readonly [Value, Value]>()
  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super()
    for (const [key, value] of entries) this.#entries.set(exactKey(checkHashable(key)), [key, value])
  }
  /** Adds an entry while the map is built. If the key exists, returns false and does not change the map. */
  insert(key: Value, value: Value): boolean {
    if (this.find(key) !== undefined) return false
    this.#entries.set(exactKey(checkHashable(key)), [key, value])
    return true
  }
  get size(): number {
    return this.#entries.size
  }
  find(key: Value): Value | undefined {
    if (this.#entries.size === 0) return undefined
    const entry = this.#entries.get(exactKey(checkHashable(key)))
    if (entry !== undefined) return entry[1]
    for (const other of equalKeys(key)) {
      const found = this.#entries.get(other)
      if (found !== undefined) return found[1]
    }
    return undefined
  }
  keys(): readonly Value[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
  entries(): Iterable<readonly [Value, Value]> {
    return this.#entries.values()
  }
}

/** Returns the key. Throws `EvaluationPanic` for a key that Go cannot hash, because the Go code of kube-apiserver panics on such a key. */
function checkHashable(key: Value): Value {
  const type = key instanceof Uint8Array ? 'types.Bytes' : typeNameOf(key) === 'kubernetes.Semver' ? 'cel.Semver' : undefined
  if (type !== undefined) throw new EvaluationPanic(`runtime error: hash of unhashable type ${type}`)
  return key
}

/**
 * Converts a CEL key to a key of `#entries`. A list, a map or another object is not converted. Only a lookup by the same JavaScript object
 * finds the entry of such a key.
 */
function exactKey(key: Value): unknown {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'number' || typeof key === 'bigint') return `i${key}`
  if (key instanceof Uint) return `u${key.value}`
  if (key instanceof Double) return `f${key.value}`
  if (key instanceof Duration) return `d${key.nanos}`
  if (key instanceof Timestamp) return `t${key.seconds}.${key.nanos} ${key.offsetMinutes}`
  return key instanceof TypeValue ? `y${key.type.name}` : key
}

/**
 * Returns the further keys of `#entries` that a lookup by `key` tries:
 *
 * - for an int: the key of the equal uint
 * - for a uint: the key of the equal int
 * - for a double that is an integer: the keys of the equal int and the equal uint
 * - for any other key: none
 *
 * A lookup by an int or a uint does not find a double.
 */
function equalKeys(key: Value): string[] {
  if (typeof key === 'number' || typeof key === 'bigint') return [`u${key}`]
  if (key instanceof Uint) return [`i${key.value}`]
  if (!(key instanceof Double) || !Number.isInteger(key.value)) return []
  const text = BigInt(key.value).toString()
  return [`i${text}`, `u${text}`]
}

export class TypeValue {
  readonly type: Type
  constructor(type: Type) {
    this.type = type
  }
}

export class OptionalValue {
  readonly #value: Value | undefined
  constructor(value: Value | undefined) {
    this.#value = value
  }
  get hasValue(): boolean {
    return this.#value !== undefined
  }
  /**
   * The value of the optional; undefined if the optional is empty.
   *
   * @throws {CelError} if this is an `UnreadableOptional`. In this subclass, the getter always throws (plain-optional.ts).
   */
  get value(): Value | undefined {
    return this.#value
  }
  /** The size of the value (see `sizeOf`); 1 if the optional is empty. */
  get size(): number {
    return this.#value === undefined ? 1 : sizeOf(this.#value)
  }
}

export const none: OptionalValue = new OptionalValue(undefined)

/** A value of a library type, such as a quantity. */
export abstract class OpaqueValue {
  abstract readonly typeName: string
  abstract equals(other: OpaqueValue): boolean
}

/** Returns the name of a value's type, as in the result of `type()` and in messages. */
export function typeNameOf(value: Value): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint') return 'int'
  if (value === null) return 'null_type'
  if (value instanceof ListValue) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof OptionalValue) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof OpaqueValue) return value.typeName
  return 'bytes'
}

/**
 * Returns the size of a value for the computation of costs: the number of code points, bytes, items or entries. The size of an optional is
 * the size of its value. The size of a library value is its property `size`, if it has this property. The size of any other value is 1.
 */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return lengthOf(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof OptionalValue) return value.size
  if (value instanceof OpaqueValue) return 'size' in value && typeof value.size === 'number' ? value.size : 1
  return 1
}

const surrogate = /[\ud800-\udbff]/

/** Returns the length of a string in code points. */
export function lengthOf(text: string): number {
  // For a long string, the native search for surrogates is faster than the loop.
  if (text.length > 24 && !surrogate.test(text)) return text.length
  let length = text.length
  for (let index = 0; index < text.length; index += 1) {
    // A surrogate pair is one code point.
    const code = text.charCodeAt(index)
    if (code >= 0xd800 && code <= 0xdbff && index + 1 < text.length && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      length -= 1
      index += 1
    }
  }
  return length
}
