/** Deletes the Pods of nodes that no longer exist (k8s.io/kubernetes/pkg/controller/podgc: gcOrphaned). */
import { node as nodeType, pod as podType } from '../../../api/builtin.ts'
import { formatKey } from '../../../api/object.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { requeueAt } from '../requeue-at.ts'
import { retryRefused } from '../retry-refused.ts'
import { markDisrupted } from './disruption-target.ts'
import { podsByNode, podsOfNode } from './pods-by-node.ts'

/**
 * Time in milliseconds for which a node must be missing before its Pods are deleted (k8s.io/kubernetes/pkg/controller/podgc:
 * quarantineTime).
 */
const quarantineMs = 40_000

export function podGarbageCollector(): ControllerDefinition {
  /** The time at which the node of a Pod was first found missing, keyed by namespace and name of the Pod. */
  const missing = new Map<string, number>()
  return defineController(podType, {
    name: 'pod-garbage-collector',
    resyncPeriodMs: 0,
    indexes: [podsByNode],
    watches: [{ type: nodeType, map: podsOfNode }],
    reconcile: retryRefused(async (pod: ReadonlyPod, context) => {
      const { client, cache, clock } = context
      const { metadata, status, spec } = pod
      const key = formatKey(metadata)
      if (!spec?.nodeName || cache.get(nodeType, { name: spec.nodeName }) !== undefined) {
        missing.delete(key)
        return undefined
      }
      const now = clock.now()
      const since = missing.get(key) ?? now
      missing.set(key, since)
      if (since + quarantineMs > now) return requeueAt(since + quarantineMs, context)
      if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
        await markDisrupted(pod, { phase: 'Failed', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }, context)
      await client.delete(podType, metadata, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } })
      return undefined
    }),
    deleted(key) {
      missing.delete(formatKey(key))
      return Promise.resolve()
    },
  })
}
