/** The HTTPS server of the embedded API server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import type { Clock } from '../../runtime/clock.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { sleep } from '../../runtime/waiting.ts'
import { messageOf } from '../../api/errors.ts'
import { listen, urlHost } from '../../runtime/listen.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { TokenAuthenticator } from '../access/authenticate.ts'
import type { Authorizer } from '../access/authorizer.ts'
import type { ContainerAccess } from '../rest/container-access.ts'
import { Discovery } from './discovery.ts'
import type { Exchange, UpgradedConnection } from './exchange.ts'
import type { RequestRecord } from './handle.ts'
import { RequestMetrics } from './request-metrics.ts'
import { handle } from './handle.ts'
import { JsonText } from './json-text.ts'
import { OpenApi } from './openapi.ts'
import { OpenApiV2 } from './openapi-v2.ts'
import { serverVersion } from './non-resource-paths.ts'
import type { Resources, Services } from './services.ts'
import { upgradeUrl } from './streams/upgrade.ts'

// `node:http` is not imported, because an import statement reads every export of the module. When the export `WebSocket` is read, Node.js
// loads its own copy of undici, which takes 10 MiB of memory and 50 ms.
const { createServer: createHttpServer, ServerResponse: Response } = process.getBuiltinModule('node:http')

export interface ApiServerOptions {
  readonly registry: Resources
  readonly catalog: Catalog
  readonly tls: {
    readonly cert: string
    readonly key: string
    readonly ca: string
  }
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** The command-line flag that sets the port, for error messages; absent if no flag sets it. */
  readonly portFlag?: string
  readonly tokens: TokenAuthenticator
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly logger: Logger
  /** The access of the server to the containers of Pods. Absent when Pods are simulated. */
  readonly containers?: ContainerAccess
  /** Called after each response; for a watch, when the watch ends. */
  readonly onRequest?: (record: RequestRecord) => void
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  /** Opens a connection within this process, without TCP and TLS. Requests on this connection need credentials like all other requests. */
  connect(): Duplex
  /** Serves a TCP connection that another listener has accepted. The caller must not have read any bytes from the connection. */
  accept(socket: Socket): void
  /**
   * Aborts the running requests, so all watches end immediately. Waits up to 500 ms for the running requests, and then closes all
   * connections.
   */
  close(): Promise<void>
}

/** Time limits in milliseconds for receiving the headers and the whole request. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 60_000
/**
 * Time in milliseconds after which the server closes an idle connection. Go clients close an idle connection after 90 s. The server waits
 * longer, because a client could otherwise send a request on a connection that the server is closing.
 */
const keepAliveTimeoutMs = 120_000
const maxHeaderBytes = 64 * 1024
/** Maximum time in milliseconds that `close` waits for running requests. */
const closeGraceMs = 500

