/** Required topology spread constraints (k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread). */
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import { selects } from '../workloads/dependents.ts'
import type { ClusterState } from './cluster-state.ts'
import type { Misfit } from './misfit.ts'
import { matchesNodeSelector } from './node-affinity.ts'
import { untoleratedTaint } from './taints.ts'

type Constraint = NonNullable<NonNullable<ReadonlyPod['spec']>['topologySpreadConstraints']>[number]

const message = "node(s) didn't match pod topology spread constraints"

/**
 * Returns a function that checks one node. The returned function returns undefined if the required constraints of the Pod allow the Pod to
 * run on the node.
 */
export function spreadCheck(pod: ReadonlyPod, state: ClusterState): (node: ReadonlyNode) => Misfit | undefined {
  const required = (pod.spec?.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
  const counted = required.map((constraint) => ({ constraint, counts: countsOf(constraint, required, pod, state) }))
  return (node) => {
    for (const { constraint, counts } of counted) {
      const { topologyKey, maxSkew, minDomains = 1 } = constraint
      const domain = node.metadata.labels?.[topologyKey]
      if (domain === undefined) return { reason: `${message} (missing required label)`, isFinal: true }
      const least = counts.size < minDomains ? 0 : Math.min(...counts.values())
      const own = matches(constraint, pod, pod) ? 1 : 0
      if ((counts.get(domain) ?? 0) + own - least > maxSkew) return { reason: message, isFinal: false }
    }
    return undefined
  }
}

/**
 * Returns the number of Pods that match the constraint, keyed by topology domain. The Pods of these nodes are not counted:
 *
 * - nodes that lack the topology key of a constraint in `all`
 * - nodes that the `nodeAffinityPolicy` or the `nodeTaintsPolicy` of the constraint excludes
 *
 * @param all all required constraints of `pod`.
 */
function countsOf(constraint: Constraint, all: readonly Constraint[], pod: ReadonlyPod, state: ClusterState): ReadonlyMap<string, number> {
  const { topologyKey, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint
  const counts = new Map<string, number>()
  for (const node of state.nodes) {
    const labels = node.metadata.labels ?? {}
    if (!all.every((one) => Object.hasOwn(labels, one.topologyKey))) continue
    if (nodeAffinityPolicy === 'Honor' && !matchesNodeSelector(pod, node)) continue
    if (nodeTaintsPolicy === 'Honor' && untoleratedTaint(node, pod, ['NoSchedule', 'NoExecute']) !== undefined) continue
    const domain = labels[topologyKey]!
    const found = state.podsOn(node.metadata.name).filter((one) => {
      const { namespace, deletionTimestamp } = one.metadata
      return deletionTimestamp === undefined && namespace === pod.metadata.namespace && matches(constraint, one, pod)
    })
    counts.set(domain, (counts.get(domain) ?? 0) + found.length)
  }
  return counts
}

/**
 * Returns true when `pod` matches the `labelSelector` and the `matchLabelKeys` of a constraint. `owner` is the Pod whose spec contains the
 * constraint.
 */
function matches({ labelSelector, matchLabelKeys = [] }: Constraint, pod: ReadonlyPod, owner: ReadonlyPod): boolean {
  const own = owner.metadata.labels ?? {}
  return selects(labelSelector, pod) && matchLabelKeys.every((key) => !Object.hasOwn(own, key) || pod.metadata.labels?.[key] === own[key])
}
