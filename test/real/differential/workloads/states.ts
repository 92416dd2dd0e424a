/**
 * The states of an object on its way from one resting state to the next one, without what only timing decides.
 *
 * A control plane may write a change in one step or in several, and may count Pods one by one or all together. A value of a state on the way
 * is therefore ignored if it is that of the resting state before or after, or a number between the two. All other values are compared, in
 * their order: a number that overshoots, a condition that comes and goes, a reason that stands for a moment only.
 */
import { isObject, jsonEqual } from '../../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'

type Leaves = ReadonlyMap<string, JsonValue>

/**
 * Returns the part of each state on the way that is found neither in the resting state before nor in the one after, without repetitions. A
 * part maps paths to values.
 *
 * @example
 * momentaryValues({ replicas: 1 }, [{ replicas: 2 }, { replicas: 4 }], { replicas: 3 }) // [{ replicas: 4 }]
 */
export function momentaryValues(before: JsonObject, onTheWay: readonly JsonObject[], after: JsonObject): JsonObject[] {
  const [from, to] = [leavesOf(before), leavesOf(after)]
  const parts: JsonObject[] = []
  for (const state of onTheWay) {
    const leaves = leavesOf(state)
    const paths = new Set([...leaves.keys()].filter((path) => !isBetween(leaves.get(path), from.get(path), to.get(path))))
    const part = Object.fromEntries([...leaves].filter(([path]) => paths.has(path)).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (paths.size > 0 && !jsonEqual(part, parts.at(-1))) parts.push(part)
  }
  return parts
}

function isBetween(value: JsonValue | undefined, from: JsonValue | undefined, to: JsonValue | undefined): boolean {
  if (jsonEqual(value, from) || jsonEqual(value, to)) return true
  // An absent counter is zero.
  const [low, high] = [from ?? 0, to ?? 0]
  if (typeof value !== 'number' || typeof low !== 'number' || typeof high !== 'number') return false
  return Math.min(low, high) <= value && value <= Math.max(low, high)
}

/** Returns the values by their paths. Conditions are identified by their type; other lists are values as a whole. */
function leavesOf(value: JsonObject, path = ''): Leaves {
  const leaves = new Map<string, JsonValue>()
  for (const [key, item] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    const nested = key === 'conditions' && Array.isArray(item) ? byType(item) : item
    if (isObject(nested)) for (const [inner, leaf] of leavesOf(nested, at)) leaves.set(inner, leaf)
    else if (nested !== undefined) leaves.set(at, nested)
  }
  return leaves
}

function byType(conditions: readonly JsonValue[]): JsonObject {
  return Object.fromEntries(conditions.filter(isObject).map((condition) => [String(condition.type), condition]))
}
