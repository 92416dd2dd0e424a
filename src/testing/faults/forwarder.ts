/**
 * The HTTPS server of the fault proxy. If a fault matches a request, the fault determines the response. Otherwise, the server forwards the
 * request to an API server. If a forwarded request contains a token that the fault proxy has issued, the server replaces the token with the
 * credentials of the `Connection` for this token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { Dispatcher } from 'undici'
import { expectEarlyRequest } from '../../runtime/early-request.ts'
import type { KeyPair } from '../../certs/issue.ts'
import type { Connection } from '../../client/connection.ts'
import { Dispatchers } from '../../client/dispatchers.ts'
import type { Answer, Answers } from './answers.ts'
import { listen } from '../../runtime/listen.ts'

export interface ForwarderOptions {
  readonly tls: KeyPair
  /**
   * The connection to the API server for requests whose token is not in `tokens`. Such a request is forwarded with the credentials that it
   * contains, and never with the credentials of this connection.
   */
  readonly connection: Connection
  /**
   * The tokens that the proxy has issued, each with its `Connection`. If a request contains such a token, the proxy forwards the request
   * with the credentials of this `Connection` instead of the token.
   */
  readonly tokens: ReadonlyMap<string, Connection>
  readonly answers: Answers
}

export interface Forwarder {
  readonly port: number
  close(): Promise<void>
}

/**
 * Maximum size of the request headers in bytes. It is larger than Node.js' default of 16 KiB, because kube-apiserver accepts headers that
 * are larger than 16 KiB (up to 1 MiB).
 */
const maxHeaderBytes = 64 * 1024
/**
 * Milliseconds after which the server closes an idle connection. Clients close their idle connections earlier. Therefore, a client never
 * sends a request on a connection that the server is closing.
 */
const keepAliveTimeoutMs = 120_000

/** Hop-by-hop headers. They apply to a single connection, so they are not forwarded. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Starts the server on a free port of the loopback interface. */
export async function startForwarder({ tls, connection, tokens, answers }: ForwarderOptions): Promise<Forwarder> {
  const upstreams = new Map<Connection, Upstream>()
  const { tls: _certificate, headers: _impersonation, authorization: _token, ...bare } = connection
  const anybody = new Upstream(bare)

  const upstreamOf = (request: IncomingMessage): Upstream => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const known = token === undefined ? undefined : tokens.get(token)
    if (known === undefined) return anybody
    const existing = upstreams.get(known) ?? new Upstream(known)
    upstreams.set(known, existing)
    return existing
  }

  const server = createServer(
    { ...tls, minVersion: 'TLSv1.2', maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveTimeoutMs },
    (request, response) => {
      const { socket } = request // `request.socket` is undefined after the request is destroyed
      response.on('error', () => undefined) // an error means that the client has disconnected
      const answer = answers.take(requestOf(request))
      if (answer !== undefined) {
        respond(request, response, answer)
        return
      }
      // If the API server does not send a complete response, the connection to the client is also closed.
      upstreamOf(request)
        .forward(request, response)
        .catch(() => socket.destroy())
    },
  )
  server.on('secureConnection', expectEarlyRequest)
  server.on('tlsClientError', () => undefined)
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  return {
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await Promise.all([anybody, ...upstreams.values()].map((upstream) => upstream.close()))
    },
  }
}

/** Forwards requests to the API server with the credentials of one `Connection`. */
class Upstream {
  readonly #connection: Connection
  #dispatchers: Dispatchers | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Forwards a request and streams the response. Rejects when the API server is unreachable or the client disconnects. */
  async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const [dispatcher, headers] = await Promise.all([this.#dispatcher(), this.#headers(request)])
    const {
      statusCode,
      headers: answered,
      body,
    } = await dispatcher.request({
      origin: new URL(this.#connection.server).origin,
      path: request.url ?? '/',
      method: request.method as Dispatcher.HttpMethod,
      headers,
      body: hasBody(request) ? request : null,
      signal: gone.signal,
      // undici's timeouts are disabled, because the client of the proxy has its own time limits.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    response.writeHead(statusCode, endToEnd(answered))
    // The client of a watch needs the headers immediately, even if no event follows yet.
    response.flushHeaders()
    await pipeline(body, response)
  }

  async close(): Promise<void> {
    await Promise.all([this.#dispatchers?.watches.destroy(), this.#dispatchers?.requests.destroy()])
  }

  /**
   * Returns the dispatcher for watches, which opens as many connections as needed. This dispatcher is used for all requests, because any
   * request can be a watch, and a watch occupies its connection until the watch ends.
   */
  async #dispatcher(): Promise<Dispatcher> {
    const certificate = (await this.#connection.tls?.()) ?? {}
    if (this.#dispatchers === undefined || !this.#dispatchers.carry(certificate)) {
      void this.#dispatchers?.retire()
      this.#dispatchers = new Dispatchers(this.#connection, certificate)
    }
    return this.#dispatchers.watches
  }

  async #headers({ headers }: IncomingMessage): Promise<Record<string, string | string[]>> {
    const { host: _proxy, ...rest } = endToEnd(headers)
    const authorization = await this.#connection.authorization?.()
    const isOwn = this.#connection.authorization !== undefined || this.#connection.tls !== undefined
    if (isOwn) delete rest['authorization']
    return { ...rest, ...this.#connection.headers, ...(authorization === undefined ? {} : { authorization }) }
  }
}

function requestOf({ method = 'GET', url = '/', headers }: IncomingMessage): Parameters<Answers['take']>[0] {
  const { pathname, searchParams } = new URL(url, 'https://proxy')
  return { method, path: pathname, query: searchParams, userAgent: headers['user-agent'] ?? '' }
}

function respond(request: IncomingMessage, response: ServerResponse, { status, retryAfterSeconds }: Answer): void {
  request.resume()
  response.writeHead(status.code!, {
    'Content-Type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
  })
  response.end(`${JSON.stringify(status)}\n`)
}

function endToEnd(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !hopByHop.has(entry[0]),
  )
  return Object.fromEntries(kept)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
