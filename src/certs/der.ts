/** Creates the ASN.1 values of a certificate, and converts ASN.1 values to and from DER. */
import type forge from 'node-forge'
import { asn1 } from './asn1.ts'

type Asn1 = forge.asn1.Asn1

export function sequence(...values: Asn1[]): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, values)
}

export function set(...values: Asn1[]): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SET, true, values)
}

export function oid(name: string): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(name).getBytes())
}

/** Returns a non-negative INTEGER. The first bit of `bytes` is the sign, so this bit must be 0. */
export function integer(bytes: Buffer): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.INTEGER, false, bytes.toString('binary'))
}

export function boolean(value: boolean): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BOOLEAN, false, value ? '\xff' : '\0')
}

export function octets(bytes: Buffer): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, bytes.toString('binary'))
}

export function utf8String(text: string): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.UTF8, false, Buffer.from(text).toString('binary'))
}

/** Wraps a value in the tag `[tag]` (explicit tagging). */
export function context(tag: number, value: Asn1): Asn1 {
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, true, [value])
}

/** Returns a value with the tag `[tag]` instead of the tag of its type (implicit tagging). */
export function implicit(tag: number, bytes: Buffer): Asn1 {
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, false, bytes.toString('binary'))
}

/**
 * Returns a BIT STRING in which the given bits, counted from the left, are 1. The BIT STRING ends with the last of these bits, because DER
 * forbids trailing zero bits.
 */
export function namedBits(...bits: number[]): Asn1 {
  const highest = Math.max(...bits)
  const bytes = Buffer.alloc((highest >> 3) + 1)
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7)
  const unused = 7 - (highest & 7)
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BITSTRING, false, String.fromCharCode(unused) + bytes.toString('binary'))
}

export function toBuffer(value: Asn1): Buffer {
  return Buffer.from(asn1.toDer(value).getBytes(), 'binary')
}

/** Parses DER. Throws for invalid DER. */
export function fromBuffer(der: Buffer): Asn1 {
  return asn1.fromDer(der.toString('binary'))
}
