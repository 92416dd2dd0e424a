/**
 * Finds unknown fields of built-in types inside a custom resource, such as a misspelled field of a Pod template. The schema of the CRD does
 * not describe the fields of built-in types, so kube-apiserver neither prunes unknown fields there nor warns about them.
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { builtinNode } from './builtin-node.ts'
import type { SchemaNode } from './node.ts'
import { childPath, indexPath } from '../api/field-path.ts'

/**
 * Returns true if the schema, or a schema below it in `properties`, `items` or `additionalProperties`, describes a value of a built-in type
 * (`Type.Builtin`).
 */
export function holdsBuiltins(node: SchemaNode): boolean {
  const children = [...node.properties.values(), node.items, node.additional]
  return node.builtin !== undefined || children.some((child) => typeof child === 'object' && holdsBuiltins(child))
}

/** Returns the sorted paths of unknown fields, such as `spec.template.spec.foo`. The search stops after `limit` paths. */
export function unknownFields(root: SchemaNode, object: JsonObject, limit: number): readonly string[] {
  const walk: Walk = { segments: [], unknown: [], limit }
  visit(root, object, walk)
  return walk.unknown.sort()
}

interface Walk {
  readonly segments: (string | number)[]
  readonly unknown: string[]
  readonly limit: number
}

function visit(node: SchemaNode, value: JsonObject | JsonValue[], walk: Walk): void {
  if (Array.isArray(value)) visitItems(node, value, walk)
  else visitFields(node.builtin === undefined ? node : builtinNode(node.builtin), value, walk)
}

function visitItems({ items }: SchemaNode, list: readonly JsonValue[], walk: Walk): void {
  if (items === undefined) return
  for (let index = 0; index < list.length && walk.unknown.length < walk.limit; index += 1) {
    const item = list[index]
    if (typeof item !== 'object' || item === null) continue
    walk.segments.push(index)
    visit(items, item, walk)
    walk.segments.pop()
  }
}

function visitFields(node: SchemaNode, object: JsonObject, walk: Walk): void {
  const additional = typeof node.additional === 'object' ? node.additional : undefined
  for (const key in object) {
    if (walk.unknown.length >= walk.limit) return
    const child = node.properties.get(key) ?? additional
    if (child !== undefined) {
      const value = object[key]
      if (typeof value !== 'object' || value === null) continue
      walk.segments.push(key)
      visit(child, value, walk)
      walk.segments.pop()
    } else if (node.typeName !== undefined) walk.unknown.push(pathOf(walk.segments, key))
  }
}

function pathOf(segments: readonly (string | number)[], key: string): string {
  let path = ''
  for (const segment of segments) path = typeof segment === 'number' ? indexPath(path, segment) : childPath(path, segment)
  return childPath(path, key)
}
