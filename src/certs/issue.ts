/**
 * Issues certificate authorities and serving certificates (ECDSA P-256).
 *
 * node-forge encodes the signed part from ASN.1 primitives, because its own certificates support RSA keys only. node:crypto creates keys
 * and signatures.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import forge from 'node-forge'
import { readCertificate } from './certificate.ts'
import { authorityExtensions, leafExtensions } from './extensions.ts'
import { context, integer, oid, sequence, set, toBuffer, utf8String } from './der.ts'

const { asn1 } = forge

const generate = promisify(generateKeyPair)

/** Certificate and private key as PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

const hour = 3_600_000
const day = 24 * hour
/** Certificates are valid from this time before they are issued, for machines whose clock is behind. */
const backdateMs = hour
export const authorityLifeMs = 365 * day
const leafLifeMs = 7 * day

const ecdsaWithSha256 = '1.2.840.10045.4.3.2'
const commonName = '2.5.4.3'
const latestUtcTime = Date.parse('2050-01-01T00:00:00Z')

/** Issues a new certificate authority, valid for a year. */
export async function issueAuthority(now: number): Promise<KeyPair> {
  const keys = await generate('ec', { namedCurve: 'P-256' })
  const serial = serialNumber()
  // The name is unique: two authorities with the same name in a bundle confuse people and some verifiers.
  const name = distinguishedName(`proreus-ca-${serial.subarray(0, 4).toString('hex')}`)
  const spki = publicKeyDer(keys.publicKey)
  const cert = signCertificate(
    {
      serial,
      issuer: name,
      subject: name,
      notBefore: now - backdateMs,
      notAfter: now + authorityLifeMs,
      spki,
      extensions: authorityExtensions(keyIdentifier(spki)),
    },
    keys.privateKey,
  )
  return { cert, key: privateKeyPem(keys.privateKey) }
}

export interface LeafOptions {
  readonly names: readonly string[]
  readonly ips: readonly string[]
  readonly now: number
  /** Default: a week. */
  readonly lifeMs?: number
}

/** Issues a serving certificate signed by `authority`, which never outlives the authority. */
export async function issueLeaf(authority: KeyPair, { names, ips, now, lifeMs = leafLifeMs }: LeafOptions): Promise<KeyPair> {
  const keys = await generate('ec', { namedCurve: 'P-256' })
  const signer = createPrivateKey(authority.key)
  const issuer = readCertificate(authority.cert)
  const spki = publicKeyDer(keys.publicKey)
  const authoritySpki = publicKeyDer(createPublicKey(signer))
  const cert = signCertificate(
    {
      serial: serialNumber(),
      issuer: subjectOf(authority.cert),
      subject: distinguishedName('proreus-webhook'),
      notBefore: Math.max(now - backdateMs, issuer.notBefore),
      notAfter: Math.min(now + lifeMs, issuer.notAfter),
      spki,
      extensions: leafExtensions({ subjectKey: keyIdentifier(spki), authorityKey: keyIdentifier(authoritySpki), names, ips }),
    },
    signer,
  )
  return { cert, key: privateKeyPem(keys.privateKey) }
}

interface Unsigned {
  readonly serial: Buffer
  readonly issuer: forge.asn1.Asn1
  readonly subject: forge.asn1.Asn1
  readonly notBefore: number
  readonly notAfter: number
  readonly spki: Buffer
  readonly extensions: forge.asn1.Asn1
}

/** Returns a signed certificate as PEM (RFC 5280 §4.1). */
function signCertificate({ serial, issuer, subject, notBefore, notAfter, spki, extensions }: Unsigned, signer: KeyObject): string {
  const algorithm = (): forge.asn1.Asn1 => sequence(oid(ecdsaWithSha256)) // no parameters: RFC 5758 §3.2
  const unsigned = sequence(
    context(0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    algorithm(),
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    asn1.fromDer(spki.toString('binary')),
    context(3, extensions),
  )
  const signature = sign('sha256', toBuffer(unsigned), signer)
  const bits = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BITSTRING, false, `\0${signature.toString('binary')}`)
  return pem('CERTIFICATE', toBuffer(sequence(unsigned, algorithm(), bits)))
}

/** UTCTime has two digits for the year: RFC 5280 §4.1.2.5 requires GeneralizedTime from 2050 on. */
function time(ms: number): forge.asn1.Asn1 {
  const date = new Date(Math.floor(ms / 1000) * 1000)
  const utc = ms < latestUtcTime
  const text = utc ? asn1.dateToUtcTime(date) : asn1.dateToGeneralizedTime(date)
  return asn1.create(asn1.Class.UNIVERSAL, utc ? asn1.Type.UTCTIME : asn1.Type.GENERALIZEDTIME, false, String(text))
}

/** 16 random octets; the first bits 01 keep it positive and of full length in DER. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

function distinguishedName(name: string): forge.asn1.Asn1 {
  return sequence(set(sequence(oid(commonName), utf8String(name))))
}

/**
 * Returns the subject of a certificate exactly as it is encoded there: verifiers compare it byte by byte with the issuer's name of a leaf.
 */
function subjectOf(cert: string): forge.asn1.Asn1 {
  const der = Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const certificate = asn1.fromDer(der.toString('binary')).value as forge.asn1.Asn1[]
  const fields = certificate[0]!.value as forge.asn1.Asn1[]
  // version, serial number, algorithm, issuer, validity, subject
  return fields[5]!
}

function publicKeyDer(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** RFC 7093 §2 method 1: the first 160 bits of the SHA-256 of the public key, without the algorithm identifier. */
function keyIdentifier(spki: Buffer): Buffer {
  // The key is a point: 0x04 and two coordinates of 32 octets.
  return createHash('sha256').update(spki.subarray(-65)).digest().subarray(0, 20)
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
