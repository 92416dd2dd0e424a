/** The labels that a Pod gets from its node (k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels). */
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { at } from '../../apimachinery/unstructured.ts'
import type { ClusterView } from '../../rest/strategy.ts'

const topologyKeys = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone']

/** Returns the topology labels of a node. Returns an empty object when the node does not exist. */
export function topologyLabels(node: string, cluster: ClusterView): JsonObject {
  const labels = at(cluster.get('/nodes', { name: node }) ?? {}, 'metadata', 'labels')
  return isObject(labels) ? Object.fromEntries(Object.entries(labels).filter(([key]) => topologyKeys.includes(key))) : {}
}
