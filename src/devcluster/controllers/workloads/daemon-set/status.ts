/** Computes the status of a DaemonSet. */
import { isAvailable, isReady } from '../pod-state.ts'
import type { NodeFit } from './nodes.ts'
import type { DaemonSet, PodsByNode } from './pods.ts'
import { isUpdated } from './pods.ts'

/**
 * Returns the counters of the status. If a node has several Pods, only the oldest bound Pod counts. If none of the Pods is bound, only the
 * oldest Pod counts (k8s.io/kubernetes/pkg/controller/daemon: updateDaemonSetStatus).
 */
export function statusOf(
  set: DaemonSet,
  { pods, fits, hash, now }: { pods: PodsByNode; fits: ReadonlyMap<string, NodeFit>; hash: string; now: number },
): Readonly<Record<string, number>> {
  const nodes = [...fits].map(([name, { shouldRun }]) => ({ shouldRun, pod: pods.get(name)?.[0] }))
  const wanted = nodes.filter(({ shouldRun }) => shouldRun)
  const current = wanted.flatMap(({ pod }) => pod ?? [])
  const available = current.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length
  return {
    observedGeneration: set.metadata.generation ?? 0,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: current.length,
    numberMisscheduled: nodes.filter(({ shouldRun, pod }) => !shouldRun && pod !== undefined).length,
    numberReady: current.filter(isReady).length,
    updatedNumberScheduled: current.filter((pod) => isUpdated(set, pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
  }
}
