/** The open connections of a server: how many there may be, how long their senders may take, and how to end them all without losing a request. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../api/clock.ts'

/**
 * How long a connection that carries no request may stay when the server stops. Node closes those that have carried one;
 * those that never did, and those still shaking hands, it would wait for.
 */
const quietMs = 1000

interface ConnectionLimits {
  /**
   * How many there may be. For another, one that carries no request has to go: one that never did, of the sender that has most of these,
   * for a flood comes from somewhere, and the API server from elsewhere; else the one that has been idle longest.
   */
  readonly connections: number
  /** How long a sender may take from the TCP connection to the end of the TLS handshake. Node's own default, of two minutes, starts again with each byte. */
  readonly handshakeMs: number
  /** How many requests may wait for their answers on one connection: the API server sends the next one after the answer. Another ends the connection. */
  readonly pipelined: number
  /** How long a request may be there, from its headers until its sender has fetched the answer. The API server waits no longer than 30 s. */
  readonly requestMs: number
}

export const usualConnectionLimits: Omit<ConnectionLimits, 'connections'> = { handshakeMs: 10_000, pipelined: 4, requestMs: 60_000 }

const checkMs = 5000

/** One connection, of TCP first and of TLS after the handshake. */
class Connection {
  readonly tcp: Socket
  /** Its address and port. */
  readonly address: string
  /** Its address alone. */
  readonly sender: string
  tls: Socket | undefined
  /**
   * The answers that it waits for: in a list, and in no set or map. The tables that these have outgrown refer to their successors, so that
   * all that was ever in them would survive until the next full garbage collection.
   */
  readonly answers: ServerResponse[] = []
  /** Whether it has ever carried a request. */
  used = false
  /** When its oldest request began, or its last one ended. */
  since: number

  constructor(tcp: Socket, address: string, now: number) {
    this.tcp = tcp
    this.address = address
    this.sender = address.slice(0, address.indexOf(' '))
    this.since = now
  }

  get busy(): boolean {
    return this.answers.length > 0
  }

  destroy(): void {
    this.tls?.destroy()
    this.tcp.destroy()
  }
}

const connectionField = Symbol('connection')

interface KnownSocket extends Socket {
  [connectionField]?: Connection
}

export class Connections {
  readonly #server: Server
  readonly #clock: Clock
  readonly #limits: ConnectionLimits
  /** By the sender's address and port, which both ends of a TLS connection in this process have: that of TCP and its own. */
  readonly #open = new Map<string, Connection>()
  /** How many of them have never carried a request, by sender. */
  readonly #unused = new Map<string, number>()
  #inFlight = 0
  #check: Timer | undefined

