/** Parses IP addresses as strictly as Go's `netip.ParseAddr`. The error messages are those of `netip.ParseAddr`. */
import { quote } from '../../api/field-error.ts'

/** Returns the bytes and the zone of the address. If the address is invalid, returns Go's error message. */
export function parseAddress(text: string): { bytes: readonly number[]; zone: string } | string {
  const fail = (problem: string, at?: string): string =>
    `ParseAddr(${quote(text)}): ${problem}${at === undefined ? '' : ` (at ${quote(at)})`}`
  const first = /[.:%]/.exec(text)?.[0]
  if (first === '.') {
    const bytes = parseV4(text)
    return typeof bytes === 'string' ? fail(bytes) : 'problem' in bytes ? fail(bytes.problem, bytes.at) : { bytes: bytes.bytes, zone: '' }
  }
  if (first === '%') return fail('missing IPv6 address')
  if (first !== ':') return fail('unable to parse IP')
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') return fail('zone must be a non-empty string')
  const result = parseV6(percent < 0 ? text : text.slice(0, percent))
  return 'problem' in result ? fail(result.problem, result.at) : { bytes: result.bytes, zone }
}

type Result = { readonly bytes: readonly number[] } | { readonly problem: string; readonly at?: string }

function parseV4(text: string): Result | string {
  const bytes: number[] = []
  let digits = ''
  for (let at = 0; at <= text.length; at += 1) {
    const character = text[at]
    if (character !== undefined && /\d/.test(character)) {
      if (digits === '0') return 'IPv4 field has octet with leading zero'
      digits += character
      if (Number(digits) > 255) return 'IPv4 field has value >255'
    } else if (character === '.' || character === undefined) {
      if (digits === '') return { problem: 'IPv4 field must have at least one digit', at: text.slice(Math.min(at, text.length - 1)) }
      if (character === '.' && bytes.length === 3) return 'IPv4 address too long'
      bytes.push(Number(digits))
      digits = ''
    } else return { problem: 'unexpected character', at: text.slice(at) }
  }
  return bytes.length < 4 ? 'IPv4 address too short' : { bytes }
}

function parseV6(text: string): Result {
  const bytes: number[] = []
  let rest = text
  let gap: number | undefined
  if (rest.startsWith('::')) {
    gap = 0
    rest = rest.slice(2)
    if (rest === '') return { bytes: new Array<number>(16).fill(0) }
  }
  while (bytes.length < 16) {
    const field = /^[0-9a-fA-F]*/.exec(rest)![0]
    if (field.length > 4) return { problem: 'each group must have 4 or less digits', at: rest }
    if (field === '') return { problem: 'each colon-separated field must have at least one digit', at: rest }
    if (rest[field.length] === '.') {
      if (gap === undefined && bytes.length !== 12)
        return { problem: 'embedded IPv4 address must replace the final 2 fields of the address', at: rest }
      if (bytes.length + 4 > 16) return { problem: 'too many hex fields to fit an embedded IPv4 at the end of the address', at: rest }
      const embedded = parseV4(rest)
      if (typeof embedded === 'string') return { problem: embedded }
      if ('problem' in embedded) return embedded
      bytes.push(...embedded.bytes)
      rest = ''
      break
    }
    const value = Number.parseInt(field, 16)
    bytes.push(value >> 8, value & 0xff)
    rest = rest.slice(field.length)
    if (rest === '') break
    if (!rest.startsWith(':')) return { problem: 'unexpected character, want colon', at: rest }
    if (rest === ':') return { problem: 'colon must be followed by more characters', at: rest }
    rest = rest.slice(1)
    if (rest.startsWith(':')) {
      if (gap !== undefined) return { problem: 'multiple :: in address', at: rest }
      gap = bytes.length
      rest = rest.slice(1)
      if (rest === '') break
    }
  }
  if (rest !== '') return { problem: 'trailing garbage after address', at: rest }
  if (bytes.length === 16) return gap === undefined ? { bytes } : { problem: 'the :: must expand to at least one field of zeros' }
  if (gap === undefined) return { problem: 'address string too short' }
  bytes.splice(gap, 0, ...new Array<number>(16 - bytes.length).fill(0))
  return { bytes }
}

/**
 * Returns the canonical text of an IP address. In the text of an IPv6 address, `::` replaces the longest run of zero groups that has at
 * least two groups. If several runs have this length, `::` replaces the first of these runs.
 */
export function formatAddress(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.')
  const fields = Array.from({ length: 8 }, (_, index) => bytes[index * 2]! * 256 + bytes[index * 2 + 1]!)
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start += 1) {
    let length = 0
    while (start + length < 8 && fields[start + length] === 0) length += 1
    if (length > best.length) best = { start, length }
  }
  const text = (from: number, to: number): string =>
    fields
      .slice(from, to)
      .map((field) => field.toString(16))
      .join(':')
  return best.start < 0 ? text(0, 8) : `${text(0, best.start)}::${text(best.start + best.length, 8)}`
}
