/** Sets of fields. The `fieldsV1` of an entry in `metadata.managedFields` is such a set. */
import type { JsonObject } from '../../api/json.ts'
import { canonicalJson, isObject, setOwn } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'

/**
 * A set of field paths, represented as a tree. The children are keyed by path elements in the notation of FieldsV1. `f:name` identifies a
 * field, `k:{"name":"a"}` identifies an item of a list of type map, and `v:"a"` identifies an item of a set.
 */
export interface FieldSet {
  /** True when the path from the root of the tree to this node is in the set. */
  readonly member: boolean
  readonly children: ReadonlyMap<string, FieldSet>
}

export const emptySet: FieldSet = Object.freeze({ member: false, children: new Map<string, FieldSet>() })
export const leafSet: FieldSet = Object.freeze({ member: true, children: new Map<string, FieldSet>() })

export function isEmptySet(set: FieldSet): boolean {
  return !set.member && set.children.size === 0
}

/** Builds a set from its children. Empty children are dropped. */
export function fieldSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmptySet(child))) }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map(a.children)
  for (const [element, child] of b.children) children.set(element, union(children.get(element) ?? emptySet, child))
  return { member: a.member || b.member, children }
}

/** Returns the paths that are in `a` and not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return fieldSet(
    a.member && !b.member,
    [...a.children].map(([element, child]) => [element, difference(child, b.children.get(element) ?? emptySet)] as const),
  )
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return fieldSet(
    a.member && b.member,
    [...a.children].map(([element, child]) => [element, intersection(child, b.children.get(element) ?? emptySet)] as const),
  )
}

/** Returns all paths of the set in the notation of conflict messages, such as `.spec.containers[name="a"].image`. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const own = set.member && prefix !== '' ? [prefix] : []
  const elements = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1))
  return [...own, ...elements.flatMap(([element, child]) => pathsOf(child, prefix + formatElement(element)))]
}

/** Formats a path element in the notation of conflict messages. */
export function formatElement(element: string): string {
  const value = element.slice(2)
  if (element.startsWith('f:')) return `.${value}`
  if (element.startsWith('v:')) return `[=${value}]`
  const keys = parseJson(value) as JsonObject
  return `[${Object.keys(keys)
    .sort()
    .map((key) => `${key}=${canonicalJson(keys[key])}`)
    .join(',')}]`
}

/** Returns the JSON of `fieldsV1` for the set. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {}
  if (set.member && set.children.size > 0) fields['.'] = {}
  for (const [element, child] of [...set.children].sort(([a], [b]) => (a < b ? -1 : 1))) setOwn(fields, element, toFieldsV1(child))
  return fields
}

/** Parses the JSON of `fieldsV1`. Invalid path elements are dropped. */
export function fromFieldsV1(fields: unknown, root = true): FieldSet {
  if (!isObject(fields)) return emptySet
  const entries = Object.entries(fields)
  if (entries.length === 0) return root ? emptySet : leafSet
  const children = entries.flatMap(([element, child]) => {
    const text = normalizeElement(element)
    return text === undefined ? [] : [[text, fromFieldsV1(child, false)] as const]
  })
  return fieldSet(Object.hasOwn(fields, '.'), children)
}

function normalizeElement(element: string): string | undefined {
  if (element.startsWith('f:')) return element
  if (!/^[kv]:/.test(element)) return undefined
  try {
    return element.slice(0, 2) + canonicalJson(parseJson(element.slice(2)))
  } catch {
    return undefined
  }
}
