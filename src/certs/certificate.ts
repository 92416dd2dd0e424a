/** Parses certificates, and checks their keys and names. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { messageOf } from '../api/errors.ts'

export interface Certificate {
  /** The PEM block of this certificate only, even if the certificate was read from a file with several certificates. */
  readonly pem: string
  readonly x509: X509Certificate
  /** The start of the validity in milliseconds since the Unix epoch. The end of the validity is `notAfter`. */
  readonly notBefore: number
  readonly notAfter: number
  /** The SHA-256 hash of the whole certificate. Two certificates with the same fingerprint are the same certificate. */
  readonly fingerprint: string
}

/**
 * Matches the PEM block of a certificate. A match ends before the start of the next PEM block. Therefore a search takes linear time, even
 * in a text with many blocks that have no end.
 */
const block = /-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN )[\s\S])+?-----END CERTIFICATE-----/g

/**
 * Parses the first certificate of a PEM string. Throws when the string contains no certificate, or when its first certificate is invalid.
 */
export function readCertificate(pem: string): Certificate {
  const [first] = pem.match(block) ?? []
  if (first === undefined) throw new Error('there is no certificate in it')
  return parse(first)
}

/** Parses all valid certificates of a PEM string. The result is in the order of the string, without duplicates. */
export function readBundle(pem: string): Certificate[] {
  const found = new Map<string, Certificate>()
  for (const text of pem.match(block) ?? []) {
    try {
      const certificate = parse(text)
      found.set(certificate.fingerprint, certificate)
    } catch {
      // An invalid certificate is skipped, because no client could verify anything with it.
    }
  }
  return [...found.values()]
}

/** Returns the certificates as one PEM string. */
export function bundleText(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('')
}

/** The names in the subject of a certificate, as OpenSSL decodes them. */
export interface SubjectNames {
  /** The last common name; empty when the subject has no common name. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

export function subjectNames(x509: X509Certificate): SubjectNames {
  // `x509.subject` contains escaped values. The values of the legacy object are not escaped.
  const { CN: names = [], O: organizations = [] } = x509.toLegacyObject().subject as Record<string, string | string[] | undefined>
  return { commonName: [names].flat().at(-1) ?? '', organizations: [organizations].flat() }
}

function parse(text: string): Certificate {
  const x509 = new X509Certificate(text)
  return {
    pem: `${text.replaceAll('\r\n', '\n')}\n`,
    x509,
    notBefore: Date.parse(x509.validFrom),
    notAfter: Date.parse(x509.validTo),
    fingerprint: x509.fingerprint256,
  }
}

/** Returns the reason why a certificate and a key cannot be used together at the time `now`; undefined when they can be used. */
export function pairProblem(cert: string, key: string, now: number): string | undefined {
  let certificate: Certificate
  let privateKey: KeyObject
  try {
    certificate = readCertificate(cert)
  } catch (error) {
    return `the certificate cannot be read (${messageOf(error)})`
  }
  try {
    privateKey = createPrivateKey(key)
  } catch (error) {
    return `the key cannot be read (${messageOf(error)})`
  }
  if (!certificate.x509.checkPrivateKey(privateKey)) return 'the key does not belong to the certificate'
  return timeProblem(certificate, now)
}

export function timeProblem({ notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>, now: number): string | undefined {
  if (now >= notAfter) return `the certificate expired on ${new Date(notAfter).toISOString()}`
  if (now < notBefore) return `the certificate is not valid before ${new Date(notBefore).toISOString()}`
  return undefined
}

/** Returns true when one of the CAs has signed the certificate. */
export function isSignedBy({ x509 }: Certificate, authorities: readonly Certificate[]): boolean {
  return authorities.some((authority) => x509.checkIssued(authority.x509) && x509.verify(authority.x509.publicKey))
}

/**
 * Returns true when a client with the trust bundle `anchors` trusts the first certificate of `chain`. The rules are those of Go's
 * crypto/x509, which the API server uses. The certificate is trusted if
 *
 * - it is in `anchors`, or
 * - a chain of signatures leads from the certificate to an anchor.
 *
 * The signers are CAs of `chain` and `anchors`. An anchor may be a root or an intermediate CA. Validity times are ignored.
 */
export function isTrusted(chain: readonly Certificate[], anchors: readonly Certificate[]): boolean {
  const trusted = new Set(anchors.map(({ fingerprint }) => fingerprint))
  const signers = [...anchors, ...chain.slice(1)].filter(({ x509 }) => x509.ca)
  const seen = new Set<Certificate>()
  const reaches = (certificate: Certificate): boolean => {
    if (trusted.has(certificate.fingerprint)) return true
    if (seen.has(certificate)) return false
    seen.add(certificate)
    return signers.some((signer) => isSignedBy(certificate, [signer]) && reaches(signer))
  }
  return chain[0] !== undefined && reaches(chain[0])
}

/** Returns the DNS names and IP addresses that the certificate does not cover. */
export function uncoveredNames(
  { x509 }: Certificate,
  { names, ips }: { readonly names: readonly string[]; readonly ips: readonly string[] },
): string[] {
  return [
    ...names.filter((name) => x509.checkHost(name, { subject: 'never' }) === undefined),
    ...ips.filter((ip) => x509.checkIP(ip) === undefined),
  ]
}
