/**
 * `ServiceProxy`: receives connections at the cluster IPs of Services, and forwards each connection to an endpoint of the Service, as
 * kube-proxy does.
 */
import { isIPv4 } from 'node:net'
import type { NetworkAddresses } from '../addresses.ts'
import { apiServerPort, dnsPort, memberOf } from '../addresses.ts'
import type { EndpointChoiceOptions } from '../services/endpoint-choice.ts'
import { EndpointChoice } from '../services/endpoint-choice.ts'
import type { PortState, ServiceState } from '../services/service-state.ts'
import { endpointsOf } from '../services/usable-endpoints.ts'
import type { ServicePortOptions, SocketAddress } from './service-port.ts'
import { ServicePort } from './service-port.ts'

export type ServiceProxyOptions = EndpointChoiceOptions & ServicePortOptions & { readonly addresses: NetworkAddresses }

/** One port of a Service, with its keys in `#sockets`. There is one key for each cluster IP. */
interface ProxiedPort {
  readonly choice: EndpointChoice
  readonly sockets: ReadonlySet<string>
}

/**
 * The addresses that no endpoint can have. A connection to such an address would reach the agent itself, or no server. Endpoints with such
 * an address are ignored.
 */
const unreachable = [
  { address: '0.0.0.0', prefix: 8 },
  { address: '127.0.0.0', prefix: 8 },
  { address: '224.0.0.0', prefix: 3 },
].map(memberOf)

export class ServiceProxy {
  readonly #options: ServiceProxyOptions
  readonly #isClusterIp: (address: string) => boolean
  /** The addresses and ports at which the agent itself listens, in the form of the keys of `#sockets`. */
  readonly #reserved: ReadonlySet<string>
  /** The ports of each Service. The outer keys are `NAMESPACE/NAME`, and the inner keys are the protocol and the name of the port. */
  readonly #services = new Map<string, ReadonlyMap<string, ProxiedPort>>()
  readonly #sockets = new Map<string, ServicePort>()

  constructor(options: ServiceProxyOptions) {
    this.#options = options
    const { services, apiServer, dns } = options.addresses
    this.#isClusterIp = memberOf(services)
    const reserved: readonly SocketAddress[] = [
      { protocol: 'TCP', address: apiServer, port: apiServerPort },
      { protocol: 'TCP', address: dns, port: dnsPort },
      { protocol: 'UDP', address: dns, port: dnsPort },
    ]
    this.#reserved = new Set(reserved.map(socketKey))
  }

  set(service: ServiceState): void {
    const key = `${service.namespace}/${service.name}`
    const before = this.#services.get(key)
    const ports = new Map<string, ProxiedPort>()
    for (const port of service.ports) {
      const id = `${port.protocol} ${port.name}`
      ports.set(id, this.#setPort(service, port, before?.get(id)))
    }
    for (const [id, port] of before ?? []) if (!ports.has(id)) this.#release(port, new Set())
    this.#services.set(key, ports)
  }

  /** @param key `NAMESPACE/NAME` */
  remove(key: string): void {
    for (const port of this.#services.get(key)?.values() ?? []) this.#release(port, new Set())
    this.#services.delete(key)
  }

  #setPort(service: ServiceState, port: PortState, before: ProxiedPort | undefined): ProxiedPort {
    const choice = before?.choice ?? new EndpointChoice(this.#options)
    choice.update(
      service,
      endpointsOf(service, port).filter(({ address }) => this.#isReachable(address)),
    )
    const ats = service.addresses.flatMap((address) => this.#socketAt({ protocol: port.protocol, address, port: port.port }))
    const sockets = new Set(ats.map(socketKey))
    if (before !== undefined) this.#release(before, sockets)
    for (const at of ats) {
      const key = socketKey(at)
      const socket = this.#sockets.get(key) ?? new ServicePort(at, this.#options)
      this.#sockets.set(key, socket)
      socket.claim(choice)
    }
    return { choice, sockets }
  }

  #socketAt(at: SocketAddress): SocketAddress[] {
    const isHost = at.address === this.#options.addresses.host
    return isIPv4(at.address) && this.#isClusterIp(at.address) && !isHost && !this.#reserved.has(socketKey(at)) ? [at] : []
  }

  /**
   * Returns true if connections may be forwarded to an endpoint with this address. These addresses are excluded:
   *
   * - The addresses in `unreachable`.
   * - Cluster IPs, because a connection could return to the proxy in an endless loop. The address of the developer's machine is allowed,
   *   although it is in the range of cluster IPs.
   */
  #isReachable(address: string): boolean {
    if (address === this.#options.addresses.host) return true
    return !this.#isClusterIp(address) && !unreachable.some((isMember) => isMember(address))
  }

  /** Releases the sockets of a port, except the sockets in `keep`. A socket closes when no port of a Service uses it. */
  #release({ choice, sockets }: ProxiedPort, keep: ReadonlySet<string>): void {
    for (const key of sockets) {
      if (keep.has(key)) continue
      const socket = this.#sockets.get(key)
      socket?.release(choice)
      if (socket?.isUnused === true) this.#sockets.delete(key)
    }
  }
}

function socketKey({ protocol, address, port }: SocketAddress): string {
  return `${protocol} ${address}:${port}`
}
