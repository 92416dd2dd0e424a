/**
 * Chooses the Pods that a workload such as a ReplicaSet deletes when it has too many Pods (k8s.io/kubernetes/pkg/controller:
 * ActivePodsWithRanks).
 */
import type { ReadonlyPod } from '../api-types.ts'
import { readySince } from './pod-state.ts'

/** Pods with a lower value of this annotation are deleted earlier. */
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/**
 * Returns the `count` Pods to delete. Pods with the following properties are deleted first. If Pods differ in several properties, the
 * property that comes first in this list decides: not scheduled, not running, not ready, low deletion cost, many related Pods on the same
 * node, ready only for a short time, many restarts, young.
 *
 * @param related the Pods that are counted on each node. A ReplicaSet passes the Pods of all ReplicaSets with the same owner.
 */
export function podsToDelete(
  pods: readonly ReadonlyPod[],
  related: readonly ReadonlyPod[],
  { count, now }: { readonly count: number; readonly now: number },
): readonly ReadonlyPod[] {
  const onNode = (pod: ReadonlyPod): number => related.filter(({ spec }) => spec?.nodeName === pod.spec?.nodeName).length
  const age = (since: number | undefined): number => ageRank(since, now)
  // Each function returns a rank for a Pod. The first function that returns different ranks for two Pods decides: the Pod with the lower
  // rank is deleted first.
  const order: readonly ((pod: ReadonlyPod) => number)[] = [
    ({ spec }) => (spec?.nodeName ? 1 : 0),
    ({ status }) => phases[status?.phase ?? 'Pending'] ?? 0,
    (pod) => (readySince(pod) === undefined ? 0 : 1),
    ({ metadata }) => Math.trunc(Number(metadata.annotations?.[deletionCost] ?? 0)) || 0,
    (pod) => -onNode(pod),
    (pod) => age(readySince(pod)),
    ({ status }) => -Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    ({ metadata }) => age(Date.parse(metadata.creationTimestamp)),
  ]
  const ranked = pods.map((pod) => ({ pod, ranks: order.map((rank) => rank(pod)) }))
  ranked.sort((a, b) => {
    const differing = a.ranks.findIndex((rank, index) => rank !== b.ranks[index])
    if (differing !== -1) return a.ranks[differing]! - b.ranks[differing]!
    return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1
  })
  return ranked.slice(0, count).map(({ pod }) => pod)
}

/**
 * Returns the binary logarithm of an age in nanoseconds, rounded down. Pods of similar age have the same rank. If two Pods have the same
 * rank, another property or the uid decides which Pod is deleted first. The first Pod is therefore not always the youngest (feature gate
 * LogarithmicScaleDown).
 */
function ageRank(since: number | undefined, now: number): number {
  return since === undefined ? 0 : Math.floor(Math.log2(Math.max(1, (now - since) * 1_000_000)))
}
