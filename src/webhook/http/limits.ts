/** The limits of the webhook server on requests and connections; those on memory are in `memory-shares.ts`. */

/** Two objects of 3 MiB, the API server's own limit for a request, and 1 MiB for the envelope. */
export const maxReviewBytes = 7 * 1024 * 1024

/**
 * The API server closes idle connections after 90 s. This server closes them later; otherwise the API server could send a request on a
 * connection that is being closed.
 */
export const keepAliveMs = 120_000
/** The API server sends some twenty headers. */
export const maxHeaderBytes = 16 * 1024
/** Time limits for receiving the headers and the whole request, and the interval of Node.js for checking them. */
export const slowSenders = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 }

export interface ConnectionLimits {
  /**
   * Maximum number of connections. Beyond it, one connection is closed: first one that never carried a request, of the sender with the most
   * such connections, because a flood and the API server come from different addresses; else the one with the slowest request, of the
   * sender with the most slow requests; else the one that has been idle longest.
   */
  readonly connections: number
  /**
   * Time limit from the TCP connection to the end of the TLS handshake. The default of Node.js is two minutes and restarts with each byte.
   * Undefined for a server without TLS.
   */
  readonly handshakeMs?: number
  /** Maximum number of unanswered requests on one connection, which a further request closes. The API server does not pipeline. */
  readonly pipelined: number
  /** Time limit of a request, from its headers until the peer has read the response. The API server waits at most 30 s. */
  readonly requestMs: number
}

export const usualConnectionLimits: Omit<ConnectionLimits, 'connections'> = { handshakeMs: 10_000, pipelined: 4, requestMs: 60_000 }
