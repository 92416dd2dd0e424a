/** The limits of the webhook server on requests and connections. The limits on memory are in `memory-shares.ts`. */

/**
 * Maximum size of an AdmissionReview in bytes: two objects of 3 MiB (the API server's limit for a request), and 1 MiB for all other fields.
 */
export const maxReviewBytes = 7 * 1024 * 1024

/**
 * Milliseconds after which an idle connection is closed. The API server closes idle connections after 90 s. If this server closed them
 * earlier, the API server could send a request on a connection that is being closed.
 */
export const keepAliveMs = 120_000
/** Maximum size of the request headers in bytes. The API server sends about twenty headers. */
export const maxHeaderBytes = 16 * 1024
/** Time limits in milliseconds for receiving the headers and the complete request, and the interval at which Node.js checks them. */
export const slowSenders = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 }

export interface ConnectionLimits {
  /**
   * Maximum number of connections. If a new connection exceeds this number, the server closes a connection from the first of these groups
   * that is not empty:
   *
   * - Connections that have never carried a request.
   * - Connections whose request arrives slowly.
   * - Idle connections. The server closes the connection that has been idle longest.
   *
   * In the first two groups, the server closes a connection from the remote address with the most connections in the group. A flood of
   * connections from another remote address therefore does not close the connections of the API server. If all groups are empty, the server
   * closes the new connection.
   */
  readonly connections: number
  /**
   * Time limit in milliseconds from the TCP connection to the end of the TLS handshake. The default time limit of Node.js is two minutes,
   * and restarts with each byte. Undefined for a server without TLS.
   */
  readonly handshakeMs?: number
  /**
   * Maximum number of unanswered requests on one connection. If a client sends more, the connection is closed. The API server does not use
   * pipelining.
   */
  readonly pipelined: number
  /**
   * Time limit for a request in milliseconds, from the arrival of its headers until the client has read the response. The API server waits
   * at most 30 s.
   */
  readonly requestMs: number
}

export const usualConnectionLimits: Omit<ConnectionLimits, 'connections'> = { handshakeMs: 10_000, pipelined: 4, requestMs: 60_000 }
