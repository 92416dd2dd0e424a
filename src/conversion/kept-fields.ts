/**
 * Finds the fields of an object that another version cannot express, and restores them. To find them, the object is compared with the
 * result of its round trip (its conversion to the other version and back).
 */
import { hash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, jsonEqual, setOwn } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath, indexPath } from '../api/field-path.ts'

/**
 * The fields that a conversion to another version and back would lose or change, as a tree with the structure of the object. Each leaf
 * describes one field:
 *
 * - `value`: the original value, which a later conversion restores; absent if the original object lacks the field.
 * - `shown`: a digest of the value after the round trip; absent if the field is missing after the round trip.
 *
 * A tree is used instead of a list of paths, because restoring the fields of a tree visits each value of the object at most once.
 */
export type KeptFields =
  | { readonly fields: { readonly [key: string]: KeptFields } }
  /** The changed items of a list with `x-kubernetes-list-type: map`. Each item is identified by the values of its list map keys. */
  | { readonly items: readonly (readonly [JsonValue[], KeptFields])[] }
  | { readonly value?: JsonValue; readonly shown?: string }

/**
 * Compares `original` with `shown`, which is `original` after a conversion to another version and back. Returns the fields in which they
 * differ, or undefined when they are equal.
 */
export function findKeptFields(
  shown: JsonValue | undefined,
  original: JsonValue | undefined,
  schema: StructuralSchema | undefined,
): KeptFields | undefined {
  if (shown === original) return undefined
  if (isObject(shown) && isObject(original) && schema?.['x-kubernetes-map-type'] !== 'atomic') return keptInObject(shown, original, schema)
  if (jsonEqual(shown, original)) return undefined
  if (Array.isArray(shown) && Array.isArray(original)) {
    const keys = listMapKeys(schema)
    if (keys !== undefined && haveSameItems(shown, original, keys)) return keptInListMap(shown, original, keys, schema?.items)
  }
  return {
    ...(original === undefined ? {} : { value: original }),
    ...(shown === undefined ? {} : { shown: digestOf(shown) }),
  }
}

function keptInObject(shown: JsonObject, original: JsonObject, schema: StructuralSchema | undefined): KeptFields | undefined {
  let fields: { [key: string]: KeptFields } | undefined
  const visit = (key: string): void => {
    const kept = findKeptFields(getOwn(shown, key), getOwn(original, key), childSchema(schema, key))
    if (kept !== undefined) setOwn((fields ??= {}) as JsonObject, key, kept as JsonValue)
  }
  for (const key of Object.keys(original)) visit(key)
  for (const key of Object.keys(shown)) if (!Object.hasOwn(original, key)) visit(key)
  return fields === undefined ? undefined : { fields }
}

function keptInListMap(
  shown: readonly JsonValue[],
  original: readonly JsonValue[],
  keys: readonly string[],
  schema: StructuralSchema | undefined,
): KeptFields | undefined {
  const items = original.flatMap((item, index): [JsonValue[], KeptFields][] => {
    const kept = findKeptFields(shown[index], item, schema)
    return kept === undefined ? [] : [[identityOf(item, keys), kept]]
  })
  return items.length === 0 ? undefined : { items }
}

/** Paths at which stored fields must not be restored, because the schema rejects the values. */
type Refused = readonly string[]

const absent = Symbol('absent')

/**
 * Restores the stored fields in `kept`: returns a copy of `value` that contains them. If nothing is restored, returns `value` itself.
 *
 * - For each field, `kept` also contains a digest of the field as clients have received it. If the field in `value` has another digest, a
 *   client has changed the field, and the client's field is kept.
 * - `kept` is not trusted, so malformed nodes of `kept` are ignored.
 */
export function restoreKeptFields(value: JsonObject, kept: unknown, schema: StructuralSchema, refused: Refused = []): JsonObject {
  const restored = restore(value, kept, schema, '', refused)
  return isObject(restored) ? restored : value
}

function restore(
  value: JsonValue | undefined,
  kept: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  refused: Refused,
): JsonValue | undefined | typeof absent {
  if (!isObject(kept)) return value
  const { fields, items } = kept
  if (fields !== undefined) return isObject(fields) && isObject(value) ? restoreFields(value, fields, schema, path, refused) : value
  if (items !== undefined) return Array.isArray(items) && Array.isArray(value) ? restoreItems(value, items, schema, path, refused) : value
  if (refused.some((place) => isWithin(place, path) || isWithin(path, place))) return value
  if ((value === undefined ? undefined : digestOf(value)) !== kept.shown) return value
  return Object.hasOwn(kept, 'value') ? kept.value : absent
}

function restoreFields(
  object: JsonObject,
  fields: JsonObject,
  schema: StructuralSchema | undefined,
  path: string,
  refused: Refused,
): JsonObject {
  let copy: JsonObject | undefined
  for (const [key, kept] of Object.entries(fields)) {
    const before = getOwn(object, key)
    const after = restore(before, kept, childSchema(schema, key), childPath(path, key), refused)
    if (after === before) continue
    copy ??= { ...object }
    if (after === absent || after === undefined) delete copy[key]
    else setOwn(copy, key, after as JsonValue)
  }
  return copy ?? object
}

function restoreItems(
  list: JsonValue[],
  items: readonly JsonValue[],
  schema: StructuralSchema | undefined,
  path: string,
  refused: Refused,
): JsonValue[] {
  const keys = listMapKeys(schema)
  if (keys === undefined) return list
  const places = new Map(list.map((item, index) => [canonicalJson(identityOf(item, keys)), index]))
  let copy: JsonValue[] | undefined
  for (const entry of items) {
    if (!Array.isArray(entry)) continue
    const index = places.get(canonicalJson(entry[0]))
    if (index === undefined) continue
    const after = restore(list[index], entry[1], schema?.items, indexPath(path, index), refused)
    if (after === list[index] || after === absent || after === undefined) continue
    copy ??= [...list]
    copy[index] = after as JsonValue
  }
  return copy ?? list
}

/**
 * Returns whether `path` is equal to `place` or below `place`: `spec.list[0].a` is within `spec.list`, `spec.list[0]` and `spec`, but not
 * within `spec.li`.
 */
function isWithin(path: string, place: string): boolean {
  return path.startsWith(place) && (path.length === place.length || path[place.length] === '.' || path[place.length] === '[')
}

function childSchema(schema: StructuralSchema | undefined, key: string): StructuralSchema | undefined {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key]
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

function listMapKeys(schema: StructuralSchema | undefined): readonly string[] | undefined {
  return schema?.['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined
}

function identityOf(item: JsonValue | undefined, keys: readonly string[]): JsonValue[] {
  return keys.map((key) => (isObject(item) ? (getOwn(item, key) ?? null) : null))
}

/**
 * Returns whether the two lists contain the same items in the same order, and neither list contains an item twice. Two items are the same
 * if the fields that `keys` names have the same values in both items.
 */
function haveSameItems(a: readonly JsonValue[], b: readonly JsonValue[], keys: readonly string[]): boolean {
  if (a.length !== b.length) return false
  const identities = a.map((item) => canonicalJson(identityOf(item, keys)))
  return new Set(identities).size === a.length && b.every((item, index) => canonicalJson(identityOf(item, keys)) === identities[index])
}

/** Returns a digest of the value. Its 132 bits (22 characters of base64) are enough to rule out collisions. */
function digestOf(value: JsonValue): string {
  return hash('sha256', canonicalJson(value), 'base64url').slice(0, 22)
}
