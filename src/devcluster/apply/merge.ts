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
  return mergedOrder([...before.keys()], [...wanted.keys()]).map((element) => {
    const config = wanted.get(element)
    return config === undefined ? before.get(element)! : mergeConfig(before.get(element), config, item)
  })
}

/**
 * The order of a merged list: the applier's items in the applier's order, and the others where they were among the items
 * that both have. An item of the applier alone comes before the live ones that follow (structured-merge-diff `typed/merge.go`).
 */
function mergedOrder(live: readonly string[], applied: readonly string[]): string[] {
  const [inLive, inApplied] = [new Set(live), new Set(applied)]
  const shared = applied.filter((element) => inLive.has(element))
  const order: string[] = []
  const taken = new Set<string>()
  const take = (element: string): void => {
    order.push(element)
    taken.add(element)
    if (shared[0] === element) shared.shift()
  }
  let [l, r] = [0, 0]
  while (l < live.length || r < applied.length) {
    const [mine, theirs] = [live[l], applied[r]]
    if (mine !== undefined && mine === theirs) {
      take(mine)
      l += 1
      r += 1
    } else if (mine !== undefined && theirs !== undefined && inApplied.has(mine) && shared[0] !== undefined && shared[0] !== mine) {
      // Both have it, but it is not its turn.
      l += 1
    } else if (mine !== undefined && !inApplied.has(mine)) {
      order.push(mine)
      l += 1
    } else {
      if (mine !== undefined && taken.has(mine)) l += 1
      if (theirs !== undefined) {
        take(theirs)
        r += 1
      }
    }
  }
  return order
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
