/** The Job controller: runs Pods until enough of them have succeeded (k8s.io/kubernetes/pkg/controller/job). */
import type { Pod } from '../../../../api/builtin.ts'
import { pod as podType } from '../../../../api/builtin.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { formatKey } from '../../../../api/object.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import { claimDependents, controlledBy, mayAdopt, podsByController } from '../dependents.ts'
import { createPod, deletePods, slowStart } from '../pod-control.ts'
import { isActive, isTerminating } from '../pod-state.ts'
import { retryRefused } from '../retry-refused.ts'
import { counted, countsOf, newlyEnded, settled } from './counts.ts'
import { indexOf, pendingIndexes } from './indexes.ts'
import { deadlineInMs, earlierOutcome, failureOf, isFinished, successOf } from './outcome.ts'
import { podsToRemove } from './pods-to-remove.ts'
import { podOf, replacesOnlyFailed } from './pods.ts'
import { ReplacementDelays } from './replacement-delays.ts'
import { writeProgress } from './status.ts'

type Job = DeepReadonly<batch.Job>
type ReadonlyPod = DeepReadonly<Pod>

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
    if (outcome !== undefined) await deletePods(pods.filter(isActive), job, context)
    else if (deletionTimestamp === undefined) await manage(job, { pods, succeeded, indexes: counts.indexes, delays }, context)
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    error = thrown
  }
  const current = controlledBy(podsByController, job, context)
  const active = current.filter(isActive).length
  outcome = outcome === undefined ? successOf(job, succeeded, active) : active > 0 ? undefined : outcome
  await writeProgress(job, outcome, context)
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

/** Creates missing Pods, or deletes surplus Pods (k8s.io/kubernetes/pkg/controller/job: manageJob). */
async function manage(job: Job, { pods, succeeded, indexes, delays }: Progress, context: ReconcileContext): Promise<void> {
  const { parallelism = 1, completions, suspend } = job.spec ?? {}
  const active = pods.filter(isActive)
  let wanted = Math.max(0, Math.min(parallelism, (completions ?? Infinity) - succeeded))
  if (completions === undefined && succeeded > 0) wanted = active.length
  if (suspend === true) wanted = 0
  const surplus = podsToRemove(job, active, Math.max(0, active.length - wanted), context.clock.now()).slice(0, maxPods)
  if (surplus.length > 0) return deletePods(surplus, job, context)
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : []
  const missing = Math.min(maxPods, wanted - terminating.length - active.length)
  if (missing <= 0 || delays.remainingMs(formatKey(job.metadata), context.clock.now()) > 0) return
  if (indexes === undefined) return slowStart(missing, () => createPod(podOf(job), job, context))
  const taken = new Set([...active, ...terminating].map((pod) => indexOf(pod) ?? -1))
  const pending = pendingIndexes(missing, completions ?? 0, indexes, taken)
  return slowStart(pending.length, (each) => createPod(podOf(job, pending[each]), job, context))
}
