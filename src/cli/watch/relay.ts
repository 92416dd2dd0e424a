/**
 * `Relay`: a port that stays the same when the process behind the port is replaced. The relay forwards the bytes of TCP connections, and
 * does not terminate TLS.
 */
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import { listen } from '../../runtime/listen.ts'

const host = '127.0.0.1'

/**
 * The destination of new connections:
 *
 * - a number: the port to which the relay forwards the connections
 * - `wait`: the connections wait until the relay gets another destination
 * - `close`: the relay resets the connections
 */
export type Destination = number | 'wait' | 'close'

export class Relay {
  /** The host and port of the relay. */
  readonly address: string
  readonly #server
  readonly #open = new Set<Socket>()
  readonly #waiting = new Set<Socket>()
  #destination: Destination = 'wait'

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server
    this.address = `${host}:${port}`
    server.on('connection', (socket) => this.#accept(socket))
  }

  /** Starts a relay on a free port of the loopback interface. Connections wait until `lead` sets a destination. */
  static async start(): Promise<Relay> {
    const server = createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true })
    return new Relay(server, await listen(server, { host, port: 0 }))
  }

  /** Sets the destination of new and waiting connections. A connection that is already forwarded keeps its destination. */
  lead(destination: Destination): void {
    this.#destination = destination
    if (destination === 'wait') return
    for (const socket of this.#waiting) this.#forward(socket, destination)
    this.#waiting.clear()
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  #accept(socket: Socket): void {
    this.#open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#open.delete(socket)
      this.#waiting.delete(socket)
    })
    if (this.#destination === 'wait') this.#waiting.add(socket)
    else this.#forward(socket, this.#destination)
  }

  #forward(socket: Socket, destination: Exclude<Destination, 'wait'>): void {
    if (destination === 'close') return void socket.resetAndDestroy()
    const target = connect({ host, port: destination, noDelay: true, allowHalfOpen: true })
    // If the connection to the process fails, the connection of the client is reset. Without the reset, the client could not distinguish
    // the failure from a regular end of the connection.
    target.on('error', () => socket.resetAndDestroy())
    pipeline(socket, target, () => undefined)
    pipeline(target, socket, () => undefined)
  }
}
