/** Decodes strings in DER according to their tags (`encoding/asn1: parseField` in Go). */
import { isUtf8 } from 'node:buffer'
import type { DerValue } from './der-reader.ts'

const strings: Readonly<Record<number, (content: Buffer) => string | undefined>> = {
  // UTF8String
  0x0c: utf8,
  // NumericString
  0x12: (content) => matching(content, /^[0-9 ]*$/),
  // PrintableString. As in Go, `*` and `&` are accepted too: the type does not allow them, but many certificates contain them.
  0x13: (content) => matching(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/),
  // T61String, which is read as ISO 8859-1
  0x14: (content) => content.toString('latin1'),
  // IA5String
  0x16: ia5Text,
  // BMPString
  0x1e: bmp,
}

/**
 * Returns the text of an ASN.1 string. Returns undefined if `strings` does not contain the tag, for example the tag of a UniversalString or
 * of a constructed encoding.
 *
 * @throws {Error} when the content is not of the type that the tag names.
 */
export function derText({ tag, content }: DerValue): string | undefined {
  const decode = strings[tag]
  if (decode === undefined) return undefined
  const text = decode(content)
  if (text === undefined) throw new Error('asn1: syntax error: a string contains an invalid character')
  return text
}

/** Returns the text of an IA5String; undefined when an octet is not an ASCII character. */
export function ia5Text(content: Buffer): string | undefined {
  return matching(content, /^[\0-\x7f]*$/)
}

function matching(content: Buffer, allowed: RegExp): string | undefined {
  const text = content.toString('latin1')
  return allowed.test(text) ? text : undefined
}

function utf8(content: Buffer): string | undefined {
  return isUtf8(content) ? content.toString() : undefined
}

/** Decodes a BMPString, which has two octets per character. Surrogates and noncharacters are not allowed. A NUL at the end is dropped. */
function bmp(content: Buffer): string | undefined {
  if (content.length % 2 !== 0) return undefined
  const text = Buffer.from(content).swap16().toString('utf16le').replace(/\0$/, '')
  return /[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text) ? undefined : text
}
