/** Functions that change or default fields of objects. They do not change their arguments, and copy an object only if a field changes. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../api/json.ts'

/** Returns the object with `defaults` for missing and null fields; the same object when no default applies. */
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

/** Returns the object with one field changed; the same object when the field is missing or unchanged. */
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

/** Changes the items of a list field that are JSON objects. */
export function changeItems(object: JsonObject, key: string, change: (item: JsonObject) => JsonObject): JsonObject {
  return changeField(object, key, (value) => {
    if (!Array.isArray(value)) return value
    const changed = value.map((item) => (isObject(item) ? change(item) : item))
    return changed.some((item, index) => item !== value[index]) ? changed : value
  })
}

/** True when two objects are equal in all but the named fields. */
export function equalExcept(a: JsonObject, b: JsonObject, ...fields: readonly string[]): boolean {
  const without = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).filter(([key]) => !fields.includes(key)))
  return jsonEqual(without(a), without(b))
}
