/** Makes the endpoints of a Service from its Pods. */
import { isIPv6 } from 'node:net'
import { pod as podType, service as serviceType } from '../../../api/builtin.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'
import type { discovery } from '../../../api/kubernetes/discovery.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ReadonlyNode, ReadonlyPod, ReadonlyService } from '../api-types.ts'
import { selects } from '../workloads/dependents.ts'
import { isReady } from '../workloads/pod-state.ts'

export type Endpoint = NonNullable<discovery.EndpointSlice['endpoints']>[number]
export type EndpointPort = NonNullable<discovery.EndpointSlice['ports']>[number]
export type AddressType = 'IPv4' | 'IPv6'

const zoneLabel = 'topology.kubernetes.io/zone'

/**
 * Returns true when the control plane maintains the endpoints of the Service. Such a Service has a selector, and its type is not
 * `ExternalName`.
 */
export function hasOwnEndpoints({ spec }: ReadonlyService): boolean {
  return Object.keys(spec?.selector ?? {}).length > 0 && spec?.type !== 'ExternalName'
}

/** Returns true when the Service has no cluster IP. */
export function isHeadless({ spec }: ReadonlyService): boolean {
  return !spec?.clusterIP || spec.clusterIP === 'None'
}

/** Returns the Pods in the Service's namespace that match the selector of the Service. */
export function selectedPods({ metadata, spec }: ReadonlyService, { cache }: { readonly cache: CacheReader }): readonly ReadonlyPod[] {
  const matchLabels = spec?.selector ?? {}
  return cache.list(podType, { namespace: metadata.namespace }).filter((pod) => selects({ matchLabels }, pod))
}

/** Returns the keys of the Services whose selector matches the Pod. */
export function servicesOfPod(pod: ReadonlyPod, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const services = cache.list(serviceType, { namespace: pod.metadata.namespace })
  return services
    .filter((service) => hasOwnEndpoints(service) && selects({ matchLabels: service.spec?.selector ?? {} }, pod))
    .map(({ metadata }) => metadata)
}

/**
 * Returns true when the Pod has an IP address, and its phase is neither `Succeeded` nor `Failed` (k8s.io/endpointslice/util:
 * ShouldPodBeInEndpoints).
 */
export function hasAddress({ status }: ReadonlyPod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && (status?.podIPs ?? []).length > 0
}

/** Returns the Pod's addresses of one address family. */
export function addressesOfType({ status }: ReadonlyPod, type: AddressType): readonly string[] {
  return (status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => isIPv6(ip) === (type === 'IPv6'))
}

/** Returns the host name of the Pod within the domain of the Service. Returns undefined when the Pod has no host name in this domain. */
export function hostnameOf({ metadata, spec }: ReadonlyPod, service: ReadonlyService): string | undefined {
  const isInDomain = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
  return isInDomain ? spec.hostname || undefined : undefined
}

/** Returns the reference from an endpoint to its Pod. */
export function referenceTo({ metadata }: ReadonlyPod): core.ObjectReference {
  return { kind: 'Pod', namespace: metadata.namespace!, name: metadata.name, uid: metadata.uid }
}

/**
 * Returns the endpoint of a Pod (k8s.io/endpointslice: podToEndpoint).
 *
 * @param node the node of the Pod; undefined when the cache does not contain the node.
 */
export function endpointOf(pod: ReadonlyPod, node: ReadonlyNode | undefined, service: ReadonlyService, type: AddressType): Endpoint {
  const serving = isReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const zone = node?.metadata.labels?.[zoneLabel] || undefined
  const nodeName = pod.spec?.nodeName || undefined
  const hostname = hostnameOf(pod, service)
  const hints = ready ? hintsOf(service, zone, nodeName) : undefined
  return {
    addresses: [...addressesOfType(pod, type)].sort(),
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: referenceTo(pod),
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
    ...(hints !== undefined && { hints }),
  }
}

/** Returns the hints for the Service's `trafficDistribution` (k8s.io/endpointslice/trafficdist: preferCloseHeuristic). */
function hintsOf({ spec }: ReadonlyService, zone: string | undefined, node: string | undefined): Endpoint['hints'] {
  const { trafficDistribution: preferred = '' } = spec ?? {}
  if (!['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(preferred)) return undefined
  const forZones = zone === undefined ? undefined : [{ name: zone }]
  const forNodes = node === undefined || preferred !== 'PreferSameNode' ? undefined : [{ name: node }]
  if (forZones === undefined && forNodes === undefined) return undefined
  return { ...(forZones !== undefined && { forZones }), ...(forNodes !== undefined && { forNodes }) }
}

/**
 * Returns one endpoint port for each port of the Service, with the name of the Service port and the port number in the Pod. If `targetPort`
 * of a Service port is a name, and the Pod has no port with this name and protocol, the Service port is omitted.
 */
export function portsOf({ spec }: ReadonlyService, pod: ReadonlyPod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) }
  })
}

/**
 * Returns the number of the container port to which a Service's port forwards in a Pod. If `targetPort` is a name, and the Pod has no port
 * with this name and protocol, returns undefined (k8s.io/endpointslice: FindPort).
 */
function findPort({ spec }: ReadonlyPod, { targetPort, port, protocol = 'TCP' }: DeepReadonly<core.ServicePort>): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? [])
  return ports.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort
}
