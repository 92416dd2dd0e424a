/** Calls webhooks over HTTPS: one keep-alive agent for each address and trust, HTTP/1.1 alone, as the API server does. */
import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import type { Clock } from '../../api/clock.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { describeAnswer, describeNetworkError } from './call-error.ts'
import type { HookClientConfig } from './hook.ts'
import { CallError } from './review.ts'
import type { ServiceResolver } from './service-resolver.ts'

export interface WebhookCaller {
  /** POSTs a review and gives the decoded answer. Throws `CallError` in the API server's words. */
  call(
    config: HookClientConfig,
    body: JsonObject,
    options: { readonly timeoutSeconds: number; readonly signal: AbortSignal },
  ): Promise<JsonValue>
  close(): Promise<void>
}

/** The API server keeps this many clients; a changed caBundle makes a new one. */
const maxAgents = 200
/** Go's keep-alive pool lets a connection idle for this long. */
const keepAliveMs = 90_000

interface Target {
  /** What error texts show. */
  readonly shownUrl: string
  readonly url: string
  readonly serverName: string
  readonly host: string
}

export function createWebhookCaller(options: { readonly services: ServiceResolver; readonly clock: Clock }): WebhookCaller {
  const agents = new Map<string, Agent>()

  function agentFor(target: Target, caBundle: string | undefined): Agent {
    const key = `${new URL(target.url).origin}\0${target.serverName}\0${caBundle ?? ''}`
    const known = agents.get(key)
    if (known !== undefined) {
      // The latest used one last: the first is the one to drop.
      agents.delete(key)
      agents.set(key, known)
      return known
    }
    const agent = new Agent({
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // Each new connection verifies the certificate anew: a resumed TLS session would not.
      maxCachedSessions: 0,
      connect: {
        ...(caBundle === undefined || caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString('utf8') }),
        // TLS has no server name for an address.
        ...(isIP(target.serverName) === 0 ? { servername: target.serverName } : {}),
      },
    })
    agents.set(key, agent)
    if (agents.size > maxAgents) {
      const [oldest] = agents.keys()
      const dropped = agents.get(oldest!)!
      agents.delete(oldest!)
      // Running calls end first; nobody waits for it.
      void dropped.close()
    }
    return agent
  }

  async function post(target: Target, config: HookClientConfig, body: JsonObject, signal: AbortSignal): Promise<JsonValue> {
    const failed = (detail: string): CallError => new CallError(`failed to call webhook: ${detail}`)
    let answer: { statusCode: number; text: string }
    try {
      const { statusCode, body: stream } = await request(target.url, {
        method: 'POST',
        dispatcher: agentFor(target, config.caBundle),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
          host: target.host,
        },
        body: JSON.stringify(body),
        // The deadline of the call is the only one.
        headersTimeout: 0,
        bodyTimeout: 0,
        signal,
      })
      answer = { statusCode, text: await stream.text() }
    } catch (error) {
      throw failed(`Post "${target.shownUrl}": ${describeNetworkError(signal.aborted ? signal.reason : error, target.serverName)}`)
    }
    const parsed = parse(answer.text)
    if (answer.statusCode < 200 || answer.statusCode > 299) throw failed(describeAnswer(answer.statusCode, answer.text, parsed))
    if (parsed === undefined) throw failed("couldn't get version/kind; json parse error: the response is no JSON")
    return parsed
  }

  return {
    async call(config, body, { timeoutSeconds, signal }) {
      const target = targetOf(config, timeoutSeconds, options.services)
      const deadline = new AbortController()
      const timer = options.clock.after(timeoutSeconds * 1000, () =>
        deadline.abort(new DOMException('the call took too long', 'TimeoutError')),
      )
      try {
        return await post(target, config, body, AbortSignal.any([signal, deadline.signal]))
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

function targetOf(config: HookClientConfig, timeoutSeconds: number, services: ServiceResolver): Target {
  const query = `?timeout=${timeoutSeconds}s`
  if (config.service !== undefined) {
    const { namespace, name, path = '', port = 443 } = config.service
    const serverName = `${name}.${namespace}.svc`
    const suffix = `${path.startsWith('/') || path === '' ? path : `/${path}`}${query}`
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
  const { hostname, host } = new URL(url)
  return { shownUrl: url, url, serverName: hostname.replace(/^\[|\]$/g, ''), host }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
