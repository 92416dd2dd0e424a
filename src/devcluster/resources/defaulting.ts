/**
 * Functions that apply defaults to fields of objects, change the fields, and compare them. No function changes its arguments. A changed
 * object is always a copy.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../api/json.ts'

/**
 * Sets each missing or null field to its value in `defaults`, in a copy of the object. If no default applies, returns the object itself.
 */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  let filled: JsonObject | undefined
  for (const [key, value] of Object.entries(defaults)) {
    const given = getOwn(object, key)
    if (value === undefined || (given !== undefined && given !== null)) continue
    filled ??= { ...object }
    filled[key] = value
  }
  return filled ?? object
}

/**
 * Returns a copy of the object in which `change` has replaced the value of one field. If the field is missing or null, or if `change`
 * returns the same value, the function returns the object itself.
 */
function changeField(object: JsonObject, key: string, change: (value: JsonValue) => JsonValue): JsonObject {
  const value = getOwn(object, key)
  if (value === undefined || value === null) return object
  const changed = change(value)
  return changed === value ? object : { ...object, [key]: changed }
}

/** Changes a field whose value is a JSON object. */
export function changeObjectField(object: JsonObject, key: string, change: (value: JsonObject) => JsonObject): JsonObject {
  return changeField(object, key, (value) => (isObject(value) ? change(value) : value))
}

/** Changes the JSON objects in a list field. */
export function changeItems(object: JsonObject, key: string, change: (item: JsonObject) => JsonObject): JsonObject {
  return changeField(object, key, (value) => {
    if (!Array.isArray(value)) return value
    const changed = value.map((item) => (isObject(item) ? change(item) : item))
    return changed.some((item, index) => item !== value[index]) ? changed : value
  })
}

/** Returns true when two objects are equal, except for the named fields. */
export function equalExcept(a: JsonObject, b: JsonObject, ...fields: readonly string[]): boolean {
  const without = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).filter(([key]) => !fields.includes(key)))
  return jsonEqual(without(a), without(b))
}
