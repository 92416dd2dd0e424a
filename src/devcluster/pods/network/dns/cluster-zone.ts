/**
 * `ClusterZone`: the DNS names in `cluster.local`, and the names that a reverse lookup of an IPv4 address in the cluster returns. The
 * plugin `kubernetes` of CoreDNS serves the same names.
 */
import { isIP, isIPv4 } from 'node:net'
import type { Answer, RecordType } from 'dns-packet'
import type { NetworkAddresses } from '../addresses.ts'
import { memberOf } from '../addresses.ts'
import type { ServiceState } from '../services/service-state.ts'
import type { ZoneAnswer } from './answer.ts'
import { soa, ttl } from './answer.ts'
import type { Selection, Target } from './service-records.ts'
import { addressRecords, domainOf, labelOf, serviceRecords, targetRecords, targetsOf } from './service-records.ts'

const zone = 'cluster.local'
const reverseZone = 'in-addr.arpa'

/**
 * The answer for `dns-version.cluster.local`: the version of the specification of the DNS names in the cluster, and the time in seconds for
 * which a client may cache the answer (github.com/coredns/coredns/plugin/kubernetes).
 */
const [schemaVersion, schemaTtl] = ['1.1.0', 28_800]

export class ClusterZone {
  readonly #services = new Map<string, ServiceState>()
  /** The number of Services in each namespace. */
  readonly #namespaces = new Map<string, number>()
  /** For each address, the keys of the Services that have this address as a cluster IP or as the address of an endpoint. */
  readonly #byAddress = new Map<string, Set<string>>()
  readonly #dnsAddress: string
  readonly #isOfCluster: (address: string) => boolean
  #serial = 0

  constructor({ dns, services, pods }: NetworkAddresses) {
    this.#dnsAddress = dns
    const ranges = [services, pods].map(memberOf)
    this.#isOfCluster = (address) => ranges.some((isMember) => isMember(address))
  }

  set(service: ServiceState): void {
    const key = `${service.namespace}/${service.name}`
    this.remove(key)
    this.#services.set(key, service)
    this.#namespaces.set(service.namespace, (this.#namespaces.get(service.namespace) ?? 0) + 1)
    for (const address of addressesOf(service)) {
      const keys = this.#byAddress.get(address) ?? new Set()
      this.#byAddress.set(address, keys.add(key))
    }
  }

  /** @param key `NAMESPACE/NAME` */
  remove(key: string): void {
    this.#serial += 1
    const service = this.#services.get(key)
    if (service === undefined) return
    this.#services.delete(key)
    const others = this.#namespaces.get(service.namespace)! - 1
    if (others > 0) this.#namespaces.set(service.namespace, others)
    else this.#namespaces.delete(service.namespace)
    for (const address of addressesOf(service)) {
      const keys = this.#byAddress.get(address)
      keys?.delete(key)
      if (keys?.size === 0) this.#byAddress.delete(address)
    }
  }

  /**
   * Returns the answer to a question. Returns undefined for a name outside of the cluster.
   *
   * @param name the name in the question, with unchanged upper and lower case, but without the dot at the end.
   */
  answer(name: string, type: RecordType): ZoneAnswer | undefined {
    const lower = name.toLowerCase()
    if (lower === zone) return this.#apex(name, type)
    if (lower.endsWith(`.${zone}`)) return this.#named(name, lower.slice(0, -zone.length - 1).split('.'), type)
    return lower.endsWith(`.${reverseZone}`) ? this.#reverse(name, lower.slice(0, -reverseZone.length - 1), type) : undefined
  }

  #apex(name: string, type: RecordType): ZoneAnswer {
    if (type === 'SOA') return found([{ ...soa(zone, this.#serial), name }])
    if (type === 'NS') return found([{ type, name, ttl, data: `ns.dns.${zone}` }])
    return this.#noData()
  }

  #named(name: string, labels: readonly string[], type: RecordType): ZoneAnswer {
    const base = labels.join('.')
    if (base === 'dns-version') return type === 'TXT' ? found([{ type, name, ttl: schemaTtl, data: schemaVersion }]) : this.#noData()
    if (base === 'ns.dns') return this.#addresses(name, type, [{ name, address: this.#dnsAddress }])
    if (base === 'dns' || base === 'svc' || base === 'pod') return this.#noData()
    const below = labels.slice(0, -1)
    if (labels.at(-1) === 'svc') return this.#service(name, below, type)
    return labels.at(-1) === 'pod' ? this.#pod(name, below, type) : this.#noName()
  }

  /** Returns the answer for `[HOSTNAME.|_PORT._PROTOCOL.]SERVICE.NAMESPACE.svc.cluster.local`. */
  #service(name: string, labels: readonly string[], type: RecordType): ZoneAnswer {
    const [service, namespace = ''] = labels.slice(-2)
    if (labels.length === 1) return this.#namespaces.has(service!) ? this.#noData() : this.#noName()
    const state = this.#services.get(`${namespace}/${service}`)
    const selection = selectionOf(labels.slice(0, -2))
    if (state === undefined || selection === undefined) return this.#noName()
    if (state.externalName !== undefined) return this.#alias(name, state.externalName, labels.length === 2, type)
    return this.#addresses(name, type, targetsOf(state, selection, zone))
  }

  /**
   * Returns the answer for a Service with an external name. If the external name is an IP address, the answer is that the DNS name of the
   * Service does not exist (github.com/coredns/coredns/plugin/kubernetes: findServices).
   */
  #alias(name: string, externalName: string, isWholeName: boolean, type: RecordType): ZoneAnswer {
    const alias = externalName.replace(/\.$/, '')
    if (!isWholeName || alias === '' || isIP(alias) !== 0) return this.#noName()
    if (type === 'SRV') return this.#noData()
    const records: readonly Answer[] = [{ type: 'CNAME', name, ttl, data: alias }]
    return type === 'CNAME' ? found(records) : { code: 'NOERROR', records, alias }
  }

