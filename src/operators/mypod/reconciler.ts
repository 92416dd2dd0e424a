/** Reconciles a MyPod: creates, updates and deletes its Pod, and derives the status from that Pod. */
import {
  core,
  findCondition,
  isAlreadyExists,
  isControlledBy,
  isForbidden,
  isInvalid,
  isNotFound,
  keyOf,
  patchStatusIfChanged,
} from 'proreus'
import type { DeepReadonly, MergePatch, ObjectInput, ReconcileContext, Result, StatusPatch } from 'proreus'
import { mypod, type MyPod } from './kind.ts'
import { changeOf, podFor } from './pod.ts'
import type { Outcome } from './status.ts'
import { statusOf } from './status.ts'

/**
 * Retry intervals in milliseconds. A change of the MyPod triggers a reconcile immediately, without waiting for the retry.
 *
 * - `PodCreateFailed`: the API server has rejected the Pod. A retry is rarely useful, because usually an administrator or a user must
 *   resolve the problem.
 * - `NameConflict`: a Pod that the MyPod does not control has the name of the MyPod. The deletion of this Pod triggers no reconcile, so
 *   only a retry detects the deletion.
 */
const retryMs = { NameConflict: 10_000, PodCreateFailed: 30_000 }

/**
 * Delay in milliseconds before the status reports that a new Pod is starting. Most Pods run before the delay has passed. The status of
 * their MyPod is then written once instead of twice.
 */
const startMs = 2_000

/**
 * If a failed Pod has one of these values in `status.reason`, the operator replaces the Pod. The values mean that the Pod was evicted or
 * preempted, that its node was lost or was shutting down, or that the kubelet rejected the Pod because the node was shutting down.
 */
const evictions = new Set(['Evicted', 'NodeLost', 'Preempting', 'Preempted', 'NodeShutdown', 'Terminated'])

interface Step {
  /** The Pod after this reconcile; undefined when the MyPod has no Pod. */
  readonly pod: DeepReadonly<core.Pod> | undefined
  readonly outcome: Outcome
  readonly result?: Result
}

export async function reconcileMyPod(object: DeepReadonly<MyPod>, context: ReconcileContext): Promise<Result> {
  // If a MyPod is being deleted, the garbage collector deletes the Pod, and the operator must not create a new Pod.
  if (object.metadata.deletionTimestamp !== undefined) return
  const live = context.cache.get(core.pod, keyOf(object))
  const step = live === undefined ? await createPod(object, context) : await updatePod(object, live, context)
  const now = context.clock.now()
  const waitMs = isReadyOrDegraded(object) ? 0 : startingMs(step, now)
  if (waitMs > 0) return { requeueAfterMs: waitMs }
  await writeStatus(object, statusOf(object, step.pod, step.outcome, now), context)
  return step.result
}

/**
 * Returns the time in milliseconds until the status must be written. If a new Pod is starting, the status must be written `startMs` after
 * the creation of the Pod. If no new Pod is starting, returns 0, because the status must be written now.
 */
function startingMs({ pod, outcome }: Step, now: number): number {
  if (pod === undefined || outcome.progressing?.reason !== 'Creating') return 0
  const age = now - Date.parse(pod.metadata.creationTimestamp)
  // The age is negative when the clock of the API server is ahead.
  return age < 0 ? 0 : Math.max(0, startMs - age)
}

/**
 * Returns true if the current status reports Ready or Degraded. Such a status is wrong while a new Pod is starting, so the reconciler then
 * writes the new status at once, and does not wait for `startMs`.
 */
function isReadyOrDegraded({ status }: DeepReadonly<MyPod>): boolean {
  return ['Ready', 'Degraded'].some((type) => findCondition(status?.conditions, type)?.status === 'True')
}

