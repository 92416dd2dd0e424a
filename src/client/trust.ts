/** `trust`: the TLS options with which a client verifies a server. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity as checkAsNode } from 'node:tls'

/** The options of `node:tls` with which a client verifies a server's certificate. */
export interface TrustOptions {
  readonly ca?: string
  readonly allowPartialTrustChain: true
  readonly checkServerIdentity: typeof checkServerIdentity
}

/**
 * Returns options that verify a server's certificate as Go's crypto/x509 does, because CA bundles for Kubernetes are made for Go programs
 * such as kubectl:
 *
 * - Each certificate of `ca` is a trust anchor, even an intermediate or the serving certificate itself. By default, Node.js accepts only a
 *   self-signed root as a trust anchor.
 * - The host must be among the certificate's subject alternative names.
 *
 * @param ca certificates as PEM. When undefined, the certificates of the system are trusted.
 */
export function trust(ca: string | undefined): TrustOptions {
  return { ...(ca === undefined ? {} : { ca }), allowPartialTrustChain: true, checkServerIdentity }
}

/**
 * Returns an error if the certificate is not valid for this host. Like Go's `VerifyHostname`, the function checks the subject alternative
 * names, and ignores the common name. A `*` matches only a whole DNS label.
 */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkAsNode(host, certificate)
  if (error !== undefined) return error
  const x509 = new X509Certificate(certificate.raw)
  const match = isIP(host) === 0 ? x509.checkHost(host, { subject: 'never', partialWildcards: false }) : x509.checkIP(host)
  if (match !== undefined) return undefined
  const names = x509.subjectAltName === undefined ? 'has no alternative names' : `is for ${x509.subjectAltName}`
  return Object.assign(new Error(`The certificate ${names}, and not for ${host}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}
