/** Reads ASN.1 values in DER. The bytes may come from an untrusted client, so every length is checked. */

export interface DerValue {
  readonly tag: number
  /** The whole encoding, with tag and length. */
  readonly bytes: Buffer
  readonly content: Buffer
}

export const tags = { bitString: 0x03, oid: 0x06, sequence: 0x30, set: 0x31 } as const

/**
 * Reads bytes that contain exactly one value.
 *
 * @throws {Error} for invalid DER.
 */
export function readDer(bytes: Buffer): DerValue {
  const values = readDerItems(bytes)
  if (values.length !== 1) throw new Error('asn1: syntax error: trailing data')
  return values[0]!
}

/**
 * Reads values that follow each other, such as the content of a SEQUENCE.
 *
 * @throws {Error} for invalid DER.
 */
export function readDerItems(bytes: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; at += values.at(-1)!.bytes.length) values.push(readAt(bytes, at))
  return values
}

function readAt(bytes: Buffer, start: number): DerValue {
  const tag = bytes[start]!
  if ((tag & 0x1f) === 0x1f) throw new Error('asn1: structure error: a tag number is not supported')
  const first = bytes[start + 1]
  if (first === undefined) throw truncated()
  let length = first
  let at = start + 2
  if (first >= 0x80) {
    const count = first & 0x7f
    if (count === 0 || count > 4) throw new Error('asn1: structure error: a length is not supported')
    if (at + count > bytes.length) throw truncated()
    length = bytes.readUIntBE(at, count)
    at += count
  }
  if (at + length > bytes.length) throw truncated()
  return { tag, bytes: bytes.subarray(start, at + length), content: bytes.subarray(at, at + length) }
}

function truncated(): Error {
  return new Error('asn1: syntax error: data truncated')
}

/** Formats the content of an OBJECT IDENTIFIER, e.g. `2.5.4.3`. */
export function oidText(content: Buffer): string {
  const numbers: number[] = []
  let value = 0
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    if (numbers.length === 0) {
      const first = Math.min(2, Math.floor(value / 40))
      numbers.push(first, value - first * 40)
    } else numbers.push(value)
    value = 0
  }
  return numbers.join('.')
}
