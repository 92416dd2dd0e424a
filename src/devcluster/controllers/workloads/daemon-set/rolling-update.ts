/** Decides on the next step of a DaemonSet's rolling update (k8s.io/kubernetes/pkg/controller/daemon: rollingUpdate). */
import type { ReadonlyPod } from '../../api-types.ts'
import { scaledNumber } from '../int-or-percent.ts'
import { isAvailable } from '../pod-state.ts'
import type { NodeFit } from './nodes.ts'
import type { DaemonSet, PodsByNode } from './pods.ts'
import { isUpdated } from './pods.ts'

export interface UpdateStep {
  /** The names of the nodes that get a new Pod in addition to the old Pod. */
  readonly create: readonly string[]
  readonly delete: readonly ReadonlyPod[]
}

export interface UpdateState {
  readonly set: DaemonSet
  readonly pods: PodsByNode
  /** The nodes of the cluster by name. Each entry states whether the node should have a Pod. */
  readonly fits: ReadonlyMap<string, NodeFit>
  readonly hash: string
  readonly now: number
}

/**
 * The Pods of a node that are not being deleted. `updated` is the Pod with the current template. `old` is the Pod with another template.
 */
interface NodePods {
  readonly node: string
  readonly updated: ReadonlyPod | undefined
  readonly old: ReadonlyPod | undefined
}

/**
 * Returns the limits of a rolling update. Percentages refer to `desired`, the number of nodes that should have a Pod.
 *
 * - `unavailable` is the maximum number of nodes without an available Pod. If `surge` is 0 and `desired` is not 0, `unavailable` is at
 *   least 1.
 * - `surge` is the maximum number of nodes with two Pods.
 *
 * If the update strategy is not `RollingUpdate`, both limits are 0.
 */
export function updateLimits({ spec }: DaemonSet, desired: number): { readonly unavailable: number; readonly surge: number } {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { unavailable: 0, surge: 0 }
  const unavailable = scaledNumber(rollingUpdate?.maxUnavailable, desired, { roundsUp: true })
  const surge = scaledNumber(rollingUpdate?.maxSurge, desired, { roundsUp: true })
  return { unavailable: desired > 0 && unavailable === 0 && surge === 0 ? 1 : unavailable, surge }
}

export function updateStep(state: UpdateState): UpdateStep {
  const { set, pods, fits } = state
  const wanted = [...fits].filter(([, { shouldRun }]) => shouldRun).map(([node]) => node)
  const { unavailable, surge } = updateLimits(set, wanted.length)
  const nodes = [...new Set([...pods.keys(), ...wanted])].sort()
  const found = nodes.map((node) => nodePods(state, node))
  return surge === 0 ? replaceStep(state, found, unavailable) : surgeStep(state, found, { surge, desired: wanted.length })
}

/**
 * Returns the Pods of a node. Returns undefined if several Pods have the current template, or if several Pods have another template. In
 * these cases, the surplus Pods must be deleted before the update continues on the node.
 */
function nodePods({ set, pods, hash }: UpdateState, node: string): NodePods | undefined {
  const kept = (pods.get(node) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const [updated, ...others] = kept.filter((pod) => isUpdated(set, pod, hash))
  const [old, ...more] = kept.filter((pod) => !isUpdated(set, pod, hash))
  return others.length + more.length > 0 ? undefined : { node, updated, old }
}

/**
 * Returns the old Pods to delete. All unavailable old Pods are deleted. Available old Pods are deleted until `maxUnavailable` nodes have no
 * available Pod.
 */
function replaceStep({ set, now }: UpdateState, nodes: readonly (NodePods | undefined)[], maxUnavailable: number): UpdateStep {
  const minReady = set.spec?.minReadySeconds ?? 0
  const old = nodes.flatMap((one) => (one?.updated === undefined && one?.old !== undefined ? [one.old] : []))
  const available = old.filter((pod) => isAvailable(pod, minReady, now))
  const current = nodes.filter((one) => one?.old === undefined && one?.updated !== undefined && isAvailable(one.updated, minReady, now))
  const unavailable = nodes.length - available.length - current.length
  const replaceable = available.slice(0, Math.max(0, maxUnavailable - unavailable))
  return { create: [], delete: [...old.filter((pod) => !available.includes(pod)), ...replaceable] }
}

/**
 * Returns the nodes that get a new Pod in addition to the old Pod. Also returns the old Pods to delete. An old Pod is deleted when the new
 * Pod is available, or when the node should have no Pod.
 */
function surgeStep(
  { set, fits, now }: UpdateState,
  nodes: readonly (NodePods | undefined)[],
  { surge, desired }: { readonly surge: number; readonly desired: number },
): UpdateStep {
  const isUsable = (pod: ReadonlyPod | undefined): boolean => pod !== undefined && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)
  const found = nodes.filter((one) => one !== undefined)
  const available = found.filter(({ old, updated }) => isUsable(old ?? updated)).length
  const both = found.filter(({ old, updated }) => old !== undefined && updated !== undefined)
  const replaced = both.filter(({ updated }) => isUsable(updated))
  const surging = nodes.length - found.length + both.length - replaced.length
  const onlyOld = found.filter(({ old, updated }) => old !== undefined && updated === undefined)
  const [staying, leaving] = [true, false].map((stays) => onlyOld.filter(({ node }) => (fits.get(node)?.shouldRun ?? false) === stays))
  const candidates = staying!.filter(({ old }) => isUsable(old)).slice(0, Math.max(0, surge - surging))
  // On nodes that should have no Pod, available old Pods are deleted only if the DaemonSet has more available Pods than desired Pods.
  const superfluous = leaving!.filter(({ old }) => isUsable(old)).slice(0, Math.max(0, available - desired))
  return {
    create: [...staying!.filter(({ old }) => !isUsable(old)), ...candidates].map(({ node }) => node),
    delete: [...replaced, ...leaving!.filter(({ old }) => !isUsable(old)), ...superfluous].map(({ old }) => old!),
  }
}
