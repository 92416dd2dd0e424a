/** Functions that check IP addresses, host names and URIs. They accept the same strings as Go's `net` and `net/url`. */
import { isIP, isIPv4, isIPv6 } from 'node:net'

/** Returns true when Go's `net.ParseIP` accepts the string. `net.ParseIP` rejects a zone (`fe80::1%eth0`), which Node.js accepts. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/**
 * Accepts IPv4 addresses, and IPv6 addresses that end with an IPv4 address (`::ffff:1.2.3.4`). Decimal numbers may have leading zeros
 * (`k8s.io/utils/net: ParseIPSloppy`).
 */
export function isIpv4(text: string): boolean {
  return text.includes('.') && isAddress(withoutLeadingZeros(text))
}

function withoutLeadingZeros(text: string): string {
  return text.includes('.') ? text.replace(/(^|[:.])0+(?=\d+(?:\.|$))/g, '$1') : text
}

export function isIpv6(text: string): boolean {
  return isAddress(text) && text.includes(':')
}

/** Accepts a CIDR in the notation `address/bits`. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  const address = withoutLeadingZeros(text.slice(0, Math.max(slash, 0)))
  const bits = text.slice(slash + 1)
  if (slash < 0 || address.includes('%') || !/^\d+$/.test(bits)) return false
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
}

const octets = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)$/i
const words = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i

/** Accepts MAC addresses of 6, 8 or 20 octets: `01:23:45:67:89:ab`, `01-23-…`, `0123.4567.89ab`. */
export function isMac(text: string): boolean {
  if (octets.test(text)) return [17, 23, 59].includes(text.length)
  return words.test(text) && [14, 19, 49].includes(text.length)
}

const letter = String.raw`[a-zA-Z0-9\p{S}\p{L}]`
const letterOrDash = String.raw`[a-zA-Z0-9\-\p{S}\p{L}]`
const topLevel = String.raw`[a-zA-Z\p{L}]{2,63}`
const hostname = new RegExp(`^(?:${letter}(?:-?${letter}{0,62})?|(?:${letter}(?:${letterOrDash}{0,61}${letter})?\\.)+${topLevel})$`, 'u')

/**
 * Accepts the same host names as kube-openapi. The pattern of kube-openapi is intended for the host names of RFC 1034, but also accepts
 * symbols and the letters of any script.
 */
export function isHostname(text: string): boolean {
  // The length limits are checked first, because they limit the time that the pattern takes.
  return Buffer.byteLength(text) <= 255 && text.split('.').every((part) => Buffer.byteLength(part) <= 63) && hostname.test(text)
}

// These patterns search for an invalid character or escape sequence. A pattern that matches a whole valid string would need memory in
// proportion to the string's length.
const invalidEscape = /%(?![0-9a-f]{2})/i
const invalidInUser = /[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/
const invalidInHost = /[^A-Za-z0-9\-._~!$&'()*+,;=\]<>":%\u0080-\uffff]|%(?!25|[89a-f][0-9a-f])/i

/** Accepts an absolute URI or an absolute path, like Go's `url.ParseRequestURI`. */
export function isRequestUri(text: string): boolean {
  // Go rejects ASCII control characters, and accepts all other control characters.
  if (text === '' || hasControlCharacter(text)) return false
  if (text === '*') return true
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0]
  const [rest = ''] = text.slice(scheme?.length ?? 0).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== undefined
  if (scheme === undefined || !rest.startsWith('//')) return !invalidEscape.test(rest)
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return isAuthority(authority, /^https?:$/i.test(scheme)) && !invalidEscape.test(slash < 0 ? '' : rest.slice(slash))
}

function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/**
 * Checks the authority of a URL (`user@host:port`). Go is stricter for http and https URLs (`isWeb`): a host that is not in brackets must
 * not contain a colon.
 */
function isAuthority(authority: string, isWeb: boolean): boolean {
  const at = authority.lastIndexOf('@')
  if (at >= 0) {
    const user = authority.slice(0, at)
    if (invalidInUser.test(user) || invalidEscape.test(user)) return false
  }
  const host = authority.slice(at + 1)
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    const [address = '', zone] = host.slice(1, Math.max(end, 0)).split('%25', 2)
    const validZone = zone === undefined || (zone !== '' && !invalidEscape.test(zone))
    return end > 0 && isAddress(address) && address.includes(':') && validZone && /^(?::\d*)?$/.test(host.slice(end + 1))
  }
  return (isWeb ? /^[^:]*(?::\d*)?$/ : /^(?:[^:]*|.*:\d*)$/).test(host) && !invalidInHost.test(host)
}
