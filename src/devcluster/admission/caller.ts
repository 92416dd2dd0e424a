/**
 * Calls webhooks over HTTPS. For each combination of origin, TLS server name and caBundle, there is a separate HTTP agent, which reuses
 * connections. As in kube-apiserver, only HTTP/1.1 is used.
 */
import { isIP } from 'node:net'
import type { Clock } from '../../runtime/clock.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { stringifyJson } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { trust } from '../../client/trust.ts'
import { Agent } from '../../client/undici.ts'
import type { ExchangeContext, Target } from './webhook-post.ts'
import { post, serverNameOf } from './webhook-post.ts'
import { StatusError } from '../apimachinery/status-error.ts'
import type { HookClientConfig } from './hook.ts'
import { CallError } from './review.ts'
import type { ServiceResolver } from './service-resolver.ts'

export interface WebhookCaller {
  /**
   * POSTs an AdmissionReview or a ConversionReview, and returns the decoded response.
   *
   * @throws {CallError} with kube-apiserver's message when the call fails.
   * @throws {StatusError} 504 when the deadline of the request has passed.
   */
  call(config: HookClientConfig, body: JsonObject, options: CallOptions): Promise<JsonValue>
  close(): Promise<void>
}

export interface CallOptions {
  readonly timeoutSeconds: number
  /** The deadline of the API request for which the webhook is called, in milliseconds of `clock.monotonicNow()`. Default: none. */
  readonly deadline?: number | undefined
  readonly signal: AbortSignal
}

/** Maximum number of cached agents (k8s.io/apiserver/pkg/util/webhook: defaultCacheSize). */
const maxAgents = 200
/** Time in milliseconds after which an idle connection is closed, as in Go's HTTP transport. */
const keepAliveMs = 90_000

export interface WebhookCallerOptions {
  readonly services: ServiceResolver
  /**
   * The reasons why certain origins are unreachable, keyed by origin. If a call to such an origin fails, the error message contains the
   * reason. Default: none.
   */
  readonly unreachable?: ReadonlyMap<string, string>
  readonly clock: Clock
}

export function createWebhookCaller(options: WebhookCallerOptions): WebhookCaller {
  const agents = new Map<string, Agent>()

  function agentFor(url: URL, serverName: string, caBundle: string | undefined): Agent {
    const key = `${url.origin}\0${serverName}\0${caBundle ?? ''}`
    const known = agents.get(key)
    if (known !== undefined) {
      // The agent moves to the end of the map. The first agent of the map is therefore the least recently used agent.
      agents.delete(key)
      agents.set(key, known)
      return known
    }
    const agent = new Agent({
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // If a TLS session were resumed, the certificate would not be verified. Each connection therefore begins a new session.
      maxCachedSessions: 0,
      connect: {
        ...trust(caBundle === undefined || caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8')),
        // An IP address is not allowed as a TLS server name.
        ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      },
    })
    agents.set(key, agent)
    if (agents.size > maxAgents) {
      const [oldest] = agents.keys()
      const dropped = agents.get(oldest!)!
      agents.delete(oldest!)
      // The agent closes when its running calls have ended. The current call does not wait until the agent has closed.
      void dropped.close()
    }
    return agent
  }

  const context: ExchangeContext = { agentFor, unreachable: options.unreachable ?? new Map(), clock: options.clock }

  return {
    async call(config, body, { timeoutSeconds, deadline = Infinity, signal }) {
      const { clock, services } = options
      const left = deadline - clock.monotonicNow()
      if (left <= 0) throw requestTimedOut()
      const ms = Math.min(timeoutSeconds * 1000, left)
      const target = targetOf(config, Math.ceil(ms / 1000), services)
      const end = new AbortController()
      const timer = clock.after(ms, () => end.abort(new DOMException('the call took too long', 'TimeoutError')))
      try {
        return await post(context, target, config.caBundle, stringifyJson(body)!, AbortSignal.any([signal, end.signal]))
      } catch (error) {
        throw end.signal.aborted && ms === left ? requestTimedOut() : error
      } finally {
        timer.cancel()
      }
    },
    async close() {
      const open = [...agents.values()]
      agents.clear()
      await Promise.all(open.map((agent) => agent.destroy()))
    },
  }
}

/** Returns the 504 error for a request whose deadline has passed. The request fails with this error even if `failurePolicy` is `Ignore`. */
function requestTimedOut(): StatusError {
  return new StatusError(failure(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {}))
}

function targetOf(config: HookClientConfig, timeoutSeconds: number, services: ServiceResolver): Target {
  const query = `?timeout=${timeoutSeconds}s`
  if (config.service !== undefined) {
    const { namespace, name, path = '', port = 443 } = config.service
    const serverName = `${name}.${namespace}.svc`
    const suffix = `${path.startsWith('/') ? path : `/${path}`}${query}`
    const shownUrl = `https://${serverName}:${port}${suffix}`
    let address: string
    try {
      address = services.resolve({ namespace, name, port })
    } catch (error) {
      throw error instanceof CallError ? new CallError(`failed to call webhook: Post "${shownUrl}": ${error.message}`) : error
    }
    return { shownUrl, url: `${address.replace(/\/$/, '')}${suffix}`, serverName, host: `${serverName}:${port}` }
  }
  const url = `${config.url ?? ''}${query}`
  if (!URL.canParse(url)) throw new CallError(`could not get REST client: unable to parse ${JSON.stringify(config.url ?? '')}`)
  return { shownUrl: url, url, serverName: serverNameOf(new URL(url)), host: new URL(url).host }
}
