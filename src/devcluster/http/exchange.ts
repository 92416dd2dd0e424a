/** A request and its response, passed from one handler to the next. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The connection of a request that changes the protocol of its connection. */
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
  /** Messages for `Warning` headers. The messages are in a set, because each message is sent only once. */
  readonly warnings: Set<string>
  /** Time at which the request arrived, in milliseconds since 1970. */
  readonly since: number
  /** Time at which the request arrived, in milliseconds of `clock.monotonicNow()`. The deadline of a write is computed from this time. */
  readonly receivedAt: number
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal
  /**
   * Resolves at the end of the turn of the event loop in which the request arrived. The response to a write waits for this promise. The
   * server then sends the responses of one turn together. Without the delay, the operating system would wake up one client after the other,
   * and each client would send its next request alone. With 16 clients, the delay reduces the CPU time of the server for a write by a
   * quarter.
   */
  readonly endOfTurn: Promise<void>
  /** Absent for a request that does not change the protocol of its connection. */
  readonly upgrade?: UpgradedConnection
}