async function createPod(object: DeepReadonly<MyPod>, context: ReconcileContext): Promise<Step> {
  const { client, events, logger } = context
  try {
    const pod = await client.create(core.pod, podFor(object))
    logger.info('created the Pod')
    events.event(object, 'Normal', 'Created', `pod ${pod.metadata.name} created`)
    return { pod, outcome: progressOf(pod) }
  } catch (error) {
    // AlreadyExists means that a Pod with this name exists, but that the cache did not contain the Pod yet. The Pod is therefore read from
    // the API server.
    if (isAlreadyExists(error)) return updatePod(object, await client.get(core.pod, keyOf(object)), context)
    if (isInvalid(error) || isForbidden(error)) {
      logger.warn({ reason: error.reason }, `the API server refused the Pod: ${error.message}`)
      return degrade(object, { reason: 'PodCreateFailed', message: error.message }, context)
    }
    throw error
  }
}

async function updatePod(object: DeepReadonly<MyPod>, live: DeepReadonly<core.Pod>, context: ReconcileContext): Promise<Step> {
  if (!isControlledBy(live, object)) {
    const message = `The Pod ${live.metadata.name} exists and is not owned by this MyPod; it is not changed.`
    return degrade(object, { reason: 'NameConflict', message }, context)
  }
  if (live.metadata.deletionTimestamp !== undefined) {
    return { pod: live, outcome: { progressing: { reason: 'Recreating', message: 'The old Pod is going away.' } } }
  }
  if (live.status?.phase === 'Failed' && evictions.has(live.status.reason ?? '')) {
    return deletePod(object, live, `it failed with ${live.status.reason}`, context)
  }
  const change = changeOf(live, podFor(object))
  switch (change.action) {
    case 'none':
      return { pod: live, outcome: progressOf(live) }
    case 'recreate':
      return deletePod(object, live, change.why, context)
    case 'patch':
      return patchPod(object, live, change.patch, context)
  }
}

async function patchPod(
  object: DeepReadonly<MyPod>,
  live: DeepReadonly<core.Pod>,
  patch: MergePatch<ObjectInput<core.Pod>>,
  context: ReconcileContext,
): Promise<Step> {
  try {
    const pod = await context.client.patch(core.pod, keyOf(live), patch)
    context.logger.info('updated the Pod in place')
    return { pod, outcome: progressOf(pod) }
  } catch (error) {
    // The API server determines which fields of a Pod are mutable. If it rejects the patch, the Pod is recreated.
    if (isInvalid(error)) return deletePod(object, live, 'the API server refused to change it in place', context)
    throw error
  }
}

/**
 * Deletes the Pod with its normal grace period. The uid precondition protects another Pod of the same name. The event of the deletion
 * triggers a reconcile, which creates the new Pod.
 */
async function deletePod(object: DeepReadonly<MyPod>, live: DeepReadonly<core.Pod>, why: string, context: ReconcileContext): Promise<Step> {
  try {
    await context.client.delete(core.pod, keyOf(live), { preconditions: { uid: live.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  context.logger.info({ why }, 'deleted the Pod to create it anew')
  context.events.event(object, 'Normal', 'Recreating', `pod ${live.metadata.name} is created anew: ${why}`)
  return { pod: live, outcome: { progressing: { reason: 'Recreating', message: `The Pod is created anew: ${why}.` } } }
}

/** Records a Warning if the status does not report the problem yet. A retry must not repeat the Event. */
function degrade(object: DeepReadonly<MyPod>, degraded: NonNullable<Outcome['degraded']>, { events }: ReconcileContext): Step {
  const { reason, message } = degraded
  const known = findCondition(object.status?.conditions, 'Degraded')
  const isKnown = known?.status === 'True' && known.reason === reason && known.message === message
  if (!isKnown) events.event(object, 'Warning', reason, message)
  return { pod: undefined, outcome: { degraded }, result: { requeueAfterMs: retryMs[reason] } }
}

function progressOf(pod: DeepReadonly<core.Pod> | ObjectInput<core.Pod>): Outcome {
  const phase = pod.status?.phase
  return phase === undefined || phase === 'Pending' ? { progressing: { reason: 'Creating', message: 'The Pod is starting.' } } : {}
}

async function writeStatus(object: DeepReadonly<MyPod>, status: StatusPatch<typeof mypod>, context: ReconcileContext): Promise<void> {
  try {
    await patchStatusIfChanged(context.client, mypod, object, status)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
