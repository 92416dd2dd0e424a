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
 * property that comes first in the list decides.
 *
 * - not scheduled
 * - not running
 * - not ready
 * - low deletion cost
 * - many related Pods on the same node
 * - ready only for a short time
 * - many restarts of a container
 * - many restarts of a sidecar container
 * - young
 *
 * @param related the Pods that are counted on each node. A ReplicaSet passes the Pods of all ReplicaSets with the same owner.
 */
export function podsToDelete(
  pods: readonly ReadonlyPod[],
  related: readonly ReadonlyPod[],
  { count, now }: { readonly count: number; readonly now: number },
): readonly ReadonlyPod[] {
  const onNodes = new Map<string | undefined, number>()
  for (const { spec } of related) onNodes.set(spec?.nodeName, (onNodes.get(spec?.nodeName) ?? 0) + 1)
  const compare = comparisons(({ spec }) => onNodes.get(spec?.nodeName) ?? 0, now)
  const sorted = pods.toSorted((a, b) => {
    for (const one of compare) {
      const result = one(a, b)
      if (result !== 0) return result
    }
    return byUid(a, b)
  })
  return sorted.slice(0, count)
}

/** Returns a negative number if the Pod `a` is deleted before the Pod `b`, a positive number for the reverse order, and 0 for no decision. */
type Compare = (a: ReadonlyPod, b: ReadonlyPod) => number

/**
 * Returns the comparisons that decide which of two Pods is deleted first. The first comparison in the list with a result other than 0
 * decides.
 */
function comparisons(onNode: (pod: ReadonlyPod) => number, now: number): readonly Compare[] {
  const by =
    (value: (pod: ReadonlyPod) => number): Compare =>
    (a, b) =>
      value(a) - value(b)
  // Pods of similar age have the same rank. Which of them is deleted first depends on the uids, and therefore on chance (feature gate
  // LogarithmicScaleDown).
  const byAge =
    (since: (pod: ReadonlyPod) => number | undefined): Compare =>
    (a, b) => {
      const [first, second] = [since(a), since(b)]
      return first === second ? 0 : ageRank(first, now) - ageRank(second, now) || byUid(a, b)
    }
  return [
    by(({ spec }) => (spec?.nodeName ? 1 : 0)),
    by(({ status }) => phases[status?.phase ?? 'Pending'] ?? 0),
    by((pod) => (readySince(pod) === undefined ? 0 : 1)),
    by(({ metadata }) => Math.trunc(Number(metadata.annotations?.[deletionCost] ?? 0)) || 0),
    by((pod) => -onNode(pod)),
    byAge(readySince),
    by(({ status }) => -mostRestarts(status?.containerStatuses)),
    by(({ spec, status }) => -mostRestarts(status?.initContainerStatuses?.filter(({ name }) => isSidecar(spec, name)))),
    byAge(({ metadata }) => Date.parse(metadata.creationTimestamp)),
  ]
}

const byUid: Compare = (a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1)

function mostRestarts(statuses: readonly { readonly restartCount: number }[] = []): number {
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount))
}

function isSidecar(spec: ReadonlyPod['spec'], name: string): boolean {
  return spec?.initContainers?.some((container) => container.name === name && container.restartPolicy === 'Always') === true
}

/** Returns the binary logarithm of an age in nanoseconds, rounded down; -1 for an age that is not positive. */
function ageRank(since: number | undefined, now: number): number {
  const age = now - (since ?? now)
  return age > 0 ? Math.floor(Math.log2(age * 1_000_000)) : -1
}
