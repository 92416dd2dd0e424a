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

export class Connections {
  readonly #server: Server
  readonly #clock: Clock
  readonly #sockets = new Set<Socket>()
  readonly #answers = new Set<ServerResponse>()

  constructor(server: Server, clock: Clock) {
    this.#server = server
    this.#clock = clock
    // On a TLS server, `connection` gives the TCP socket, before the handshake.
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    const answers = this.#answers
    function isClosed(this: ServerResponse): void {
      answers.delete(this)
    }
    server.on('request', (_request, response) => {
      answers.add(response)
      response.on('close', isClosed)
    })
  }

  /** Requests that wait for an answer. */
  get inFlight(): number {
    return this.#answers.size
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
    // The socket of a request is the TLS one; both ends of it have the same address and port.
    const busy = new Set([...this.#answers].map(({ socket }) => socket && addressOf(socket)))
    for (const socket of this.#sockets) if (!busy.has(addressOf(socket))) socket.destroy()
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
