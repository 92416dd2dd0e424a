/**
 * Ratcheting: an update may keep invalid values that it does not change. When a schema has become stricter, users can therefore still
 * change the other fields of existing objects (`k8s.io/apiextensions-apiserver/pkg/apiserver/validation: ratcheting.go`,
 * `k8s.io/apiserver/pkg/cel/common: equality.go`).
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, jsonEqual } from '../api/json.ts'
import type { SchemaNode } from './node.ts'

/** The old value that belongs to a new value; undefined if the old value cannot be determined. */
export type OldValue = { readonly value: JsonValue } | undefined

/** Returns the old value of a field; undefined if the schema does not specify the field, or the old object does not have the field. */
export function oldField(node: SchemaNode, old: OldValue, key: string): OldValue {
  if (old === undefined || !isObject(old.value) || fieldNode(node, key) === undefined) return undefined
  const value = getOwn(old.value, key)
  return value === undefined ? undefined : { value }
}

/** Returns the old value of a list item. If the list is not of type map, returns undefined. */
export function oldItem(node: SchemaNode, old: OldValue, item: JsonValue): OldValue {
  if (old === undefined || node.listType !== 'map' || node.items === undefined || !Array.isArray(old.value)) return undefined
  const key = itemKey(node.listMapKeys, item)
  const found = key === undefined ? undefined : old.value.find((one) => itemKey(node.listMapKeys, one) === key)
  return found === undefined ? undefined : { value: found }
}

function itemKey(keys: readonly string[], item: JsonValue): string | undefined {
  if (!isObject(item)) return undefined
  const values = keys.map((key) => getOwn(item, key))
  return values.some((value) => value === undefined || typeof value === 'object') ? undefined : canonicalJson(values)
}

/**
 * Returns true if a value is unchanged. The order of the items in lists of type map is irrelevant. An object with a field that the schema
 * does not specify always counts as changed, because the old value of such a field cannot be determined.
 */
export function isUnchanged(node: SchemaNode, value: JsonValue, old: OldValue): boolean {
  if (old === undefined) return false
  const before = old.value
  if (Array.isArray(value)) {
    if (!Array.isArray(before) || before.length !== value.length) return false
    if (node.listType !== 'map' || node.items === undefined) return jsonEqual(value, before)
    return value.every((item) => isUnchanged(node.items!, item, oldItem(node, old, item)))
  }
  if (!isObject(value)) return value === before
  if (!isObject(before) || sizeOf(value) !== sizeOf(before)) return false
  return Object.keys(value).every((key) => {
    const item = value[key]
    const child = fieldNode(node, key)
    return item === undefined || (child !== undefined && isUnchanged(child, item, oldField(node, old, key)))
  })
}

function fieldNode(node: SchemaNode, key: string): SchemaNode | undefined {
  return node.properties.get(key) ?? (typeof node.additional === 'object' ? node.additional : undefined)
}

function sizeOf(object: JsonObject): number {
  return Object.values(object).filter((value) => value !== undefined).length
}
