/** The open connections of a server: limits on their number and on slow clients, and a graceful shutdown. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { Charge } from '../body/memory-budget.ts'
import type { ConnectionLimits } from './limits.ts'

/**
 * A stopping server closes the connections without a request once no handshake has completed for this time: an overloaded server still has
 * handshakes to complete, and their requests to answer. Node.js itself closes idle connections that have carried a request; it would wait
 * for connections that never carried one, and for unfinished handshakes.
 */
const quietMs = 1000

const checkMs = 5000
/** Age from which an incomplete request counts as slow: the API server sends a request within milliseconds. */
const longRequestMs = 1000

/** One TCP connection, with its TLS socket once the handshake is complete. */
class Connection {
  readonly tcp: Socket
  /** Remote address and port. */
  readonly address: string
  /** Remote address. */
  readonly sender: string
  tls: Socket | undefined
  /**
   * The responses to unanswered requests. This is an array, not a Set or a Map: when these grow, their old tables keep references to the
   * new ones, and everything that was ever in them would survive until the next full garbage collection.
   */
  readonly answers: ServerResponse[] = []
  /** The time when the oldest unanswered request began or, without one, when the last request ended. */
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

  /** True while a request is incomplete. */
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
  /** The open connections by remote address and port, which a TCP socket and its TLS socket have in common. */
  readonly #open = new Map<string, Connection>()
  /** The connections that never carried a request, grouped by sender, in the order in which they were opened. */
  readonly #unused = new Map<string, Set<Connection>>()
  #inFlight = 0
  /** The number of completed handshakes. */
  #handshakes = 0
  #check: Timer | undefined

  constructor(server: HttpServer | HttpsServer, clock: Clock, limits: ConnectionLimits) {
    this.#server = server
    this.#clock = clock
    this.#limits = limits
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('secureConnection', (socket) => this.#secured(socket))
    // Prepended, to run before fastify's listener.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => this.#requested(request.socket, response))
  }

  /** Number of unanswered requests. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Number of open connections. */
  get size(): number {
    return this.#open.size
  }

  /** Stops accepting connections, lets requests in flight finish, and closes what is left after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void> {
    if (!this.#server.listening) return Promise.resolve()
    return new Promise((resolve) => {
      let quiet: Timer
      const awaitQuiet = (): void => {
        const before = this.#handshakes
        quiet = this.#clock.after(Math.min(quietMs, deadlineMs), () => {
          if (this.#handshakes > before) awaitQuiet()
          else this.#destroyWhere(({ busy }) => !busy)
        })
      }
      awaitQuiet()
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
    this.#handshakes += 1
    connection.tls = tls
    tls[connectionField] = connection
    tls.once('close', () => {
      // Node.js closes only the current response of the connection; without this, further pipelined responses would never be closed, nor
      // their requests aborted.
      for (const response of [...connection.answers]) if (!response.closed) response.emit('close')
    })
  }

  #requested({ [connectionField]: connection, destroyed }: KnownSocket, response: ServerResponse): void {
    // After a connection was destroyed, the HTTP parser may still continue with bytes that were received before.
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

  /** Closes connections that exceed their time limits; scheduled as long as there are requests. */
  #endSlow(): void {
    this.#check = undefined
    if (this.#inFlight === 0) return
    const since = this.#clock.monotonicNow() - this.#limits.requestMs
    this.#destroyWhere((connection) => connection.busy && connection.since < since)
    this.#check = this.#clock.after(checkMs, () => this.#endSlow())
  }

  /** Closes the least important connection; returns false when all carry requests. */
  #makeRoom(): boolean {
    const least = this.#leastUnused() ?? this.#slowestSender() ?? this.#longestIdle()
    if (least === undefined) return false
    this.#forget(least)
    least.destroy()
    return true
  }

  /**
   * Returns a connection of the sender with the most connections that never carried a request: one whose handshake is incomplete, else the
   * oldest.
   */
  #leastUnused(): Connection | undefined {
    const unused = largest(this.#unused)
    if (unused === undefined) return undefined
    for (const connection of unused) if (connection.tls === undefined) return connection
    return unused.values().next().value
  }

  /** Returns the connection with the slowest request, of the sender with the most slow requests. */
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

  /** Removes a connection that is closed or about to be. */
  #forget(connection: Connection): void {
    // A new connection may already have the same remote address and port.
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

/** Returns the connections of the sender that has most of them. */
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

/** Returns remote address and port; undefined for a connection that is closed already. */
function addressOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`
}

/** Calls `listener` when the client disconnects before the whole response is written; at once when it has disconnected already. */
export function onDisconnect(response: ServerResponse, listener: () => void): void {
  const closed = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) closed()
  else response.once('close', closed)
}

/** Responses up to this size fit into the kernel's buffers, whether or not the client reads them. */
const fetchedAtOnce = 64 * 1024

/**
 * Charges the memory of a large response, which the client has not read yet; it is released with the charge, when the response is closed.
 * When other requests wait for memory and the client reads too slowly, the connection is closed. A response of up to 64 KiB is ignored.
 *
 * @param more the bytes of the response that are not charged yet; nothing is charged when it is 0 or negative.
 * @param bytes the size of the response.
 */
export function awaitFetching(charge: Charge, more: number, bytes: number, response: ServerResponse): void {
  if (bytes <= fetchedAtOnce) return
  if (more > 0) charge.force(more)
  charge.waitsForPeer(() => response.destroy())
}
