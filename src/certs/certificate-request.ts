/** Parses certificate requests (PKCS #10, RFC 2986) with RSA, ECDSA or Ed25519 keys, and checks their signatures. */
import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { DerValue } from './der-reader.ts'
import { oidText, readDer, readDerItems, tags } from './der-reader.ts'
import { derText, ia5Text } from './der-text.ts'
import type { NameAttribute } from './distinguished-name.ts'
import { commonName, organization } from './distinguished-name.ts'

export interface CertificateRequest {
  /** The last common name of the subject; empty when the subject has no common name. */
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: readonly string[]
  readonly emails: readonly string[]
  readonly ips: readonly Buffer[]
  readonly uris: readonly string[]
  /** The string attributes of the subject. Attributes with other values are skipped. */
  readonly subject: readonly NameAttribute[]
  /** The public key in DER (SubjectPublicKeyInfo). */
  readonly spki: Buffer
}

/** The hash functions of signature algorithms, keyed by OID. The value is undefined for Ed25519, which has no separate hash function. */
const hashes: Readonly<Record<string, string | undefined>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': undefined,
}
const extensionRequest = '1.2.840.113549.1.9.14'
const subjectAltName = '2.5.29.17'
/** The tags of GeneralName: [1] rfc822Name, [2] dNSName, [6] uniformResourceIdentifier, [7] iPAddress. */
const names = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const

/**
 * Parses the first PEM block of a text. The block must be a certificate request with a valid signature.
 *
 * @throws {Error} when the block is not a certificate request, or the signature is invalid.
 */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [, label, base64 = ''] = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]+)-----END \1-----/.exec(pem) ?? []
  if (label !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST')
  const [info, algorithm, signature, ...more] = items(readDer(Buffer.from(base64, 'base64')), 3)
  if (more.length > 0) throw new Error('asn1: syntax error: trailing data')
  const [, subject, key] = items(info!, 3)
  checkSignature(info!.bytes, key!.bytes, oidOf(algorithm!), signature!)
  const fields = nameFields(subject!)
  const altNames = requestedAltNames(readDerItems(info!.content).find(({ tag }) => tag === 0xa0))
  const general = altNames === undefined ? [] : readDerItems(readDer(altNames).content)
  const texts = (tag: number): string[] => general.filter((one) => one.tag === tag).map(({ content }) => alternativeName(content))
  return {
    commonName: fields.filter(({ id }) => id === commonName).at(-1)?.text ?? '',
    organizations: fields.filter(({ id }) => id === organization).map(({ text }) => text),
    dnsNames: texts(names.dns),
    emails: texts(names.email),
    uris: texts(names.uri),
    ips: general.filter(({ tag }) => tag === names.ip).map(({ content }) => address(content)),
    subject: fields,
    spki: key!.bytes,
  }
}

/**
 * Returns the values in a SEQUENCE, or in a value with the tag `expected`. Throws if the value has another tag, or contains fewer than
 * `count` values.
 */
function items({ tag, content }: DerValue, count: number, expected: number = tags.sequence): DerValue[] {
  if (tag !== expected) throw new Error("asn1: structure error: tags don't match")
  const values = readDerItems(content)
  if (values.length < count) throw new Error('asn1: structure error: a sequence is too short')
  return values
}

/** Returns the OBJECT IDENTIFIER at the start of a SEQUENCE as text, such as `2.5.4.3`. */
function oidOf(sequence: DerValue): string {
  const [first] = items(sequence, 1)
  if (first!.tag !== tags.oid) throw new Error("asn1: structure error: tags don't match")
  return oidText(first!.content)
}

function checkSignature(signed: Buffer, spki: Buffer, algorithm: string, signature: DerValue): void {
  if (!Object.hasOwn(hashes, algorithm)) throw new Error('x509: cannot verify signature: algorithm unimplemented')
  // The first octet of a BIT STRING is the number of unused bits.
  if (signature.tag !== tags.bitString || signature.content[0] !== 0) throw new Error('asn1: structure error: invalid BIT STRING')
  if (!verify(hashes[algorithm], signed, publicKeyOf(spki), signature.content.subarray(1))) throw new Error('x509: invalid signature')
}

function publicKeyOf(spki: Buffer): KeyObject {
  return createPublicKey({ key: spki, format: 'der', type: 'spki' })
}

/**
 * Returns the attributes of a distinguished name. An attribute whose value is not a string is skipped (`crypto/x509/pkix:
 * Name.FillFromRDNSequence`).
 */
function nameFields(name: DerValue): NameAttribute[] {
  return items(name, 0).flatMap((set) =>
    items(set, 1, tags.set).flatMap((attribute) => {
      const [, value] = items(attribute, 2)
      const text = derText(value!)
      return text === undefined ? [] : [{ id: oidOf(attribute), text }]
    }),
  )
}

function alternativeName(content: Buffer): string {
  const text = ia5Text(content)
  if (text === undefined) throw new Error('x509: a subject alternative name is malformed')
  return text
}

/** Returns the octets of an IP address. Throws if the number of octets is neither 4 nor 16. */
function address(content: Buffer): Buffer {
  if (content.length !== 4 && content.length !== 16) throw new Error(`x509: cannot parse IP address of length ${content.length}`)
  return content
}

/** Returns the value of the extension subjectAltName in the attributes of a request; undefined when the extension is missing. */
function requestedAltNames(attributes: DerValue | undefined): Buffer | undefined {
  for (const attribute of attributes === undefined ? [] : readDerItems(attributes.content)) {
    if (oidOf(attribute) !== extensionRequest) continue
    const [extensions] = items(items(attribute, 2)[1]!, 1, tags.set)
    const found = items(extensions!, 0).find((extension) => oidOf(extension) === subjectAltName)
    // An extension is a SEQUENCE of its OID, the optional field `critical` and its value.
    if (found !== undefined) return items(found, 2).at(-1)!.content
  }
  return undefined
}
