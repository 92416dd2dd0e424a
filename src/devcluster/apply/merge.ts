/** Merging an applied configuration into an object, and taking out of it what is applied no longer. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { FieldSet } from './field-set.ts'
import { emptySet, isEmptySet } from './field-set.ts'
import type { Typing } from './typing.ts'
import { elementOf, itemsByElement } from './typing.ts'

/** `live` with every field of `config` laid over it. */
export function mergeConfig(live: JsonValue | undefined, config: JsonValue, typing: Typing): JsonValue {
  if (isObject(config) && isObject(live) && !typing.atomicMap) {
    const merged: JsonObject = { ...live }
    for (const [key, value] of Object.entries(config)) {
      if (value !== undefined) setOwn(merged, key, mergeConfig(getOwn(live, key), value, typing.field(key)))
    }
    return merged
  }
  if (Array.isArray(config) && Array.isArray(live)) return mergeLists(live, config, typing)
  return config
}

function mergeLists(live: JsonValue[], config: JsonValue[], typing: Typing): JsonValue[] {
  const [before, wanted] = [itemsByElement(live, typing), itemsByElement(config, typing)]
  if (before === undefined || wanted === undefined) return config
  const item = typing.item()
  const merged = new Map(
    [...before].map(([element, value]) => [element, wanted.has(element) ? mergeConfig(value, wanted.get(element)!, item) : value]),
  )
  for (const [element, value] of wanted) if (!before.has(element)) merged.set(element, value)
  // The applier's order holds where it names every item; otherwise the others keep their places.
  const complete = [...before.keys()].every((element) => wanted.has(element))
  return [...(complete ? wanted : merged).keys()].map((element) => merged.get(element)!)
}

/**
 * The value without the fields that the manager owned (`last`), claims no more (`next`), and that nobody else owns (`others`).
 * Undefined when nothing is left of it.
 */
export function pruneFields(value: JsonValue, last: FieldSet, next: FieldSet, others: FieldSet, typing: Typing): JsonValue | undefined {
  if (isObject(value)) {
    let pruned: JsonObject | undefined
    for (const [element, child] of last.children) {
      const key = element.slice(2)
      const field = element.startsWith('f:') ? getOwn(value, key) : undefined
      if (field === undefined) continue
      const left = pruneChild(field, child, next.children.get(element), others.children.get(element), typing.field(key))
      if (left === field) continue
      pruned ??= { ...value }
      if (left === undefined) delete pruned[key]
      else setOwn(pruned, key, left)
    }
    if (pruned === undefined) return value
    return Object.keys(pruned).length === 0 && !next.member && !others.member ? undefined : pruned
  }
  if (!Array.isArray(value)) return value
  const item = typing.item()
  let removed = false
  const items = value.flatMap((entry) => {
    const element = elementOf(entry, typing)
    const child = element === undefined ? undefined : last.children.get(element)
    if (element === undefined || child === undefined) return [entry]
    const left = pruneChild(entry, child, next.children.get(element), others.children.get(element), item)
    if (left !== entry) removed = true
    return left === undefined ? [] : [left]
  })
  if (!removed) return value
  return items.length === 0 && !next.member && !others.member ? undefined : items
}

function pruneChild(
  value: JsonValue,
  last: FieldSet,
  next: FieldSet = emptySet,
  others: FieldSet = emptySet,
  typing: Typing,
): JsonValue | undefined {
  if (last.member && isEmptySet(next) && isEmptySet(others)) return undefined
  return pruneFields(value, last, next, others, typing)
}
