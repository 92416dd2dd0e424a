/**
 * Determines the values that an object had only during a step of a test. Examples are a number that is too high for a moment, a condition
 * that is true for a moment, and a reason that another reason replaces.
 *
 * Values that depend only on timing are ignored:
 *
 * - A value that is the same as before or after the step, because a control plane can make a change in one write or in several.
 * - A number between the numbers before and after the step, because a control plane can count Pods one by one or all together.
 */
import { isObject, jsonEqual } from '../../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'

type Leaves = ReadonlyMap<string, JsonValue>

/**
 * Returns the values that an object had only during the step. The result has one entry for each state during the step. The entry contains
 * the values of the state, keyed by path.
 *
 * - A value is omitted if it is the same as before or after the step.
 * - A number is omitted if it is between the numbers before and after the step.
 * - An entry is omitted if it has no values, or if it is the same as the previous entry of the result.
 *
 * @param onTheWay the states during the step
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
  // A counter that is absent is zero.
  const [low, high] = [from ?? 0, to ?? 0]
  if (typeof value !== 'number' || typeof low !== 'number' || typeof high !== 'number') return false
  return Math.min(low, high) <= value && value <= Math.max(low, high)
}

/**
 * Returns all values in an object, keyed by their paths. In the path of a condition, the type of the condition replaces the index. Any list
 * other than `conditions` is one value.
 */
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
