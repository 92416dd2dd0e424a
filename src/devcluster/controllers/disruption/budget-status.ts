/** Computes the status of a PodDisruptionBudget (k8s.io/kubernetes/pkg/controller/disruption). */
import type { policy } from '../../../api/kubernetes/policy.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { deletionTimeoutMs } from '../../resources/disruption-budget.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { scaledNumber } from '../workloads/int-or-percent.ts'
import { isReady } from '../workloads/pod-state.ts'

export type Budget = DeepReadonly<policy.PodDisruptionBudget>

/**
 * Returns true if the number of expected Pods must be computed from the replicas of the Pods' controllers. This is the case if the budget
 * sets `maxUnavailable`, or if `minAvailable` is a percentage. Otherwise, returns false: the replicas are not needed.
 */
export function needsScale({ spec }: Budget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

/**
 * Returns the number of Pods that must be healthy (DisruptionController.getExpectedPodCount).
 *
 * @param expected the number of Pods that should exist.
 */
export function desiredHealthy({ spec }: Budget, expected: number): number {
  if (spec?.maxUnavailable !== undefined) return Math.max(0, expected - scaledNumber(spec.maxUnavailable, expected, { roundsUp: true }))
  return scaledNumber(spec?.minAvailable, expected, { roundsUp: true })
}

export interface DisruptedPods {
  /** The eviction times of the evicted Pods that are not in `overdue`, keyed by the name of the Pod. */
  readonly pending: Readonly<Record<string, string>>
  /** The evicted Pods that were not deleted within `deletionTimeoutMs` after the eviction. */
  readonly overdue: readonly ReadonlyPod[]
  /** The time in milliseconds until the first Pod of `pending` becomes overdue. Undefined when `pending` is empty. */
  readonly nextInMs: number | undefined
}

/**
 * Divides the evicted Pods into Pods whose deletion is still expected (`pending`) and Pods that were not deleted in time (`overdue`)
 * (DisruptionController.buildDisruptedPodMap). Pods that no longer exist or that are being deleted are ignored.
 */
export function disruptedPods({ status }: Budget, pods: readonly ReadonlyPod[], now: number): DisruptedPods {
  const pending: Record<string, string> = {}
  const overdue: ReadonlyPod[] = []
  const waits: number[] = []
  const recorded = new Map(Object.entries(status?.disruptedPods ?? {}))
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata
    const time = recorded.get(name)
    if (time === undefined || deletionTimestamp !== undefined) continue
    const remainingMs = Date.parse(time) + deletionTimeoutMs - now
    if (remainingMs < 0) overdue.push(pod)
    else {
      pending[name] = time
      waits.push(Math.max(1, remainingMs))
    }
  }
  return { pending, overdue, nextInMs: waits.length === 0 ? undefined : Math.min(...waits) }
}

/**
 * Returns the number of healthy Pods (countHealthyPods). A Pod is healthy if it is ready, is not being deleted, and is not in `pending`.
 *
 * @param pending the eviction times of the Pods that will soon be deleted, keyed by the name of the Pod.
 */
export function healthyPods(pods: readonly ReadonlyPod[], pending: Readonly<Record<string, string>>): number {
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !Object.hasOwn(pending, pod.metadata.name) && isReady(pod))
    .length
}
