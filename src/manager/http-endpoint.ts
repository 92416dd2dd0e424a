/** A small HTTP server without TLS, for probes and metrics. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../telemetry/logger.ts'
import type { ListenAddress } from './listen-address.ts'
import { systemClock } from '../runtime/clock.ts'
import { messageOf } from '../api/errors.ts'
import { listen } from '../runtime/listen.ts'
import { Connections } from '../webhook/http/connections.ts'

export interface Answer {
  readonly code: number
  readonly body: string
  /** The `Content-Type` of the response. Default: `text/plain; charset=utf-8`. */
  readonly contentType?: string
}

/** Returns the response to a GET or HEAD request, or undefined when the handler does not serve the path of `url`. */
export type Handler = (url: URL) => Promise<Answer | undefined> | Answer | undefined

export interface HttpEndpointOptions {
  readonly address: ListenAddress
  /** The name of the flag that sets the address, for error messages. */
  readonly flag: string
  readonly handlers: readonly Handler[]
  readonly logger: Logger
}

export interface HttpEndpoint {
  readonly address: ListenAddress
  /** Stops the server and closes open connections. */
  close(): Promise<void>
}

/**
 * Limits on requests. Without them, any client that reaches the port could exhaust the memory of the process, or block the kubelet's
 * probes.
 */
const headerLimits = { maxHeaderSize: 4096, headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 }
/**
 * Limits on connections. Few connections are needed, because the kubelet opens one for each probe, and each Prometheus replica opens one.
 */
const connectionLimits = { connections: 64, pipelined: 4, requestMs: 30_000 }

/**
 * Starts the server.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE` when the port is taken; `PRO_CONFIG_INVALID` when the process cannot listen on the address.
 */
export async function startHttpEndpoint({ address, flag, handlers, logger }: HttpEndpointOptions): Promise<HttpEndpoint> {
  const server = createServer(headerLimits, (request, response) => {
    // `Connections` may have closed the connection after an earlier pipelined request. Further requests that the connection had already
    // received are ignored.
    if (!request.socket.destroyed) void answer(request, response, handlers)
  })
  new Connections(server, systemClock, connectionLimits)
  const port = await listen(server, { ...address, flag: `${flag} (0 switches it off)` })
  // An error while a connection is accepted, for example for lack of file descriptors, must not end the process.
  server.on('error', (error) => logger.warn({ err: error }, `the server for ${flag} could not accept a connection`))
  return {
    address: { ...address, port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, handlers: readonly Handler[]): Promise<void> {
  const { code, body, contentType = 'text/plain; charset=utf-8' } = await answerTo(request, handlers)
  response.writeHead(code, { 'content-type': contentType, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
  response.end(request.method === 'HEAD' ? undefined : body)
}

async function answerTo(request: IncomingMessage, handlers: readonly Handler[]): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { code: 405, body: 'only GET is answered here\n' }
  if (!URL.canParse(request.url ?? '', 'http://localhost')) return { code: 400, body: 'this is not a URL\n' }
  const url = new URL(request.url ?? '', 'http://localhost')
  try {
    for (const handler of handlers) {
      const found = await handler(url)
      if (found !== undefined) return found
    }
    return { code: 404, body: 'not found\n' }
  } catch (error) {
    return { code: 500, body: `${messageOf(error)}\n` }
  }
}
