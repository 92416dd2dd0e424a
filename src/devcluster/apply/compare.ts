/** Which fields an object has, and which of them differ between two states of it. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { FieldSet } from './field-set.ts'
import { emptySet, fieldSet, leafSet } from './field-set.ts'
import type { Typing } from './typing.ts'
import { itemsByElement } from './typing.ts'

/** A value's parts, each with its path element and typing; undefined for what is owned as a whole. */
interface Part {
  readonly value: JsonValue
  readonly typing: Typing
}
function partsOf(value: JsonValue, typing: Typing): ReadonlyMap<string, Part> | undefined {
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

/** All fields of a value with the maps and lists that hold them: what a first writer owns. */
export function everyField(value: JsonValue, typing: Typing): FieldSet {
  const parts = partsOf(value, typing)
  if (parts === undefined) return leafSet
  return fieldSet(
    true,
    [...parts].map(([element, part]) => [element, everyField(part.value, part.typing)] as const),
  )
}

/** The fields that an applied configuration claims: leaves and items of lists, but not the maps and lists that hold them. */
export function appliedFields(value: JsonValue, typing: Typing): FieldSet {
  const parts = partsOf(value, typing)
  if (parts === undefined || parts.size === 0) return leafSet
  return fieldSet(
    false,
    [...parts].map(([element, part]) => {
      const child = appliedFields(part.value, part.typing)
      return [element, element.startsWith('f:') ? child : { ...child, member: true }] as const
    }),
  )
}

export interface Comparison {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

/** What must change in `before` to get `after`. */
export function compare(before: JsonObject, after: JsonObject, typing: Typing): Comparison {
  return compareValues(before, after, typing)
}

function compareValues(before: JsonValue, after: JsonValue, typing: Typing): Comparison {
  if (before === after) return { changed: emptySet, removed: emptySet }
  // What was null was there: who fills it does not come to own it as such.
  if (before === null && typeof after === 'object') return compareValues(Array.isArray(after) ? [] : {}, after, typing)
  const [old, now] = [partsOf(before, typing), partsOf(after, typing)]
  if (old === undefined || now === undefined || Array.isArray(before) !== Array.isArray(after)) {
    if (jsonEqual(before, after)) return { changed: emptySet, removed: emptySet }
    return { changed: everyField(after, typing), removed: old === undefined ? emptySet : { ...everyField(before, typing), member: false } }
  }
  const changed: (readonly [string, FieldSet])[] = []
  const removed: (readonly [string, FieldSet])[] = []
  for (const [element, part] of now) {
    const previous = old.get(element)
    if (previous === undefined) {
      changed.push([element, everyField(part.value, part.typing)])
    } else {
      const below = compareValues(previous.value, part.value, part.typing)
      changed.push([element, below.changed])
      removed.push([element, below.removed])
    }
  }
  for (const [element, part] of old) if (!now.has(element)) removed.push([element, everyField(part.value, part.typing)])
  return { changed: fieldSet(false, changed), removed: fieldSet(false, removed) }
}
