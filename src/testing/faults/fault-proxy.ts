/** `startFaultProxy`: stands before an API server, and makes what lies between it and its clients fail on request. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../api/clock.ts'
import { ProreusError } from '../../api/errors.ts'
import { issueAuthority, issueLeaf } from '../../certs/issue.ts'
import type { Connection } from '../../client/connection.ts'
import { writeKubeconfig } from '../../devcluster/pki/kubeconfig.ts'
import { newToken } from '../../devcluster/pki/state.ts'
import type { AnswerCode, AnswerFault, AnswerOptions } from './answers.ts'
import { Answers } from './answers.ts'
import { startForwarder } from './forwarder.ts'
import type { Fault, FaultScope, ProxiedConnection } from './network.ts'
import { FaultyNetwork } from './network.ts'

export interface HalfOpenOptions extends FaultScope {
  /** Where nothing arrives any more. Default `both`. */
  readonly direction?: 'both' | 'toServer' | 'toClient'
}

/**
 * An address of an API server where faults can be switched on. It carries everything faithfully until then, watches event by event.
 * Faults add up, and each one ends by itself with `end()`, or with all others by `heal()`.
 */
export interface FaultProxy {
  /** As whom the proxy was started, through the proxy. Its certificate authority and token are the proxy's own. */
  readonly connection: Connection
  /** The same as a kubeconfig: a path, as for the variable KUBECONFIG. It goes with the proxy. */
  readonly kubeconfig: string
  /** Another user's connection to the same API server, through the proxy. */
  through(connection: Connection): Connection
  /** The TCP connections that are open through the proxy, oldest first. */
  readonly connections: readonly ProxiedConnection[]
  /** Everything comes later: by so many milliseconds in each direction, or in those that are named. Several delays add up. */
  delay(ms: number | { readonly toServerMs?: number; readonly toClientMs?: number }): Fault
  /**
   * Resets connections at once, as when the API server is killed. With `alsoNew`, those that are made from now on are
   * reset as well, until the fault ends: the API server is away.
   */
  cut(scope?: FaultScope): Fault
  /**
   * Connections stay open, but no bytes arrive any more, as when a cable is pulled or a firewall has forgotten them.
   * When the fault ends they flow on where they stood, unless one side has given up by then.
   */
  halfOpen(options?: HalfOpenOptions): Fault
  /** Requests are answered with a failure `Status` and do not reach the API server. A watch that runs already goes on. */
  answer(code: AnswerCode, options?: AnswerOptions): AnswerFault
  /** Ends all faults. Connections that were cut stay so. */
  heal(): void
  /** Closes all connections and the address. */
  stop(): Promise<void>
}

/** The names and addresses under which clients on this machine may call it. */
const names = ['localhost', 'kubernetes.default.svc']
const addresses = ['127.0.0.1', '::1']

/**
 * Starts a proxy on a free port of loopback before the API server of `connection`.
 * It ends TLS with a certificate of its own, so that it can answer; the credentials of `connection`, whatever they are, stay in this process.
 *
 * @example
 * const proxy = await startFaultProxy(connection)
 * const client = createClient(proxy.connection)
 * const busy = proxy.answer(429, { retryAfterSeconds: 1, count: 2 })
 * await client.raw('/version') // is asked three times
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
      const { toServerMs = 0, toClientMs = 0 } = typeof ms === 'number' ? { toServerMs: ms, toClientMs: ms } : ms
      return network.delay({ toServer: toServerMs, toClient: toClientMs })
    },
    cut: (scope = {}) => network.cut(scope),
    halfOpen: ({ direction = 'both', ...scope } = {}) => network.hold(direction === 'both' ? ['toServer', 'toClient'] : [direction], scope),
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
