/** `TcpForwarder`: connects clients to endpoints, and forwards the data of their TCP connections in both directions. */
import type { Socket } from 'node:net'
import { connect } from 'node:net'

/** Time in milliseconds without traffic after which the system checks that the other side still exists. */
const keepAliveMs = 15_000

export class TcpForwarder {
  /** The open connections to each address. */
  readonly #byAddress = new Map<string, Set<Socket>>()

  /** Forwards the connection of a client to an endpoint. If the endpoint refuses the connection, the client's connection is reset. */
  forward(client: Socket, endpoint: { readonly address: string; readonly port: number }): void {
    const server = connect({ host: endpoint.address, port: endpoint.port, allowHalfOpen: true })
    const sockets = this.#byAddress.get(endpoint.address) ?? new Set()
    this.#byAddress.set(endpoint.address, sockets.add(server))
    server.once('close', () => {
      sockets.delete(server)
      if (sockets.size === 0 && this.#byAddress.get(endpoint.address) === sockets) this.#byAddress.delete(endpoint.address)
    })
    joinSockets(client, server)
  }

  /**
   * Resets all connections to the address of a Pod whose network namespace has ended. The system discards the connections of such a
   * namespace and sends nothing to the clients. Without a reset, the clients would wait for minutes.
   */
  resetAll(address: string): void {
    for (const server of this.#byAddress.get(address) ?? []) reset(server)
  }
}

/**
 * Forwards the data of two connections to each other. A side that has finished sending can still receive data. If one side resets its
 * connection, the other connection is reset. If one side reads slowly, the other side can send only slowly.
 */
export function joinSockets(client: Socket, server: Socket): void {
  passOn(client, server)
  passOn(server, client)
}

function passOn(from: Socket, to: Socket): void {
  from.allowHalfOpen = true
  from.setNoDelay(true)
  from.setKeepAlive(true, keepAliveMs)
  // Each error is followed by the event `close`, which is handled below.
  from.on('error', () => undefined)
  from.once('close', (hadError) => {
    if (hadError || !from.readableEnded) reset(to)
  })
  from.pipe(to)
}

/** Resets a TCP connection, so that the other side sees an error instead of a regular end. */
export function reset(socket: Socket): void {
  if (socket.destroyed) return
  if (socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}
