/**
 * Pruning: removes fields that the schema does not specify
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning: PruneWithOptions`).
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { setOwn } from '../api/json.ts'
import { maxNesting } from './depth.ts'
import { objectFields } from './embedded-resource.ts'
import type { SchemaNode } from './node.ts'
import { childPath, indexPath } from '../api/field-path.ts'

type Node = Pick<SchemaNode, 'properties' | 'additional' | 'items' | 'preserveUnknownFields' | 'embeddedResource'>

/** The path of the current position in the object, and the paths of the removed fields. */
interface Walk {
  readonly segments: (string | number)[]
  readonly unknown: string[]
}

/**
 * Returns the value without unknown fields, and the paths of these fields in document order. Returns the same value if it has no unknown
 * fields.
 */
export function prune<Value extends JsonValue>(node: Node, value: Value): { value: Value; unknown: readonly string[] } {
  const walk: Walk = { segments: [], unknown: [] }
  return { value: pruneValue(node, value, walk) as Value, unknown: walk.unknown }
}

function pruneValue(node: Node | undefined, value: JsonValue | undefined, walk: Walk): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value
  const keep = node?.preserveUnknownFields === true
  return Array.isArray(value) ? pruneItems(node, value, walk, keep) : pruneFields(node, value, walk, keep)
}

function pruneItems(node: Node | undefined, list: JsonValue[], walk: Walk, keep: boolean): JsonValue[] {
  // A list that is nested deeper than the limit is returned unchanged, because pruning it could exhaust the stack. The list is rejected
  // later, by the validation.
  if (walk.segments.length > maxNesting) return list
  let copy: JsonValue[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index]!
    walk.segments.push(index)
    const next = keep ? keepValue(node?.items, item, walk) : pruneValue(node?.items, item, walk)
    walk.segments.pop()
    if (next === item) continue
    copy ??= list.slice()
    copy[index] = next!
  }
  return copy ?? list
}

function pruneFields(node: Node | undefined, object: JsonObject, walk: Walk, keep: boolean): JsonObject {
  let copy: JsonObject | undefined
  for (const key in object) {
    if (node?.embeddedResource === true && objectFields.has(key)) continue
    const child = node?.properties.get(key)
    const additional = node?.additional
    if (child === undefined && additional === undefined) {
      if (keep) continue
      // JavaScript code may omit a field by setting it to undefined. Such a field is not reported as unknown.
      if (object[key] !== undefined) walk.unknown.push(pathOf(walk.segments, key))
      copy ??= { ...object }
      delete copy[key]
      continue
    }
    const value = object[key]
    walk.segments.push(key)
    const next = pruneValue(child ?? (typeof additional === 'object' ? additional : undefined), value, walk)
    walk.segments.pop()
    if (next === value) continue
    copy ??= { ...object }
    setOwn(copy, key, next!)
  }
  return copy ?? object
}

/**
 * Prunes a value below `x-kubernetes-preserve-unknown-fields`. Unknown fields are kept, but the values of specified fields are pruned with
 * the schemas of these fields.
 */
function keepValue(node: Node | undefined, value: JsonValue, walk: Walk): JsonValue {
  if (node === undefined || typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? pruneItems(node, value, walk, true) : pruneFields(node, value, walk, true)
}

function pathOf(segments: readonly (string | number)[], key: string): string {
  let path = ''
  for (const segment of segments) path = typeof segment === 'number' ? indexPath(path, segment) : childPath(path, segment)
  return childPath(path, key)
}
