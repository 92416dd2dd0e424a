/** `hasFields(actual, wanted)`: tests whether an object already has all wanted fields. */
import { isObject, jsonEqual } from './json.ts'

/**
 * Returns true when `actual` has every field that `wanted` has, with the same value. Other fields are ignored, such as defaults of the API
 * server; a list must have the same number of items, each with the wanted fields. A wanted field that is undefined counts as absent.
 *
 * Among these other fields are fields that were wanted before and are no longer. Where the set of wanted fields varies, include the
 * difference in `wanted`, for example as an annotation with the generation of the owner.
 *
 * A value that the API server stores in another form, such as the quantity `1000m`, is not equal to the one that was sent.
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
