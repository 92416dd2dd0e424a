/** Copies the fields that two versions have in common. This fallback is for an incomplete object that a converter cannot convert. */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject, setOwn } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { differences } from './compare-versions.ts'

/**
 * Returns the fields that have the same path and type in both schemas. If the two schemas of a value differ:
 *
 * - For an object, only the common fields of the object are returned.
 * - For a list with the same list map keys in both schemas, only the common fields of each item are returned.
 * - Any other value is dropped.
 */
export function sharedFields(object: JsonObject, from: StructuralSchema, to: StructuralSchema): JsonObject {
  const shared: JsonObject = {}
  for (const [key, value] of Object.entries(object)) {
    const [before, after] = [propertyOf(from, key), propertyOf(to, key)]
    if (before === undefined || after === undefined || value === undefined) continue
    const kept = sharedValue(value, before, after)
    if (kept !== undefined) setOwn(shared, key, kept)
  }
  return shared
}

function sharedValue(value: JsonValue, from: StructuralSchema, to: StructuralSchema): JsonValue | undefined {
  if (differences(from, to).length === 0) return value
  if (isObject(value) && from.properties !== undefined && to.properties !== undefined) return sharedFields(value, from, to)
  if (!Array.isArray(value) || !haveSameKeys(from, to)) return undefined
  return value.map((item) => (isObject(item) ? sharedFields(item, from.items!, to.items!) : item))
}

/**
 * Returns true if `sharedFields` can be applied to each item of a list. The schemas `from` and `to` of the list must have the same list map
 * keys in the same order, and both schemas must have `items`.
 */
function haveSameKeys(from: StructuralSchema, to: StructuralSchema): boolean {
  const [keys, others] = [from['x-kubernetes-list-map-keys'], to['x-kubernetes-list-map-keys']]
  return keys !== undefined && others !== undefined && keys.join() === others.join() && from.items !== undefined && to.items !== undefined
}

function propertyOf({ properties = {} }: StructuralSchema, key: string): StructuralSchema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined
}
