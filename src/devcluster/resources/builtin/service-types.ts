/** Properties of Services that are derived from `spec.type` and other fields of the spec (k8s.io/kubernetes/pkg/api/service). */
import type { JsonObject } from '../../../api/json.ts'
import { listAt } from '../../apimachinery/unstructured.ts'

export function hasNodePorts(spec: JsonObject): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

/** Returns true when the Service can be reached from outside the cluster. */
export function isExternal(spec: JsonObject): boolean {
  return hasNodePorts(spec) || listAt(spec, 'externalIPs').length > 0
}

/** Returns true when the load balancer uses a health check to find the nodes that run Pods of the Service. */
export function hasHealthCheck(spec: JsonObject): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}
