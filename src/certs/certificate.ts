/** Reading certificates: what is in a PEM file, whether a key belongs to it, and whom it is for. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { messageOf } from '../api/errors.ts'

export interface Certificate {
  /** This certificate alone, as PEM. */
  readonly pem: string
  readonly x509: X509Certificate
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** SHA-256 of the whole certificate: equal for equal certificates. */
  readonly fingerprint: string
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** The first certificate of a PEM text. Throws when there is none that can be read. */
export function readCertificate(pem: string): Certificate {
  const [first] = pem.match(block) ?? []
  if (first === undefined) throw new Error('there is no certificate in it')
  return parse(first)
}

/** All certificates of a PEM text that can be read, in order, each once. */
export function readBundle(pem: string): Certificate[] {
  const found = new Map<string, Certificate>()
  for (const text of pem.match(block) ?? []) {
    try {
      const certificate = parse(text)
      found.set(certificate.fingerprint, certificate)
    } catch {
      // What cannot be read verifies nothing: a bundle is as good without it.
    }
  }
  return [...found.values()]
}

/** Certificates as one PEM text. */
export function bundleText(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('')
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

/** Why a certificate and a key cannot be used together at `now`; undefined when they can. */
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

/** Whether one of the authorities signed the certificate. */
export function isSignedBy({ x509 }: Certificate, authorities: readonly Certificate[]): boolean {
  return authorities.some((authority) => x509.checkIssued(authority.x509) && x509.verify(authority.x509.publicKey))
}

/**
 * Whether the first certificate of `chain` is trusted by `anchors` as Go's x509 does it, and so the API server: by itself, or by a
 * signer among them, a root or an intermediate, reached through the other certificates of the chain. Validity times are left out.
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

/** Names and addresses that the certificate is not for. */
export function uncoveredNames(
  { x509 }: Certificate,
  { names, ips }: { readonly names: readonly string[]; readonly ips: readonly string[] },
): string[] {
  return [
    ...names.filter((name) => x509.checkHost(name, { subject: 'never' }) === undefined),
    ...ips.filter((ip) => x509.checkIP(ip) === undefined),
  ]
}
