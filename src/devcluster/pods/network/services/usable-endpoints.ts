/**
 * `usableEndpoints`: the endpoints of a Service's port that a client can reach (k8s.io/kubernetes/pkg/proxy: CategorizeEndpoints). Usually,
 * the client is a Pod. In a real cluster, kube-proxy on the node of this Pod selects the endpoints.
 */
import { isIPv4 } from 'node:net'
import type { EndpointState, PortState, ServiceState } from './service-state.ts'

/** The place where a Pod runs. */
export interface PodLocation {
  readonly node: string
  /** The value of the node's label `topology.kubernetes.io/zone`. */
  readonly zone?: string | undefined
}

/** One endpoint of one port of a Service. */
export interface Endpoint extends EndpointState {
  readonly port: number
}

/**
 * Returns all IPv4 endpoints of a port of a Service, without duplicates. The port of an EndpointSlice belongs to the port of the Service
 * with the same name and protocol.
 */
export function endpointsOf(service: ServiceState, { name, protocol }: PortState): readonly Endpoint[] {
  const endpoints = new Map<string, Endpoint>()
  for (const slice of service.slices) {
    const port = slice.ports.find((one) => one.name === name && one.protocol === protocol)?.port
    if (port === undefined) continue
    for (const endpoint of slice.endpoints) {
      const key = `${endpoint.address}:${port}`
      // While an endpoint moves to another slice, both slices can contain it. If the endpoint is ready in one of the slices, this slice
      // takes precedence.
      if (isIPv4(endpoint.address) && endpoints.get(key)?.isReady !== true) endpoints.set(key, { ...endpoint, port })
    }
  }
  return [...endpoints.values()]
}

/**
 * Returns the endpoints that a client can reach: the ready endpoints or, if no endpoint is ready, the terminating endpoints that are still
 * serving.
 *
 * - If `isLocal` is true, only the endpoints on the client's node count.
 * - If `isLocal` is false, the hints of the EndpointSlices limit the ready endpoints.
 * - If `client` is undefined, `isLocal` and the hints are ignored.
 *
 * @param isLocal true for `internalTrafficPolicy: Local`.
 * @param client undefined for a client that is not a known Pod, such as a process of the developer's machine.
 */
export function usableEndpoints(endpoints: readonly Endpoint[], isLocal: boolean, client: PodLocation | undefined): readonly Endpoint[] {
  if (client === undefined) return readyOrServing(endpoints)
  if (isLocal) return readyOrServing(endpoints.filter(({ node }) => node === client.node))
  const ready = readyOrServing(endpoints)
  return ready.some(({ isReady }) => isReady) ? preferredByHints(ready, client) : ready
}

function readyOrServing(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ready = endpoints.filter(({ isReady }) => isReady)
  return ready.length > 0 ? ready : endpoints.filter(({ isServing, isTerminating }) => isServing && isTerminating)
}

/**
 * Selects endpoints by their hints (k8s.io/kubernetes/pkg/proxy: topologyModeFromHints). Returns the result of the first rule that applies:
 *
 * - If every endpoint has a hint for a node, and hints name the client's node: the endpoints with these hints.
 * - If every endpoint has a hint for a zone, and hints name the client's zone: the endpoints with these hints.
 * - Otherwise: all endpoints.
 */
function preferredByHints(ready: readonly Endpoint[], { node, zone }: PodLocation): readonly Endpoint[] {
  if (ready.every(({ nodeHints }) => nodeHints.length > 0)) {
    const sameNode = ready.filter(({ nodeHints }) => nodeHints.includes(node))
    if (sameNode.length > 0) return sameNode
  }
  if (zone === undefined || !ready.every(({ zoneHints }) => zoneHints.length > 0)) return ready
  const sameZone = ready.filter(({ zoneHints }) => zoneHints.includes(zone))
  return sameZone.length > 0 ? sameZone : ready
}
