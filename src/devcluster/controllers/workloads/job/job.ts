/** The Job controller: runs Pods until enough of them have succeeded (k8s.io/kubernetes/pkg/controller/job). */
import { pod as podType } from '../../../../api/builtin.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { formatKey } from '../../../../api/object.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController } from '../dependents.ts'
import { createPod, deletePods, slowStart } from '../pod-control.ts'
import { isActive, isTerminating } from '../pod-state.ts'
import { requeueAfterFirst } from '../../requeue-at.ts'
import { retryRefused } from '../../retry-refused.ts'
import type { Counts } from './counts.ts'
import { endedIndexes, failures, tallyOf } from './counts.ts'
import { failureCounts, podsToReplace, replacementDelayMs } from './failed-indexes.ts'
import { IndexSet } from './index-set.ts'
import { indexOf } from './indexes.ts'
import type { Outcome } from './outcome.ts'
import { deadlineInMs, earlierOutcome, earlySuccessOf, failureOf, isFinished, successOf } from './outcome.ts'
import { podsToRemove } from './pods-to-remove.ts'
import { podOf, removeFinalizer, replacesOnlyFailed } from './pods.ts'
import { ReplacementDelays } from './replacement-delays.ts'
import { writeProgress } from './status.ts'

type Job = DeepReadonly<batch.Job>

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
  const tally = tallyOf(job, pods)
  const { counts, ended } = tally
  if (job.spec?.backoffLimitPerIndex === undefined) delays.record(key, ended.succeeded, ended.failed)
  const failed = counts.failed + counts.uncounted.failed.length + failures(job, ended.failed).length
  const succeeded = counts.indexes?.size ?? counts.succeeded + counts.uncounted.succeeded.length + ended.succeeded.length
  let outcome = earlierOutcome(job) ?? failureOf(job, pods, failed, counts, now) ?? earlySuccessOf(job, counts)
  let waitMs = 0
  let error: Error | undefined
  try {
    if (outcome !== undefined) await deleteActive(job, pods.filter(isActive), outcome, context)
    else if (deletionTimestamp === undefined) waitMs = await manage(job, { pods, succeeded, counts, delays }, context)
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    error = thrown
  }
  const active = controlledBy(podsByController, job, context).filter(isActive).length
  outcome = outcome === undefined ? successOf(job, succeeded, active) : active > 0 ? undefined : outcome
  await writeProgress(job, tally, outcome, context)
  if (error !== undefined) throw error
  if (outcome !== undefined) return undefined
  return requeueAfterFirst([deadlineInMs(context.cache.get(batch.job, job.metadata) ?? job, now), waitMs])
}

/**
 * Deletes the active Pods of a Job whose outcome is decided. If the Job has failed, these Pods count as failed. If the Job has succeeded,
 * these Pods are not counted.
 */
async function deleteActive(job: Job, active: readonly ReadonlyPod[], { target }: Outcome, context: ReconcileContext): Promise<void> {
  if (target !== 'FailureTarget') await Promise.all(active.map((pod) => removeFinalizer(pod, context)))
  await deletePods(active, job, context)
}

interface Progress {
  readonly pods: readonly ReadonlyPod[]
  readonly succeeded: number
  readonly counts: Counts
  readonly delays: ReplacementDelays
}

/**
 * Creates missing Pods, or deletes surplus Pods (k8s.io/kubernetes/pkg/controller/job: manageJob). If a failed Pod must not be replaced
 * yet, resolves with the time in milliseconds until the next replacement is allowed. If no replacement is delayed, resolves with 0.
 */
async function manage(job: Job, { pods, succeeded, counts, delays }: Progress, context: ReconcileContext): Promise<number> {
  const { parallelism = 1, completions, suspend, backoffLimitPerIndex } = job.spec ?? {}
  const now = context.clock.now()
  const active = pods.filter(isActive)
  let wanted = Math.max(0, Math.min(parallelism, (completions ?? Infinity) - succeeded))
  if (completions === undefined && succeeded > 0) wanted = active.length
  if (suspend === true) wanted = 0
  const surplus = podsToRemove(job, active, Math.max(0, active.length - wanted), now).slice(0, maxPods)
  if (surplus.length > 0) {
    // The finalizer is removed before the deletion, so that these Pods are not counted as failed.
    await Promise.all(surplus.map((pod) => removeFinalizer(pod, context)))
    await deletePods(surplus, job, context)
    return 0
  }
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : []
  const missing = Math.min(maxPods, wanted - terminating.length - active.length)
  if (missing <= 0) return 0
  const delayMs = backoffLimitPerIndex === undefined ? delays.remainingMs(formatKey(job.metadata), now) : 0
  if (delayMs > 0) return delayMs
  if (counts.indexes === undefined) {
    await slowStart(missing, () => createPod(podOf(job), job, context))
    return 0
  }
  const taken = IndexSet.of([...active, ...terminating].flatMap((pod) => indexOf(pod) ?? []))
  const ended = endedIndexes(counts)
  const replaced = podsToReplace(job, pods, ended, pods)
  const pending = ended.union(taken).missing(missing, completions ?? 0)
  const delayOf = (index: number): number => replacementDelayMs(replaced.get(index), now)
  const ready = pending.filter((index) => delayOf(index) === 0)
  await slowStart(ready.length, (each) => {
    const index = ready[each]!
    return createPod(podOf(job, index, failureCounts(job, replaced.get(index))), job, context)
  })
  return ready.length === pending.length ? 0 : Math.min(...pending.map(delayOf).filter((ms) => ms > 0))
}
