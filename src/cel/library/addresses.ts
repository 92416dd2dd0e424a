/** Functions on IP addresses and CIDRs (`k8s.io/apiserver/pkg/cel/library: ip.go, cidr.go`). The syntax is that of Go's `net/netip`. */
import { quote } from '../../api/field-error.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError, noSuchOverload } from '../types/errors.ts'
import { OpaqueValue } from '../types/values.ts'
import { formatAddress, parseAddress } from './address-text.ts'

class Ip extends OpaqueValue {
  readonly typeName = 'net.IP'
  readonly bytes: readonly number[]
  constructor(bytes: readonly number[]) {
    super()
    this.bytes = bytes
  }
  get size(): number {
    return this.bytes.length
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Ip && formatAddress(this.bytes) === formatAddress(other.bytes)
  }
}

class Cidr extends OpaqueValue {
  readonly typeName = 'net.CIDR'
  readonly bytes: readonly number[]
  readonly bits: number
  constructor(bytes: readonly number[], bits: number) {
    super()
    this.bytes = bytes
    this.bits = bits
  }
  get size(): number {
    return Math.ceil(this.bits / 8)
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Cidr && other.bits === this.bits && formatAddress(this.bytes) === formatAddress(other.bytes)
  }
}

function isMapped(bytes: readonly number[]): boolean {
  return bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
}

function parseIp(text: string): Ip {
  const parsed = parseAddress(text)
  if (typeof parsed === 'string') throw new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${parsed}`)
  if (parsed.zone !== '') throw new CelError(`IP address ${quote(text)} with zone value is not allowed`)
  if (isMapped(parsed.bytes)) throw new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return new Ip(parsed.bytes)
}

function parseCidr(text: string): Cidr {
  try {
    return parsePrefix(text)
  } catch (error) {
    throw new CelError(`network address parse error during conversion from string: ${(error as Error).message}`)
  }
}

function parsePrefix(text: string): Cidr {
  const fail = (problem: string): never => {
    throw new CelError(`network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${problem}`)
  }
  const slash = text.lastIndexOf('/')
  if (slash < 0) return fail("no '/'")
  const parsed = parseAddress(text.slice(0, slash))
  if (typeof parsed === 'string') return fail(parsed)
  if (parsed.zone !== '') return fail('IPv6 zones cannot be present in a prefix')
  const bitsText = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d*)$/.test(bitsText)) return fail(`bad bits after slash: ${quote(bitsText)}`)
  const bits = Number(bitsText)
  if (bits > parsed.bytes.length * 8) return fail('prefix length out of range')
  if (isMapped(parsed.bytes)) throw new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return new Cidr(parsed.bytes, bits)
}

function masked({ bytes, bits }: Cidr): Cidr {
  const kept = bytes.map((byte, index) => byte & (0xff << Math.max(0, Math.min(8, 8 * (index + 1) - bits))) & 0xff)
  return new Cidr(kept, bits)
}

function contains(cidr: Cidr, bytes: readonly number[]): boolean {
  return bytes.length === cidr.bytes.length && formatAddress(masked(new Cidr(bytes, cidr.bits)).bytes) === formatAddress(masked(cidr).bytes)
}

function containsCidr(cidr: Cidr, other: Cidr): boolean {
  return cidr.bits <= other.bits && contains(cidr, other.bytes)
}

/** Parses the argument of `containsIP`. If the argument is invalid, throws `no such overload`, as kube-apiserver does. */
function orNoOverload<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch {
    throw noSuchOverload()
  }
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}

const isV4 = ({ bytes }: Ip): boolean => bytes.length === 4
const isUnspecified = ({ bytes }: Ip): boolean => bytes.every((byte) => byte === 0)
const isLoopback = (ip: Ip): boolean => (isV4(ip) ? ip.bytes[0] === 127 : formatAddress(ip.bytes) === '::1')
const isMulticast = (ip: Ip): boolean => (isV4(ip) ? (ip.bytes[0]! & 0xf0) === 0xe0 : ip.bytes[0] === 0xff)
const isLinkLocalUnicast = ({ bytes }: Ip): boolean =>
  bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80
const isLinkLocalMulticast = (ip: Ip): boolean =>
  isV4(ip) ? ip.bytes[0] === 224 && ip.bytes[1] === 0 && ip.bytes[2] === 0 : ip.bytes[0] === 0xff && (ip.bytes[1]! & 0x0f) === 0x02
const isBroadcast = ({ bytes }: Ip): boolean => bytes.length === 4 && bytes.every((byte) => byte === 255)
const isGlobalUnicast = (ip: Ip): boolean =>
  !isBroadcast(ip) && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip)

export const addresses: readonly Overload[] = [
  define('ip(string) -> net.IP', 'string_to_ip', parseIp),
  define('net.CIDR::ip() -> net.IP', 'cidr_ip', ({ bytes }: Cidr) => new Ip(bytes)),
  define('isIP(string) -> bool', 'is_ip', (text: string) => succeeds(() => parseIp(text))),
  define('ip.isCanonical(string) -> bool', 'ip_is_canonical', (text: string) => formatAddress(parseIp(text).bytes) === text),
  define('net.IP::family() -> int', 'ip_family', (ip: Ip) => (isV4(ip) ? 4 : 6)),
  define('net.IP::isUnspecified() -> bool', 'ip_is_unspecified', isUnspecified),
  define('net.IP::isLoopback() -> bool', 'ip_is_loopback', isLoopback),
  define('net.IP::isLinkLocalMulticast() -> bool', 'ip_is_link_local_multicast', isLinkLocalMulticast),
  define('net.IP::isLinkLocalUnicast() -> bool', 'ip_is_link_local_unicast', isLinkLocalUnicast),
  define('net.IP::isGlobalUnicast() -> bool', 'ip_is_global_unicast', isGlobalUnicast),
  define('string(net.IP) -> string', 'ip_to_string', ({ bytes }: Ip) => formatAddress(bytes)),
  define('cidr(string) -> net.CIDR', 'string_to_cidr', parseCidr),
  define('isCIDR(string) -> bool', 'is_cidr', (text: string) => succeeds(() => parsePrefix(text))),
  define('net.CIDR::containsIP(string) -> bool', 'cidr_contains_ip_string', (cidr: Cidr, text: string) =>
    contains(cidr, orNoOverload(() => parseIp(text)).bytes),
  ),
  define('net.CIDR::containsIP(net.IP) -> bool', 'cidr_contains_ip_ip', (cidr: Cidr, { bytes }: Ip) => contains(cidr, bytes)),
  define('net.CIDR::containsCIDR(string) -> bool', 'cidr_contains_cidr_string', (cidr: Cidr, text: string) =>
    containsCidr(cidr, parseCidr(text)),
  ),
  define('net.CIDR::containsCIDR(net.CIDR) -> bool', 'cidr_contains_cidr', containsCidr),
  define('net.CIDR::prefixLength() -> int', 'cidr_prefix_length', ({ bits }: Cidr) => bits),
  define('net.CIDR::masked() -> net.CIDR', 'cidr_masked', masked),
  define('string(net.CIDR) -> string', 'cidr_to_string', ({ bytes, bits }: Cidr) => `${formatAddress(bytes)}/${bits}`),
]
