/**
 * `NetworkAgent`: runs in the network namespace of the cluster. In this namespace, the agent opens the sockets through which Pods reach
 * Services, DNS, the API server and the developer's machine.
 */
import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Clock } from '../../../../runtime/clock.ts'
import { systemClock } from '../../../../runtime/clock.ts'
import { randomStreams } from '../../../../runtime/random.ts'
import { apiServerPort } from '../addresses.ts'
import { ClusterZone } from '../dns/cluster-zone.ts'
import { DnsServer } from '../dns/dns-server.ts'
import { answerForHost } from '../dns/host-zone.ts'
import { Responder } from '../dns/responder.ts'
import type { PodLocation } from '../services/usable-endpoints.ts'
import { listenForParent } from './handed-listener.ts'
import { HostListeners } from './host-listeners.ts'
import { makeLocal } from './local-addresses.ts'
import type { ParentMessage, PodMessage, StartMessage } from './messages.ts'
import type { ParentChannel } from './parent-channel.ts'
import { ServiceProxy } from './service-proxy.ts'
import { TcpForwarder } from './tcp-forwarder.ts'

export interface NetworkAgentOptions {
  /** Default: the clock of the system. */
  readonly clock?: Clock
}

export class NetworkAgent {
  readonly #channel: ParentChannel
  readonly #zone: ClusterZone
  readonly #proxy: ServiceProxy
  readonly #connections = new TcpForwarder()
  readonly #locations = new Map<string, PodLocation>()
  readonly #host: HostListeners | undefined

  private constructor({ addresses, seed }: StartMessage, channel: ParentChannel, { clock = systemClock }: NetworkAgentOptions) {
    this.#channel = channel
    this.#zone = new ClusterZone(addresses)
    const warn = (reason: string): void => channel.send({ type: 'warning', reason })
    this.#proxy = new ServiceProxy({
      addresses,
      clock,
      random: streamOf(seed)('endpoints'),
      locationOf: (address) => this.#locations.get(address),
      connections: this.#connections,
      warn,
    })
    const handOver = (port: number, socket: Socket): void => channel.handOver({ type: 'host', port }, socket)
    if (addresses.host !== undefined) this.#host = new HostListeners(addresses.host, handOver, warn)
  }

  /**
   * Resolves when the agent listens at the addresses of the API server and of DNS. Rejects when the local route to the addresses of
   * Services cannot be created, or the ports cannot be opened.
   */
  static async start(message: StartMessage, channel: ParentChannel, options: NetworkAgentOptions = {}): Promise<NetworkAgent> {
    const { addresses, seed } = message
    await makeLocal(addresses.services)
    const agent = new NetworkAgent(message, channel, options)
    await listenForApiServer(addresses.apiServer, channel)
    const responder = new Responder({
      zones: (name, type) => agent.#zone.answer(name, type) ?? answerForHost(addresses.host, name, type),
      upstream: (name, type) => channel.resolve(name, type),
      random: streamOf(seed)('records'),
    })
    await DnsServer.listen(addresses.dns, (query) => responder.answer(query))
    return agent
  }

  receive(message: Exclude<ParentMessage, StartMessage>): void {
    switch (message.type) {
      case 'services':
        for (const key of message.removed) {
          this.#zone.remove(key)
          this.#proxy.remove(key)
        }
        for (const service of message.changed) {
          this.#zone.set(service)
          this.#proxy.set(service)
        }
        break
      case 'pod':
        this.#setPod(message)
        break
      case 'hostPorts':
        this.#host?.set(message.ports)
        break
      case 'resolved':
        this.#channel.resolved(message)
        break
    }
  }

  #setPod({ address, location }: PodMessage): void {
    if (location !== undefined) {
      this.#locations.set(address, location)
    } else {
      this.#locations.delete(address)
      this.#connections.resetAll(address)
    }
  }
}

async function listenForApiServer(address: string, channel: ParentChannel): Promise<Server> {
  const failed = Promise.withResolvers<never>()
  const server = listenForParent(
    { address, port: apiServerPort },
    (socket) => channel.handOver({ type: 'apiServer' }, socket),
    (error) => failed.reject(error),
  )
  await Promise.race([once(server, 'listening'), failed.promise])
  failed.promise.catch(() => undefined)
  return server
}

/**
 * Returns a function that returns the stream of random numbers for a name. `seed` determines all streams. Streams with different names are
 * independent.
 */
function streamOf(seed: readonly number[]): (name: string) => () => number {
  let next = 0
  return randomStreams(() => seed[next++ % seed.length] ?? 0)
}
