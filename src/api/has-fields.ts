/** `hasFields(actual, wanted)`: whether an object is already what it should be, as far as somebody wants something of it. */
import { isObject, jsonEqual } from './json.ts'

/**
 * Whether `actual` has everything that `wanted` has: fields that are not wanted may be there, such as those that the API server fills in;
 * lists have as many items, each with what is wanted of it. A wanted field that is undefined counts as absent.
 *
 * A field that was wanted once and is no longer is such a field, too: where that can be, let `wanted` tell, e.g. by an annotation with the
 * generation of the object that it is made of.
 *
 * What the API server writes in another way than it was sent, such as the quantity `1000m`, is not equal to what was sent.
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
