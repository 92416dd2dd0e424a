/**
 * Encodes the subject of a certificate that is issued for a request. The subject contains only the attributes of Go's `crypto/x509/pkix:
 * Name`.
 *
 * The texts of the attributes have been validated, and are encoded again. The encoding of the request is not copied, because another
 * program could read different texts from the same bytes.
 */
import type forge from 'node-forge'
import { asn1 } from './asn1.ts'
import { oid, sequence, set, toBuffer, utf8String } from './der.ts'

export interface NameAttribute {
  /** The type, e.g. `2.5.4.3` for a common name. */
  readonly id: string
  readonly text: string
}

export const commonName = '2.5.4.3'
export const organization = '2.5.4.10'
const serialNumber = '2.5.4.5'
/**
 * The attributes that can have several values: country, province, locality, street address, postal code, organization, organizational unit.
 * If a request has several values of such an attribute, all of them are kept.
 */
const multiple = ['2.5.4.6', '2.5.4.8', '2.5.4.7', '2.5.4.9', '2.5.4.17', organization, '2.5.4.11']
/**
 * The attributes with one value: common name and serial number. If a request has several values of such an attribute, only the last one is
 * kept. If the last value is empty, the attribute is omitted.
 */
const single = [commonName, serialNumber]

/** Encodes the subject of a certificate. The attributes have the same order as in Go (crypto/x509/pkix: Name.ToRDNSequence). */
export function encodeName(attributes: readonly NameAttribute[]): forge.asn1.Asn1 {
  const of = (id: string): NameAttribute[] => attributes.filter((attribute) => attribute.id === id)
  const groups = [
    ...multiple.map(of),
    ...single.map((id) =>
      of(id)
        .slice(-1)
        .filter(({ text }) => text !== ''),
    ),
  ]
  return sequence(...groups.filter((group) => group.length > 0).map((group) => set(...inOrder(group.map(encodeAttribute)))))
}

/** Returns the values in the order of a SET in DER: sorted by their encoding. */
function inOrder(values: readonly forge.asn1.Asn1[]): forge.asn1.Asn1[] {
  return values.toSorted((a, b) => Buffer.compare(toBuffer(a), toBuffer(b)))
}

function encodeAttribute({ id, text }: NameAttribute): forge.asn1.Asn1 {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)
  return sequence(oid(id), isPrintable ? asn1.create(asn1.Class.UNIVERSAL, asn1.Type.PRINTABLESTRING, false, text) : utf8String(text))
}
