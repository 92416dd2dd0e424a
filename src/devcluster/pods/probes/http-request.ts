/** `httpRequestOf`: creates the request of an `httpGet` handler (k8s.io/kubernetes/pkg/probe/http: NewRequestForHTTPGetAction). */
import { quote } from '../../../api/field-error.ts'
import { urlHost } from '../../../runtime/listen.ts'
import type { ContainerSpec, ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { containerPort } from './container-port.ts'
import { ProbeError } from './probe-outcome.ts'

export type HttpGetAction = NonNullable<ProbeSpec['httpGet']>

export interface HttpRequest {
  /** The scheme in lower case. Only a request with the scheme `http` or `https` can be sent. */
  readonly scheme: string
  /** The name or the IP address of the host. An IPv6 address has no brackets. */
  readonly hostname: string
  readonly port: number
  /** The host and port as in the URL. */
  readonly authority: string
  /** The path and query. They contain only characters that Node.js permits in a request. */
  readonly path: string
  /** All headers except Host. A name may occur several times. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The header Host that the handler declares. Default: `authority`. */
  readonly declaredHost: string | undefined
}

export interface HttpRequestOptions {
  readonly container: ContainerSpec
  /** The address of the Pod. */
  readonly address: string
  /** The part of the header User-Agent after `kube-`, e.g. `probe` in `kube-probe/1.36`. */
  readonly purpose: 'probe' | 'lifecycle'
}

/** The Kubernetes version in the User-Agent header of probes and lifecycle hooks, e.g. in `kube-probe/1.36`. */
export const kubernetesVersion = '1.36'
/** The headers that Go's package `net/http` ignores if the caller sets them (reqWriteExcludeHeader). */
const excluded: ReadonlySet<string> = new Set(['Host', 'Content-Length', 'Transfer-Encoding', 'Trailer'])

/**
 * Returns the HTTP request of an `httpGet` handler.
 *
 * @throws {ProbeError} when the port is unknown or invalid, or when the host is not valid in a URL.
 */
export function httpRequestOf(action: HttpGetAction, { container, address, purpose }: HttpRequestOptions): HttpRequest {
  const hostname = action.host || address
  const port = containerPort(action.port, container)
  const authority = `${urlHost(hostname)}:${port}`
  const scheme = (action.scheme || 'http').toLowerCase()
  if (/[\s/?#@\\]/.test(hostname) || !URL.canParse(`http://${authority}/`))
    throw new ProbeError(`parse ${quote(`${scheme}://${authority}/`)}: invalid host`)
  const { headers, declaredHost } = headersOf(action.httpHeaders ?? [], `kube-${purpose}/${kubernetesVersion}`)
  return { scheme, hostname, port, authority, path: requestPath(action.path ?? ''), headers, declaredHost }
}

/** Returns the URL of a request. The URL is used in error messages, for redirects and in the header Referer. */
export function urlOf({ scheme, authority, path }: HttpRequest): string {
  return `${scheme}://${authority}${path}`
}

/** Adds the default headers. If the handler declares an empty User-Agent or Accept, this header is not sent (newProbeRequest). */
function headersOf(
  declared: readonly { readonly name: string; readonly value?: string }[],
  userAgent: string,
): { readonly headers: HttpRequest['headers']; readonly declaredHost: string | undefined } {
  const all = declared.map(({ name, value = '' }): readonly [string, string] => [canonicalName(name), value])
  const first = (name: string): string | undefined => all.find(([other]) => other === name)?.[1]
  const defaults: readonly (readonly [string, string])[] = [
    ['User-Agent', userAgent],
    ['Accept', '*/*'],
    ['Connection', 'close'],
  ]
  const removed = ['User-Agent', 'Accept'].filter((name) => first(name) === '')
  const headers = [
    ...defaults.filter(([name]) => first(name) === undefined),
    ...all.filter(([name]) => !excluded.has(name) && !removed.includes(name)),
  ]
  return { headers, declaredHost: first('Host') || undefined }
}

/** Returns the canonical name of a header, e.g. `User-Agent`. An invalid name is unchanged (Go, net/textproto: CanonicalMIMEHeaderKey). */
function canonicalName(name: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
}

/** The characters that Go's package `net/url` escapes in a path. */
const escapedInPath = /[^\w.~!$&'()*+,/:;=@[\]%-]/gu
/**
 * Matches the path of an `httpGet` handler if Go's `url.Parse` rejects the path. The kubelet then uses the whole text as the path of the
 * URL (k8s.io/kubernetes/pkg/probe/http: formatURL). `url.Parse` rejects a text in these cases:
 *
 * - The text contains a control character before the fragment.
 * - Outside of the query, the text contains a `%` that is not followed by two hexadecimal digits.
 */
const invalidUrl = /^[^#]*[\0-\x1f\x7f]|^(?:[^?#]*|[^#]*#[^]*)%(?![\da-f]{2})/i

/**
 * Returns the path and the query of a URL in the form in which Go's package `net/url` writes them. The scheme, the host and the fragment of
 * the URL are dropped. Unlike Go, this function also escapes spaces and non-ASCII characters in the query, because Node.js refuses to send
 * them. If Go's `url.Parse` refuses the URL, the whole text is the path.
 */
function requestPath(declared: string): string {
  if (invalidUrl.test(declared)) return absolute(percentEncode(declared.replaceAll('%', '%25'), escapedInPath))
  const [, path = '', query = ''] = /^(?:[a-z][a-z\d+.-]*:(?=\/))?(?:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/i.exec(declared)!
  return absolute(percentEncode(path, escapedInPath)) + percentEncode(query, /[^!-~]/gu)
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}

/** Replaces each character that matches `pattern`. Each byte of the character becomes `%` with two hexadecimal digits. */
function percentEncode(text: string, pattern: RegExp): string {
  return text.replace(pattern, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}
