/** Writes the status of a Job, and removes the finalizers of counted Pods. */
import { findCondition, formatTime } from '../../../../api/conditions.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { controlledBy, podsByController } from '../dependents.ts'
import { isActive, isReady, isTerminating } from '../pod-state.ts'
import { writeStatus } from '../workload-status.ts'
import type { Counts, Tally } from './counts.ts'
import { countFields, counted, endedIndexes, settled } from './counts.ts'
import { podsToReplace } from './failed-indexes.ts'
import type { Outcome } from './outcome.ts'
import { hasFailed, hasSucceeded, isTracked, removeFinalizer } from './pods.ts'

type Job = DeepReadonly<batch.Job>
type Conditions = NonNullable<NonNullable<Job['status']>['conditions']>

/**
 * Writes the status of a Job, and removes the finalizers of counted Pods:
 *
 * - The first request writes the UIDs of the ended Pods that the function `counted` selects. If `outcome` is set, the request also writes
 *   the condition with the type `outcome.target`.
 * - Then the finalizers of the ended Pods are removed. A Pod that `podsToReplace` returns keeps its finalizer. If `outcome` is set or the
 *   Job is being deleted, the finalizers of all Pods in `tally` are removed instead.
 * - The second request writes the incremented counters. The request also writes the condition `Complete` or `Failed` if `outcome` is set,
 *   each ended Pod is counted, and no Pod is terminating. If no finalizer is removed and neither condition is written, there is no second
 *   request.
 *
 * @param tally the Pods with their states at the beginning of the reconcile. If a Pod ends or is deleted during the reconcile, the Pod
 *   still counts as running. Exception: if the Job has failed, Pods that have not ended count as failed.
 */
export async function writeProgress(job: Job, tally: Tally, outcome: Outcome | undefined, context: ReconcileContext): Promise<void> {
  const current = controlledBy(podsByController, job, context)
  const now = context.clock.now()
  const isFailure = outcome?.target === 'FailureTarget'
  const held = new Set(outcome === undefined ? podsToReplace(job, tally.pods, endedIndexes(tally.counts), current).values() : [])
  const counts = counted(job, tally, isFailure, (pod) => held.has(pod))
  const conditions = withOutcome(suspension(job, outcome, context), outcome, now)
  await write(job, current, counts, { conditions, startTime: startTimeOf(job, outcome, now) }, context)
  const isDeleted = job.metadata.deletionTimestamp !== undefined
  const isDone = (pod: ReadonlyPod): boolean =>
    isDeleted || outcome !== undefined || hasSucceeded(pod) || (hasFailed(pod, job) && !held.has(pod))
  const done = new Set(tally.pods.filter(isDone).map(({ metadata }) => metadata.uid))
  const released = current.filter((pod) => isTracked(pod) && done.has(pod.metadata.uid))
  await Promise.all(released.map((pod) => removeFinalizer(pod, context)))
  const left = controlledBy(podsByController, job, context)
  const final = settled(counts, left)
  const isEnd = outcome !== undefined && final.uncounted.succeeded.length + final.uncounted.failed.length === 0 && !left.some(isTerminating)
  const stored = context.cache.get(batch.job, job.metadata)
  if (stored === undefined || (released.length === 0 && !isEnd)) return
  if (!isEnd) return write(stored, left, final, {}, context)
  const type = isFailure ? 'Failed' : 'Complete'
  const { reason, message } = outcome
  const ends = [...conditions, conditionOf(type, reason, message, now)]
  await write(stored, left, final, { conditions: ends, ...(!isFailure && { completionTime: formatTime(now) }) }, context)
  reportEnd(job, outcome, final, context)
}

function reportEnd(job: Job, { target, reason, message }: Outcome, { succeeded }: Counts, { events }: ReconcileContext): void {
  if (target === 'FailureTarget') return events.event(job, 'Warning', reason, message)
  if (succeeded > (job.spec?.completions ?? Infinity))
    events.event(job, 'Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached')
  events.event(job, 'Normal', 'Completed', 'Job completed')
}

async function write(
  job: Job,
  pods: readonly ReadonlyPod[],
  counts: Counts,
  fields: Readonly<Record<string, unknown>>,
  context: ReconcileContext,
): Promise<void> {
  const active = pods.filter(isActive)
  const status = {
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    ...countFields(counts),
    ...fields,
  }
  await writeStatus(batch.job, job, status, context, ['ready', 'terminating'])
}

function conditionOf(type: string, reason: string, message: string, now: number, status = 'True'): Conditions[number] {
  const time = formatTime(now)
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message }
}

function withOutcome(conditions: Conditions, outcome: Outcome | undefined, now: number): Conditions {
  if (outcome === undefined || findCondition(conditions, outcome.target) !== undefined) return conditions
  return [...conditions, conditionOf(outcome.target, outcome.reason, outcome.message, now)]
}

/**
 * Returns the conditions of the Job, with an updated condition `Suspended`. If the status of this condition changes, records an Event. The
 * condition is absent until the Job is suspended for the first time. If `outcome` is set, returns the conditions unchanged.
 */
function suspension(job: Job, outcome: Outcome | undefined, context: ReconcileContext): Conditions {
  const { conditions = [] } = job.status ?? {}
  const isSuspended = job.spec?.suspend === true
  const current = findCondition(conditions, 'Suspended')
  if (outcome !== undefined || isSuspended === (current?.status === 'True')) return conditions
  const [reason, message] = isSuspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed']
  context.events.event(job, 'Normal', isSuspended ? 'Suspended' : 'Resumed', message)
  const changed = conditionOf('Suspended', reason, message, context.clock.now(), isSuspended ? 'True' : 'False')
  return current === undefined ? [...conditions, changed] : conditions.map((one) => (one === current ? changed : one))
}

/**
 * Returns `status.startTime`, the time at which the Job started or was last resumed. If the Job has an outcome, an existing time does not
 * change. If the Job has no outcome and is suspended, the function returns null, which removes the field.
 */
function startTimeOf({ spec, status }: Job, outcome: Outcome | undefined, now: number): string | null | undefined {
  if (outcome !== undefined) return status?.startTime ?? formatTime(now)
  if (spec?.suspend === true) return null
  const wasSuspended = findCondition(status?.conditions, 'Suspended')?.status === 'True'
  return wasSuspended ? formatTime(now) : (status?.startTime ?? formatTime(now))
}
