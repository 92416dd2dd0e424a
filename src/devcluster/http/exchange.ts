/** One request and its answer, as the handlers pass them on. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  /** As it was sent, still percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Texts for `Warning` headers; each is sent once. */
  readonly warnings: Set<string>
  /** When it came in. */
  readonly since: number
  /** Aborts when the client goes away or the server closes. */
  readonly signal: AbortSignal
}
