/**
 * What of an update is as it was before. An error in such a place is tolerated: a stricter schema shall not keep old objects from
 * being changed elsewhere (apiextensions `validation/ratcheting.go`, apiserver `cel/common/equality.go`).
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, jsonEqual } from '../api/json.ts'
import type { SchemaNode } from './node.ts'

/** The old value in the place of a new one; undefined where there is none that can be told to be the same one. */
export type OldValue = { readonly value: JsonValue } | undefined

/** The old value of a field. Fields that the schema does not name have none. */
export function oldField(node: SchemaNode, old: OldValue, key: string): OldValue {
  if (old === undefined || !isObject(old.value) || fieldNode(node, key) === undefined) return undefined
  const value = getOwn(old.value, key)
  return value === undefined ? undefined : { value }
}

/** The old value of an item: only items of a list that is a map can be told apart. */
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
 * Whether a value is what it was. Lists that are maps may be in another order; an object with a field that the schema does not name
 * is never the same, for nobody can tell what the field means.
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
