/** Finds the differences between two JSON values. The path of a difference is as deep as possible. */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../../src/api/json.ts'
import { child, valueAt } from './path.ts'

export interface Difference {
  readonly path: string
  /** The value from the real API server; undefined when its response has no such value. */
  readonly real: JsonValue | undefined
  readonly embedded: JsonValue | undefined
}

/**
 * Sets of fields that can identify the items of a list. A set identifies the items if every item has at least one of the fields, and if no
 * two items have the same values in all these fields. For each list, the first set that identifies the items is used.
 */
const identities: readonly (readonly string[])[] = [
  ['metadata.namespace', 'metadata.name'],
  ['name'],
  ['type'],
  ['resource'],
  ['groupVersion'],
  ['version'],
  ['manager', 'operation', 'apiVersion', 'subresource'],
  ['subresource'],
]

/**
 * Returns the differences between `real` and `embedded`. List items are compared by identity, or by position if the items have no
 * identities (see `keyFunction`).
 *
 * In each object or list, the differences have this order:
 *
 * 1. differences in fields or items of `real`, in the order of `real`
 * 2. differences in fields or items that exist only in `embedded`
 * 3. the difference in the order of the list items
 *
 * @example
 * differencesOf({ a: 1, b: [{ name: 'x' }] }, { a: 1, b: [] }) // [{ path: 'b[x]', real: { name: 'x' }, embedded: undefined }]
 */
export function differencesOf(real: JsonValue | undefined, embedded: JsonValue | undefined, path = ''): Difference[] {
  if (real === undefined && embedded === undefined) return []
  if (real !== undefined && embedded !== undefined) {
    if (jsonEqual(real, embedded)) return []
    if (isObject(real) && isObject(embedded) && (real.kind === embedded.kind || (real.kind !== 'Status' && embedded.kind !== 'Status')))
      return ofObjects(real, embedded, path)
    if (Array.isArray(real) && Array.isArray(embedded)) return ofLists(real, embedded, path)
  }
  return [{ path, real, embedded }]
}

function ofObjects(real: JsonObject, embedded: JsonObject, path: string): Difference[] {
  const keys = new Set([...Object.keys(real), ...Object.keys(embedded)])
  return [...keys].flatMap((key) => differencesOf(getOwn(real, key), getOwn(embedded, key), child(path, key)))
}

function ofLists(real: readonly JsonValue[], embedded: readonly JsonValue[], path: string): Difference[] {
  const keyOf = keyFunction(path, [...real], [...embedded])
  if (keyOf === undefined) {
    const length = Math.max(real.length, embedded.length)
    return Array.from({ length }, (_, index) => differencesOf(real[index], embedded[index], `${path}[${index}]`)).flat()
  }
  const [left, right] = [real, embedded].map((list) => new Map(list.map((item) => [keyOf(item)!, item])))
  const keys = [...new Set([...left!.keys(), ...right!.keys()])]
  const found = keys.flatMap((key) => differencesOf(left!.get(key), right!.get(key), `${path}[${key}]`))
  const [orderLeft, orderRight] = [[...left!.keys()].filter((key) => right!.has(key)), [...right!.keys()].filter((key) => left!.has(key))]
  if (jsonEqual(orderLeft, orderRight)) return found
  return [...found, { path: `${path}[order]`, real: orderLeft, embedded: orderRight }]
}

type KeyOf = (item: JsonValue) => string | undefined

/** The paths of lists whose items are compared by position: the events of a watch, and the cells of a table. */
const byPlace = /(?:^|\.)(?:events|cells)$/

/**
 * Returns the function that determines the identity of an item. If the items are compared by position, or if no function identifies the
 * items of both lists, `keyFunction` returns undefined. The identity of a string is the string itself.
 */
function keyFunction(path: string, ...lists: [JsonValue[], JsonValue[]]): KeyOf | undefined {
  if (byPlace.test(path)) return undefined
  const text: KeyOf = (item) => (typeof item === 'string' ? item : undefined)
  const byFields = identities.map((paths): KeyOf => {
    return (item) => {
      const values = paths.map((path) => valueAt(item, path))
      return typeof values.findLast((value) => value !== undefined) === 'string'
        ? values.filter((value) => value !== undefined).join('/')
        : undefined
    }
  })
  return [text, ...byFields].find((keyOf) =>
    lists.every((list) => {
      const keys = list.map(keyOf)
      return keys.every((key) => key !== undefined && key.length < 200) && new Set(keys).size === keys.length
    }),
  )
}
