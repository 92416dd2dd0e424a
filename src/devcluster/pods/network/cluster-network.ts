/**
 * `ClusterNetwork`: the network of Pods that run as processes. Through this network, Pods reach DNS, the API server, the developer's
 * machine and the cluster IPs of Services. An agent accepts the connections of the Pods. The agent is a process in the network namespace of
 * the cluster. In this network namespace, a bridge connects the network namespaces of the Pods.
 *
 * The agent forwards connections, whereas kube-proxy rewrites packets. This causes two differences:
 *
 * - If the endpoint of a Service is a Pod, this Pod sees the address of the bridge as the client address.
 * - When an endpoint refuses a connection, the client's connection is first accepted and then reset.
 */
import type { Socket } from 'node:net'
import type { Service } from '../../../api/builtin.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { discovery } from '../../../api/kubernetes/discovery.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { Clock } from '../../../runtime/clock.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import { systemRandom } from '../../../runtime/random.ts'
import { sleep } from '../../../runtime/waiting.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { NetworkAddresses } from './addresses.ts'
import { defaultAddresses } from './addresses.ts'
import type { ReceiveMessage } from './agent/agent-child.ts'
import { AgentChild } from './agent/agent-child.ts'
import type { ParentMessage, StartMessage } from './agent/messages.ts'
import type { ResolveName } from './dns/machine-resolver.ts'
import { machineResolver } from './dns/machine-resolver.ts'
import { forwardToLoopback } from './host/forward-to-loopback.ts'
import { HostPorts } from './host/host-ports.ts'
import { ServiceStates } from './services/service-states.ts'
import type { PodLocation } from './services/usable-endpoints.ts'

export interface ClusterNetworkOptions {
  /** The command that starts a program in the cluster's network namespace. The program and its arguments are appended to the command. */
  readonly enterNetwork: readonly string[]
  /**
   * Called with each connection to the API server, before any data is read from the connection. An HTTPS server accepts the connection by
   * `server.emit('connection', socket)`.
   */
  readonly acceptApiServer: (socket: Socket) => void
  /**
   * The addresses of the network. Default: the cluster IPs are in 10.96.0.0/16, DNS is at 10.96.0.10, and the developer's machine is at
   * 10.96.0.2.
   */
  readonly addresses?: NetworkAddresses
  /**
   * True (default) to let Pods connect to servers on the developer's machine, which has the name `host.proreus.internal`.
   *
   * - If true, Pods reach every TCP server that listens on the loopback interface. This includes servers of other users, and servers that
   *   trust every local client: databases without a password, debuggers, container engines. A program that is not trusted can use such a
   *   server to break out of its Pod.
   * - If false, Pods cannot connect to anything outside of the cluster. DNS still resolves names outside of the cluster.
   */
  readonly hostAccess?: boolean
  /** Resolves the names outside of the cluster. Default: the name servers of the developer's machine. */
  readonly resolve?: ResolveName
  readonly logger: Logger
  readonly clock?: Clock
  readonly random?: () => number
}

/** The first and the maximum delay in milliseconds between the end of the agent and its next start. Each failed start doubles the delay. */
const [restartMs, maxRestartMs] = [500, 30_000]
/** The length of the agent's seed, which is a list of random numbers. The seed determines the random choices of the agent. */
const seedLength = 4

export class ClusterNetwork {
  readonly #options: ClusterNetworkOptions
  readonly #clock: Clock
  readonly #addresses: NetworkAddresses
  readonly #random: () => number
  readonly #states = new ServiceStates()
  readonly #pods = new Map<string, PodLocation>()
  readonly #hostPorts: HostPorts
  readonly #closing = new AbortController()
  readonly #resolve: ResolveName
  #agent: AgentChild | undefined
  #running: Promise<void> = Promise.resolve()

  private constructor(options: ClusterNetworkOptions) {
    const { hostAccess = true, clock = systemClock, random = systemRandom } = options
    this.#options = options
    this.#clock = clock
    this.#random = random
    const addresses = options.addresses ?? defaultAddresses
    this.#addresses = hostAccess ? addresses : { ...addresses, host: undefined }
    this.#resolve = options.resolve ?? machineResolver(clock)
    this.#hostPorts = new HostPorts(clock, (ports) => this.#send({ type: 'hostPorts', ports }))
  }

