/** `httpGet`: a GET request that follows redirects within the same host. */
import { quote } from '../../../api/field-error.ts'
import type { HttpRequest } from './http-request.ts'
import { urlOf } from './http-request.ts'
import type { HttpResponse, SendOptions } from './send-get.ts'
import { HttpError, sendGet } from './send-get.ts'

/** The limit of Go's package `net/http` (defaultCheckRedirect). */
const maxRedirects = 10
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request, and follows redirects to the same host (k8s.io/kubernetes/pkg/probe/http: RedirectChecker). Returns the last response. A
 * redirect to another host is not followed, and is therefore the last response. The caller must read or close the response.
 *
 * @throws {HttpError} when `sendGet` throws an `HttpError`, when the tenth redirect to the same host arrives, or when the `Location` header
 *   of a redirect is invalid.
 * @throws the reason of `options.signal` when the signal aborts and the reason is not a `DeadlineExceeded`.
 */
export async function httpGet(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  let current = request
  for (let count = 0; ; count++) {
    const response = await sendGet(current, options)
    const { status, location } = response
    if (!redirects.has(status) || location === undefined || location === '') return response
    const next = URL.parse(location, urlOf(current))
    if (next !== null && next.hostname !== hostnameOf(request)) return response
    response.close()
    if (next === null) throw new HttpError(urlOf(current), `failed to parse Location header ${quote(location)}`)
    if (count === maxRedirects - 1) throw new HttpError(location, `stopped after ${maxRedirects} redirects`)
    current = { ...redirected(current, next, URL.canParse(location)), headers: headersOfRedirect(request, current, next) }
  }
}

/**
 * Returns the name of the host, normalized by `URL`, e.g. in lower case. Two spellings of the same host name therefore give the same
 * result.
 */
function hostnameOf({ authority }: HttpRequest): string | undefined {
  return URL.parse(`http://${authority}/`)?.hostname
}

/**
 * Returns the next request after a redirect. If the location of the redirect has a scheme, the next request does not use the header Host
 * that the probe declares. Otherwise, the next request keeps this header.
 */
function redirected(request: HttpRequest, next: URL, isAbsolute: boolean): HttpRequest {
  const scheme = next.protocol.slice(0, -1)
  return {
    ...request,
    scheme,
    port: next.port === '' ? (scheme === 'https' ? 443 : 80) : Number(next.port),
    authority: next.host,
    path: next.pathname + next.search,
    declaredHost: isAbsolute ? undefined : request.declaredHost,
  }
}

/**
 * Returns the headers of the first request, with the URL of the latest request as Referer. If the handler declares a Referer, this Referer
 * is kept. If the latest request used TLS and the next request does not use TLS, no Referer is added (net/http: refererForURL).
 */
function headersOfRedirect(first: HttpRequest, latest: HttpRequest, next: URL): HttpRequest['headers'] {
  const isDeclared = first.headers.some(([name]) => name === 'Referer')
  const isSecret = latest.scheme === 'https' && next.protocol === 'http:'
  return isDeclared || isSecret ? first.headers : [...first.headers, ['Referer', urlOf(latest)]]
}
