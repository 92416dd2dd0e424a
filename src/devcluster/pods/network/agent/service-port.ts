/**
 * `ServicePort`: the socket of one port at a cluster IP. The socket is open while at least one endpoint can be used. While the socket is
 * closed, connections are refused.
 */
import type { Socket as UdpSocket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import type { Server } from 'node:net'
import { createServer } from 'node:net'
import type { Clock, Timer } from '../../../../runtime/clock.ts'
import type { EndpointChoice } from '../services/endpoint-choice.ts'
import type { Protocol } from '../services/service-state.ts'
import type { TcpForwarder } from './tcp-forwarder.ts'
import { reset } from './tcp-forwarder.ts'
import { UdpForwarder } from './udp-forwarder.ts'

/** Time in milliseconds between the failure to open a port and the next attempt. */
const retryMs = 1000

export interface ServicePortOptions {
  readonly clock: Clock
  readonly connections: TcpForwarder
  /**
   * Called when a port cannot be opened. `reason` names the port and contains the message of the error. If a later attempt to open the same
   * port also fails, `warn` is not called again.
   */
  readonly warn: (reason: string) => void
}

export interface SocketAddress {
  readonly protocol: Protocol
  readonly address: string
  readonly port: number
}

export class ServicePort {
  readonly #at: SocketAddress
  readonly #options: ServicePortOptions
  /**
   * The `EndpointChoice` of each Service with this address and port, in the order of the calls of `claim`. If several Services have the
   * same address and port, all connections go to the Service that is first in this list.
   */
  readonly #claims: EndpointChoice[] = []
  #socket: OpenSocket | undefined
  #retry: Timer | undefined
  #hasWarned = false

  constructor(at: SocketAddress, options: ServicePortOptions) {
    this.#at = at
    this.#options = options
  }

  get isUnused(): boolean {
    return this.#claims.length === 0
  }

  claim(choice: EndpointChoice): void {
    if (!this.#claims.includes(choice)) this.#claims.push(choice)
    this.refresh()
  }

  release(choice: EndpointChoice): void {
    const index = this.#claims.indexOf(choice)
    if (index >= 0) this.#claims.splice(index, 1)
    this.refresh()
  }

  /** Opens or closes the socket after the endpoints have changed. Established TCP connections stay open. */
  refresh(): void {
    const [choice] = this.#claims
    const isServed = choice?.isServed === true
    if (this.#socket !== undefined && (!isServed || this.#socket.choice !== choice)) this.#close()
    if (!isServed) this.#retry?.cancel()
    else if (this.#socket === undefined) this.#open(choice)
    else this.#socket.endpointsChanged()
  }

  #open(choice: EndpointChoice): void {
    const open = this.#at.protocol === 'TCP' ? openTcp : openUdp
    const socket = open(this.#at, choice, this.#options, (error) => {
      if (this.#socket === socket) this.#failed(error)
    })
    this.#socket = socket
  }

  #failed(error: Error): void {
    this.#close()
    const { protocol, address, port } = this.#at
    if (!this.#hasWarned) this.#options.warn(`port ${port} (${protocol}) could not be opened at ${address}: ${error.message}`)
    this.#hasWarned = true
    this.#retry?.cancel()
    this.#retry = this.#options.clock.after(retryMs, () => this.refresh())
  }

  #close(): void {
    this.#socket?.close()
    this.#socket = undefined
  }
}

interface OpenSocket {
  readonly choice: EndpointChoice
  endpointsChanged(): void
  close(): void
}

function openTcp(at: SocketAddress, choice: EndpointChoice, options: ServicePortOptions, failed: (error: Error) => void): OpenSocket {
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const endpoint = choice.choose(client.remoteAddress ?? '')
    if (endpoint === undefined) reset(client)
    else options.connections.forward(client, endpoint)
  })
  server.on('error', failed)
  server.listen({ host: at.address, port: at.port })
  return { choice, endpointsChanged: () => undefined, close: () => server.close() }
}

function openUdp(at: SocketAddress, choice: EndpointChoice, options: ServicePortOptions, failed: (error: Error) => void): OpenSocket {
  const socket: UdpSocket = createSocket('udp4')
  const forwarder = new UdpForwarder(socket, choice, options.clock)
  let isClosed = false
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    forwarder.close()
    socket.close()
  }
  socket.on('error', failed)
  socket.bind(at.port, at.address)
  return { choice, endpointsChanged: () => forwarder.endpointsChanged(), close }
}
