/** Decides whether a PodDisruptionBudget allows an eviction (k8s.io/kubernetes/pkg/registry/core/pod/storage: EvictionREST). */
import type { Condition } from '../../../api/conditions.ts'
import { findCondition, formatTime } from '../../../api/conditions.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import type { LabelSelector } from '../../../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../../../api/label-selector.ts'
import { failure } from '../../../api/status.ts'
import { forbidden, StatusError } from '../../apimachinery/status-error.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { withDisruptionAllowed } from '../../resources/disruption-budget.ts'
import { metadataText } from '../metadata.ts'

/**
 * Maximum number of Pods in `status.disruptedPods` of a budget. These Pods are evicted, but the disruption controller has not confirmed the
 * evictions yet (MaxDisruptedPodSize).
 */
const maxDisruptedPods = 2000

/** The type PodDisruptionBudget, for error messages. */
const subject = { group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudget' }

/** Returns true when no budget protects the Pod, because the Pod has not started, has ended, or is being deleted. */
export function isUnprotected(pod: JsonObject): boolean {
  return ['Pending', 'Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase')) || isBeingDeleted(pod)
}

/** Returns true when the Pod can still become ready. An eviction deletes such a Pod only if the Pod has not changed since this check. */
export function mayBecomeReady(pod: JsonObject): boolean {
  return !['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase')) && !isBeingDeleted(pod)
}

function isBeingDeleted(pod: JsonObject): boolean {
  return at(pod, 'metadata', 'deletionTimestamp') !== undefined
}

/** Returns the budgets whose selector matches the Pod. An absent selector matches nothing. */
export function budgetsOf(pod: JsonObject, budgets: readonly JsonObject[]): readonly JsonObject[] {
  const labels = at(pod, 'metadata', 'labels') as Readonly<Record<string, string>> | undefined
  return budgets.filter((budget) => {
    const selector = at(budget, 'spec', 'selector')
    return isObject(selector) && matchesLabels(requirementsOf(selector as LabelSelector), labels)
  })
}

/**
 * Returns true when the Pod is not ready and the budget allows the eviction of Pods that are not ready. The eviction then does not count as
 * a disruption.
 */
export function allowsUnready(pod: JsonObject, budget: JsonObject): boolean {
  const isReady = listAt(pod, 'status', 'conditions').some((one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True')
  if (isReady) return false
  const desired = numberAt(budget, 'status', 'desiredHealthy')
  const isHealthy = desired > 0 && numberAt(budget, 'status', 'currentHealthy') >= desired
  return isHealthy || textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow'
}

/**
 * Returns the budget after the disruption of the Pod: `disruptionsAllowed` is lower by one, and `disruptedPods` contains the Pod.
 *
 * @throws {StatusError} 429 when the budget allows no disruption, or when the disruption controller has not processed the latest generation
 *   of the budget.
 * @throws {StatusError} 403 when `disruptionsAllowed` is negative, or when `disruptedPods` has more than `maxDisruptedPods` Pods.
 */
export function decremented(budget: JsonObject, podName: string, now: number): JsonObject {
  const name = metadataText(budget, 'name')
  const observed = numberAt(budget, 'status', 'observedGeneration')
  if (observed < numberAt(budget, 'metadata', 'generation')) throw stillProcessed(name)
  const allowed = numberAt(budget, 'status', 'disruptionsAllowed')
  if (allowed < 0) throw forbidden(subject, name, 'pdb disruptions allowed is negative')
  if (sizeAt(budget, 'status', 'disruptedPods') > maxDisruptedPods)
    throw forbidden(subject, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (allowed === 0) throw refused(`The disruption budget ${name} ${whyRefused(budget)}`)
  const conditions = conditionsOf(budget)
  const disruptedPods = at(budget, 'status', 'disruptedPods')
  const status = {
    ...(isObject(budget.status) ? budget.status : {}),
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...(isObject(disruptedPods) ? disruptedPods : {}), [podName]: formatTime(now) },
    ...(allowed === 1 && { conditions: withDisruptionAllowed(conditions, 0, { now, generation: observed }) }),
  }
  return { ...budget, status: status as unknown as JsonObject }
}

/**
 * Returns the 429 error with the message that the server is still processing the budget. An eviction fails with this error in two cases:
 *
 * - The disruption controller has not processed the latest generation of the budget.
 * - The Pod is not ready, the budget allows the eviction of Pods that are not ready, and the deletion of the Pod fails with a conflict. If
 *   the preconditions in the request contain a resourceVersion, the client receives the conflict instead.
 */
export function stillProcessed(budgetName: string): StatusError {
  return refused(`The disruption budget ${budgetName} is still being processed by the server.`, 10)
}

function refused(cause: string, retryAfterSeconds?: number): StatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  const causes = [{ reason: 'DisruptionBudget', message: cause }]
  return new StatusError(
    failure(429, 'TooManyRequests', message, { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }),
  )
}

function whyRefused(budget: JsonObject): string {
  const condition = findCondition(conditionsOf(budget), 'DisruptionAllowed')
  const { reason = '', message = '' } = condition?.status === 'False' ? condition : {}
  const refusal = 'does not allow evicting pods currently'
  if (message !== '' && reason === 'SyncFailed') return `${refusal} because it failed sync: ${message}`
  const [desired, current] = [numberAt(budget, 'status', 'desiredHealthy'), numberAt(budget, 'status', 'currentHealthy')]
  if (current <= desired) return `needs ${desired} healthy pods and has ${current} currently`
  return message === '' ? refusal : `${refusal} (${reason}): ${message}`
}

function conditionsOf(budget: JsonObject): readonly Condition[] {
  return listAt(budget, 'status', 'conditions').filter(isObject) as unknown as readonly Condition[]
}
