/**
 * Decodes strings of the format `byte` for CEL rules, as kube-openapi's `strfmt.Base64` does. Rules can read only base64 with the URL
 * alphabet, although the validation of the format accepts the standard alphabet.
 */
import { CelError } from './errors.ts'

const alphabet = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map((digit, index) => [digit, index]))
const padding = '='
const lineBreaks = '\r\n'

/**
 * Decodes a base64 string with the URL alphabet.
 *
 * @throws {CelError} with Go's message, which contains the offset of the first invalid byte.
 */
export function decodeBase64(source: string): Uint8Array {
  const decoded: number[] = []
  for (let at = 0; at < source.length;) at = decodeGroup(source, at, decoded)
  return Uint8Array.from(decoded)
}

/** Decodes a group of four digits, or the shorter last group before the padding. Returns the start of the next group. */
function decodeGroup(source: string, start: number, decoded: number[]): number {
  let at = start
  let bits = 0
  let digits = 0
  while (digits < 4) {
    if (at === source.length) {
      if (digits === 0) return at
      throw illegal(at - digits)
    }
    const character = source[at]!
    at += 1
    const digit = alphabet.get(character)
    if (digit !== undefined) {
      bits = bits * 64 + digit
      digits += 1
    } else if (character === padding) {
      at = afterPadding(source, at, digits)
      break
    } else if (!lineBreaks.includes(character)) throw illegal(at - 1)
  }
  const bytes = bits * 64 ** (4 - digits)
  decoded.push(...[bytes >> 16, (bytes >> 8) & 255, bytes & 255].slice(0, digits - 1))
  return at
}

/** Checks that only the remaining padding and line breaks follow the first padding character. */
function afterPadding(source: string, from: number, digits: number): number {
  if (digits < 2) throw illegal(from - 1)
  let at = skipLineBreaks(source, from)
  if (digits === 2) {
    if (at === source.length) throw illegal(at)
    if (source[at] !== padding) throw illegal(at - 1)
    at = skipLineBreaks(source, at + 1)
  }
  if (at < source.length) throw illegal(at)
  return at
}

function skipLineBreaks(source: string, from: number): number {
  let at = from
  while (at < source.length && lineBreaks.includes(source[at]!)) at += 1
  return at
}

function illegal(at: number): CelError {
  return new CelError(`illegal base64 data at input byte ${at}`)
}