  /**
   * Resolves when Pods can reach the API server and DNS.
   *
   * @throws {AgentStartError} when the agent cannot be started. The message contains the reason.
   */
  static async start(options: ClusterNetworkOptions): Promise<ClusterNetwork> {
    const network = new ClusterNetwork(options)
    const agent = await network.#startAgent()
    network.#running = network.#keepRunning(agent)
    return network
  }

  /** Adds or replaces a Service. */
  setService(service: DeepReadonly<Service>): void {
    this.#states.setService(service)
    this.#sendChangesLater()
  }

  removeService(service: ObjectKey): void {
    this.#states.removeService(service)
    this.#sendChangesLater()
  }

  /** Adds or replaces an EndpointSlice. */
  setEndpointSlice(slice: DeepReadonly<discovery.EndpointSlice>): void {
    this.#states.setEndpointSlice(slice)
    this.#sendChangesLater()
  }

  removeEndpointSlice(slice: ObjectKey): void {
    this.#states.removeEndpointSlice(slice)
    this.#sendChangesLater()
  }

  /** Declares that a Pod with this address runs. `location` determines which endpoints of a Service the Pod can reach. */
  setPod(address: string, location: PodLocation): void {
    this.#pods.set(address, location)
    this.#send({ type: 'pod', address, location })
    this.#hostPorts.setActive(this.#addresses.host !== undefined)
  }

  /**
   * Removes the Pod with this IP address from the network of the cluster. The agent then resets all connections that the agent forwards to
   * this address.
   */
  removePod(address: string): void {
    this.#pods.delete(address)
    this.#send({ type: 'pod', address })
    if (this.#pods.size === 0) this.#hostPorts.setActive(false)
  }

  /** Ends the process of the agent and all connections that the agent forwards. Resolves when the process has ended. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the network of the cluster is closed'))
    this.#hostPorts.setActive(false)
    await this.#agent?.stop(this.#clock)
    await this.#running
  }

  async #startAgent(): Promise<AgentChild> {
    const seed = Array.from({ length: seedLength }, () => this.#random())
    const start: StartMessage = { type: 'start', addresses: this.#addresses, seed }
    const agent = new AgentChild(this.#options.enterNetwork, start, this.#receive)
    try {
      await agent.ready
    } catch (error) {
      await agent.stop(this.#clock)
      throw error
    }
    this.#agent = agent
    return agent
  }

  /** Starts the agent again whenever it ends, until the network is closed. */
  async #keepRunning(first: AgentChild): Promise<void> {
    const { signal } = this.#closing
    const { logger } = this.#options
    let delay = restartMs
    let reason = await first.ended
    while (!signal.aborted) {
      this.#agent = undefined
      logger.error(`the agent of the network of the cluster has ended and is started again: ${reason}`)
      try {
        await sleep(this.#clock, delay, signal)
        const agent = await this.#startAgent()
        this.#sendEverything()
        delay = restartMs
        if (signal.aborted) await agent.stop(this.#clock)
        reason = await agent.ended
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
        delay = Math.min(delay * 2, maxRestartMs)
      }
    }
    this.#agent = undefined
  }

  #sendEverything(): void {
    this.#send({ type: 'services', changed: this.#states.current, removed: [] })
    for (const [address, location] of this.#pods) this.#send({ type: 'pod', address, location })
    this.#send({ type: 'hostPorts', ports: this.#hostPorts.current })
  }

  /**
   * At the end of the current iteration of the event loop, sends the agent one message with all changes of the Services and their
   * endpoints.
   */
  #sendChangesLater(): void {
    void endOfTurn().then(() => {
      const { changed, removed } = this.#states.changes()
      if (this.#closing.signal.aborted || changed.length + removed.length === 0) return
      this.#send({ type: 'services', changed, removed })
    })
  }

  #send(message: ParentMessage): void {
    this.#agent?.send(message)
  }

  readonly #receive: ReceiveMessage = (message, socket, agent) => {
    socket?.on('error', () => undefined)
    switch (message.type) {
      case 'apiServer':
        if (socket !== undefined) this.#options.acceptApiServer(socket)
        break
      case 'host':
        if (socket !== undefined) forwardToLoopback(socket, message.port)
        break
      case 'resolve': {
        const { id, name, recordType } = message
        void this.#resolve(name, recordType)
          .catch(() => ({ code: 'SERVFAIL' as const, records: [] }))
          .then((answer) => agent.send({ type: 'resolved', id, answer }))
        break
      }
      case 'warning':
        this.#options.logger.warn(message.reason)
        break
    }
  }
}
