/** The scheduler: binds each Pod without a node to a node on which it fits. */
import { node as nodeType, pod as podType } from '../../api/builtin.ts'
import { formatTime } from '../../api/conditions.ts'
import { core } from '../../api/kubernetes/core.ts'
import { storage } from '../../api/kubernetes/storage.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Cache } from '../../cache/cache.ts'
import { isConflict, isNotFound } from '../../client/api-error.ts'
import { objectPath } from '../../client/resource-path.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../controller/reconciler.ts'
import type { ReadonlyPod } from './place-pod.ts'
import { placePod } from './place-pod.ts'
import { claimNamesOf } from './volumes/pod-claims.ts'
import { bindDelayed, claimsOfPod, volumeMisfit } from './volumes/schedule-volumes.ts'

const schedulerName = 'default-scheduler'

/**
 * Returns the controller that binds Pods to nodes.
 *
 * @param cache the cache with which the controller is started.
 */
export function scheduler(cache: Cache): ControllerDefinition {
  const waiting = (isAffected: (pod: ReadonlyPod) => boolean): readonly ObjectKey[] =>
    cache
      .list(podType)
      .filter((pod) => isWaiting(pod) && isAffected(pod))
      .map(({ metadata }) => metadata)
  const usesClaims = (pod: ReadonlyPod): boolean => claimNamesOf(pod).length > 0
  return defineController(podType, {
    name: 'scheduler',
    resyncPeriodMs: 0,
    watches: [
      { type: nodeType, map: () => waiting(() => true) },
      {
        type: core.persistentVolumeClaim,
        map: ({ metadata: { namespace, name } }) =>
          waiting((pod) => pod.metadata.namespace === namespace && claimNamesOf(pod).includes(name)),
      },
      { type: core.persistentVolume, map: () => waiting(usesClaims) },
      { type: storage.storageClass, map: () => waiting(usesClaims) },
    ],
    reconcile: async (pod, context) => (isWaiting(pod) ? schedule(pod, context) : undefined),
  })
}

/** Binds the Pod to a node. A Pod whose claims are bound with its node waits for them first. */
async function schedule(pod: ReadonlyPod, context: ReconcileContext): Promise<Result> {
  const { cache } = context
  const nodes = cache.list(nodeType)
  const claims = claimsOfPod(pod, context)
  if ('problem' in claims) {
    // The scheduler of Kubernetes reports this problem for all nodes at once, and preemption as "not found".
    await reportProblem(pod, `0/${nodes.length} nodes are available: ${claims.problem}. not found`, context)
    return undefined
  }
  const pods = cache.list(podType)
  const placement = placePod(
    pod,
    nodes,
    (node) => pods.filter(({ spec }) => spec?.nodeName === node).length,
    (node) => volumeMisfit(claims, node, context),
  )
  if ('problem' in placement) await reportProblem(pod, placement.problem, context)
  else if (claims.delayed.length === 0) await bind(pod, placement.node, context)
  else {
    const node = nodes.find(({ metadata }) => metadata.name === placement.node)!
    try {
      await bindDelayed(claims.delayed, node, context)
    } catch (error) {
      if (!isConflict(error)) throw error
      return { requeue: true }
    }
  }
  return undefined
}

function isWaiting({ metadata, spec, status }: ReadonlyPod): boolean {
  if (spec?.nodeName || metadata.deletionTimestamp !== undefined) return false
  if ((spec?.schedulingGates?.length ?? 0) > 0 || (spec?.schedulerName ?? schedulerName) !== schedulerName) return false
  return status?.phase === undefined || status.phase === 'Pending'
}

async function bind(pod: ReadonlyPod, node: string, { client, events }: ReconcileContext): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  }
  try {
    await client.raw(objectPath(podType, { name, namespace }, 'binding'), { method: 'POST', body, contentType: 'application/json' })
  } catch (error) {
    // The Pod has been deleted, or is already bound.
    if (isNotFound(error) || isConflict(error)) return
    throw error
  }
  events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`)
}

async function reportProblem(pod: ReadonlyPod, message: string, { client, events, clock }: ReconcileContext): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message) return
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : formatTime(clock.now())
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastProbeTime: null, lastTransitionTime }
  // The TypeScript type does not allow null for a time, but a condition of a Pod has `lastProbeTime: null`.
  const status: object = { conditions: [...others, condition] }
  try {
    await client.patchStatus(podType, pod.metadata, { status })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return
  }
  events.event(pod, 'Warning', 'FailedScheduling', message)
}