/**
 * Starts the server. Resolves when the server accepts connections.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE` when the port is in use.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { catalog, authorizer, clock, logger, containers, host = '127.0.0.1' } = options
  const services: Services = {
    registry: options.registry,
    catalog,
    authorizer,
    clock,
    logger,
    jsonText: new JsonText(),
    discovery: new Discovery(catalog, containers !== undefined),
    openApi: new OpenApi(catalog, serverVersion.gitVersion),
    metrics: new RequestMetrics(() => countObjects(options.registry, catalog)),
    openApiV2: new OpenApiV2(catalog, serverVersion.gitVersion, () => clock.now()),
    ...(containers === undefined ? {} : { containers }),
  }
  const sockets = new Set<Duplex>()
  /** The running requests, with their AbortControllers. A request is aborted when its client disconnects, or when the server closes. */
  const running = new Map<Promise<void>, AbortController>()

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    end: AbortController,
    upgrade?: UpgradedConnection,
  ): Promise<void> => {
    // `response` emits `close` when the whole response has been passed to the socket, or when the connection has ended.
    const closed = new Promise<void>((resolve) =>
      response.once('close', () => {
        if (!response.writableFinished) end.abort()
        resolve()
      }),
    )
    // A broken socket emits `error` and then `close`. Without a listener, the error would end the process.
    response.on('error', () => end.abort())
    const exchange = { ...exchangeOf(request, response, end.signal, services.clock), ...(upgrade && { upgrade }) }
    const record = await handle(exchange, options.tokens, services)
    options.onRequest?.(record)
    await closed
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse, upgrade?: UpgradedConnection): void => {
    const end = new AbortController()
    const done = answer(request, response, end, upgrade)
      .catch((error: unknown) => {
        logger.error({ err: error }, 'a request failed')
        response.destroy()
      })
      .finally(() => running.delete(done))
    running.set(done, end)
  }
  // Handles a request that upgrades its connection. If Pods are simulated, the server has no such handler, and Node.js ignores the header
  // `Upgrade`.
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseOn(request, socket)
    if (response !== undefined) onRequest(request, response, { socket, head })
  }
  const limits = {
    // Versions of Node.js before 24.9 do not call this function, and emit the event `upgrade` for all URLs. If the URL of such an event
    // does not match `upgradeUrl`, the handler of the event responds to the request, but does not read the body of the request.
    shouldUpgradeCallback: ({ url = '' }: IncomingMessage) => containers !== undefined && upgradeUrl.test(url),
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  }
  const server = createServer(
    {
      cert: options.tls.cert,
      key: options.tls.key,
      // The TLS handshake also succeeds without a valid certificate, because a client can authenticate with a token instead. A certificate
      // authenticates a client only if the cluster's CA has signed the certificate.
      ca: options.tls.ca,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ...limits,
    },
    (request, response) => onRequest(request, response),
  )
  const onConnection = (socket: Duplex): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', onConnection)
  // This server does not listen on a port. It serves the connections that `connect` opens.
  const inProcess = createHttpServer(limits, (request, response) => onRequest(request, response)).on('connection', onConnection)
  if (containers !== undefined) for (const each of [server, inProcess]) each.on('upgrade', onUpgrade)
  server.on('clientError', refuseMalformed)
  // A failed TLS handshake is usually caused by the client, e.g. by a wrong CA or a port scan. The error is therefore logged at the debug
  // level.
  server.on('tlsClientError', (error) => logger.debug({ err: messageOf(error) }, 'a TLS handshake failed'))
  const port = await listen(server, { host, port: options.port ?? 0, ...(options.portFlag !== undefined && { flag: options.portFlag }) })
  // An error while accepting a connection, e.g. too many open files, must not end the process.
  server.on('error', (error) => logger.warn({ err: error }, 'the API server could not accept a connection'))

  return {
    url: `https://${urlHost(host)}:${port}`,
    port,
    connect() {
      const [client, served] = duplexPair()
      client.once('close', () => served.destroy())
      served.once('close', () => client.destroy())
      inProcess.emit('connection', served)
      return client
    },
    accept: (socket) => void server.emit('connection', socket),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const end of running.values()) end.abort()
      const grace = new AbortController()
      await Promise.race([Promise.allSettled(running.keys()), sleep(clock, closeGraceMs, grace.signal).catch(() => undefined)])
      grace.abort()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Returns the number of stored objects of each type, keyed by `PLURAL.GROUP`. */
function countObjects(registry: Resources, catalog: Catalog): Map<string, number> {
  const stored = catalog
    .all()
    .filter(({ verbs, conversion, computed }) => verbs.includes('list') && conversion === undefined && computed === undefined)
  return new Map(
    stored.map((info) => {
      const { group, plural } = info
      return [group === '' ? plural : `${plural}.${group}`, registry.count(info)] as const
    }),
  )
}

function exchangeOf(request: IncomingMessage, response: ServerResponse, signal: AbortSignal, clock: Clock): Exchange {
  const target = request.url ?? '/'
  const queryStart = target.indexOf('?')
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: queryStart < 0 ? target : target.slice(0, queryStart),
    query: new URLSearchParams(queryStart < 0 ? '' : readable(target.slice(queryStart + 1))),
    warnings: new Set(),
    signal,
    endOfTurn: endOfTurn(),
    since: clock.now(),
    receivedAt: clock.monotonicNow(),
  }
}

/**
 * Returns a new response for a request that upgrades its connection, because Node.js creates none. The connection ends after the response.
 * If the response to an earlier request on the connection is not complete, closes the connection and returns undefined.
 */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  // A broken connection emits `error` and then `close`. Without a listener, the error would end the process.
  socket.on('error', () => socket.destroy())
  const response = new Response(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket as Socket)
  } catch {
    socket.destroy()
    return undefined
  }
  response.once('finish', () => socket.end())
  return response
}

/** Removes parameters with invalid percent-encoding from a query, because kube-apiserver ignores such parameters. */
function readable(query: string): string {
  return query
    .split('&')
    .filter((pair) => !/%(?![\da-f]{2})/i.test(pair))
    .join('&')
}

/** Responds to malformed HTTP with the status code for the error, and closes the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
