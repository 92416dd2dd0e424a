/** Compares two states of an object field by field (structured-merge-diff/typed: compare.go). */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { FieldSet } from './field-set.ts'
import { emptySet, fieldSet, leafSet } from './field-set.ts'
import type { Typing } from './typing.ts'
import { itemsByElement } from './typing.ts'

/** The value of a field, a map entry or a list item, with the `Typing` of the value. */
interface Part {
  readonly value: JsonValue
  readonly typing: Typing
}
/** Returns the fields, entries or items of a value, keyed by path element. Returns undefined for an atomic or scalar value. */
function partsOf(value: JsonValue | undefined, typing: Typing): ReadonlyMap<string, Part> | undefined {
  if (isObject(value)) {
    if (typing.atomicMap) return undefined
    const parts = new Map<string, Part>()
    for (const [key, field] of Object.entries(value))
      if (field !== undefined) parts.set(`f:${key}`, { value: field, typing: typing.field(key) })
    return parts
  }
  if (!Array.isArray(value)) return undefined
  const items = itemsByElement(value, typing)
  if (items === undefined) return undefined
  const item = typing.item()
  return new Map([...items].map(([element, part]) => [element, { value: part, typing: item }]))
}

/**
 * Returns the set of fields of an applied configuration:
 *
 * - Each entry of a map and each item of a list is in the set, unless the map or list is atomic.
 * - A field of a struct is in the set if the value of the field is a scalar, an atomic value, or an empty map or struct.
 * - If a field of a struct has a value of another kind, such as a list of type map, the field itself is not in the set. These rules then
 *   determine which fields, entries and items in the value are in the set.
 */
export function appliedFields(value: JsonValue, typing: Typing): FieldSet {
  const parts = partsOf(value, typing)
  if (parts === undefined) return leafSet
  // If the value is an empty list, the set is empty. If the value is an empty map or struct, the set contains the path of the value.
  if (parts.size === 0) return Array.isArray(value) ? emptySet : leafSet
  return fieldSet(
    false,
    [...parts].map(([element, part]) => {
      const child = appliedFields(part.value, part.typing)
      const isField = element.startsWith('f:') && typing.has(element.slice(2)) === 'field'
      return [element, isField ? child : { ...child, member: true }] as const
    }),
  )
}

export interface Comparison {
  /** Fields that the new state adds or changes. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

const nothing: Comparison = { changed: emptySet, removed: emptySet }

/** Returns the fields that `after` adds, changes or removes, compared with `before`. */
export function compare(before: JsonObject, after: JsonObject, typing: Typing): Comparison {
  return compareValues(before, after, typing)
}

function compareValues(before: JsonValue | undefined, after: JsonValue | undefined, typing: Typing): Comparison {
  if (before === after) return nothing
  const [old, now] = [partsOf(before, typing), partsOf(after, typing)]
  if (isLeaf(before, old) || isLeaf(after, now) || (old?.size ?? 0) + (now?.size ?? 0) === 0) return compareLeaves(before, after)
  const changed: (readonly [string, FieldSet])[] = []
  const removed: (readonly [string, FieldSet])[] = []
  for (const element of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const [previous, part] = [old?.get(element), now?.get(element)]
    const below = compareValues(previous?.value, part?.value, (part ?? previous)!.typing)
    changed.push([element, below.changed])
    removed.push([element, below.removed])
  }
  // A null value counts as present. A change from null to a map or list therefore adds the fields in the map or list, but not the map or
  // list itself.
  return { changed: fieldSet(before === undefined, changed), removed: fieldSet(after === undefined, removed) }
}

/**
 * Returns true for a scalar or an atomic value, which can be compared only as a whole. Returns false for a missing or null value: if the
 * other value is a map or list, `compareValues` treats the missing or null value as an empty map or list.
 */
function isLeaf(value: JsonValue | undefined, parts: ReadonlyMap<string, Part> | undefined): boolean {
  return value !== undefined && value !== null && parts === undefined
}

function compareLeaves(before: JsonValue | undefined, after: JsonValue | undefined): Comparison {
  if (after === undefined) return { changed: emptySet, removed: leafSet }
  return before !== undefined && jsonEqual(before, after) ? nothing : { changed: leafSet, removed: emptySet }
}
