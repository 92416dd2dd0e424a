/** `startFaultProxy`: a proxy between clients and an API server that simulates failures of the network and of the API server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../runtime/clock.ts'
import { ProreusError } from '../../api/errors.ts'
import type { OptionCheck } from '../../api/option-checks.ts'
import { hasOptions, isAnObject, isBoolean, isDelay, isListOf, isOneOf, refuseOptions } from '../../api/option-checks.ts'
import { issueAuthority, issueLeaf } from '../../certs/issue.ts'
import type { Connection } from '../../client/connection.ts'
import { writeKubeconfig } from '../../devcluster/state/kubeconfig.ts'
import { newToken } from '../../runtime/random.ts'
import type { AnswerCode, AnswerFault, AnswerOptions } from './answers.ts'
import { Answers } from './answers.ts'
import { startForwarder } from './forwarder.ts'
import type { Fault, FaultScope, ProxiedConnection } from './network.ts'
import { FaultyNetwork } from './network.ts'

export interface HalfOpenOptions extends FaultScope {
  /** The directions in which no data is forwarded. Default `both`. */
  readonly direction?: 'both' | 'toServer' | 'toClient'
}

const scopeChecks = { only: isListOf(isAnObject), alsoNew: isBoolean } satisfies Record<keyof FaultScope, OptionCheck>
const checkCut = hasOptions(scopeChecks)
const checkHalfOpen = hasOptions({
  ...scopeChecks,
  direction: isOneOf('both', 'toServer', 'toClient'),
} satisfies Record<keyof HalfOpenOptions, OptionCheck>)
const checkDelay = hasOptions({ toServerMs: isDelay, toClientMs: isDelay })

/**
 * A proxy between clients and an API server, into which a test can inject faults. Without a fault, the proxy forwards all data immediately,
 * including each watch event. Several faults can be active together. `end()` of a fault ends only this fault, and `heal()` ends all faults.
 *
 * The methods throw `PRO_CONFIG_INVALID` when an option is invalid or unknown.
 */
export interface FaultProxy {
  /**
   * A connection to the proxy, with the proxy's own CA and token. If a client uses this connection, the proxy forwards the requests of the
   * client with the identity of the connection that was passed to `startFaultProxy`.
   */
  readonly connection: Connection
  /**
   * The path of a kubeconfig that contains `connection`. The environment variable KUBECONFIG can be set to this path. `stop` removes the
   * file.
   */
  readonly kubeconfig: string
  /**
   * Returns a new `Connection` to the proxy. When a client uses the new `Connection`, the proxy forwards the requests of this client with
   * the credentials of the argument `connection`.
   *
   * @throws {ProreusError} `PRO_INPUT` when `connection` is for a different API server than the proxy.
   */
  through(connection: Connection): Connection
  /** The open TCP connections through the proxy, oldest first. */
  readonly connections: readonly ProxiedConnection[]
  /** Delays all data by this many milliseconds. A number applies to both directions. If there are several delays, their times are added. */
  delay(ms: number | { readonly toServerMs?: number; readonly toClientMs?: number }): Fault
  /**
   * Resets connections immediately, as when the API server is killed. With `alsoNew`, new connections are also reset until the fault ends.
   */
  cut(scope?: FaultScope): Fault
  /**
   * Stops forwarding data on connections that stay open, as when a cable is unplugged or a firewall drops packets. When the fault ends, the
   * proxy delivers the data that was sent during the fault. The data may be lost if the client or the server has closed the connection
   * during the fault.
   */
  halfOpen(options?: HalfOpenOptions): Fault
  /** Responds to requests with a failure `Status` instead of forwarding them. Watches that have already begun are not affected. */
  answer(code: AnswerCode, options?: AnswerOptions): AnswerFault
  /** Ends all faults. Connections that were reset remain closed. */
  heal(): void
  /** Closes all connections and stops listening. */
  stop(): Promise<void>
}

/** The DNS names in the serving certificate of the proxy. */
const names = ['localhost', 'kubernetes.default.svc']
const addresses = ['127.0.0.1', '::1']

/**
 * Starts a proxy to the API server of `connection`, on a free port of the loopback interface. The proxy has its own certificate and
 * decrypts TLS, so that it can respond to requests itself. Clients of the proxy do not receive the credentials of `connection`.
 *
 * @example
 * const proxy = await startFaultProxy(connection)
 * const client = createClient(proxy.connection)
 * const busy = proxy.answer(429, { retryAfterSeconds: 1, count: 2 })
 * await client.raw('/version') // is requested three times
 * proxy.cut()
 * await proxy.stop()
 */
export async function startFaultProxy(connection: Connection): Promise<FaultProxy> {
  const authority = await issueAuthority(systemClock.now())
  const tls = await issueLeaf(authority, { names, ips: addresses, now: systemClock.now() })
  const answers = new Answers()
  const tokens = new Map<string, Connection>()
  const forwarder = await startForwarder({ tls, connection, tokens, answers })
  const network = await FaultyNetwork.listen(forwarder.port)
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const server = `https://127.0.0.1:${network.port}${new URL(connection.server).pathname.replace(/\/+$/, '')}`

  const through = (other: Connection): { readonly token: string; readonly connection: Connection } => {
    if (other.server !== connection.server)
      throw new ProreusError('PRO_INPUT', `This proxy stands before ${connection.server}, and ${other.server} is another API server.`)
    const token = newToken()
    tokens.set(token, other)
    return {
      token,
      connection: {
        server,
        ca: authority.cert,
        ...(other.namespace === undefined ? {} : { namespace: other.namespace }),
        authorization: () => Promise.resolve(`Bearer ${token}`),
        describe: `${other.describe}, through a fault proxy`,
      },
    }
  }
  const own = through(connection)
  await writeKubeconfig(kubeconfig, {
    server,
    ca: authority.cert,
    userName: 'fault-proxy',
    token: own.token,
    ...(connection.namespace === undefined ? {} : { namespace: connection.namespace }),
  })

  let stopped: Promise<unknown> | undefined
  return {
    connection: own.connection,
    kubeconfig,
    through: (other) => through(other).connection,
    get connections() {
      return network.links
    },
    delay(ms) {
      if (typeof ms !== 'number') refuseOptions('proxy.delay', checkDelay(ms, ''))
      const { toServerMs = 0, toClientMs = 0 } = typeof ms === 'number' ? { toServerMs: ms, toClientMs: ms } : ms
      return network.delay({ toServer: toServerMs, toClient: toClientMs })
    },
    cut(scope = {}) {
      refuseOptions('proxy.cut', checkCut(scope, ''))
      return network.cut(scope)
    },
    halfOpen(halfOpenOptions = {}) {
      refuseOptions('proxy.halfOpen', checkHalfOpen(halfOpenOptions, ''))
      const { direction = 'both', ...scope } = halfOpenOptions
      return network.hold(direction === 'both' ? ['toServer', 'toClient'] : [direction], scope)
    },
    answer: (code, options = {}) => answers.add(code, options),
    heal() {
      network.heal()
      answers.heal()
    },
    async stop() {
      stopped ??= Promise.all([network.close(), forwarder.close(), rm(directory, { recursive: true, force: true })])
      await stopped
    },
  }
}
