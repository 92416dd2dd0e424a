/**
 * The open connections of a server. This module limits the number of connections, and closes connections of slow clients. When the server
 * stops, this module closes all connections.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { Charge } from '../body/memory-budget.ts'
import type { ConnectionLimits } from './limits.ts'

/**
 * The quiet period of a stopping server, in milliseconds. When no request has begun for this time, the server closes all connections that
 * carry no request. The `close` of Node.js is not sufficient, because it waits for unfinished handshakes and for connections that never
 * carried a request.
 *
 * The server waits for a quiet period because an overloaded server may still be completing TLS handshakes, and a client sends its request
 * only after its handshake. A handshake without a request does not prolong the period. Clients that send nothing can therefore not delay
 * the stop until the deadline.
 */
const quietMs = 1000

const checkMs = 5000
/** Age in milliseconds from which an incomplete request counts as slow. The API server sends a request within milliseconds. */
const longRequestMs = 1000

/** One TCP connection, and its TLS socket when the handshake is complete. */
class Connection {
  readonly tcp: Socket
  /** The remote address and port. */
  readonly address: string
  /** The remote address, without the port. */
  readonly sender: string
  tls: Socket | undefined
  /**
   * The responses that are not complete. They are in an array, because a `Set` could keep completed responses in memory. When a `Set`
   * grows, V8 replaces its hash table. The old table still refers to its entries and to the new table, and V8 may free the old table only
   * in the next full garbage collection.
   */
  readonly answers: ServerResponse[] = []
  /** The time of the last of these events: the connection was opened, the connection became busy, a response ended. */
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

  /** True while a request of this connection has not arrived completely. */
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
  /** The open connections, keyed by remote address and port. The TCP socket and the TLS socket of a connection have the same key. */
  readonly #open = new Map<string, Connection>()
  /** The connections that have never carried a request, grouped by remote address, in the order in which they were opened. */
  readonly #unused = new Map<string, Set<Connection>>()
  #inFlight = 0
  /** The number of requests that have begun. */
  #requests = 0
  #check: Timer | undefined

  constructor(server: HttpServer | HttpsServer, clock: Clock, limits: ConnectionLimits) {
    this.#server = server
    this.#clock = clock
    this.#limits = limits
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('secureConnection', (socket) => this.#secured(socket))
    // This listener must run before the listener of fastify, because fastify's `onRequest` hook checks whether this listener has closed the
    // connection.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => this.#requested(request.socket, response))
  }

  /** The number of unanswered requests. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The number of open connections. */
  get size(): number {
    return this.#open.size
  }

  /** Stops accepting connections and lets requests in flight finish. After `deadlineMs` milliseconds, closes all remaining connections. */
  stop(deadlineMs: number): Promise<void> {
    if (!this.#server.listening) return Promise.resolve()
    return new Promise((resolve) => {
      let quiet: Timer
      const awaitQuiet = (): void => {
        const before = this.#requests
        quiet = this.#clock.after(Math.min(quietMs, deadlineMs), () => {
          if (this.#requests > before) awaitQuiet()
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
    connection.tls = tls
    tls[connectionField] = connection
    tls.once('close', () => {
      // When a connection closes, Node.js emits 'close' only for its current response. The responses to further pipelined requests must be
      // closed, too, so that the handling of these requests is aborted.
      for (const response of [...connection.answers]) if (!response.closed) response.emit('close')
    })
  }

  #requested({ [connectionField]: connection, destroyed }: KnownSocket, response: ServerResponse): void {
    // After a connection has been destroyed, the HTTP parser may still emit requests from bytes that it received earlier.
    if (destroyed) return
    this.#requests += 1
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

  /**
   * Closes each busy connection whose `since` is more than `requestMs` milliseconds ago. Called periodically while there are unanswered
   * requests.
   */
  #endSlow(): void {
    this.#check = undefined
    if (this.#inFlight === 0) return
    const since = this.#clock.monotonicNow() - this.#limits.requestMs
    this.#destroyWhere((connection) => connection.busy && connection.since < since)
    this.#check = this.#clock.after(checkMs, () => this.#endSlow())
  }

  /**
   * Closes the least important connection, and returns true. If every connection carries a request and no request is slow (see
   * `longRequestMs`), no connection is closed, and the result is false.
   */
  #makeRoom(): boolean {
    const least = this.#leastUnused() ?? this.#slowestSender() ?? this.#longestIdle()
    if (least === undefined) return false
    this.#forget(least)
    least.destroy()
    return true
  }

  /**
   * Finds the remote address with the most connections that have never carried a request. Of these connections, returns the oldest
   * connection whose handshake is incomplete. If all handshakes are complete, returns the oldest connection.
   */
  #leastUnused(): Connection | undefined {
    const unused = largest(this.#unused)
    if (unused === undefined) return undefined
    for (const connection of unused) if (connection.tls === undefined) return connection
    return unused.values().next().value
  }

  /**
   * Finds the remote address with the largest number of slow connections. Of these connections, returns the one with the earliest `since`.
   * A connection is slow if it has an incomplete request, and its `since` is longer ago than `longRequestMs`. Returns undefined if no
   * connection is slow.
   */
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

  /** Removes a connection that is closed or is about to be closed. */
  #forget(connection: Connection): void {
    // A new connection may already use the same remote address and port.
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

/** Returns the connections of the remote address that has the most connections. */
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

/** Returns the remote address and the remote port. Returns undefined if the connection is already closed. */
function addressOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`
}

/**
 * Calls `listener` when the client disconnects before the response is completely written. If the client has already disconnected, calls
 * `listener` immediately.
 */
export function onDisconnect(response: ServerResponse, listener: () => void): void {
  const closed = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) closed()
  else response.once('close', closed)
}

/** Maximum size in bytes of a response that fits into the kernel's socket buffers even if the client reads nothing. */
const fetchedAtOnce = 64 * 1024

/**
 * Counts a response of more than 64 KiB against the memory budget while the client reads the response. If other requests wait for memory
 * and the client reads too slowly, the connection is closed.
 *
 * @param charge the memory of the request. Released when the response is closed.
 * @param more the number of bytes that are added to `charge`. If the number is 0 or negative, no bytes are added.
 * @param bytes the size of the response.
 */
export function awaitFetching(charge: Charge, more: number, bytes: number, response: ServerResponse): void {
  if (bytes <= fetchedAtOnce) return
  if (more > 0) charge.force(more)
  charge.waitsForPeer(() => response.destroy())
}
