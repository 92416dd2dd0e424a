/** The open connections of a server: how many there may be, how long their senders may take, and how to end them all without losing a request. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../api/clock.ts'

/**
 * How long a connection that carries no request may stay when the server stops. Node closes those that have carried one;
 * those that never did, and those still shaking hands, it would wait for.
 */
const quietMs = 1000

interface ConnectionLimits {
  /**
   * How many there may be. For another, one has to go: one that never carried a request, of the sender that has most of these, for a flood
   * comes from somewhere, and the API server from elsewhere; else one of which the request has been coming for long, in the same way; else
   * the one that has been idle longest.
   */
  readonly connections: number
  /**
   * How long a sender may take from the TCP connection to the end of the TLS handshake. Node's own default, of two minutes, starts again with
   * each byte. Undefined for a server without TLS.
   */
  readonly handshakeMs?: number
  /** How many requests may wait for their answers on one connection: the API server sends the next one after the answer. Another ends the connection. */
  readonly pipelined: number
  /** How long a request may be there, from its headers until its sender has fetched the answer. The API server waits no longer than 30 s. */
  readonly requestMs: number
}

export const usualConnectionLimits: Omit<ConnectionLimits, 'connections'> = { handshakeMs: 10_000, pipelined: 4, requestMs: 60_000 }

const checkMs = 5000
/** From then on a request has been coming for long: the API server sends one in some milliseconds. */
const longRequestMs = 1000

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

  /** Whether it has a request that is not all there. */
  get receiving(): boolean {
    return this.answers.some(({ req }) => !req.complete)
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
  readonly #server: HttpServer | HttpsServer
  readonly #clock: Clock
  readonly #limits: ConnectionLimits
  /** By the sender's address and port, which both ends of a TLS connection in this process have: that of TCP and its own. */
  readonly #open = new Map<string, Connection>()
  /** Those of them that have never carried a request, by sender, in the order of their coming. */
  readonly #unused = new Map<string, Set<Connection>>()
  #inFlight = 0
  #check: Timer | undefined

  constructor(server: HttpServer | HttpsServer, clock: Clock, limits: ConnectionLimits) {
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
    const connection = new Connection(tcp, address, this.#clock.monotonicNow())
    this.#open.set(address, connection)
    addTo(this.#unused, connection)
    tcp.once('close', () => this.#forget(connection))
    const { handshakeMs } = this.#limits
    if (handshakeMs === undefined) return this.#secured(tcp)
    const handshake = this.#clock.after(handshakeMs, () => {
      if (connection.tls === undefined) connection.destroy()
    })
    tcp.once('close', () => handshake.cancel())
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

  #requested({ [connectionField]: connection, destroyed }: KnownSocket, response: ServerResponse): void {
    // The parser goes on with what has come already.
    if (destroyed) return
    this.#inFlight += 1
    response.once('close', () => {
      this.#inFlight -= 1
      if (connection === undefined) return
      connection.answers.splice(connection.answers.indexOf(response), 1)
      connection.since = this.#clock.monotonicNow()
    })
    if (connection === undefined) return
    if (!connection.busy) connection.since = this.#clock.monotonicNow()
    this.#removeUnused(connection)
    connection.answers.push(response)
    if (connection.answers.length > this.#limits.pipelined) connection.destroy()
    else this.#check ??= this.#clock.after(checkMs, () => this.#endSlow())
  }

  /** Ends what takes too long; goes on as long as there are requests. */
  #endSlow(): void {
    this.#check = undefined
    if (this.#inFlight === 0) return
    const since = this.#clock.monotonicNow() - this.#limits.requestMs
    this.#destroyWhere((connection) => connection.busy && connection.since < since)
    this.#check = this.#clock.after(checkMs, () => this.#endSlow())
  }

  /** Ends the connection that will be missed least; false where all carry requests. */
  #makeRoom(): boolean {
    const least = this.#leastUnused() ?? this.#slowestSender() ?? this.#longestIdle()
    if (least === undefined) return false
    this.#forget(least)
    least.destroy()
    return true
  }

  /** The first connection without a handshake, else the first one, of the sender with the most connections that never carried a request. */
  #leastUnused(): Connection | undefined {
    const unused = largest(this.#unused)
    if (unused === undefined) return undefined
    for (const connection of unused) if (connection.tls === undefined) return connection
    return unused.values().next().value
  }

  /** The connection whose request has been coming for longest, of the sender with the most requests that have been coming for long. */
  #slowestSender(): Connection | undefined {
    const since = this.#clock.monotonicNow() - longRequestMs
    const slow = new Map<string, Set<Connection>>()
    for (const connection of this.#open.values()) {
      if (connection.since < since && connection.receiving) addTo(slow, connection)
    }
    return oldest(largest(slow) ?? [])
  }

  #longestIdle(): Connection | undefined {
    return oldest([...this.#open.values()].filter(({ busy }) => !busy))
  }

  #removeUnused(connection: Connection): void {
    const { sender } = connection
    const unused = this.#unused.get(sender)
    unused?.delete(connection)
    if (unused?.size === 0) this.#unused.delete(sender)
  }

  /** One that is closed, or is going to be. */
  #forget(connection: Connection): void {
    // Another may have its address by now.
    if (this.#open.get(connection.address) !== connection) return
    this.#open.delete(connection.address)
    this.#removeUnused(connection)
  }

  #destroyWhere(goes: (connection: Connection) => boolean): void {
    for (const connection of [...this.#open.values()]) if (goes(connection)) connection.destroy()
  }
}

function addTo(bySender: Map<string, Set<Connection>>, connection: Connection): void {
  const known = bySender.get(connection.sender)
  if (known === undefined) bySender.set(connection.sender, new Set([connection]))
  else known.add(connection)
}

/** The connections of the sender that has most of them. */
function largest(bySender: ReadonlyMap<string, Set<Connection>>): Set<Connection> | undefined {
  let most: Set<Connection> | undefined
  for (const connections of bySender.values()) if (most === undefined || connections.size > most.size) most = connections
  return most
}

function oldest(connections: Iterable<Connection>): Connection | undefined {
  let first: Connection | undefined
  for (const connection of connections) if (first === undefined || connection.since < first.since) first = connection
  return first
}

/** Undefined for a connection that has gone already. */
function addressOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`
}
