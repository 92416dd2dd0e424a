/** `trust`: the TLS options for verifying a server. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity as checkAsNode } from 'node:tls'

/** The options of `node:tls` for verifying a server's certificate. */
export interface TrustOptions {
  readonly ca?: string
  readonly allowPartialTrustChain: true
  readonly checkServerIdentity: typeof checkServerIdentity
}

/**
 * Returns options that verify a server like Go's x509 package, and thus like kubectl and kube-apiserver, for which most CA bundles are
 * made. Each certificate of `ca` is an anchor, even an intermediate or the serving certificate itself, whereas OpenSSL by default accepts
 * only a self-signed root. The host must be among the certificate's subject alternative names.
 *
 * @param ca certificates as PEM; without any, those of the system are trusted.
 */
export function trust(ca: string | undefined): TrustOptions {
  return { ...(ca === undefined ? {} : { ca }), allowPartialTrustChain: true, checkServerIdentity }
}

/**
 * Returns an error unless the certificate is valid for this host. Like Go's `VerifyHostname`, it checks the subject alternative names, not
 * the common name, and accepts `*` only for a whole label.
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
