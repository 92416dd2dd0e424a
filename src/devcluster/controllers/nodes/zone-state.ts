/** Decides whether Pods may be evicted from the unreachable nodes of a zone (k8s.io/kubernetes/pkg/controller/nodelifecycle: handleDisruption). */
import { findCondition } from '../../../api/conditions.ts'
import type { ReadonlyNode } from '../scheduler/place-pod.ts'

/** The share of unready nodes of a zone, and the number of nodes of a large zone (kube-controller-manager's defaults). */
const unhealthyZoneThreshold = 0.55
const largeClusterSize = 50

export function isReady({ status }: ReadonlyNode): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True'
}

/**
 * Returns true when Pods are evicted from the node while it is not ready. They are not when no node of the cluster is ready, because the
 * control plane itself may then be cut off, and not when most of the nodes of a small zone are not ready.
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
