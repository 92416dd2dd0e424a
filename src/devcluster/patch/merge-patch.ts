/** JSON merge patch, RFC 7386. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'

/** Returns the target with the patch merged in. Neither argument is changed. The unchanged values are not copied. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch
  const merged: JsonObject = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) delete merged[key]
    else setOwn(merged, key, mergePatch(getOwn(merged, key), value))
  }
  return merged
}
