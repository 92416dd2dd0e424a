/** `ServiceState`: the fields of a Service and its EndpointSlices that the network needs. */
import { isIP } from 'node:net'
import type { Service } from '../../../../api/builtin.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { discovery } from '../../../../api/kubernetes/discovery.ts'

type ReadonlyService = DeepReadonly<Service>
type ReadonlySlice = DeepReadonly<discovery.EndpointSlice>

export type Protocol = 'TCP' | 'UDP'

/** The state of a Service. The state is sent to the agent as JSON, so it contains JSON values only. */
export interface ServiceState {
  readonly namespace: string
  readonly name: string
  /** The cluster IPs. Empty for a headless Service. */
  readonly addresses: readonly string[]
  /** The external name of a Service of the type ExternalName. Such a Service has no addresses and no endpoints. */
  readonly externalName?: string
  /** If a client connects again within this time in seconds, it reaches the same endpoint. Absent without session affinity. */
  readonly affinitySeconds?: number
  /** True for `internalTrafficPolicy: Local`: a Pod then reaches only the endpoints on its own node. */
  readonly isLocal: boolean
  readonly ports: readonly PortState[]
  readonly slices: readonly SliceState[]
}

export interface PortState {
  /** Empty for a port without a name. */
  readonly name: string
  readonly protocol: Protocol
  readonly port: number
}

/** The endpoints of one EndpointSlice. Each endpoint has all ports of the slice. */
export interface SliceState {
  readonly ports: readonly PortState[]
  readonly endpoints: readonly EndpointState[]
}

export interface EndpointState {
  readonly address: string
  readonly isReady: boolean
  readonly isServing: boolean
  readonly isTerminating: boolean
  readonly hostname?: string
  readonly node?: string
  /** The zones and the nodes whose clients should use the endpoint (k8s.io/api/discovery/v1: EndpointHints). */
  readonly zoneHints: readonly string[]
  readonly nodeHints: readonly string[]
}

/** The key of the EndpointSlice label whose value is the name of the Service (k8s.io/api/discovery/v1: LabelServiceName). */
export const serviceNameLabel = 'kubernetes.io/service-name'

/** The default of `sessionAffinityConfig.clientIP.timeoutSeconds` (k8s.io/api/core/v1: DefaultClientIPServiceAffinitySeconds). */
const defaultAffinitySeconds = 10_800

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export function serviceState({ metadata, spec = {} }: ReadonlyService, slices: readonly ReadonlySlice[]): ServiceState {
  const { namespace = '', name } = metadata
  const named = { namespace, name }
  if (spec.type === 'ExternalName')
    return { ...named, externalName: spec.externalName ?? '', addresses: [], isLocal: false, ports: [], slices: [] }
  const addresses = [...new Set([spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])])].filter((address) => isIP(address) !== 0)
  const isSticky = spec.sessionAffinity === 'ClientIP'
  return {
    ...named,
    addresses,
    ...(isSticky && { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds }),
    isLocal: spec.internalTrafficPolicy === 'Local',
    ports: eachOnce((spec.ports ?? []).flatMap(portState)),
    slices: slices.filter(({ addressType }) => addressType === 'IPv4' || addressType === 'IPv6').map(sliceState),
  }
}

/** If several ports have the same name and protocol, keeps only the first of them. The name and the protocol identify a port. */
function eachOnce(ports: readonly PortState[]): readonly PortState[] {
  return ports.filter((port, index) => ports.findIndex(({ name, protocol }) => name === port.name && protocol === port.protocol) === index)
}

/**
 * Returns a list with the port. Returns an empty list when the port number is missing or invalid, or when the protocol is neither TCP nor
 * UDP.
 */
function portState(servicePort: { readonly name?: string; readonly protocol?: string; readonly port?: number }): PortState[] {
  const { name = '', protocol = 'TCP', port } = servicePort
  if (!isPort(port) || (protocol !== 'TCP' && protocol !== 'UDP')) return []
  return [{ name, protocol, port }]
}

function sliceState({ ports, endpoints }: ReadonlySlice): SliceState {
  return { ports: (ports ?? []).flatMap(portState), endpoints: (endpoints ?? []).flatMap(endpointState) }
}

/**
 * Returns a list with the endpoint, or an empty list when the first address is not an IP address. Further addresses are ignored, because
 * the API permits consumers to use only the first address (k8s.io/api/discovery/v1: Endpoint).
 */
function endpointState(endpoint: NonNullable<ReadonlySlice['endpoints']>[number]): EndpointState[] {
  const { addresses, conditions, hostname, nodeName, hints } = endpoint
  const address = addresses[0] ?? ''
  if (isIP(address) === 0) return []
  return [
    {
      address,
      isReady: conditions?.ready ?? true,
      isServing: conditions?.serving ?? true,
      isTerminating: conditions?.terminating ?? false,
      ...(hostname !== undefined && dnsLabel.test(hostname) && { hostname }),
      ...(nodeName !== undefined && { node: nodeName }),
      zoneHints: (hints?.forZones ?? []).map(({ name }) => name),
      nodeHints: (hints?.forNodes ?? []).map(({ name }) => name),
    },
  ]
}

function isPort(value: number | undefined): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
}
