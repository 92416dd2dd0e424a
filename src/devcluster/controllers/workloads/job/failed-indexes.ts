/**
 * The failures of each index of a Job with `spec.backoffLimitPerIndex`. An annotation of each Pod counts the failed Pods that it replaces. A
 * failed Pod keeps its finalizer until it is replaced, so that its count is not lost (k8s.io/kubernetes/pkg/controller/job:
 * indexed_job_utils, backoff_utils).
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

/** The annotations of a Pod with the number of earlier failed Pods of its index: those that count, and those that are ignored. */
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

/** Returns the indexes that are not tried again because of these Pods (…/job: isIndexFailed). */
export function newlyFailedIndexes(job: Job, pods: readonly ReadonlyPod[]): readonly number[] {
  const limit = job.spec?.backoffLimitPerIndex ?? Infinity
  return pods.filter(isTracked).flatMap((pod) => {
    const index = validIndexOf(pod, job)
    if (index === undefined || !hasFailed(pod, job)) return []
    return failsIndex(job, pod) || (countsAsFailure(job, pod) && countIn(pod, failureCount) >= limit) ? [index] : []
  })
}

/**
 * Returns the failed Pod to replace of each index (…/job: getPodsWithDelayedDeletionPerIndex).
 *
 * @param ended indexes that have succeeded or failed.
 * @param current all Pods of the Job; an index with an active Pod has none to replace.
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

/** Returns the annotations of the next Pod of an index, which replaces a failed one unless it is the first (…/job: getNewIndexFailureCounts). */
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

/** Returns the time in milliseconds until a failed Pod may be replaced; 0 when it may be replaced now (…/job: getRemainingTimePerIndex). */
export function replacementDelayMs(replaced: ReadonlyPod | undefined, now: number): number {
  return replaced === undefined ? 0 : remainingDelayMs(failuresUntil(replaced) + 1, endOf(replaced), now)
}
