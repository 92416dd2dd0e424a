/** `EndpointChoice`: chooses the endpoint for each connection to one port of a Service. */
import type { Clock } from '../../../../runtime/clock.ts'
import type { Endpoint, PodLocation } from './usable-endpoints.ts'
import { usableEndpoints } from './usable-endpoints.ts'

export interface EndpointChoiceOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Returns the location of the Pod with this address; undefined when no Pod has this address. */
  readonly locationOf: (address: string) => PodLocation | undefined
}

/** The fields of a Service that determine the choice. */
export interface ChoicePolicy {
  readonly isLocal: boolean
  readonly affinitySeconds?: number
}

/** The maximum number of clients whose last endpoint is remembered. It is the number of Pod IPs in a range with the prefix length 16. */
const maxClients = 65_536

/** The endpoint of a client's last connection. */
interface Affinity {
  readonly endpoint: Endpoint
  readonly usedAt: number
}

export class EndpointChoice {
  readonly #options: EndpointChoiceOptions
  #endpoints: readonly Endpoint[] = []
  #policy: ChoicePolicy = { isLocal: false }
  /** The endpoints that clients can use, keyed by the node and the zone of the client. */
  readonly #usable = new Map<string, readonly Endpoint[]>()
  /**
   * With session affinity, the last endpoint of each client, keyed by the address of the client. The entries are in the order of the
   * clients' last connections, oldest first.
   */
  readonly #affinities = new Map<string, Affinity>()

  constructor(options: EndpointChoiceOptions) {
    this.#options = options
  }

  /** True when at least one client can reach an endpoint. */
  get isServed(): boolean {
    return usableEndpoints(this.#endpoints, false, undefined).length > 0
  }

  update(policy: ChoicePolicy, endpoints: readonly Endpoint[]): void {
    this.#policy = policy
    this.#endpoints = endpoints
    this.#usable.clear()
    if (policy.affinitySeconds === undefined) this.#affinities.clear()
  }

  /** Returns true when the port has the endpoint, whether the endpoint is ready or not. */
  has({ address, port }: Endpoint): boolean {
    return this.#endpoints.some((one) => one.address === address && one.port === port)
  }

  /**
   * Returns the endpoint for a new connection. Without session affinity, this is a random endpoint. With session affinity, this is the
   * endpoint of the client's last connection, until the affinity expires or the endpoint cannot be used. Returns undefined when the client
   * can reach no endpoint.
   */
  choose(client: string): Endpoint | undefined {
    const usable = this.#usableFor(this.#options.locationOf(client))
    const endpoint = this.#remembered(client, usable) ?? usable[Math.floor(this.#options.random() * usable.length)]
    if (endpoint !== undefined && this.#policy.affinitySeconds !== undefined) this.#remember(client, endpoint)
    return endpoint
  }

  #usableFor(location: PodLocation | undefined): readonly Endpoint[] {
    const key = location === undefined ? '' : `${location.node} ${location.zone ?? ''}`
    let usable = this.#usable.get(key)
    if (usable === undefined) {
      usable = usableEndpoints(this.#endpoints, this.#policy.isLocal, location)
      this.#usable.set(key, usable)
    }
    return usable
  }

  #remembered(client: string, usable: readonly Endpoint[]): Endpoint | undefined {
    const { affinitySeconds } = this.#policy
    const affinity = this.#affinities.get(client)
    if (affinitySeconds === undefined || affinity === undefined) return undefined
    if (this.#options.clock.monotonicNow() - affinity.usedAt >= affinitySeconds * 1000) return undefined
    return usable.find(({ address, port }) => address === affinity.endpoint.address && port === affinity.endpoint.port)
  }

  #remember(client: string, endpoint: Endpoint): void {
    this.#affinities.delete(client)
    this.#affinities.set(client, { endpoint, usedAt: this.#options.clock.monotonicNow() })
    if (this.#affinities.size <= maxClients) return
    const [oldest] = this.#affinities.keys()
    this.#affinities.delete(oldest!)
  }
}
