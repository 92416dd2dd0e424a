/**
 * The failures of each index of a Job with `spec.backoffLimitPerIndex`. Annotations of each Pod contain the number of earlier failed Pods of
 * its index. A failed Pod keeps its finalizer until the index has a new Pod, so that this number is not lost
 * (k8s.io/kubernetes/pkg/controller/job: indexed_job_utils, backoff_utils).
 */
import type { Pod } from '../../../../api/builtin.ts'
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { isActive } from '../pod-state.ts'
import { validIndexOf } from './indexes.ts'
import { countsAsFailure, failsIndex } from './pod-failure-policy.ts'
import { hasFailed, isTracked } from './pods.ts'
import { endOf, remainingDelayMs } from './replacement-delays.ts'

type Job = DeepReadonly<batch.Job>
type ReadonlyPod = DeepReadonly<Pod>

/**
 * The annotations with the number of earlier failed Pods of a Pod's index. The first contains the number of Pods that count towards the limit,
 * the second the number of Pods that the failure policy ignores.
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

/** Returns the indexes that have finally failed because of these Pods (…/job: isIndexFailed). */
export function newlyFailedIndexes(job: Job, pods: readonly ReadonlyPod[]): readonly number[] {
  const limit = job.spec?.backoffLimitPerIndex ?? Infinity
  return pods.filter(isTracked).flatMap((pod) => {
    const index = validIndexOf(pod, job)
    if (index === undefined || !hasFailed(pod, job)) return []
    return failsIndex(job, pod) || (countsAsFailure(job, pod) && countIn(pod, failureCount) >= limit) ? [index] : []
  })
}

/**
 * Returns, by index, the last failed Pod of each index that needs a new Pod (…/job: getPodsWithDelayedDeletionPerIndex).
 *
 * @param ended the indexes that have succeeded or finally failed. They need no new Pod.
 * @param current all Pods of the Job. An index needs no new Pod if one of these Pods is active and has the index.
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
 * Returns the time in milliseconds until the failed Pod `replaced` may be replaced; 0 when this time has passed or no Pod is replaced
 * (…/job: getRemainingTimePerIndex).
 */
export function replacementDelayMs(replaced: ReadonlyPod | undefined, now: number): number {
  return replaced === undefined ? 0 : remainingDelayMs(failuresUntil(replaced) + 1, endOf(replaced), now)
}
