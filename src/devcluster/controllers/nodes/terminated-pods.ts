/**
 * Deletes terminated Pods when the cluster contains too many of them. Evicted Pods are deleted first, and then the oldest Pods
 * (k8s.io/kubernetes/pkg/controller/podgc: gcTerminated).
 */
import { pod as podType } from '../../../api/builtin.ts'
import { defineCacheIndex } from '../../../cache/cache-index.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { requeueAt } from '../requeue-at.ts'

/** Maximum number of terminated Pods (k8s.io/kubernetes/pkg/controller/podgc/config/v1alpha1: TerminatedPodGCThreshold). */
const maxTerminated = 12_500
/** Minimum time in milliseconds between two reconciles that delete surplus Pods (k8s.io/kubernetes/pkg/controller/podgc: gcCheckPeriod). */
const periodMs = 20_000

const terminated = 'terminated'
const terminatedPods = defineCacheIndex(podType, 'terminated', (pod) => (isTerminated(pod) ? terminated : undefined))

/** @param limit the number of terminated Pods that are kept. */
export function terminatedPodCollector(limit: number = maxTerminated): ControllerDefinition {
  let earliest = Number.NEGATIVE_INFINITY
  return defineController(podType, {
    name: 'terminated-pod-collector',
    resyncPeriodMs: 0,
    indexes: [terminatedPods],
    async reconcile(pod, context) {
      if (!isTerminated(pod)) return undefined
      const { client, cache, clock } = context
      const pods = cache.list(podType, { index: [terminatedPods, terminated] })
      if (pods.length <= limit) return undefined
      if (clock.now() < earliest) return requeueAt(earliest, context)
      earliest = clock.now() + periodMs
      for (const { metadata } of pods.toSorted(evictedAndOldFirst).slice(0, pods.length - limit)) {
        try {
          await client.delete(podType, metadata, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
      return undefined
    },
  })
}

function isTerminated({ status }: ReadonlyPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Compares two Pods for their order of deletion (k8s.io/kubernetes/pkg/controller/podgc: byEvictionAndCreationTimestamp). */
function evictedAndOldFirst(a: ReadonlyPod, b: ReadonlyPod): number {
  const keyOf = ({ metadata, status }: ReadonlyPod): readonly string[] => [
    status?.phase === 'Failed' && status.reason === 'Evicted' ? 'a' : 'b',
    String(metadata.creationTimestamp),
    metadata.name,
  ]
  const [left, right] = [keyOf(a), keyOf(b)]
  const at = left.findIndex((text, index) => text !== right[index])
  return at < 0 ? 0 : left[at]! < right[at]! ? -1 : 1
}