  constructor(server: Server, clock: Clock, limits: ConnectionLimits) {
    this.#server = server
    this.#clock = clock
    this.#limits = limits
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('secureConnection', (socket) => this.#secured(socket))
    // Before fastify hears of them.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => this.#requested(request.socket, response))
  }

  /** Requests that wait for an answer. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** How many there are now. */
  get size(): number {
    return this.#open.size
  }

  /** Stops accepting, lets requests in flight finish, and ends what is left after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void> {
    if (!this.#server.listening) return Promise.resolve()
    return new Promise((resolve) => {
      const quiet = this.#clock.after(Math.min(quietMs, deadlineMs), () => this.#destroyWhere(({ busy }) => !busy))
      const deadline = this.#clock.after(deadlineMs, () => {
        this.#server.closeAllConnections()
        this.#destroyWhere(() => true)
      })
      this.#server.close(() => {
        quiet.cancel()
        deadline.cancel()
        this.#check?.cancel()
        resolve()
      })
    })
  }

  #opened(tcp: Socket): void {
    const address = addressOf(tcp)
    if (address === undefined || (this.#open.size >= this.#limits.connections && !this.#makeRoom())) {
      tcp.destroy()
      return
    }
    const connection = new Connection(tcp, address, this.#clock.now())
    this.#open.set(address, connection)
    this.#countUnused(connection, 1)
    const handshake = this.#clock.after(this.#limits.handshakeMs, () => {
      if (connection.tls === undefined) connection.destroy()
    })
    tcp.once('close', () => {
      handshake.cancel()
      this.#forget(connection)
    })
  }

  #secured(tls: KnownSocket): void {
    const connection = this.#open.get(addressOf(tls) ?? '')
    if (connection === undefined) return void tls.destroy()
    connection.tls = tls
    tls[connectionField] = connection
    tls.once('close', () => {
      // Node closes the response that has the connection; those behind it in the row would never be closed, and their requests never given up.
      for (const response of [...connection.answers]) if (!response.closed) response.emit('close')
    })
  }

  #requested({ [connectionField]: connection }: KnownSocket, response: ServerResponse): void {
    this.#inFlight += 1
    response.once('close', () => {
      this.#inFlight -= 1
      if (connection === undefined) return
      connection.answers.splice(connection.answers.indexOf(response), 1)
      connection.since = this.#clock.now()
    })
    if (connection === undefined) return
    if (!connection.busy) connection.since = this.#clock.now()
    // One that had to go is counted no more.
    if (!connection.used && this.#open.get(connection.address) === connection) this.#countUnused(connection, -1)
    connection.used = true
    connection.answers.push(response)
    if (connection.answers.length > this.#limits.pipelined) connection.destroy()
    else this.#check ??= this.#clock.after(checkMs, () => this.#endSlow())
  }

  /** Ends what takes too long; goes on as long as there are requests. */
  #endSlow(): void {
    this.#check = undefined
    if (this.#inFlight === 0) return
    const since = this.#clock.now() - this.#limits.requestMs
    this.#destroyWhere((connection) => connection.busy && connection.since < since)
    this.#check = this.#clock.after(checkMs, () => this.#endSlow())
  }

  /** Ends the connection that will be missed least; false where all carry requests. */
  #makeRoom(): boolean {
    const least = leastMissed(this.#open.values(), this.#largestSender())
    if (least === undefined) return false
    this.#forget(least)
    least.destroy()
    return true
  }

  /** The one with the most connections that have never carried a request. */
  #largestSender(): string | undefined {
    let largest: string | undefined
    let most = 0
    for (const [sender, count] of this.#unused) if (count > most) [largest, most] = [sender, count]
    return largest
  }

  #countUnused({ sender }: Connection, more: number): void {
    const count = (this.#unused.get(sender) ?? 0) + more
    if (count === 0) this.#unused.delete(sender)
    else this.#unused.set(sender, count)
  }

  /** One that is closed, or is going to be. */
  #forget(connection: Connection): void {
    // Another may have its address by now.
    if (this.#open.get(connection.address) !== connection) return
    this.#open.delete(connection.address)
    if (!connection.used) this.#countUnused(connection, -1)
  }

  #destroyWhere(goes: (connection: Connection) => boolean): void {
    for (const connection of [...this.#open.values()]) if (goes(connection)) connection.destroy()
  }
}

/** Of the connections without a request the one to end; undefined where there is none. */
function leastMissed(connections: Iterable<Connection>, largest: string | undefined): Connection | undefined {
  let least: Connection | undefined
  for (const connection of connections) {
    if (!connection.busy && (least === undefined || isMissedLess(connection, least, largest))) least = connection
  }
  return least
}

function isMissedLess(one: Connection, other: Connection, largest: string | undefined): boolean {
  if (one.used !== other.used) return other.used
  if (!one.used) {
    const isOfLargest = one.sender === largest
    if (isOfLargest !== (other.sender === largest)) return isOfLargest
    const isShaking = one.tls === undefined
    if (isShaking !== (other.tls === undefined)) return isShaking
  }
  return one.since < other.since
}

/** Undefined for a connection that has gone already. */
function addressOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`
}
