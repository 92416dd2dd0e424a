/**
 * The counters in the status of a Job. A Pod is counted in three steps:
 *
 * - The UID of the Pod is written to `status.uncountedTerminatedPods`.
 * - The finalizer of the Pod is removed.
 * - One request removes the UID and increments the counter.
 *
 * If the controller stops between two steps, the Pod is still counted exactly once (k8s.io/kubernetes/pkg/controller/job:
 * trackJobStatusAndRemoveFinalizers).
 */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { newlyFailedIndexes } from './failed-indexes.ts'
import { IndexSet } from './index-set.ts'
import { parseIndexes, validIndexOf } from './indexes.ts'
import { countsAsFailure } from './pod-failure-policy.ts'
import { hasFailed, hasSucceeded, isIndexed, isTracked } from './pods.ts'

type Job = DeepReadonly<batch.Job>

export interface Counts {
  readonly succeeded: number
  readonly failed: number
  /** UIDs of ended Pods that the numbers `succeeded` and `failed` do not include yet. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  /** The indexes that have succeeded; undefined for a Job that is not Indexed. */
  readonly indexes: IndexSet | undefined
  /** The indexes that have failed. A failed index gets no further Pod. Undefined for a Job without `backoffLimitPerIndex`. */
  readonly failedIndexes: IndexSet | undefined
}

/** Returns the counters in the status of a Job. */
export function countsOf(job: Job): Counts {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods, completedIndexes, failedIndexes } = job.status ?? {}
  const { completions = 0, backoffLimitPerIndex } = job.spec ?? {}
  return {
    succeeded,
    failed,
    uncounted: { succeeded: uncountedTerminatedPods?.succeeded ?? [], failed: uncountedTerminatedPods?.failed ?? [] },
    indexes: isIndexed(job) ? parseIndexes(completedIndexes, completions) : undefined,
    failedIndexes: backoffLimitPerIndex === undefined ? undefined : parseIndexes(failedIndexes, completions),
  }
}

/**
 * Returns the updated counters. If a Pod in `uncounted` no longer exists or no longer has the finalizer, the UID of the Pod is removed from
 * `uncounted`, and `succeeded` or `failed` is incremented. In an Indexed Job, `succeeded` is the number of succeeded indexes.
 */
export function settled(counts: Counts, pods: readonly ReadonlyPod[]): Counts {
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid))
  const { uncounted, indexes } = counts
  const succeeded = uncounted.succeeded.filter((uid) => tracked.has(uid))
  const failed = uncounted.failed.filter((uid) => tracked.has(uid))
  return {
    succeeded: indexes?.size ?? counts.succeeded + uncounted.succeeded.length - succeeded.length,
    failed: counts.failed + uncounted.failed.length - failed.length,
    uncounted: { succeeded, failed },
    indexes,
    failedIndexes: counts.failedIndexes,
  }
}

/**
 * Returns true when `uncounted` already contains the UID of the Pod. The controller adds the UID to `uncounted` before it increments
 * `succeeded` or `failed`, and must not add the UID a second time.
 */
function isCounted({ metadata }: ReadonlyPod, { uncounted }: Counts): boolean {
  return uncounted.succeeded.includes(metadata.uid) || uncounted.failed.includes(metadata.uid)
}

/** The Pods of a Job at the beginning of a reconcile, and the counters that result from these Pods. */
export interface Tally {
  readonly pods: readonly ReadonlyPod[]
  /**
   * The counters that `settled` returns for the Pods in `pods`. In an Indexed Job, the newly succeeded indexes of these Pods are added to
   * `indexes`, and the newly failed indexes are added to `failedIndexes`.
   */
  readonly counts: Counts
  /** The Pods that have ended, still have the finalizer, and are not in `counts.uncounted`. */
  readonly ended: { readonly succeeded: readonly ReadonlyPod[]; readonly failed: readonly ReadonlyPod[] }
}

export function tallyOf(job: Job, pods: readonly ReadonlyPod[]): Tally {
  const counts = settled(countsOf(job), pods)
  const ended = pods.filter((pod) => isTracked(pod) && !isCounted(pod, counts))
  const succeeded = ended.filter(hasSucceeded)
  return {
    pods,
    counts: withEndedIndexes(job, pods, counts, succeeded),
    ended: { succeeded, failed: ended.filter((pod) => hasFailed(pod, job)) },
  }
}

