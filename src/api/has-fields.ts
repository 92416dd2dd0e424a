/** `hasFields(actual, wanted)`: tests whether an object has all wanted fields, so a controller can avoid unnecessary writes. */
import { isObject, jsonEqual } from './json.ts'

/**
 * Returns true when `actual` has every field of `wanted`, with the same value:
 *
 * - Other fields of `actual` are ignored, for example the defaults that the API server sets.
 * - A field of `wanted` that is undefined is ignored.
 * - A list must have the same number of items. Each item must have the fields of the wanted item at the same position.
 *
 * The function does not notice that `wanted` no longer contains a field, so the field remains in the object. If the set of wanted fields
 * varies, add a field to `wanted` whose value changes with the set, for example an annotation with the generation of the owner.
 *
 * The API server normalizes some values. For example, the API server stores the quantity `1000m` as `1`. The function does not consider
 * these values equal, so `wanted` should contain the normalized form.
 *
 * @example
 * if (!hasFields(cache.get(apps.deployment, key), wanted)) await client.apply(apps.deployment, wanted)
 */
export function hasFields(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false
    return wanted.every((item, index) => hasFields(actual[index], item))
  }
  if (!isObject(wanted)) return jsonEqual(actual, wanted)
  return (
    isObject(actual) &&
    Object.keys(wanted).every((key) => wanted[key] === undefined || (Object.hasOwn(actual, key) && hasFields(actual[key], wanted[key])))
  )
}
