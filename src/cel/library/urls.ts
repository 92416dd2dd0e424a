/** Functions on URLs, such as `url('https://example.com:80/a?b=c').getHost()`. URLs are parsed as in Go's package `net/url`. */
import { quote } from '../../api/field-error.ts'
import { isRequestUri } from '../../formats/network.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Value } from '../types/values.ts'
import { OpaqueValue, PlainList, PlainMap } from '../types/values.ts'

class Url extends OpaqueValue {
  readonly typeName = 'kubernetes.URL'
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  constructor(text: string) {
    super()
    this.text = text
    const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*?)(?:\?([^#]*))?(?:#.*)?$/s.exec(text)
    const rest = (match?.[2] ?? '').split('#')[0]!
    this.scheme = (match?.[1] ?? '').toLowerCase()
    this.query = match?.[3] ?? ''
    const hasAuthority = rest.startsWith('//') && (this.scheme !== '' || !rest.startsWith('///'))
    const slash = hasAuthority ? rest.indexOf('/', 2) : 0
    const authority = hasAuthority ? rest.slice(2, slash < 0 ? undefined : slash) : ''
    this.host = authority.slice(authority.lastIndexOf('@') + 1)
    const path = hasAuthority ? (slash < 0 ? '' : rest.slice(slash)) : rest
    // In Go, a URL whose path has no leading slash, such as `mailto:a@b`, is opaque, and its path is empty.
    this.path = path.startsWith('/') || text === '*' ? path : ''
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Url && other.text === this.text
  }
}

function parseUrl(text: string): Url {
  if (!isRequestUri(text)) throw new CelError(`URL parse error during conversion from string: ${requestUriProblem(text)}`)
  return new Url(text)
}

/** Returns Go's error message for a string that is neither an absolute URI nor an absolute path (`net/url: ParseRequestURI`). */
export function requestUriProblem(text: string): string {
  const problem =
    text === '' ? 'empty url' : /^[^/?#]*:/.test(text) && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? schemeProblem(text) : detail(text)
  return `parse ${quote(text)}: ${problem}`
}

function schemeProblem(text: string): string {
  return text.startsWith(':')
    ? 'missing protocol scheme'
    : /^[0-9+.-]/.test(text)
      ? 'first path segment in URL cannot contain colon'
      : 'invalid URI for request'
}

function detail(text: string): string {
  for (const character of text) {
    if (character.charCodeAt(0) < 0x20 || character === '\u007f') return 'net/url: invalid control character in URL'
  }
  if (!/^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)/.test(text)) return 'invalid URI for request'
  const escape = /%(?:$|[0-9a-fA-F]?[^0-9a-fA-F].?|[0-9a-fA-F]$)/.exec(text)
  if (escape !== null) return `invalid URL escape ${quote(text.slice(escape.index, escape.index + 3))}`
  const authority = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? ''
  const port = /:([^\]:]*)$/.exec(authority)?.[1]
  if (port !== undefined && !/^\d*$/.test(port)) return `invalid port ${quote(`:${port}`)} after host`
  return authority.includes(' ') ? 'invalid character " " in host name' : 'invalid URI for request'
}

function hostname({ host }: Url): string {
  const withoutPort = host.replace(/:\d*$/, '')
  return withoutPort.startsWith('[') && withoutPort.endsWith(']') ? withoutPort.slice(1, -1) : withoutPort
}

function escapedPath({ path }: Url): string {
  if (/^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9a-fA-F]{2})*$/.test(path)) return path
  return Buffer.from(unescape(path) ?? path).reduce((text, byte) => text + escapeByte(byte), '')
}

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(character) && byte < 0x80 ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/** Decodes percent-encoded characters; undefined when an escape sequence is invalid. */
function unescape(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined
  const bytes = Buffer.concat(
    text.split(/(%[0-9a-fA-F]{2})/).map((part) => (/^%[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  )
  return bytes.toString('utf8')
}

function queryMap({ query }: Url): PlainMap {
  const values = new Map<string, Value[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equal = pair.indexOf('=')
    const [name, value] = [equal < 0 ? pair : pair.slice(0, equal), equal < 0 ? '' : pair.slice(equal + 1)].map((text) =>
      unescape(text.replaceAll('+', ' ')),
    )
    if (name === undefined || value === undefined) continue
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return new PlainMap([...values].map(([name, list]) => [name, new PlainList(list)] as const))
}

const type = 'kubernetes.URL'

export const urls: readonly Overload[] = [
  define(`url(string) -> ${type}`, 'string_to_url', parseUrl),
  define('isURL(string) -> bool', 'is_url_string', isRequestUri),
  define(`${type}::getScheme() -> string`, 'url_get_scheme', ({ scheme }: Url) => scheme),
  define(`${type}::getHost() -> string`, 'url_get_host', ({ host }: Url) => host),
  define(`${type}::getHostname() -> string`, 'url_get_hostname', hostname),
  define(`${type}::getPort() -> string`, 'url_get_port', ({ host }: Url) => /:(\d*)$/.exec(host)?.[1] ?? ''),
  define(`${type}::getEscapedPath() -> string`, 'url_get_escaped_path', escapedPath),
  define(`${type}::getQuery() -> map<string, list<string>>`, 'url_get_query', queryMap),
]
