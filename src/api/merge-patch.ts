/** Computes JSON merge patches (RFC 7386). A computed patch contains only the fields whose values it changes. */
import type { JsonObject, JsonValue } from './json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from './json.ts'

/**
 * Returns the merge patch that changes `from` to `to`; undefined when `from` and `to` are equal. A field that `to` lacks is removed. A
 * field of `to` that is null or undefined counts as absent, because a merge patch cannot set null. A list that differs is replaced as a
 * whole.
 */
export function mergePatchBetween(from: unknown, to: unknown): JsonObject | undefined {
  return difference(asObject(from), asObject(to), true)
}

/**
 * Returns the part of the merge patch `patch` that changes `object`; undefined when the patch changes nothing. A field of `object` that is
 * not in the patch does not change. A null in the patch removes a field.
 */
export function effectiveMergePatch(object: unknown, patch: unknown): JsonObject | undefined {
  return difference(asObject(object), asObject(patch), false)
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function difference(from: JsonObject, to: JsonObject, removesOthers: boolean): JsonObject | undefined {
  const patch: JsonObject = {}
  for (const key of Object.keys(to)) {
    const wanted = getOwn(to, key)
    const actual = getOwn(from, key)
    if (wanted === undefined) continue
    const changed = changeOf(actual, wanted, removesOthers)
    if (changed !== undefined) setOwn(patch, key, changed)
  }
  if (removesOthers) {
    for (const key of Object.keys(from)) {
      if (isPresent(getOwn(from, key)) && getOwn(to, key) === undefined) setOwn(patch, key, null)
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Returns the value of one field of the patch; undefined when the field does not change. */
function changeOf(actual: JsonValue | undefined, wanted: JsonValue, removesOthers: boolean): JsonValue | undefined {
  if (wanted === null) return isPresent(actual) ? null : undefined
  if (isObject(wanted) && isObject(actual)) return difference(actual, wanted, removesOthers)
  return jsonEqual(actual, wanted) ? undefined : wanted
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}
