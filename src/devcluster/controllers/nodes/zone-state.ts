/**
 * Decides whether Pods are evicted from the nodes of a zone that are not ready (k8s.io/kubernetes/pkg/controller/nodelifecycle:
 * handleDisruption).
 */
import { findCondition } from '../../../api/conditions.ts'
import type { ReadonlyNode } from '../api-types.ts'

/**
 * The limits of `evictsPods`: a share of nodes that are not ready, and a number of nodes in a zone. Both are defaults of
 * kube-controller-manager (`--unhealthy-zone-threshold`, `--large-cluster-size-threshold`).
 */
const unhealthyZoneThreshold = 0.55
const largeClusterSize = 50

export function isReady({ status }: ReadonlyNode): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True'
}

/**
 * Returns true when Pods are evicted from the node while it is not ready. Returns false in two cases:
 *
 * - No node of the cluster is ready. The control plane itself may then be cut off.
 * - The zone of the node has at most 50 nodes. At least three of them, and at least 55 %, are not ready. At least one of them is ready.
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
