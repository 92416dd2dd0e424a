/** A small HTTP server for probes, metrics and debugging, with or without TLS. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server as TlsServer } from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { TlsLimits } from '../webhook/http/tls.ts'
import type { ListenAddress } from './listen-address.ts'
import type { Clock } from '../runtime/clock.ts'
import { messageOf } from '../api/errors.ts'
import { listen } from '../runtime/listen.ts'
import { Connections, onDisconnect } from '../webhook/http/connections.ts'

// `node:http` is not imported, because an import statement reads every export of the module. When the export `WebSocket` is read, Node.js
// loads its built-in copy of undici. This takes 10 MiB of memory and 50 ms.
const { createServer } = process.getBuiltinModule('node:http')

export interface Answer {
  readonly code: number
  readonly body: string | Readable
  /** The `Content-Type` of the response. Default: `text/plain; charset=utf-8`. */
  readonly contentType?: string
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface HandledRequest {
  readonly method: string
  /** Aborts when the client disconnects before it has received the response. */
  readonly signal: AbortSignal
}

/** Returns the response to a request, or undefined when the handler does not serve the path of `url`. */
export type Handler = (url: URL, request: HandledRequest) => Promise<Answer | undefined> | Answer | undefined

/** Returns undefined when the request is permitted, otherwise the response that rejects the request. */
export type AccessFilter = (request: IncomingMessage, url: URL) => Promise<Answer | undefined> | Answer | undefined

export interface HttpEndpointOptions {
  readonly address: ListenAddress
  /** The name of the flag that sets the address, for error messages. */
  readonly flag: string
  readonly handlers: readonly Handler[]
  readonly clock: Clock
  readonly logger: Logger
  /** The methods that are served. The response to any other method is 405. Default: GET and HEAD. */
  readonly methods?: readonly string[]
  /** The certificates with which the server serves TLS. A renewed certificate is used without a restart. Default: no TLS. */
  readonly tls?: { readonly certificates: Pick<CertificateSource, 'current' | 'onChange'>; readonly limits: TlsLimits } | undefined
  /** Decides which requests are permitted. Default: all requests are permitted. */
  readonly access?: AccessFilter | undefined
  /** Time limit of a request in milliseconds. It includes the time in which the client reads the response. Default: 30,000. */
  readonly requestMs?: number
}

export interface HttpEndpoint {
  readonly address: ListenAddress
  /** Stops the server and closes open connections. */
  close(): Promise<void>
}

/**
 * Limits on requests. Without these limits, any client that reaches the port could exhaust the memory of the process, or block the
 * kubelet's probes.
 */
const headerLimits = { maxHeaderSize: 4096, headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 }
/**
 * Maximum size in bytes of the headers when `access` is set. The value is the default of Node.js. It is larger than the limit without
 * `access`, because the headers may contain a token.
 */
const maxHeaderSizeWithToken = 16_384
/**
 * Limits on connections. Few connections are necessary, because the kubelet opens one connection for each probe, and each Prometheus
 * replica opens one connection.
 */
const connectionLimits = { connections: 64, pipelined: 4, requestMs: 30_000 }
/** Time limit of a TLS handshake in milliseconds. The webhook server has the same limit. */
const handshakeMs = 10_000

/**
 * Starts the server.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE` when the port is in use; `PRO_PERMISSION` when the user may not listen on the port;
 *   `PRO_CONFIG_INVALID` when another reason prevents the process from listening on the address.
 */
export async function startHttpEndpoint(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const { address, flag, clock, logger, tls, access, requestMs = connectionLimits.requestMs } = options
  const limits = access === undefined ? headerLimits : { ...headerLimits, maxHeaderSize: maxHeaderSizeWithToken }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // If `Connections` has closed the connection, further pipelined requests on this connection are ignored.
    if (!request.socket.destroyed) void answer(request, response, options)
  }
  const server =
    tls === undefined
      ? createServer(limits, onRequest)
      : createTlsServer({ ...limits, ...pairOf(tls.certificates), ...tls.limits }, onRequest)
  new Connections(server, clock, { ...connectionLimits, requestMs, ...(tls !== undefined && { handshakeMs }) })
  const port = await listen(server, { ...address, flag: `${flag} (0 switches it off)` })
  // `setSecureContext` replaces all TLS options. If an option were omitted, it would be reset to the default of Node.js.
  const unsubscribe = tls?.certificates.onChange(({ cert, key }) => (server as TlsServer).setSecureContext({ cert, key, ...tls.limits }))
  // The server emits `error` when it cannot accept a connection, for example because no file descriptor is free. This error must not end
  // the process, so it is only logged.
  server.on('error', (error) => logger.warn({ err: error }, `the server for ${flag} could not accept a connection`))
  return {
    address: { ...address, port },
    close: () =>
      new Promise((resolve) => {
        unsubscribe?.()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function pairOf(certificates: Pick<CertificateSource, 'current'>): { cert: string; key: string } {
  const { cert, key } = certificates.current()
  return { cert, key }
}

async function answer(request: IncomingMessage, response: ServerResponse, options: HttpEndpointOptions): Promise<void> {
  const aborted = new AbortController()
  onDisconnect(response, () => aborted.abort(new Error('the client has disconnected')))
  const { code, body, headers, contentType = 'text/plain; charset=utf-8' } = await answerTo(request, options, aborted.signal)
  if (response.destroyed) return void (typeof body === 'string' || body.destroy())
  response.writeHead(code, { 'content-type': contentType, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', ...headers })
  if (typeof body === 'string') response.end(request.method === 'HEAD' ? undefined : body)
  // `pipeline` rejects when the client disconnects or the time limit passes. The error is ignored, because `pipeline` has destroyed both
  // streams.
  else await pipeline(body, response).catch(() => undefined)
}

async function answerTo(
  request: IncomingMessage,
  { handlers, methods = ['GET', 'HEAD'], access }: HttpEndpointOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const { method = '', url: target = '', headers } = request
  if (!methods.includes(method))
    return { code: 405, body: `only ${methods.filter((each) => each !== 'HEAD').join(' and ')} is answered here\n` }
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
    return { code: 413, body: 'requests have no body here\n', headers: { connection: 'close' } }
  if (!URL.canParse(target, 'http://localhost')) return { code: 400, body: 'this is not a URL\n' }
  const url = new URL(target, 'http://localhost')
  try {
    const refusal = await access?.(request, url)
    if (refusal !== undefined) return refusal
    for (const handler of handlers) {
      const found = await handler(url, { method, signal })
      if (found !== undefined) return found
    }
    return { code: 404, body: 'not found\n' }
  } catch (error) {
    return { code: 500, body: `${messageOf(error)}\n` }
  }
}
