/** Filling in defaults, copy on write. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../api/json.ts'

/** The object with `defaults` where it says nothing (or null); the same object when nothing is missing. */
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

/** The object with one field changed by `change`; the same object when that changes nothing. A field that is not there stays so. */
function changeField(object: JsonObject, key: string, change: (value: JsonValue) => JsonValue): JsonObject {
  const value = getOwn(object, key)
  if (value === undefined || value === null) return object
  const changed = change(value)
  return changed === value ? object : { ...object, [key]: changed }
}

/** The same for a field that is an object. */
export function changeObjectField(object: JsonObject, key: string, change: (value: JsonObject) => JsonObject): JsonObject {
  return changeField(object, key, (value) => (isObject(value) ? change(value) : value))
}

/** The same for the objects in a field that is a list. */
export function changeItems(object: JsonObject, key: string, change: (item: JsonObject) => JsonObject): JsonObject {
  return changeField(object, key, (value) => {
    if (!Array.isArray(value)) return value
    const changed = value.map((item) => (isObject(item) ? change(item) : item))
    return changed.some((item, index) => item !== value[index]) ? changed : value
  })
}

/** Whether two objects agree in all fields but those named. */
export function equalExcept(a: JsonObject, b: JsonObject, ...fields: readonly string[]): boolean {
  const without = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).filter(([key]) => !fields.includes(key)))
  return jsonEqual(without(a), without(b))
}
