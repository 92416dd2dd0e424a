/**
 * `Dispatchers`: the undici agents for one `Connection`. One agent sends the requests, and the other agent sends the watches. Each agent
 * has its own pool of sockets.
 */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { buildConnector as Connectors, Dispatcher, Pool as Pools } from 'undici'
import { ProreusError } from '../api/errors.ts'
import type { Connection, TlsFiles } from './connection.ts'
import { trust } from './trust.ts'
import { Agent, buildConnector, Pool, ProxyAgent, Socks5ProxyAgent } from './undici.ts'

/**
 * Maximum number of connections for requests. This number is sufficient for all workers and webhooks together. By default, the API server
 * handles 400 requests at a time (--max-requests-inflight), so one client with 100 connections cannot use the whole capacity.
 */
const maxConnections = 100

/**
 * Time in milliseconds after which an idle connection is closed. This time is shorter than the idle timeouts of the API server (90 s) and
 * of usual load balancers. If this time were longer, the server could close a connection at the moment when the client sends a request.
 */
const keepAliveMs = 30_000
const connectTimeoutMs = 10_000

/**
 * Two pools of connections: one for requests, and one for watches. A watch occupies an HTTP/1.1 connection for minutes. In a common pool,
 * watches could occupy all connections and block the requests.
 *
 * HTTP/2, the default of undici 8, is disabled. With HTTP/2, all requests would share one connection, and a lost packet or an unresponsive
 * peer would block all of them. docs/guides/client.md has the measurements.
 */
export class Dispatchers {
  readonly requests: Dispatcher
  readonly watches: Dispatcher
  readonly #tls: TlsFiles
  /**
   * All sockets to the API server or to the proxy, including sockets that are still connecting. `destroy` closes these sockets. If
   * `destroy` did not close a connecting socket, undici would wait until the connection is established or times out.
   */
  readonly #sockets = new Set<Socket>()
  #requestsEnded: Promise<void> | undefined

  constructor(connection: Connection, tls: TlsFiles) {
    this.#tls = tls
    this.requests = dispatcher(connection, tls, maxConnections, this.#sockets)
    this.watches = dispatcher(connection, tls, null, this.#sockets)
  }

  /** Returns true when these connections use the client certificate, its key and the trusted certificates of `tls`. */
  carry(tls: TlsFiles): boolean {
    return this.#tls.cert === tls.cert && this.#tls.key === tls.key && this.#tls.ca === tls.ca
  }

  /** Accepts no new requests. Resolves when the running requests and watches have ended. */
  async retire(): Promise<void> {
    await Promise.all([this.#endRequests(), this.watches.close()])
  }

  /** Closes all connections immediately. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
    void Promise.all([this.requests.destroy(), this.watches.destroy()])
  }

  /** Accepts no new requests, and aborts watches. Resolves when the running requests have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#endRequests(), this.watches.destroy()])
  }

  /** Closes the connection pool for requests, but only once: both `retire` and `close` may be called, and undici rejects a second close. */
  #endRequests(): Promise<void> {
    this.#requestsEnded ??= this.requests.close()
    return this.#requestsEnded
  }
}

function dispatcher(connection: Connection, tls: TlsFiles, connections: number | null, sockets: Set<Socket>): Dispatcher {
  const pool = { allowH2: false, connections, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: 2 * keepAliveMs }
  if (connection.dial !== undefined) return new Agent({ ...pool, connect: dialed(connection.dial) })
  const secure = {
    allowH2: false,
    ...trust(tls.ca ?? connection.ca),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
    ...(connection.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
    // TCP keep-alive detects a dead peer within a minute, even if a watch has no events.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    timeout: connectTimeoutMs,
  }
  const { proxyUrl } = connection
  if (proxyUrl === undefined) return new Agent({ ...pool, connect: tracked(buildConnector(secure), sockets) })
  if (/^https?:/.test(proxyUrl) && URL.canParse(proxyUrl))
    return new ProxyAgent({
      ...pool,
      uri: proxyUrl,
      requestTls: secure,
      proxyTls: trust(undefined),
      connectTimeout: connectTimeoutMs,
      factory: trackedPools(sockets),
      clientFactory: trackedPools(sockets),
    })
  // For socks5 and for socks5h, undici sends the host name to the proxy, and the proxy resolves the name. Go's client does the same.
  if (/^socks(5h?)?:/.test(proxyUrl) && URL.canParse(proxyUrl))
    return new Socks5ProxyAgent(proxyUrl.replace(/^socks5h:/, 'socks5:'), {
      ...pool,
      requestTls: secure,
      connect: tracked(buildConnector({ timeout: connectTimeoutMs }), sockets),
    })
  // The URL may contain a password, which must not be in the message.
  const shown = URL.canParse(proxyUrl) ? `${new URL(proxyUrl).protocol}//${new URL(proxyUrl).host}` : 'URL'
  throw new ProreusError(
    'PRO_KUBECONFIG',
    `The proxy ${shown} of ${connection.describe} is not supported: use an http://, https:// or socks5:// proxy in proxy-url, HTTPS_PROXY or HTTP_PROXY.`,
  )
}

/** Returns a connector that opens connections with `dial`. undici expects that a connector calls its callback in a later microtask. */
function dialed(dial: () => Duplex): Connectors.connector {
  return (_options, callback) => {
    // undici's type requires a `Socket`. On a stream that is not a socket, undici calls only methods that every stream has.
    queueMicrotask(() => callback(null, dial() as Socket))
  }
}

/**
 * Returns a function that creates the pools of a `ProxyAgent`. When a pool connects to the proxy, the pool adds the socket of this
 * connection to `sockets`. The TLS socket within a tunnel is not added, because undici's connector for tunnels passes the TLS socket to a
 * callback and does not return the TLS socket.
 */
function trackedPools(sockets: Set<Socket>): (origin: URL | string, options: Pools.Options) => Dispatcher {
  return (origin, options) => {
    const { connect } = options
    return new Pool(origin, typeof connect === 'function' ? { ...options, connect: tracked(connect, sockets) } : options)
  }
}

/** Wraps a connector. `sockets` contains each socket that the connector returns, until the socket is closed. */
function tracked(connector: Connectors.connector, sockets: Set<Socket>): Connectors.connector {
  return (options, callback) => {
    const socket: unknown = connector(options, callback)
    if (!(socket instanceof Socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
}
