/** The open connections of a server: which of them carry a request now, and how to end them all without losing one. */
import type { ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../api/clock.ts'

/**
 * How long a connection that carries no request may stay when the server stops. Node closes those that have carried one;
 * those that never did, and those still shaking hands, it would wait for.
 */
const quietMs = 1000

/** How many requests a TLS connection carries now: one, but for senders that do not wait for their answers. */
const requests = Symbol('requests')

interface BusySocket extends Socket {
  [requests]?: number
}

export class Connections {
  readonly #server: Server
  readonly #clock: Clock
  /** Those of TCP, which are there before the handshake of TLS. */
  readonly #sockets = new Set<Socket>()
  readonly #tlsSockets = new Set<BusySocket>()
  #inFlight = 0

  constructor(server: Server, clock: Clock) {
    this.#server = server
    this.#clock = clock
    server.on('connection', (socket: Socket) => remember(this.#sockets, socket))
    server.on('secureConnection', (socket) => remember(this.#tlsSockets, socket))
    // Counted, and in no set: the tables that a set has outgrown refer to their successors, so that in a set of what lives for a
    // millisecond, all that was ever in it survives until the next full garbage collection.
    server.on('request', ({ socket }: { readonly socket: BusySocket }, response: ServerResponse) => {
      this.#inFlight += 1
      socket[requests] = (socket[requests] ?? 0) + 1
      response.on('close', () => {
        this.#inFlight -= 1
        socket[requests]! -= 1
      })
    })
  }

  /** Requests that wait for an answer. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Stops accepting, lets requests in flight finish, and ends what is left after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void> {
    if (!this.#server.listening) return Promise.resolve()
    return new Promise((resolve) => {
      const quiet = this.#clock.after(Math.min(quietMs, deadlineMs), () => this.#destroyQuiet())
      const deadline = this.#clock.after(deadlineMs, () => {
        this.#server.closeAllConnections()
        for (const socket of this.#sockets) socket.destroy()
      })
      this.#server.close(() => {
        quiet.cancel()
        deadline.cancel()
        resolve()
      })
    })
  }

  #destroyQuiet(): void {
    // Both ends of a TLS connection in this process, the TCP one and its own, have the same address and port.
    const busy = new Set([...this.#tlsSockets].filter((socket) => (socket[requests] ?? 0) > 0).map(addressOf))
    for (const socket of this.#sockets) if (!busy.has(addressOf(socket))) socket.destroy()
  }
}

function remember<S extends Socket>(sockets: Set<S>, socket: S): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
