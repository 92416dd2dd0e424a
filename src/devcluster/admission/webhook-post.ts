/**
 * Sends one request to a webhook. Redirects, retries and the decoding of the response are the same as in Go's HTTP client and client-go's
 * REST client.
 */
import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../runtime/clock.ts'
import { sleep } from '../../runtime/waiting.ts'
import type { JsonValue } from '../../api/json.ts'
import type { WebhookResponse } from './decode-response.ts'
import { decodeResponse } from './decode-response.ts'
import { describeNetworkError, describeReadError } from './describe-call-error.ts'
import { CallError } from './review.ts'

export interface Target {
  /** The URL that error messages contain. */
  readonly shownUrl: string
  readonly url: string
  readonly serverName: string
  /** The value of the `Host` header. */
  readonly host: string
}

export interface ExchangeContext {
  agentFor(url: URL, serverName: string, caBundle: string | undefined): Dispatcher
  /** The reasons why certain origins are unreachable, keyed by origin. The reason replaces the message of the network error. */
  readonly unreachable: ReadonlyMap<string, string>
  readonly clock: Clock
}

/** Maximum number of redirects, as in Go's HTTP client. */
const maxRedirects = 10
/** Maximum number of retries after responses with a `Retry-After` header (k8s.io/client-go/rest: request.go). */
const maxRetries = 10

/**
 * POSTs an AdmissionReview or a ConversionReview, and returns the decoded response.
 *
 * @throws {CallError} when the request fails or the response is invalid.
 */
export async function post(
  context: ExchangeContext,
  target: Target,
  caBundle: string | undefined,
  body: string,
  signal: AbortSignal,
): Promise<JsonValue> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await followRedirects(context, target, caBundle, body, signal)
    const wait = retryAfterMs(response)
    if (wait === undefined || attempt === maxRetries) return decodeResponse(response)
    try {
      await sleep(context.clock, wait, signal)
    } catch {
      throw new CallError(`failed to call webhook: Post "${target.shownUrl}": ${describeNetworkError(signal.reason, target.serverName)}`)
    }
  }
}

async function followRedirects(
  context: ExchangeContext,
  start: Target,
  caBundle: string | undefined,
  body: string,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  let target = start
  let method: 'POST' | 'GET' = 'POST'
  for (let redirects = 0; ; redirects += 1) {
    const response = await exchange(context, target, caBundle, method === 'POST' ? body : undefined, signal)
    const next = redirectOf(response, target)
    if (next === undefined) return response
    // After 301, 302 and 303, the next request is a GET. After 307 and 308, the POST is repeated.
    if (response.statusCode < 304) method = 'GET'
    if (redirects + 1 >= maxRedirects) {
      const verb = method === 'POST' ? 'Post' : 'Get'
      throw new CallError(`failed to call webhook: ${verb} "${textOf(response.headers.location)}": stopped after ${maxRedirects} redirects`)
    }
    target = next
  }
}

/**
 * Returns the target of a redirect. Returns undefined if the response is not a redirect, or if its `Location` header is missing or invalid.
 */
function redirectOf({ statusCode, headers }: WebhookResponse, from: Target): Target | undefined {
  const location = textOf(headers.location)
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === '' || !URL.canParse(location, from.url)) return undefined
  const url = new URL(location, from.url)
  const isSameHost = url.origin === new URL(from.url).origin
  const { host, serverName } = isSameHost ? from : { host: url.host, serverName: serverNameOf(url) }
  return { shownUrl: url.href, url: url.href, serverName, host }
}

async function exchange(
  context: ExchangeContext,
  target: Target,
  caBundle: string | undefined,
  body: string | undefined,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const failed = (detail: string): CallError => new CallError(`failed to call webhook: ${detail}`)
  const problemOf = (error: unknown): unknown => (signal.aborted ? signal.reason : error)
  let response
  try {
    const url = new URL(target.url)
    response = await context.agentFor(url, target.serverName, caBundle).request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json, */*',
        'user-agent': 'kube-apiserver-admission',
        host: target.host,
      },
      ...(body === undefined ? {} : { body }),
      // The timeouts of undici are off. The signal ends the call at its deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    })
  } catch (error) {
    const verb = body === undefined ? 'Get' : 'Post'
    const reason = context.unreachable.get(URL.parse(target.url)?.origin ?? '')
    const problem = reason ?? describeNetworkError(problemOf(error), target.serverName)
    throw failed(`${verb} "${target.shownUrl}": ${problem}`)
  }
  const { statusCode, headers, body: stream } = response
  try {
    return { statusCode, headers, contentType: textOf(headers['content-type']), text: await stream.text() }
  } catch (error) {
    throw failed(`unexpected error when reading response body. Please retry. Original error: ${describeReadError(problemOf(error))}`)
  }
}

/** Returns the time to wait before a retry, in milliseconds; undefined when the request must not be retried. */
function retryAfterMs({ statusCode, headers }: WebhookResponse): number | undefined {
  const value = textOf(headers['retry-after'])
  return (statusCode === 429 || statusCode >= 500) && /^\d+$/.test(value) ? Number(value) * 1000 : undefined
}

export function serverNameOf({ hostname }: URL): string {
  const name = hostname.replace(/^\[|\]$/g, '')
  return isIP(name) === 0 ? hostname : name
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}
