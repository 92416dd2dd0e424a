/** Plain JSON values, of which all objects consist. */

/** A JSON value. An integer beyond 2^53 is a `bigint` if it was parsed exactly (`readNumber`); every other number is a `number`. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject
/** A JSON object. Keys are data: `__proto__` is an ordinary key, and code must never assign to it (see `setOwn`). */
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

/** Returns the own property of a plain object, or undefined; inherited names such as `constructor` are not found. */
export function getOwn(object: JsonObject, key: string): JsonValue | undefined {
  const value: unknown = object[key]
  // All inherited properties except `__proto__` are functions, and to check the value for that is faster than `hasOwn`.
  if (typeof value !== 'function' && key !== '__proto__') return value as JsonValue | undefined
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets `key` as plain data, even `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/**
 * Returns true when two JSON values are equal, with object keys in any order. A key whose value is undefined counts as absent. A `number`
 * beyond 2^53 is equal to the `bigint` with the same digits.
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

/** Returns true when a value contains a `bigint`, i.e. an exact integer beyond 2^53. */
export function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (Array.isArray(value)) return value.some(holdsBigint)
  return isObject(value) && Object.values(value).some(holdsBigint)
}

/** Returns JSON with sorted keys, which is the same string for equal values. */
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
 * `JSON.stringify` for values that may contain integers beyond 2^53, such as objects of a cluster: they are written with all digits,
 * whereas `JSON.stringify` throws.
 */
export function stringifyJson(value: object | string | number | bigint | boolean | null, space?: number): string
export function stringifyJson(value: unknown, space?: number): string | undefined
export function stringifyJson(value: unknown, space?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, space)
  } catch (error) {
    // Few values contain a bigint, so it is cheaper to try than to search each value for one.
    if (!(error instanceof TypeError)) throw error
    return stringifyWithBigints(value, space)
  }
}

/**
 * A replacer would be called for every value, which is up to fifty times slower; `toJSON` is called only for bigints. The prototype has it
 * only during this synchronous call.
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

/** Returns a value that `JSON.stringify` writes as the given string. TypeScript does not declare `JSON.rawJSON` yet. */
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

/** Returns a short form of an invalid field for a message, because a deeply nested object could exhaust the stack. */
export function shownInBrief(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'object' && value !== null) return 'no text'
  return stringifyJson(typeof value === 'string' ? value.slice(0, 100) : value)!
}
