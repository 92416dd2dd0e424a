/** Removes a set of fields from an object (structured-merge-diff/typed: remove.go). */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, setOwn } from '../../api/json.ts'
import type { FieldSet } from './field-set.ts'
import type { Typing } from './typing.ts'
import { elementOf } from './typing.ts'

/**
 * Removes the fields of the set, and everything below these fields, from a value. Returns the remaining value; null when nothing remains.
 * For an atomic map or list, always returns null.
 */
export function removeFields(value: JsonValue, fields: FieldSet, typing: Typing): JsonValue {
  if (isObject(value)) {
    if (typing.atomicMap) return null
    const left: JsonObject = {}
    for (const [key, field] of Object.entries(value)) {
      const below = fields.children.get(`f:${key}`)
      if (field === undefined || below?.member === true) continue
      setOwn(left, key, below === undefined ? field : removeFields(field, below, typing.field(key)))
    }
    return Object.keys(left).length === 0 ? null : left
  }
  if (!Array.isArray(value)) return value
  if (typing.list === 'atomic') return null
  const items = value.flatMap((item) => {
    const element = elementOf(item, typing)
    const below = element === undefined ? undefined : fields.children.get(element)
    if (below === undefined) return [item]
    return below.member ? [] : [removeFields(item, below, typing.item())]
  })
  return items.length === 0 ? null : items
}

/**
 * Returns a set that contains all fields of the given set and the parents of these fields. The parents are added because the owner of
 * `spec.replicas` also owns `spec`. Parents that are map entries or list items are not added (structured-merge-diff/fieldpath: set.go,
 * EnsureNamedFieldsAreMembers).
 */
export function withNamedFields({ member, children }: FieldSet, typing: Typing): FieldSet {
  const named = [...children].map(([element, child]) => {
    const name = element.startsWith('f:') ? element.slice(2) : undefined
    const below = withNamedFields(child, name === undefined ? typing.item() : typing.field(name))
    const isNamed = name !== undefined && typing.has(name) === 'field'
    return [element, isNamed ? { ...below, member: true } : below] as const
  })
  return { member, children: new Map(named) }
}
