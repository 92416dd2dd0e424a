/**
 * The taint eviction controller (k8s.io/kubernetes/pkg/controller/tainteviction). If a Pod does not tolerate a taint NoExecute of its node,
 * the controller deletes the Pod at once. If the toleration of the Pod has `tolerationSeconds`, the controller deletes the Pod after this
 * time.
 */
import { node as nodeType, pod as podType } from '../../../api/builtin.ts'
import { formatKey } from '../../../api/object.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import { requeueAt } from '../requeue-at.ts'
import { retryRefused } from '../retry-refused.ts'
import { tolerates } from '../scheduler/taints.ts'
import { markDisrupted } from './disruption-target.ts'
import { podsByNode, podsOfNode } from './pods-by-node.ts'

export function taintEviction(): ControllerDefinition {
  /**
   * The start time of `tolerationSeconds` for each Pod whose deletion is scheduled. The key consists of the namespace and the name of the
   * Pod.
   */
  const scheduled = new Map<string, number>()
  return defineController(podType, {
    name: 'taint-eviction',
    resyncPeriodMs: 0,
    indexes: [podsByNode],
    watches: [{ type: nodeType, map: podsOfNode }],
    reconcile: retryRefused(async (pod: ReadonlyPod, context) => {
      const { deletionTimestamp, namespace, name } = pod.metadata
      const nodeName = pod.spec?.nodeName
      const node = nodeName === undefined ? undefined : context.cache.get(nodeType, { name: nodeName })
      if (node === undefined || deletionTimestamp !== undefined) return undefined
      const key = formatKey(pod.metadata)
      const now = context.clock.now()
      const tolerated = toleratedMs(pod, node)
      if (tolerated === Number.POSITIVE_INFINITY) {
        if (scheduled.delete(key))
          context.events.event(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${namespace}/${name}`)
        return undefined
      }
      const since = scheduled.get(key) ?? now
      scheduled.set(key, since)
      if (since + tolerated > now) return requeueAt(since + tolerated, context)
      await evict(pod, context)
      scheduled.delete(key)
      return undefined
    }),
    deleted(key) {
      scheduled.delete(formatKey(key))
      return Promise.resolve()
    },
  })
}

/**
 * Returns how long the Pod tolerates the taints NoExecute of its node, in milliseconds. Returns 0 when at least one of these taints is not
 * tolerated. Returns Infinity when all of these taints are tolerated without a time limit.
 */
function toleratedMs({ spec }: ReadonlyPod, node: ReadonlyNode): number {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  const used = taints.map((taint) => (spec?.tolerations ?? []).find((toleration) => tolerates(toleration, taint)))
  if (used.includes(undefined)) return 0
  return Math.min(...used.map((toleration) => Math.max(0, toleration?.tolerationSeconds ?? Number.POSITIVE_INFINITY) * 1000))
}

async function evict(pod: ReadonlyPod, context: ReconcileContext): Promise<void> {
  const { client, events } = context
  const { namespace, name, uid } = pod.metadata
  await markDisrupted(pod, { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }, context)
  // If the write above fails with a conflict, the eviction is retried from the beginning. The Event is recorded after the write, so that
  // the retry does not record a second Event.
  events.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`)
  await client.delete(podType, pod.metadata, { preconditions: { uid } })
}