/**
 * Returns the updated counters of a Job:
 *
 * - For an Indexed Job, `indexes` of the result also contains the newly succeeded indexes. The number `succeeded` of the result is the
 *   number of all succeeded indexes.
 * - For an Indexed Job with `backoffLimitPerIndex`, `failedIndexes` of the result also contains the newly failed indexes.
 * - For a Job that is not an Indexed Job, the counters do not change.
 *
 * @param succeeded the succeeded Pods whose indexes are added to `indexes`.
 */
function withEndedIndexes(job: Job, pods: readonly ReadonlyPod[], counts: Counts, succeeded: readonly ReadonlyPod[]): Counts {
  const { indexes, failedIndexes } = counts
  if (indexes === undefined) return counts
  const all = indexes.union(IndexSet.of(succeeded.flatMap((pod) => validIndexOf(pod, job) ?? [])))
  const failed = failedIndexes?.union(IndexSet.of(newlyFailedIndexes(job, pods)))
  return { ...counts, succeeded: all.size, indexes: all, failedIndexes: failed }
}

/** Returns the indexes that have succeeded or failed. These indexes get no further Pod. */
export function endedIndexes({ indexes, failedIndexes }: Counts): IndexSet {
  return new IndexSet([...(indexes ?? []), ...(failedIndexes ?? [])])
}

/**
 * Returns the Pods in the list `failed` that the field `status.failed` of the Job counts. If a rule of the Pod failure policy with the
 * action `Ignore` matches a Pod, the Pod is not counted. In an Indexed Job, a Pod without a valid index is not counted, either.
 */
export function failures(job: Job, failed: readonly ReadonlyPod[]): readonly ReadonlyPod[] {
  return failed.filter((pod) => countsAsFailure(job, pod) && (!isIndexed(job) || validIndexOf(pod, job) !== undefined))
}

/**
 * Returns a copy of the counters. In the copy, `uncounted` also contains the UIDs of these ended Pods:
 *
 * - the succeeded Pods, unless the Job is an Indexed Job
 * - the failed Pods that `failures` returns, except those for which `isHeld` returns true
 *
 * @param countsAll true when the Job has failed. If `countsAll` is true, Pods that have not ended are counted as failed Pods.
 * @param isHeld returns true for a failed Pod that must not be counted yet.
 */
export function counted(
  job: Job,
  { pods, counts, ended }: Tally,
  countsAll: boolean,
  isHeld: (pod: ReadonlyPod) => boolean = () => false,
): Counts {
  const rest = countsAll ? pods.filter((pod) => isTracked(pod) && !isCounted(pod, counts) && !hasSucceeded(pod)) : ended.failed
  const uids = (some: readonly ReadonlyPod[]): string[] => some.map(({ metadata }) => metadata.uid)
  const { uncounted } = counts
  return {
    ...counts,
    uncounted: {
      // The UIDs of succeeded Pods are needed only to count these Pods. An Indexed Job counts the indexes in `indexes` instead, so it does
      // not need these UIDs.
      succeeded: counts.indexes === undefined ? [...uncounted.succeeded, ...uids(ended.succeeded)] : uncounted.succeeded,
      failed: [...uncounted.failed, ...uids(failures(job, rest).filter((pod) => !isHeld(pod)))],
    },
  }
}

/** Returns the counters as fields of the Job's status. The value null removes a field. */
export function countFields({ succeeded, failed, uncounted, indexes, failedIndexes }: Counts): Readonly<Record<string, unknown>> {
  const listed = (uids: readonly string[]): readonly string[] | null => (uids.length === 0 ? null : uids)
  return {
    succeeded,
    failed,
    uncountedTerminatedPods: { succeeded: listed(uncounted.succeeded), failed: listed(uncounted.failed) },
    ...(indexes !== undefined && { completedIndexes: indexes.size === 0 ? null : String(indexes) }),
    ...(failedIndexes !== undefined && { failedIndexes: String(failedIndexes) }),
  }
}
