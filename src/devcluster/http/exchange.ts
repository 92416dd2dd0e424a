/** A request and its response, as the handlers pass them on. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  /** The path as it was sent: percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Texts for `Warning` headers; a set, so that each is sent once. */
  readonly warnings: Set<string>
  /** Time of arrival. */
  readonly since: number
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal
}
