/**
 * Decides whether Pods are evicted from the nodes of a zone that are not ready (k8s.io/kubernetes/pkg/controller/nodelifecycle:
 * handleDisruption).
 */
import { findCondition } from '../../../api/conditions.ts'
import type { ReadonlyNode } from '../scheduler/place-pod.ts'

/**
 * The share of nodes that must be not ready, and the maximum size of a zone, for `evictsPods` to return false. Both numbers are defaults of
 * kube-controller-manager.
 */
const unhealthyZoneThreshold = 0.55
const largeClusterSize = 50

export function isReady({ status }: ReadonlyNode): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True'
}

/**
 * Returns true when Pods are evicted from the node while it is not ready. Returns false when no node of the cluster is ready, because the
 * control plane itself may then be cut off. Also returns false in a zone of at most 50 nodes if at least three nodes and 55 % of the nodes
 * are not ready, but not all of them.
 */
export function evictsPods(node: ReadonlyNode, nodes: readonly ReadonlyNode[]): boolean {
  if (!nodes.some(isReady)) return false
  const zone = nodes.filter((one) => zoneOf(one) === zoneOf(node))
  const unready = zone.filter((one) => !isReady(one)).length
  const isPartial = unready < zone.length && unready > 2 && unready / zone.length >= unhealthyZoneThreshold
  return !isPartial || zone.length > largeClusterSize
}

function zoneOf({ metadata }: ReadonlyNode): string {
  const { 'topology.kubernetes.io/region': region = '', 'topology.kubernetes.io/zone': zone = '' } = metadata.labels ?? {}
  return `${region}\0${zone}`
}
