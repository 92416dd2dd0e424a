/** A request and its response, passed from one handler to the next. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The connection of a request that upgrades the connection to another protocol, such as SPDY or WebSocket. */
export interface UpgradedConnection {
  readonly socket: Duplex
  /** Bytes that the client has already sent in the new protocol. */
  readonly head: Buffer
}

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  /** The path as it was sent: percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Messages for `Warning` headers. The messages are in a set, so that the server sends a repeated message only once. */
  readonly warnings: Set<string>
  /** Time at which the request arrived, in milliseconds since 1970. */
  readonly since: number
  /** Time at which the request arrived, in milliseconds of `clock.monotonicNow()`. The deadline of a write is computed from this time. */
  readonly receivedAt: number
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal
  /**
   * Resolves at the end of the iteration of the event loop in which the request arrived. The response to a write waits for this promise, so
   * that the server sends all responses of one iteration together. With 16 clients, this delay reduces the server's CPU time for a write by
   * a quarter.
   */
  readonly endOfTurn: Promise<void>
  /** Present only for a request that upgrades its connection to another protocol. */
  readonly upgrade?: UpgradedConnection
}
