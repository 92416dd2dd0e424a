/** Reads fields of objects without a TypeScript type (k8s.io/apimachinery/pkg/apis/meta/v1/unstructured). */
import type { JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'

/** Returns the value at a path of field names; undefined when a field is missing. */
export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((current, key) => (isObject(current) ? getOwn(current, key) : undefined), value)
}

/** Returns the string at a path of field names; an empty string when the field is missing or not a string. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** Returns the number at a path of field names; 0 when the field is missing or not a number. */
export function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : 0
}

/** Returns the list at a path of field names; an empty list when the field is missing or not a list. */
export function listAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Returns the number of entries of the map or list at a path of field names. */
export function sizeAt(value: JsonValue | undefined, ...path: readonly string[]): number {
  const found = at(value, ...path)
  return Array.isArray(found) ? found.length : isObject(found) ? Object.keys(found).length : 0
}
