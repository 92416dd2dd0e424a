/** `UdpForwarder`: forwards the datagrams of clients to endpoints, and the responses of the endpoints to the clients. */
import type { RemoteInfo, Socket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import type { Clock, Timer } from '../../../../runtime/clock.ts'
import type { EndpointChoice } from '../services/endpoint-choice.ts'
import type { Endpoint } from '../services/usable-endpoints.ts'

/**
 * Minimum time in milliseconds for which a flow must be idle before the forwarder ends the flow. A flow is idle while neither the client
 * nor the endpoint sends a datagram. After the flow has ended, the client's next datagram can go to another endpoint. The value is the
 * default of the sysctl nf_conntrack_udp_timeout_stream.
 */
const idleMs = 120_000
/** The maximum number of flows of one port. Each flow needs a socket. If the maximum is reached, a new flow replaces the oldest flow. */
const maxFlows = 1024

/** The datagrams between one socket of a client and an endpoint. */
interface Flow {
  readonly endpoint: Endpoint
  readonly socket: Socket
  usedAt: number
}

export class UdpForwarder {
  readonly #listener: Socket
  readonly #choice: EndpointChoice
  readonly #clock: Clock
  readonly #flows = new Map<string, Flow>()
  #sweep: Timer | undefined

  /** @param listener the socket at which the datagrams of clients arrive */
  constructor(listener: Socket, choice: EndpointChoice, clock: Clock) {
    this.#listener = listener
    this.#choice = choice
    this.#clock = clock
    listener.on('message', (message, client) => {
      // A hostile client can send from port 0. If a response is sent to port 0, Node.js throws an error.
      if (client.port !== 0) this.#forward(message, client)
    })
  }

  /**
   * Ends the flows to endpoints that the port no longer has. If the port still has an endpoint, the flows to this endpoint continue, even
   * if the endpoint is no longer serving. In contrast, kube-proxy also ends the flows to endpoints that are no longer serving
   * (k8s.io/kubernetes/pkg/proxy/conntrack: CleanStaleEntries).
   */
  endpointsChanged(): void {
    for (const [client, { endpoint }] of this.#flows) if (!this.#choice.has(endpoint)) this.#end(client)
  }

  /** Ends all flows. The listener stays open. */
  close(): void {
    for (const client of this.#flows.keys()) this.#end(client)
    this.#sweep?.cancel()
  }

  #forward(message: Buffer, client: RemoteInfo): void {
    const flow = this.#flows.get(`${client.address}:${client.port}`) ?? this.#begin(client)
    if (flow === undefined) return
    flow.usedAt = this.#clock.monotonicNow()
    flow.socket.send(message, flow.endpoint.port, flow.endpoint.address, () => undefined)
  }

  #begin(client: RemoteInfo): Flow | undefined {
    const endpoint = this.#choice.choose(client.address)
    if (endpoint === undefined) return undefined
    const socket = createSocket('udp4')
    const flow: Flow = { endpoint, socket, usedAt: 0 }
    socket.on('error', () => undefined)
    socket.on('message', (message, { address, port }) => {
      if (address !== endpoint.address || port !== endpoint.port) return
      flow.usedAt = this.#clock.monotonicNow()
      this.#listener.send(message, client.port, client.address, () => undefined)
    })
    if (this.#flows.size >= maxFlows) {
      const [oldest] = this.#flows.keys()
      this.#end(oldest!)
    }
    this.#flows.set(`${client.address}:${client.port}`, flow)
    this.#sweep ??= this.#clock.after(idleMs, () => this.#endIdle())
    return flow
  }

  #endIdle(): void {
    const now = this.#clock.monotonicNow()
    for (const [client, { usedAt }] of this.#flows) if (now - usedAt >= idleMs) this.#end(client)
    this.#sweep = this.#flows.size === 0 ? undefined : this.#clock.after(idleMs, () => this.#endIdle())
  }

  #end(client: string): void {
    this.#flows.get(client)?.socket.close()
    this.#flows.delete(client)
  }
}
