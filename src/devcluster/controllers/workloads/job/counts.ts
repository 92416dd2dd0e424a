/**
 * The counters in the status of a Job. Each Pod is counted exactly once, even if the process ends in the meantime. First, the UID of the
 * Pod is written to `status.uncountedTerminatedPods`. Then, the finalizer of the Pod is removed. Finally, the counter is incremented in the
 * request that removes the UID (k8s.io/kubernetes/pkg/controller/job: trackJobStatusAndRemoveFinalizers).
 */
import type { Pod } from '../../../../api/builtin.ts'
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { formatIndexes, indexOf, parseIndexes } from './indexes.ts'
import { hasFailed, hasSucceeded, isIndexed, isTracked } from './pods.ts'

type Job = DeepReadonly<batch.Job>
type ReadonlyPod = DeepReadonly<Pod>

export interface Counts {
  readonly succeeded: number
  readonly failed: number
  /** UIDs of ended Pods that the numbers `succeeded` and `failed` do not include yet. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  /** The indexes that have succeeded; undefined for a Job that is not Indexed. */
  readonly indexes: ReadonlySet<number> | undefined
}

/** Returns the counters in the status of a Job. */
export function countsOf(job: Job): Counts {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods, completedIndexes } = job.status ?? {}
  return {
    succeeded,
    failed,
    uncounted: { succeeded: uncountedTerminatedPods?.succeeded ?? [], failed: uncountedTerminatedPods?.failed ?? [] },
    indexes: isIndexed(job) ? parseIndexes(completedIndexes, job.spec?.completions ?? 0) : undefined,
  }
}

/** Returns the counters after the Pods without the finalizer have been moved from `uncounted` to the numbers `succeeded` and `failed`. */
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
  }
}

/** Returns true when the UID of the Pod is in `uncounted`. */
function isCounted({ metadata }: ReadonlyPod, { uncounted }: Counts): boolean {
  return uncounted.succeeded.includes(metadata.uid) || uncounted.failed.includes(metadata.uid)
}

/** Returns the Pods that have ended, still have the finalizer, and are not in `counts.uncounted`. */
export function newlyEnded(job: Job, pods: readonly ReadonlyPod[], counts: Counts): { succeeded: ReadonlyPod[]; failed: ReadonlyPod[] } {
  const ended = pods.filter((pod) => isTracked(pod) && !isCounted(pod, counts))
  return { succeeded: ended.filter(hasSucceeded), failed: ended.filter((pod) => hasFailed(pod, job)) }
}

/**
 * Returns the counters with the Pods of `newlyEnded`. Their UIDs are added to `uncounted`. In an Indexed Job, however, a succeeded Pod adds
 * only its index to `indexes`.
 *
 * @param countsAll true when the Job has failed: Pods that have not ended count as failed, too.
 */
export function counted(job: Job, pods: readonly ReadonlyPod[], counts: Counts, countsAll: boolean): Counts {
  const { succeeded, failed } = newlyEnded(job, pods, counts)
  const rest = countsAll ? pods.filter((pod) => isTracked(pod) && !isCounted(pod, counts) && !hasSucceeded(pod)) : failed
  const uids = (some: readonly ReadonlyPod[]): string[] => some.map(({ metadata }) => metadata.uid)
  const { completions = 0 } = job.spec ?? {}
  const { uncounted, indexes } = counts
  if (indexes === undefined) {
    const all = { succeeded: [...uncounted.succeeded, ...uids(succeeded)], failed: [...uncounted.failed, ...uids(rest)] }
    return { ...counts, uncounted: all }
  }
  const isValid = (pod: ReadonlyPod): boolean => (indexOf(pod) ?? completions) < completions
  const all = new Set([...indexes, ...succeeded.filter(isValid).map((pod) => indexOf(pod)!)])
  const failures = [...uncounted.failed, ...uids(rest.filter(isValid))]
  return { ...counts, succeeded: all.size, indexes: all, uncounted: { ...uncounted, failed: failures } }
}

/** Returns the counters as fields of the Job's status. The value null removes a field. */
export function countFields({ succeeded, failed, uncounted, indexes }: Counts): Readonly<Record<string, unknown>> {
  const listed = (uids: readonly string[]): readonly string[] | null => (uids.length === 0 ? null : uids)
  return {
    succeeded,
    failed,
    uncountedTerminatedPods: { succeeded: listed(uncounted.succeeded), failed: listed(uncounted.failed) },
    ...(indexes !== undefined && { completedIndexes: indexes.size === 0 ? null : formatIndexes(indexes) }),
  }
}
