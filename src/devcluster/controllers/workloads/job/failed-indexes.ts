/**
 * Counts the failures of each index of a Job with `spec.backoffLimitPerIndex` (k8s.io/kubernetes/pkg/controller/job: indexed_job_utils,
 * backoff_utils). Annotations of each Pod contain the number of earlier failed Pods with the same index. The annotations of a new Pod are
 * computed from those of the last failed Pod. The failed Pod therefore keeps its finalizer until its index has a new Pod.
 */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { isActive } from '../pod-state.ts'
import { validIndexOf } from './indexes.ts'
import { countsAsFailure, failsIndex } from './pod-failure-policy.ts'
import { hasFailed, isTracked } from './pods.ts'
import { endOf, remainingDelayMs } from './replacement-delays.ts'

type Job = DeepReadonly<batch.Job>

/**
 * Two annotations of a Pod. Each annotation contains a number of earlier Pods that had the same index and have failed:
 *
 * - `failureCount`: the number of Pods whose failure counts towards `spec.backoffLimitPerIndex`.
 * - `ignoredFailureCount`: the number of Pods whose failure is ignored because of the Pod failure policy.
 */
const failureCount = 'batch.kubernetes.io/job-index-failure-count'
const ignoredFailureCount = 'batch.kubernetes.io/job-index-ignored-failure-count'

const maxInt32 = 2 ** 31 - 1

function countIn({ metadata }: ReadonlyPod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? ''
  return /^\+?\d+$/.test(text) && Number(text) <= maxInt32 ? Number(text) : 0
}

function failuresUntil(pod: ReadonlyPod): number {
  return countIn(pod, failureCount) + countIn(pod, ignoredFailureCount)
}

/** Returns the indexes that fail because one of these Pods has failed. A failed index gets no further Pod (…/job: isIndexFailed). */
export function newlyFailedIndexes(job: Job, pods: readonly ReadonlyPod[]): readonly number[] {
  const limit = job.spec?.backoffLimitPerIndex ?? Infinity
  return pods.filter(isTracked).flatMap((pod) => {
    const index = validIndexOf(pod, job)
    if (index === undefined || !hasFailed(pod, job)) return []
    return failsIndex(job, pod) || (countsAsFailure(job, pod) && countIn(pod, failureCount) >= limit) ? [index] : []
  })
}

/**
 * Returns the failed Pods to replace, keyed by index (…/job: getPodsWithDelayedDeletionPerIndex). If an index needs a new Pod, the map
 * contains the last failed Pod of the index. If the Job has no `spec.backoffLimitPerIndex`, the map is empty.
 *
 * @param ended the indexes that have succeeded or failed. These indexes need no new Pod.
 * @param current all Pods of the Job. An index with an active Pod needs no new Pod.
 */
export function podsToReplace(
  job: Job,
  pods: readonly ReadonlyPod[],
  ended: { has(index: number): boolean },
  current: readonly ReadonlyPod[],
): ReadonlyMap<number, ReadonlyPod> {
  const last = new Map<number, ReadonlyPod>()
  if (job.spec?.backoffLimitPerIndex === undefined) return last
  const active = new Set(current.filter(isActive).map((pod) => validIndexOf(pod, job)))
  for (const pod of pods) {
    const index = validIndexOf(pod, job)
    if (index === undefined || !isTracked(pod) || !hasFailed(pod, job) || ended.has(index) || active.has(index)) continue
    const before = last.get(index)
    const isLater = before === undefined || (failuresUntil(before) <= failuresUntil(pod) && endOf(before) <= endOf(pod))
    if (isLater) last.set(index, pod)
  }
  return last
}

/**
 * Returns the annotations of the next Pod of an index (…/job: getNewIndexFailureCounts).
 *
 * @param replaced the failed Pod that the next Pod replaces; undefined for the first Pod of the index.
 */
export function failureCounts(job: Job, replaced: ReadonlyPod | undefined): Readonly<Record<string, string>> {
  if (job.spec?.backoffLimitPerIndex === undefined) return {}
  if (replaced === undefined) return { [failureCount]: '0' }
  const counts = countsAsFailure(job, replaced)
  const ignored = countIn(replaced, ignoredFailureCount) + (counts ? 0 : 1)
  return {
    [failureCount]: String(countIn(replaced, failureCount) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [ignoredFailureCount]: String(ignored) }),
  }
}

/**
 * Returns the delay in milliseconds before the Job controller may create the Pod that replaces a failed Pod (…/job:
 * getRemainingTimePerIndex). Returns 0 if the controller may create the new Pod now.
 *
 * @param replaced the failed Pod; undefined for the first Pod of the index. For the first Pod, the delay is 0.
 */
export function replacementDelayMs(replaced: ReadonlyPod | undefined, now: number): number {
  return replaced === undefined ? 0 : remainingDelayMs(failuresUntil(replaced) + 1, endOf(replaced), now)
}
