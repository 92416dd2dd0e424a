/** The conditions of a PodDisruptionBudget. Evictions and the disruption controller write these conditions. */
import type { Condition, ConditionInput } from '../../api/conditions.ts'
import { mergeConditions } from '../../api/conditions.ts'

/**
 * Time in milliseconds within which an evicted Pod is expected to be deleted. After this time, the Pod no longer counts as disrupted
 * (k8s.io/kubernetes/pkg/controller/disruption: DeletionTimeout).
 */
export const deletionTimeoutMs = 120_000

const conditionType = 'DisruptionAllowed'

/**
 * Returns the conditions of a budget that allows `allowed` disruptions (k8s.io/component-helpers/apps/poddisruptionbudget:
 * UpdateDisruptionAllowedCondition).
 *
 * @param at `at.now` is the current time. `at.generation` is the value for the field `observedGeneration` of the condition.
 */
export function withDisruptionAllowed(
  conditions: readonly Condition[] | undefined,
  allowed: number,
  at: { readonly now: number; readonly generation: number | undefined },
): Condition[] {
  const isAllowed = allowed > 0
  const reason = isAllowed ? 'SufficientPods' : 'InsufficientPods'
  return withCondition(conditions, { type: conditionType, status: isAllowed ? 'True' : 'False', reason, message: '' }, at)
}

/** Returns the conditions of a budget whose status could not be computed. */
export function withSyncFailed(
  conditions: readonly Condition[] | undefined,
  message: string,
  at: { readonly now: number; readonly generation: number | undefined },
): Condition[] {
  return withCondition(conditions, { type: conditionType, status: 'False', reason: 'SyncFailed', message }, at)
}

function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: ConditionInput,
  at: { readonly now: number; readonly generation: number | undefined },
): Condition[] {
  return mergeConditions(conditions, [condition], at)
}
