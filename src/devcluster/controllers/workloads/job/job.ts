/** The Job controller: runs Pods until enough of them have succeeded (k8s.io/kubernetes/pkg/controller/job). */
import type { Pod } from '../../../../api/builtin.ts'
import { pod as podType } from '../../../../api/builtin.ts'
import { findCondition, formatTime } from '../../../../api/conditions.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { formatKey } from '../../../../api/object.ts'
import { isNotFound } from '../../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController } from '../dependents.ts'
import { createPod, deletePod, slowStart } from '../pod-control.ts'
import { isActive, isReady, isTerminating } from '../pod-state.ts'
import { podsToDelete } from '../pods-to-delete.ts'
import { retryRefused } from '../retry-refused.ts'
import { writeStatus } from '../workload-status.ts'
import type { Counts } from './counts.ts'
import { countFields, counted, countsOf, newlyEnded, settled } from './counts.ts'
import { indexOf, pendingIndexes } from './indexes.ts'
import type { Outcome } from './outcome.ts'
import { deadlineInMs, earlierOutcome, failureOf, isFinished, successOf } from './outcome.ts'
import { hasFailed, hasSucceeded, isTracked, podOf, replacesOnlyFailed, trackingFinalizer } from './pods.ts'
import { ReplacementDelays } from './replacement-delays.ts'

type Job = DeepReadonly<batch.Job>
type ReadonlyPod = DeepReadonly<Pod>
type Conditions = NonNullable<NonNullable<Job['status']>['conditions']>

/** Maximum number of Pods that one reconcile creates or deletes (k8s.io/kubernetes/pkg/controller/job: MaxPodCreateDeletePerSync). */
const maxPods = 500

const ownName = 'kubernetes.io/job-controller'

export function jobController(): ControllerDefinition {
  const delays = new ReplacementDelays()
  return defineController(batch.job, {
    name: 'job',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [podType],
    watches: [{ type: podType, map: mayAdopt(batch.job) }],
    indexes: [podsByController],
    reconcile: retryRefused((job: Job, context: ReconcileContext) => reconcileJob(job, delays, context)),
    deleted: (key) => Promise.resolve(delays.forget(formatKey(key))),
  })
}

/** Returns true when another controller manages the Job. */
function isManagedByOther(job: Job): boolean {
  return (job.spec?.managedBy ?? ownName) !== ownName
}

async function reconcileJob(job: Job, delays: ReplacementDelays, context: ReconcileContext): Promise<Result> {
  const { deletionTimestamp } = job.metadata
  const key = formatKey(job.metadata)
  if (isManagedByOther(job)) return undefined
  if (isFinished(job)) return delays.forget(key)
  const pods = await claimDependents(podsByController, job, context)
  const now = context.clock.now()
  const before = settled(countsOf(job), pods)
  const ended = newlyEnded(job, pods, before)
  delays.record(key, ended.succeeded, ended.failed)
  const counts = counted(job, pods, before, false)
  const failed = counts.failed + counts.uncounted.failed.length
  const succeeded = counts.indexes?.size ?? counts.succeeded + counts.uncounted.succeeded.length
  let outcome = earlierOutcome(job) ?? failureOf(job, pods, failed, now)
  let error: Error | undefined
  try {
    if (outcome !== undefined) await deleteAll(job, pods.filter(isActive), context)
    else if (deletionTimestamp === undefined) await manage(job, { pods, succeeded, indexes: counts.indexes, delays }, context)
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    error = thrown
  }
  const current = controlledBy(podsByController, job, context)
  const active = current.filter(isActive).length
  outcome = outcome === undefined ? successOf(job, succeeded, active) : active > 0 ? undefined : outcome
  await finish(job, outcome, context)
  if (error !== undefined) throw error
  const waits = [deadlineInMs(context.cache.get(batch.job, job.metadata) ?? job, now) ?? 0, delays.remainingMs(key, now)]
  const next = Math.min(...waits.filter((ms) => ms > 0))
  return Number.isFinite(next) && outcome === undefined ? { requeueAfterMs: next } : undefined
}

interface Progress {
  readonly pods: readonly ReadonlyPod[]
  readonly succeeded: number
  readonly indexes: ReadonlySet<number> | undefined
  readonly delays: ReplacementDelays
}

/** Creates missing Pods or deletes superfluous ones (k8s.io/kubernetes/pkg/controller/job: manageJob). */
async function manage(job: Job, { pods, succeeded, indexes, delays }: Progress, context: ReconcileContext): Promise<void> {
  const { parallelism = 1, completions, suspend } = job.spec ?? {}
  const active = pods.filter(isActive)
  let wanted = Math.max(0, Math.min(parallelism, (completions ?? Infinity) - succeeded))
  if (completions === undefined && succeeded > 0) wanted = active.length
  if (suspend === true) wanted = 0
  const surplus = toRemove(job, active, Math.max(0, active.length - wanted), indexes, context.clock.now()).slice(0, maxPods)
  if (surplus.length > 0) return deleteAll(job, surplus, context)
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : []
  const missing = Math.min(maxPods, wanted - terminating.length - active.length)
  if (missing <= 0 || delays.remainingMs(formatKey(job.metadata), context.clock.now()) > 0) return
  if (indexes === undefined) return slowStart(missing, () => createPod(podOf(job), job, context))
  const taken = new Set([...active, ...terminating].map((pod) => indexOf(pod) ?? -1))
  const pending = pendingIndexes(missing, completions ?? 0, indexes, taken)
  return slowStart(pending.length, (each) => createPod(podOf(job, pending[each]), job, context))
}

