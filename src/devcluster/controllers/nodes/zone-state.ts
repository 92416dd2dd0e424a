/**
 * Decides whether Pods are evicted from a node that is not ready. The decision depends on the readiness of the other nodes
 * (k8s.io/kubernetes/pkg/controller/nodelifecycle: handleDisruption).
 */
import { findCondition } from '../../../api/conditions.ts'
import type { ReadonlyNode } from '../api-types.ts'

/**
 * The limits that `evictsPods` uses: a share of nodes that are not ready, and a number of nodes in a zone. The values are the defaults of
 * kube-controller-manager's flags `--unhealthy-zone-threshold` and `--large-cluster-size-threshold`.
 */
const unhealthyZoneThreshold = 0.55
const largeClusterSize = 50

export function isReady({ status }: ReadonlyNode): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True'
}

/**
 * Returns true if Pods are evicted from `node` when `node` is not ready. Returns false in two cases:
 *
 * - No node of the cluster is ready. The control plane itself may have lost the connection to the nodes.
 * - The zone of `node` has at most 50 nodes, of which at least one is ready, at least three are not ready, and at least 55 % are not ready.
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
