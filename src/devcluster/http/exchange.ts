/** A request and its response, passed from one handler to the next. */
import type { IncomingMessage, ServerResponse } from 'node:http'

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
  /** Resolves at the end of the turn of the event loop in which the request arrived. The response to a write waits for this promise. */
  readonly endOfTurn: Promise<void>
}