/** Returns the Pods to delete. In an Indexed Job, Pods whose index is taken, done or too high come first. */
function toRemove(
  job: Job,
  active: readonly ReadonlyPod[],
  count: number,
  indexes: ReadonlySet<number> | undefined,
  now: number,
): readonly ReadonlyPod[] {
  if (indexes === undefined) return podsToDelete(active, [], { count, now })
  const seen = new Set<number>()
  const useless = active.filter((pod) => {
    const index = indexOf(pod) ?? Infinity
    const isNeeded = index < (job.spec?.completions ?? 0) && !indexes.has(index) && !seen.has(index)
    seen.add(index)
    return !isNeeded
  })
  const others = active.filter((pod) => !useless.includes(pod)).toSorted((a, b) => indexOf(b)! - indexOf(a)!)
  return [...useless, ...others.slice(0, Math.max(0, count - useless.length))]
}

async function deleteAll(job: Job, pods: readonly ReadonlyPod[], context: ReconcileContext): Promise<void> {
  const results = await Promise.allSettled(pods.map((pod) => deletePod(pod, job, context)))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/**
 * Writes the status: first the uids of the Pods that have ended and the decided outcome; after the finalizers have been removed, the numbers
 * and, if no Pod runs any more, the final condition.
 */
async function finish(job: Job, outcome: Outcome | undefined, context: ReconcileContext): Promise<void> {
  const pods = controlledBy(podsByController, job, context)
  const now = context.clock.now()
  const isFailure = outcome?.target === 'FailureTarget'
  const counts = counted(job, pods, settled(countsOf(job), pods), isFailure)
  const conditions = withOutcome(suspension(job, outcome, context), outcome, now)
  await write(job, pods, counts, { conditions, startTime: startTimeOf(job, outcome, now) }, context)
  const isDeleted = job.metadata.deletionTimestamp !== undefined
  const done = pods.filter((pod) => isTracked(pod) && (isDeleted || outcome !== undefined || hasSucceeded(pod) || hasFailed(pod, job)))
  await Promise.all(done.map((pod) => removeFinalizer(pod, context)))
  const left = controlledBy(podsByController, job, context)
  const final = settled(counts, left)
  const isDone =
    outcome !== undefined && final.uncounted.succeeded.length + final.uncounted.failed.length === 0 && !left.some(isTerminating)
  const stored = context.cache.get(batch.job, job.metadata)
  if (stored === undefined || (done.length === 0 && !isDone)) return
  if (!isDone) return write(stored, left, final, {}, context)
  const type = isFailure ? 'Failed' : 'Complete'
  const { reason, message } = outcome
  const ends = [...conditions, conditionOf(type, reason, message, now)]
  await write(stored, left, final, { conditions: ends, ...(!isFailure && { completionTime: formatTime(now) }) }, context)
  if (isFailure) context.events.event(job, 'Warning', reason, message)
  else context.events.event(job, 'Normal', 'Completed', 'Job completed')
}

function write(
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
  return writeStatus(batch.job, job, status, context, ['ready', 'terminating'])
}

function conditionOf(type: string, reason: string, message: string, now: number, status = 'True'): Conditions[number] {
  const time = formatTime(now)
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message }
}

function withOutcome(conditions: Conditions, outcome: Outcome | undefined, now: number): Conditions {
  if (outcome === undefined || findCondition(conditions, outcome.target) !== undefined) return conditions
  return [...conditions, conditionOf(outcome.target, outcome.reason, outcome.message, now)]
}

/** Returns the conditions with `Suspended`, which is absent until the Job is suspended for the first time. */
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

/** Returns `status.startTime`: the time at which the Job began or was resumed; null while it is suspended. */
function startTimeOf({ spec, status }: Job, outcome: Outcome | undefined, now: number): string | null | undefined {
  if (outcome !== undefined) return status?.startTime ?? formatTime(now)
  if (spec?.suspend === true) return null
  const wasSuspended = findCondition(status?.conditions, 'Suspended')?.status === 'True'
  return wasSuspended ? formatTime(now) : (status?.startTime ?? formatTime(now))
}

/** Removes the finalizer of a Pod that has been counted. */
export async function removeFinalizer({ metadata }: ReadonlyPod, { client }: ReconcileContext): Promise<void> {
  const finalizers = (metadata.finalizers ?? []).filter((one) => one !== trackingFinalizer)
  const patch = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, finalizers } }
  await client.patch(podType, metadata, patch).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
