/** Functions for `status.conditions`, a list with `x-kubernetes-list-type: map` and the key `type`. */

/** A condition of an object (`meta/v1 Condition`). */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  /** The machine-readable reason for the status, in CamelCase. */
  reason: string
  /** The human-readable details of the status. */
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

export type ConditionInput = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>

/** Formats a time, in milliseconds since the Unix epoch, as RFC 3339 without fractions of a second, like `metav1.Time`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** The maximum length of a condition's message, in characters (k8s.io/apimachinery `pkg/apis/meta/v1`: Condition). */
const maxMessageLength = 32_768

/**
 * Returns `previous` with `changes` applied, sorted by type. `lastTransitionTime` of a condition changes only when its status changes. If
 * the same conditions are merged again for the same generation, nothing changes.
 *
 * A message that is longer than the API server accepts is cut. For example, a controller may report an error of the API server that quotes
 * a whole object.
 */
export function mergeConditions(
  previous: readonly Condition[] | undefined,
  changes: readonly ConditionInput[],
  at: { now: number; generation?: number | undefined },
): Condition[] {
  const merged = new Map((previous ?? []).map((condition) => [condition.type, condition]))
  for (const change of changes) {
    const before = merged.get(change.type)
    const lastTransitionTime = before?.status === change.status ? before.lastTransitionTime : formatTime(at.now)
    const observedGeneration = at.generation === undefined ? {} : { observedGeneration: at.generation }
    const message = change.message.slice(0, maxMessageLength).toWellFormed()
    merged.set(change.type, { ...change, message, ...observedGeneration, lastTransitionTime })
  }
  return [...merged.values()].sort((a, b) => (a.type < b.type ? -1 : 1))
}

/**
 * Returns the condition of the given type; undefined when the condition is absent. `conditions` can be the conditions of a built-in type,
 * such as Job.
 */
export function findCondition<C extends { readonly type: string }>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}
