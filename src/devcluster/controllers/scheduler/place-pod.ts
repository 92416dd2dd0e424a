/** Selects a node for a Pod. The checks and their order are the same as in kube-scheduler's plugins. */
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import type { ClusterState } from './cluster-state.ts'
import { hasPortConflict } from './host-ports.ts'
import type { Misfit } from './misfit.ts'
import { matchesNodeSelector, preferredWeight } from './node-affinity.ts'
import { podAffinityCheck } from './pod-affinity.ts'
import { resourceMisfits } from './resources.ts'
import { tolerates, untoleratedTaint } from './taints.ts'
import { spreadCheck } from './topology-spread.ts'

export type Placement = { readonly node: string } | { readonly problem: string }

const unschedulable = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

/**
 * Returns the best node among those on which the Pod fits. If the Pod fits on no node, returns the scheduler's message in `problem`
 * (k8s.io/kubernetes/pkg/scheduler/framework: FitError.Error).
 *
 * @param volumeMisfit returns the reason why a node cannot provide the volumes of the Pod. Returns undefined if the node can provide them.
 */
export function placePod(
  pod: ReadonlyPod,
  state: ClusterState,
  volumeMisfit: (node: ReadonlyNode) => string | undefined = () => undefined,
): Placement {
  const { nodes } = state
  if (nodes.length === 0) return { problem: 'no nodes available to schedule pods' }
  const check = nodeCheck(pod, state, volumeMisfit)
  const found = nodes.map((node) => ({ node, misfits: check(node) }))
  const fitting = found.filter(({ misfits }) => misfits.length === 0).map(({ node }) => node)
  if (fitting.length > 0) return { node: bestNode(pod, fitting, state).metadata.name }
  const available = `0/${nodes.length} nodes are available:`
  const reasons = counted(found.flatMap(({ misfits }) => misfits.map(({ reason }) => reason)))
  // kube-scheduler writes the message of the plugin for device claims before the message about preemption (dynamicresources: PostFilter).
  // Device claims are not simulated, so the message about device claims is always "no new claims to deallocate".
  return { problem: `${available} ${reasons}. no new claims to deallocate, preemption: ${preemption(pod, available, found)}` }
}

/** Returns the message about preemption. The simulated scheduler never removes a Pod to make room for another Pod. */
function preemption({ spec }: ReadonlyPod, available: string, found: readonly { readonly misfits: readonly Misfit[] }[]): string {
  if (spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const reasons = found.map(({ misfits }) =>
    misfits.some(({ isFinal }) => isFinal) ? 'Preemption is not helpful for scheduling' : 'No preemption victims found for incoming pod',
  )
  return `${available} ${counted(reasons)}.`
}

function counted(reasons: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ')
}

/**
 * Returns a function that checks one node. The returned function returns the reasons why the Pod does not fit on the node. If the Pod fits,
 * the list of reasons is empty. As in kube-scheduler, the checks end with the first plugin that rejects the node.
 */
function nodeCheck(
  pod: ReadonlyPod,
  state: ClusterState,
  volumeMisfit: (node: ReadonlyNode) => string | undefined,
): (node: ReadonlyNode) => readonly Misfit[] {
  const spread = spreadCheck(pod, state)
  const affinity = podAffinityCheck(pod, state)
  const final = (reason: string): Misfit[] => [{ reason, isFinal: true }]
  return (node) => {
    if (node.spec?.unschedulable === true && !(pod.spec?.tolerations ?? []).some((one) => tolerates(one, unschedulable)))
      return final('node(s) were unschedulable')
    if (untoleratedTaint(node, pod, ['NoSchedule', 'NoExecute']) !== undefined) return final('node(s) had untolerated taint(s)')
    if (!matchesNodeSelector(pod, node)) return final("node(s) didn't match Pod's node affinity/selector")
    const others = state.podsOn(node.metadata.name)
    if (hasPortConflict(pod, others)) return [{ reason: "node(s) didn't have free ports for the requested pod ports", isFinal: false }]
    const resources = resourceMisfits(pod, node, others)
    if (resources.length > 0) return resources
    const volumes = volumeMisfit(node)
    if (volumes !== undefined) return final(volumes)
    const misfit = spread(node) ?? affinity(node)
    return misfit === undefined ? [] : [misfit]
  }
}

/**
 * Returns the best node. The nodes are compared by these criteria, in this order:
 *
 * - the greatest weight of preferred node affinity
 * - the Pod tolerates all taints of the node that have the effect PreferNoSchedule
 * - the fewest Pods on the node
 * - the name of the node, in alphabetical order
 */
function bestNode(pod: ReadonlyPod, nodes: readonly ReadonlyNode[], state: ClusterState): ReadonlyNode {
  const scored = nodes.map((node) => ({
    node,
    score: [
      -preferredWeight(pod, node),
      untoleratedTaint(node, pod, ['PreferNoSchedule']) === undefined ? 0 : 1,
      state.podsOn(node.metadata.name).length,
    ],
  }))
  scored.sort((a, b) => {
    const difference = a.score.map((value, index) => value - b.score[index]!).find((value) => value !== 0)
    return difference ?? (a.node.metadata.name < b.node.metadata.name ? -1 : 1)
  })
  return scored[0]!.node
}
