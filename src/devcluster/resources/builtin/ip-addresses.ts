/**
 * Validation of IP addresses and address ranges in fields that accepted more values in older Kubernetes versions
 * (k8s.io/apimachinery/pkg/util/validation).
 */
import { isIP } from 'node:net'
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'

/**
 * Returns the bytes of an IP address, or undefined if the text is not an IP address. An IPv4 address has four bytes. An IPv4-mapped IPv6
 * address also has four bytes. Any other IPv6 address has sixteen bytes. Leading zeros in the numbers of an IPv4 address are ignored
 * (k8s.io/utils/net: ParseIPSloppy).
 */
export function addressBytes(text: string): readonly number[] | undefined {
  const plain = text.includes(':') ? text : text.replace(/(^|\.)0+(?=\d)/g, '$1')
  const family = text.includes('%') ? 0 : isIP(plain)
  if (family === 4) return plain.split('.').map(Number)
  if (family === 0) return undefined
  // The URL parser replaces an IPv4 address inside an IPv6 address with hexadecimal groups, e.g. `::1.2.3.4` with `::102:304`.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string | undefined): number[] =>
    part === undefined || part === '' ? [] : part.split(':').map((one) => parseInt(one, 16))
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  const bytes = all.flatMap((group) => [group >> 8, group & 255])
  return isMapped(bytes) ? bytes.slice(12) : bytes
}

function isMapped(bytes: readonly number[]): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
}

export const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

/** Validates an IP address (IsValidIPForLegacyField). The addresses in `known` are valid without further checks. */
export function validateAddress(text: string, path: string, known: readonly unknown[] = []): FieldError[] {
  if (known.includes(text)) return []
  const bytes = addressBytes(text)
  if (bytes === undefined) return [invalid(path, text, noAddress)]
  if (text.includes(':')) return bytes.length === 4 ? [invalid(path, text, 'must not be an IPv4-mapped IPv6 address')] : []
  return isIP(text) === 0 ? [invalid(path, text, 'must not have leading 0s')] : []
}

/** Validates an address range, such as `10.0.0.0/8` (IsValidCIDRForLegacyField). The ranges in `known` are valid without further checks. */
export function validateRange(text: string, path: string, known: readonly unknown[] = []): FieldError[] {
  if (known.includes(text)) return []
  const [, address = '', length = ''] = /^([^/]*)\/(\d+)$/.exec(text) ?? []
  const bytes = addressBytes(address)
  const bits = Number(length)
  const most = address.includes(':') ? 128 : 32
  if (bytes === undefined || length === '' || bits > most)
    return [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  if (isIP(address) === 0 || /^0\d/.test(length)) return [invalid(path, text, 'must not have leading 0s in IP or prefix length')]
  if (most !== bytes.length * 8) return [invalid(path, text, 'must not have an IPv4-mapped IPv6 address')]
  const isNetwork = bytes.every((byte, index) => (byte & (255 >> Math.min(Math.max(bits - 8 * index, 0), 8))) === 0)
  return isNetwork ? [] : [invalid(path, text, 'must not have bits set beyond the prefix length')]
}

/**
 * Returns an error for an IP address that an endpoint cannot have, e.g. a loopback address (k8s.io/kubernetes/pkg/apis/core/validation:
 * ValidateEndpointIP). The caller must validate the syntax of the address first.
 */
export function validateEndpointAddress(text: string, path: string): FieldError[] {
  const bytes = addressBytes(text) ?? []
  const [first = 0, second = 0, third = 0] = bytes
  const isOld = bytes.length === 4
  const isZero = bytes.slice(0, -1).every((byte) => byte === 0)
  const refuse = (detail: string): FieldError[] => [invalid(path, text, detail)]
  if (isZero && bytes.at(-1) === 0) return refuse(`may not be unspecified (${text})`)
  if (isOld ? first === 127 : isZero && bytes.at(-1) === 1) return refuse('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (isOld ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80)
    return refuse('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (isOld ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 2)
    return refuse('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  return []
}
