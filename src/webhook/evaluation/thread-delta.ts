/**
 * The format of the result of a handler when the main thread sends the result to the worker thread. The worker thread already has the
 * original object that the handler received. Therefore, the main thread sends only the differences.
 *
 * The original object is frozen. To change a list or object inside the original object, a handler must replace the list or object with a
 * changed copy. If the result contains a list or object of the original object itself, the list or object is therefore unchanged, and the
 * main thread does not read or send its contents.
 *
 * The format is JSON:
 *
 * - A scalar is written as it is.
 * - `[1,…]` is a list of items.
 * - `[2,key,value,…]` is an object.
 * - `[0]` stands for the value at the same path in the original object.
 * - `[0,3]` stands for an item that the handler has moved within a list. The item is the fourth item of the list at the same path in the
 *   original object.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'

type Container = JsonValue[] | JsonObject
type Value = JsonValue | undefined

const same = '[0]'

/**
 * Returns a generator that serializes `value` relative to `base`, and freezes `value`. The generator yields after every `count` values, so
 * that other reviews can run in between. A key whose value is undefined counts as absent.
 */
export function* writeDelta(value: JsonObject, base: JsonObject, count: number): Generator<undefined, string> {
  return yield* new DeltaWriter(count).container(value, base)
}

class DeltaWriter {
  readonly #count: number
  #values = 0

  constructor(count: number) {
    this.#count = count
  }

  *container(value: Container, base: Value): Generator<undefined, string> {
    if (value === base) return same
    const text = Array.isArray(value) ? yield* this.#list(value, base) : yield* this.#object(value, base)
    Object.freeze(value)
    return text
  }

  *#object(object: JsonObject, base: Value): Generator<undefined, string> {
    let isSame = isObject(base)
    let fields = 0
    let text = '[2'
    for (const key of Object.keys(object)) {
      const value = object[key]
      if (value === undefined) continue
      const before = isObject(base) ? getOwn(base, key) : undefined
      const written = isContainer(value) ? yield* this.container(value, before) : value === before ? same : scalar(value)
      isSame &&= written === same
      fields += 1
      text += `,${JSON.stringify(key)},${written}`
      if (this.#isTurnOver()) yield
    }
    return isSame && fields === Object.keys(base as JsonObject).length ? same : `${text}]`
  }

  *#list(list: JsonValue[], base: Value): Generator<undefined, string> {
    const known = Array.isArray(base) ? base : undefined
    let places: ReadonlyMap<JsonValue, number> | undefined
    let isSame = known?.length === list.length
    let text = '[1'
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index]!
      let written: string
      if (known !== undefined && index < known.length && item === known[index]) written = same
      else if (!isContainer(item)) written = scalar(item)
      else {
        places ??= yield* this.#placesOf(known ?? [])
        const place = places.get(item)
        written = place === undefined ? yield* this.container(item, known?.[index]) : `[0,${place}]`
      }
      isSame &&= written === same
      text += `,${written}`
      if (this.#isTurnOver()) yield
    }
    return isSame ? same : `${text}]`
  }

  /**
   * Returns a map from each list or object in the original list to its index there. With this map, the caller finds items that the handler
   * has moved to another index.
   */
  *#placesOf(list: readonly JsonValue[]): Generator<undefined, ReadonlyMap<JsonValue, number>> {
    const places = new Map<JsonValue, number>()
    for (const [index, item] of list.entries()) {
      if (isContainer(item)) places.set(item, index)
      if (this.#isTurnOver()) yield
    }
    return places
  }

  #isTurnOver(): boolean {
    this.#values += 1
    return this.#values % this.#count === 0
  }
}

/**
 * Restores the value that `writeDelta` has serialized. The result shares all unchanged values with `base`.
 *
 * @throws {TypeError} when `base` lacks a value to which `text` refers, because `text` was serialized relative to another object.
 */
export function readDelta(text: string, base: JsonObject): JsonObject {
  return valueOf(parseJson(text), base) as JsonObject
}

function valueOf(node: JsonValue, base: Value): JsonValue {
  if (!Array.isArray(node)) return node
  if (node[0] === 1) return listOf(node, Array.isArray(base) ? base : [])
  if (node[0] === 2) return objectOf(node, isObject(base) ? base : {})
  if (base === undefined) throw new TypeError('the delta is about another object')
  return base
}

function listOf(nodes: readonly JsonValue[], base: readonly JsonValue[]): JsonValue[] {
  const list: JsonValue[] = []
  for (let index = 1; index < nodes.length; index += 1) {
    const node = nodes[index]!
    const isMoved = Array.isArray(node) && node[0] === 0 && node.length === 2
    list.push(valueOf(node, base[isMoved ? (node[1] as number) : index - 1]))
  }
  return list
}

function objectOf(nodes: readonly JsonValue[], base: JsonObject): JsonObject {
  const object: JsonObject = {}
  for (let index = 1; index < nodes.length; index += 2) {
    const key = nodes[index] as string
    setOwn(object, key, valueOf(nodes[index + 1]!, getOwn(base, key)))
  }
  return object
}

function isContainer(value: Value): value is Container {
  return typeof value === 'object' && value !== null
}

function scalar(value: Exclude<JsonValue, Container>): string {
  // A handler written in JavaScript may return values that JSON cannot represent.
  return typeof value === 'bigint' ? String(value) : ((JSON.stringify(value) as string | undefined) ?? 'null')
}
