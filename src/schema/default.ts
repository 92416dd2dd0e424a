/**
 * Defaulting: drops nulls of fields that are not nullable, and fills in missing fields
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting`).
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, setOwn } from '../api/json.ts'
import type { SchemaNode } from './node.ts'

type Node = Pick<SchemaNode, 'properties' | 'defaulted' | 'additional' | 'items'>

/**
 * Drops nulls in a value, and applies defaults. kube-apiserver first drops all nulls, and then applies all defaults. One pass has the same
 * result, because a dropped null never affects the default of another field. Unchanged objects and lists of `value` are not copied.
 *
 * @param dropsNulls false if the value is itself a default. Nulls in a default are dropped later, when an object with this default is
 *   decoded again.
 */
export function applyDefaults(node: Node, value: JsonValue, dropsNulls = true): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return node.items === undefined ? value : defaultItems(node.items, value, dropsNulls)
  return defaultFields(node, value, dropsNulls)
}

/** Drops each field whose value is null, unless the schema of the field is nullable or has a default. */
export function dropNulls(node: Node, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  const { items } = node
  if (Array.isArray(value)) {
    if (items === undefined) return value
    const next = value.map((item) => dropNulls(items, item))
    return next.some((item, index) => item !== value[index]) ? next : value
  }
  let copy: JsonObject | undefined
  for (const key of Object.keys(value)) {
    const child = node.properties.get(key) ?? (typeof node.additional === 'object' ? node.additional : undefined)
    const item = value[key]
    if (child === undefined || item === undefined) continue
    const next = item === null && !child.nullable && child.default === undefined ? undefined : dropNulls(child, item)
    if (next === item) continue
    copy ??= { ...value }
    if (next === undefined) delete copy[key]
    else setOwn(copy, key, next)
  }
  return copy ?? value
}

function defaultItems(items: SchemaNode, list: JsonValue[], dropsNulls: boolean): JsonValue[] {
  let copy: JsonValue[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index]!
    // A null item is never dropped. Without a default, the item stays null, and the validation of the type rejects the null.
    const next = item === null && !items.nullable ? (items.default ?? null) : applyDefaults(items, item, dropsNulls)
    if (next === item) continue
    copy ??= list.slice()
    copy[index] = next
  }
  return copy ?? list
}

function defaultFields(node: Node, object: JsonObject, dropsNulls: boolean): JsonObject {
  const { properties, defaulted } = node
  const additional = typeof node.additional === 'object' ? node.additional : undefined
  let copy: JsonObject | undefined
  if (properties.size > 0 || additional !== undefined) {
    for (const key in object) {
      const value = object[key]
      // Scalars stay unchanged, because no default can apply to them. A null can be replaced by a default, or removed. Defaults can also
      // fill in missing fields of an object, or of the objects in a list.
      if (typeof value !== 'object') continue
      const child = properties.get(key) ?? additional
      if (child === undefined) continue
      let next: JsonValue | undefined
      if (value === null && !child.nullable) next = child.default ?? (dropsNulls ? undefined : null)
      else next = applyDefaults(child, value, dropsNulls)
      if (next === value) continue
      copy ??= { ...object }
      if (next === undefined) delete copy[key]
      else setOwn(copy, key, next)
    }
  }
  for (let index = 0; index < defaulted.length; index += 1) {
    const { key, value } = defaulted[index]!
    if (getOwn(object, key) !== undefined) continue
    copy ??= { ...object }
    setOwn(copy, key, value)
  }
  return copy ?? object
}
