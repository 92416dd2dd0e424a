/** The static types of JSON values, and functions that compare, serialize and freeze them. */

/** A JSON value. An integer beyond 2^53 is a `bigint` if it was parsed exactly (see `readNumber`). All other numbers are a `number`. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject
/**
 * A JSON object. Its keys come from clients, so `__proto__` is a key like any other. To set a key, use `setOwn`: an assignment to
 * `__proto__` would change the prototype instead.
 */
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

/** Returns the property of a JSON object; undefined when it is absent. Inherited properties, such as `constructor`, count as absent. */
export function getOwn(object: JsonObject, key: string): JsonValue | undefined {
  const value: unknown = object[key]
  // `object[key]` returns an inherited property if the object has no property of this name. All inherited properties except `__proto__` are
  // functions. Testing for a function is faster than `Object.hasOwn`.
  if (typeof value !== 'function' && key !== '__proto__') return value as JsonValue | undefined
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets a property of a JSON object. `__proto__` becomes an ordinary property, whereas an assignment would change the prototype. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/**
 * Returns true when two JSON values are equal. The order of keys is irrelevant. A key whose value is undefined counts as absent. A `number`
 * beyond 2^53 is equal to the `bigint` with the same digits.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let index = 0; index < a.length; index += 1) if (!jsonEqual(a[index], b[index])) return false
    return true
  }
  if (!isObject(a) || !isObject(b)) return isNumber(a) && isNumber(b) && String(a) === String(b)
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

/** Returns true when a JSON value contains a `bigint`, i.e. an exact integer beyond 2^53. */
export function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (Array.isArray(value)) return value.some(holdsBigint)
  return isObject(value) && Object.values(value).some(holdsBigint)
}

/** Returns a value as JSON with sorted keys. Equal values have the same JSON. */
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
 * Serializes a value like `JSON.stringify`, but writes a `bigint`, i.e. an integer beyond 2^53, with all its digits. `JSON.stringify`
 * throws for a `bigint`.
 */
export function stringifyJson(value: object | string | number | bigint | boolean | null, space?: number): string
export function stringifyJson(value: unknown, space?: number): string | undefined
export function stringifyJson(value: unknown, space?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, space)
  } catch (error) {
    // Few values contain a `bigint`, so it is cheaper to try `JSON.stringify` first than to search each value for a `bigint`.
    if (!(error instanceof TypeError)) throw error
    return stringifyWithBigints(value, space)
  }
}

/**
 * Serializes a value that contains a `bigint`. During this synchronous call, `toJSON` is defined on the prototype of `BigInt`. A replacer
 * would be up to fifty times slower, because `JSON.stringify` calls it for every value. The replacer is used only if the prototype cannot
 * be changed.
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

/** Returns a value that `JSON.stringify` writes as the given characters. TypeScript does not declare `JSON.rawJSON` yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

const exactDigits: PropertyDescriptor = {
  value(this: bigint) {
    return rawJson(this.toString())
  },
  configurable: true,
}

/**
 * Freezes a JSON value and all values in it, and returns it. An object or array that is already frozen is skipped, because all values in it
 * are assumed to be frozen as well.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}

/**
 * Returns a short description of an invalid field's value for a message. An object is not serialized, because a deeply nested object could
 * exhaust the stack.
 */
export function shownInBrief(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'object' && value !== null) return 'no text'
  return stringifyJson(typeof value === 'string' ? value.slice(0, 100) : value)!
}
