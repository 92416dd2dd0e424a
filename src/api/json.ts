/** Plain JSON values: all that objects are made of here. */

/** An integer beyond 2^53 is a `bigint` where it was read exactly (`readNumber`); every other number is a `number`. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject
/** A JSON object. Keys are data: `__proto__` is a key like any other and is never assigned through. */
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own property of a plain object, or undefined; inherited names such as `constructor` are not found. */
export function getOwn(object: JsonObject, key: string): JsonValue | undefined {
  const value: unknown = object[key]
  // All that an object inherits are functions, but for `__proto__`: to look at the value is quicker than to ask whose it is.
  if (typeof value !== 'function' && key !== '__proto__') return value as JsonValue | undefined
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets `key` as plain data, also when it is `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/**
 * Whether two JSON values are equal; object keys in any order, a key that is undefined counts as absent. A `number` beyond 2^53, as
 * programs make them, is equal to the `bigint` as which its text is read.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let index = 0; index < a.length; index += 1) if (!jsonEqual(a[index], b[index])) return false
    return true
  }
  if (!isObject(a) || !isObject(b)) return isNumber(a) && isNumber(b) && typeof a !== typeof b && String(a) === String(b)
  let size = 0
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    size += 1
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) size -= 1
  return size === 0
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Whether there is an integer beyond 2^53 in a value. */
export function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (Array.isArray(value)) return value.some(holdsBigint)
  return isObject(value) && Object.values(value).some(holdsBigint)
}

/** JSON text with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isObject(value)) {
    const fields = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    return `{${fields.join(',')}}`
  }
  return stringifyJson(value) ?? 'null'
}

/**
 * `JSON.stringify` for values that may have integers beyond 2^53, such as objects of a cluster: it refuses to write these, and here they
 * get all their digits.
 */
export function stringifyJson(value: object | string | number | bigint | boolean | null, space?: number): string
export function stringifyJson(value: unknown, space?: number): string | undefined
export function stringifyJson(value: unknown, space?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, space)
  } catch (error) {
    // Nearly no value has one, and to look for one in each would cost more than to try.
    if (!(error instanceof TypeError)) throw error
    return stringifyWithBigints(value, space)
  }
}

/**
 * A replacer would be called for every value of the object, which takes up to fifty times as long as to write it; `toJSON` is called for
 * the bigints alone. It is on their prototype for as long as this runs, which nothing interrupts.
 */
function stringifyWithBigints(value: unknown, space: number | undefined): string | undefined {
  if (!Reflect.defineProperty(BigInt.prototype, 'toJSON', exactDigits))
    return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? rawJson(String(item)) : item), space)
  try {
    return JSON.stringify(value, undefined, space)
  } finally {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON')
  }
}

/** Text that `JSON.stringify` writes as it is; TypeScript does not know it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

const exactDigits: PropertyDescriptor = {
  value(this: bigint) {
    return rawJson(this.toString())
  },
  configurable: true,
}

/** Freezes a JSON value and everything below it, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}

/** A field that should be a short text, for the message that it is none: an object may be nested deeper than the stack. */
export function shownInBrief(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'object' && value !== null) return 'no text'
  return stringifyJson(typeof value === 'string' ? value.slice(0, 100) : value)!
}
