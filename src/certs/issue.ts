/**
 * Issues CA certificates and serving certificates (ECDSA P-256), and signs certificate requests.
 *
 * node:crypto creates keys and signatures. The certificate is encoded with the ASN.1 functions of node-forge, because node-forge's
 * certificate API supports RSA keys only.
 */
import { createHash, createPrivateKey, generateKeyPair, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isDeepStrictEqual, promisify } from 'node:util'
import type forge from 'node-forge'
import { readCertificate, subjectNames } from './certificate.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { authorityExtensions, leafExtensions, signedExtensions } from './extensions.ts'
import { asn1 } from './asn1.ts'
import { commonName, encodeName } from './distinguished-name.ts'
import { context, fromBuffer, integer, oid, sequence, set, toBuffer, utf8String } from './der.ts'
import { readIssuer } from './issuer.ts'
import { signatureAlgorithm, signatureOf } from './signature.ts'

const generate = promisify(generateKeyPair)

/** A certificate and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

const hour = 3_600_000
const day = 24 * hour
/**
 * The validity of a certificate starts one hour in the past. If the validity started now, a machine whose clock is slow would reject a new
 * certificate.
 */
const backdateMs = hour
export const authorityLifeMs = 365 * day
const leafLifeMs = 7 * day

const latestUtcTime = Date.parse('2050-01-01T00:00:00Z')

/** Issues a new self-signed CA certificate, which is valid for a year. */
export async function issueAuthority(now: number): Promise<KeyPair> {
  const keys = await generate('ec', { namedCurve: 'P-256' })
  const serial = serialNumber()
  // The name is unique, because two CAs with the same name in a bundle would confuse users and some verifiers.
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
  /** The lifetime of the certificate in milliseconds. Default: a week. */
  readonly lifeMs?: number
}

/** Issues a serving certificate that the CA `authority` signs. The certificate expires no later than the CA. */
export async function issueLeaf(authority: KeyPair, { names, ips, now, lifeMs = leafLifeMs }: LeafOptions): Promise<KeyPair> {
  const keys = await generate('ec', { namedCurve: 'P-256' })
  const issuer = readCertificate(authority.cert)
  const { subject, subjectKey: authorityKey } = readIssuer(authority.cert)
  const spki = publicKeyDer(keys.publicKey)
  const cert = signCertificate(
    {
      serial: serialNumber(),
      issuer: fromBuffer(subject),
      subject: distinguishedName('proreus-webhook'),
      notBefore: Math.max(now - backdateMs, issuer.notBefore),
      notAfter: Math.min(now + lifeMs, issuer.notAfter),
      spki,
      extensions: leafExtensions({ subjectKey: keyIdentifier(spki), authorityKey, names, ips }),
    },
    createPrivateKey(authority.key),
  )
  return { cert, key: privateKeyPem(keys.privateKey) }
}

export interface RequestSigning {
  /** Bits of the keyUsage extension. */
  readonly usages: readonly number[]
  /** OIDs of the extKeyUsage extension. */
  readonly extendedUsages: readonly string[]
  /** Start and end of the validity, in milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
}

/** Returns a certificate for `request` as PEM, signed by the CA `authority`. The certificate expires no later than the CA. */
export function signRequest(authority: KeyPair, request: CertificateRequest, signing: RequestSigning): string {
  const issuer = readIssuer(authority.cert)
  const { usages, extendedUsages, notBefore, notAfter } = signing
  const subject = encodeName(request.subject)
  const cert = signCertificate(
    {
      serial: serialNumber(),
      issuer: fromBuffer(issuer.subject),
      subject,
      notBefore,
      notAfter: Math.min(notAfter, readCertificate(authority.cert).notAfter),
      spki: request.spki,
      extensions: signedExtensions({
        usages,
        extendedUsages,
        authorityKey: issuer.subjectKey,
        request,
        isNameless: subject.value.length === 0,
      }),
    },
    createPrivateKey(authority.key),
  )
  checkNames(cert, request)
  return cert
}

/**
 * Throws if the names in the certificate differ from the validated names of the request. The names of the certificate are decoded by
 * OpenSSL, because the embedded API server authenticates clients by the names that OpenSSL decodes.
 */
function checkNames(cert: string, request: CertificateRequest): void {
  const issued = subjectNames(readCertificate(cert).x509)
  const isSame =
    issued.commonName === request.commonName && isDeepStrictEqual(new Set(issued.organizations), new Set(request.organizations))
  if (!isSame) throw new Error('x509: the subject of the certificate differs from the subject of the request')
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

/** Signs a certificate, and returns it as PEM (RFC 5280 §4.1). */
function signCertificate({ serial, issuer, subject, notBefore, notAfter, spki, extensions }: Unsigned, signer: KeyObject): string {
  const unsigned = sequence(
    context(0, integer(Buffer.from([2]))), // the value 2 means version 3
    integer(serial),
    signatureAlgorithm(signer),
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    fromBuffer(spki),
    context(3, extensions),
  )
  return pem('CERTIFICATE', toBuffer(sequence(unsigned, signatureAlgorithm(signer), signatureOf(toBuffer(unsigned), signer))))
}

/** Encodes a time. UTCTime has only two digits for the year, so RFC 5280 §4.1.2.5 requires GeneralizedTime from 2050 on. */
function time(ms: number): forge.asn1.Asn1 {
  const date = new Date(Math.floor(ms / 1000) * 1000)
  const utc = ms < latestUtcTime
  const text = utc ? asn1.dateToUtcTime(date) : asn1.dateToGeneralizedTime(date)
  return asn1.create(asn1.Class.UNIVERSAL, utc ? asn1.Type.UTCTIME : asn1.Type.GENERALIZEDTIME, false, String(text))
}

/**
 * Returns 16 random octets whose first two bits are 01. Because of the 0, the number is positive. Because of the 1, the DER encoding needs
 * all 16 octets.
 */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

function distinguishedName(name: string): forge.asn1.Asn1 {
  return sequence(set(sequence(oid(commonName), utf8String(name))))
}

function publicKeyDer(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/**
 * Returns a key identifier (RFC 7093 §2, method 1): the first 160 bits of the SHA-256 hash of the public key. The algorithm identifier in
 * `spki` is not hashed.
 */
function keyIdentifier(spki: Buffer): Buffer {
  // The public key is a point on the curve. It is in the last 65 octets of `spki`: 0x04 and two coordinates of 32 octets.
  return createHash('sha256').update(spki.subarray(-65)).digest().subarray(0, 20)
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