  /**
   * Returns the answer for `1-2-3-4.NAMESPACE.pod.cluster.local`, even if no such Pod exists (option `pods insecure`, which kubeadm sets).
   */
  #pod(name: string, labels: readonly string[], type: RecordType): ZoneAnswer {
    if (labels.length === 1) return this.#noData()
    const [label = ''] = labels
    const address = [label.replaceAll('-', '.'), label.replaceAll('-', ':')].find((text) => isIP(text) !== 0)
    return labels.length > 2 || address === undefined ? this.#noName() : this.#addresses(name, type, [{ name, address }])
  }

  #addresses(name: string, type: RecordType, targets: readonly Target[]): ZoneAnswer {
    if (targets.length === 0) return this.#noName()
    if (type === 'A' || type === 'AAAA') return this.#foundOrNoData(addressRecords(name, type, targets))
    if (type !== 'SRV') return this.#noData()
    const reachable = targets.filter(({ port }) => port !== undefined)
    return { ...this.#foundOrNoData(serviceRecords(name, reachable)), additionals: targetRecords(reachable) }
  }

  #reverse(name: string, reversed: string, type: RecordType): ZoneAnswer | undefined {
    const address = reversed.split('.').reverse().join('.')
    if (!isIPv4(address)) return undefined
    const services = [...(this.#byAddress.get(address) ?? [])].map((key) => this.#services.get(key)!)
    const names = namesOf(address, services)
    if (names.length > 0) return type === 'PTR' ? found(names.map((data) => ({ type, name, ttl, data }))) : this.#noData(reverseZone)
    return this.#isOfCluster(address) ? this.#noName(reverseZone) : undefined
  }

  #foundOrNoData(records: readonly Answer[]): ZoneAnswer {
    return records.length > 0 ? found(records) : this.#noData()
  }

  #noData(ofZone = zone): ZoneAnswer {
    return { code: 'NOERROR', records: [], authorities: [soa(ofZone, this.#serial)] }
  }

  #noName(ofZone = zone): ZoneAnswer {
    return { ...this.#noData(ofZone), code: 'NXDOMAIN' }
  }
}

function found(records: readonly Answer[]): ZoneAnswer {
  return { code: 'NOERROR', records }
}

/** Parses the labels before the name of a Service. Returns undefined when the labels do not have the form of a hostname or a port. */
function selectionOf(labels: readonly string[]): Selection | undefined {
  const [first, second] = labels
  if (first === undefined) return {}
  if (second === undefined) return { hostname: first }
  if (labels.length > 2 || !first.startsWith('_') || !second.startsWith('_')) return undefined
  return { port: { name: first.slice(1), protocol: second.slice(1) } }
}

function addressesOf({ addresses, slices }: ServiceState): ReadonlySet<string> {
  return new Set([...addresses, ...slices.flatMap(({ endpoints }) => endpoints.map(({ address }) => address))])
}

/**
 * Returns the name of the Service with this cluster IP. If no Service has this cluster IP, returns the names of the ready endpoints with
 * this address.
 */
function namesOf(address: string, services: readonly ServiceState[]): readonly string[] {
  const owner = services.find(({ addresses }) => addresses.includes(address))
  if (owner !== undefined) return [domainOf(owner, zone)]
  const names = services.flatMap((service) =>
    service.slices
      .flatMap(({ endpoints }) => endpoints)
      .filter((endpoint) => endpoint.isReady && endpoint.address === address)
      .map((endpoint) => `${labelOf(endpoint)}.${domainOf(service, zone)}`),
  )
  return [...new Set(names)]
}
