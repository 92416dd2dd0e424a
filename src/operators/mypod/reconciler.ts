/** Keeps one Pod per MyPod, and the MyPod's status equal to what that Pod is. */
import { pod as podType, type Pod } from '../../api/builtin.ts'
import type { DeepReadonly } from '../../api/json.ts'
import { keyOf, type ObjectInput } from '../../api/object.ts'
import { isControlledBy } from '../../api/owner-reference.ts'
import { isAlreadyExists, isApiError, isForbidden, isInvalid, isNotFound } from '../../client/api-error.ts'
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'
import { mypod, type MyPod } from './kind.ts'
import { changeOf, podFor } from './pod.ts'
import type { Outcome } from './status.ts'
import { statusPatch } from './status.ts'

/** A refusal that only an administrator or the owner can lift is tried again this seldom; a change of the MyPod tries at once. */
const refusedRetryMs = 30_000

/** Failed Pods that nobody decided to end: the node took them away. */
const evictions = new Set(['Evicted', 'NodeLost', 'Preempting', 'Preempted', 'NodeShutdown', 'Terminated'])

interface Step {
  /** The Pod as it is after this reconcile, undefined when there is none of ours. */
  readonly pod: DeepReadonly<Pod> | undefined
  readonly outcome: Outcome
  readonly result?: Result
}

export async function reconcileMyPod(object: DeepReadonly<MyPod>, context: ReconcileContext): Promise<Result> {
  // The garbage collector takes the Pod; nothing may be created for an object that is going away.
  if (object.metadata.deletionTimestamp !== undefined) return
  const live = context.cache.get(podType, keyOf(object))
  const step = live === undefined ? await createPod(object, context) : await updatePod(object, live, context)
  const patch = statusPatch(object, step.pod, step.outcome, context.clock.now())
  if (patch !== undefined) await writeStatus(object, patch, context)
  return step.result
}

async function createPod(object: DeepReadonly<MyPod>, context: ReconcileContext): Promise<Step> {
  const { client, events, logger } = context
  try {
    const pod = await client.create(podType, podFor(object))
    logger.info('created the Pod')
    events.event(object, 'Normal', 'Created', `pod ${pod.metadata.name} created`)
    return { pod, outcome: { progressing: { reason: 'Creating', message: 'The Pod was created.' } } }
  } catch (error) {
    // The cache may be behind: what is there decides.
    if (isAlreadyExists(error)) return updatePod(object, await client.get(podType, keyOf(object)), context)
    if (isInvalid(error) || isForbidden(error)) {
      events.event(object, 'Warning', 'PodCreateFailed', error.message)
      logger.warn({ reason: error.reason }, `the API server refused the Pod: ${error.message}`)
      return {
        pod: undefined,
        outcome: { degraded: { reason: 'PodCreateFailed', message: error.message } },
        result: { requeueAfterMs: refusedRetryMs },
      }
    }
    throw error
  }
}

async function updatePod(object: DeepReadonly<MyPod>, live: DeepReadonly<Pod>, context: ReconcileContext): Promise<Step> {
  if (!isControlledBy(live, object)) return nameConflict(object, live, context)
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

async function patchPod(object: DeepReadonly<MyPod>, live: DeepReadonly<Pod>, patch: object, context: ReconcileContext): Promise<Step> {
  try {
    const pod = await context.client.patch(podType, keyOf(live), patch)
    context.logger.info('updated the Pod in place')
    return { pod, outcome: progressOf(pod) }
  } catch (error) {
    // The server knows better what a running Pod can change.
    if (isInvalid(error)) return deletePod(object, live, 'the API server refused to change it in place', context)
    throw error
  }
}

/** Deletes this very Pod with its normal grace; the event of its end brings the new one. */
async function deletePod(object: DeepReadonly<MyPod>, live: DeepReadonly<Pod>, why: string, context: ReconcileContext): Promise<Step> {
  try {
    await context.client.delete(podType, keyOf(live), { preconditions: { uid: live.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  context.logger.info({ why }, 'deleted the Pod to create it anew')
  context.events.event(object, 'Normal', 'Recreating', `pod ${live.metadata.name} is created anew: ${why}`)
  return { pod: live, outcome: { progressing: { reason: 'Recreating', message: `The Pod is created anew: ${why}.` } } }
}

function nameConflict(object: DeepReadonly<MyPod>, live: DeepReadonly<Pod>, context: ReconcileContext): Step {
  const message = `The Pod ${live.metadata.name} exists and does not belong to this MyPod; it is left alone.`
  context.events.event(object, 'Warning', 'NameConflict', message)
  return { pod: undefined, outcome: { degraded: { reason: 'NameConflict', message } }, result: { requeue: true } }
}

function progressOf(pod: DeepReadonly<Pod> | ObjectInput<Pod>): Outcome {
  const phase = pod.status?.phase
  return phase === undefined || phase === 'Pending' ? { progressing: { reason: 'Creating', message: 'The Pod is starting.' } } : {}
}

async function writeStatus(object: DeepReadonly<MyPod>, patch: { status: object }, context: ReconcileContext): Promise<void> {
  try {
    await context.client.patchStatus(mypod, keyOf(object), patch)
  } catch (error) {
    if (!isNotFound(error) || !isApiError(error)) throw error
  }
}
