/** The DNS records of one Service (github.com/kubernetes/dns: docs/specification.md; github.com/coredns/coredns/plugin/kubernetes). */
import { isIPv4, isIPv6 } from 'node:net'
import type { Answer } from 'dns-packet'
import type { EndpointState, Protocol, ServiceState } from '../services/service-state.ts'
import { ttl } from './answer.ts'

/**
 * The part of a Service that a DNS name selects. If the DNS name contains a hostname, it selects the endpoints with this hostname. If the
 * DNS name contains the name and protocol of a port, it selects this port. If `hostname` and `port` are both absent, the DNS name selects
 * the whole Service.
 */
export interface Selection {
  /** The first label of `HOSTNAME.SERVICE.NAMESPACE.svc.cluster.local`. */
  readonly hostname?: string
  /** The first two labels of `_PORT._PROTOCOL.SERVICE.NAMESPACE.svc.cluster.local`. */
  readonly port?: { readonly name: string; readonly protocol: string }
}

/**
 * An address in a DNS answer for a Service: a cluster IP or the address of an endpoint. `name` is the DNS name of this address, and `port`
 * is one of its ports.
 */
export interface Target {
  readonly name: string
  readonly address: string
  /** Undefined for an endpoint without ports. */
  readonly port?: number
}

/** Returns the domain name of a Service. */
export function domainOf({ name, namespace }: { readonly name: string; readonly namespace: string }, zone: string): string {
  return `${name}.${namespace}.svc.${zone}`
}

/** Returns the first label of the endpoint's DNS name. */
export function labelOf({ hostname, address }: EndpointState): string {
  return hostname ?? address.replace(/[.:]/g, '-')
}

/**
 * Returns the addresses that a DNS name selects: the cluster IPs of the Service, or the addresses of ready endpoints. The endpoints are
 * used if the Service is headless, or if the DNS name contains a hostname. For an empty result, the DNS response is NXDOMAIN.
 */
export function targetsOf(service: ServiceState, selection: Selection, zone: string): readonly Target[] {
  const domain = domainOf(service, zone)
  if (service.addresses.length > 0 && selection.hostname === undefined) {
    const ports = service.ports.filter((port) => selects(selection, port))
    return ports.flatMap(({ port }) => service.addresses.map((address) => ({ name: domain, address, port })))
  }
  return service.slices.flatMap(({ ports, endpoints }) => {
    const selected = ports.filter((port) => selects(selection, port)).map(({ port }) => ({ port }))
    // If the name does not select a port, the result also contains endpoints without ports.
    const found = ports.length === 0 && selection.port === undefined ? [{}] : selected
    return endpoints
      .filter((endpoint) => endpoint.isReady && (selection.hostname ?? labelOf(endpoint)) === labelOf(endpoint))
      .flatMap((endpoint) => found.map((port) => ({ name: `${labelOf(endpoint)}.${domain}`, address: endpoint.address, ...port })))
  })
}

function selects({ port }: Selection, { name, protocol }: { readonly name: string; readonly protocol: Protocol }): boolean {
  return port === undefined || (port.name === name && port.protocol === protocol.toLowerCase())
}

/** Returns A or AAAA records with the addresses of the targets. All records have the same `name`. */
export function addressRecords(name: string, type: 'A' | 'AAAA', targets: readonly Target[]): readonly Answer[] {
  const isOfType = type === 'A' ? isIPv4 : isIPv6
  const addresses = new Set(targets.map(({ address }) => address).filter(isOfType))
  return [...addresses].map((data) => ({ type, name, ttl, data }))
}

/** Returns the SRV records of the targets. The records share a weight of 100 equally (github.com/coredns/coredns/plugin: SRV). */
export function serviceRecords(name: string, targets: readonly Target[]): readonly Answer[] {
  const servers = new Map<string, { readonly target: string; readonly port: number }>()
  for (const { name: target, port } of targets) if (port !== undefined) servers.set(`${target}:${port}`, { target, port })
  const weight = Math.max(1, Math.floor(100 / servers.size))
  return [...servers.values()].map(({ target, port }) => ({ type: 'SRV', name, ttl, data: { priority: 0, weight, port, target } }))
}

/** Returns the address records of the targets of SRV records. */
export function targetRecords(targets: readonly Target[]): readonly Answer[] {
  const records = new Map<string, Answer>()
  for (const { name, address } of targets) {
    const type = isIPv4(address) ? ('A' as const) : ('AAAA' as const)
    records.set(`${name} ${address}`, { type, name, ttl, data: address })
  }
  return [...records.values()]
}
