/** `trust`: the TLS options of everything that verifies a server. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity as checkAsNode } from 'node:tls'

/** What TLS verifies a server's certificate with. */
export interface TrustOptions {
  readonly ca?: string
  readonly allowPartialTrustChain: true
  readonly checkServerIdentity: typeof checkServerIdentity
}

/**
 * Trust as Go's x509 has it, and so kubectl, kube-apiserver and every bundle that was made for them: each certificate of `ca` is an
 * anchor, an intermediate or the serving certificate itself included, where OpenSSL alone accepts a self-signed root only; and a server is
 * called as its certificate says in its alternative names.
 *
 * @param ca certificates as PEM; without any, those of the system are trusted.
 */
export function trust(ca: string | undefined): TrustOptions {
  return { ...(ca === undefined ? {} : { ca }), allowPartialTrustChain: true, checkServerIdentity }
}

/** Whether a certificate is for this host: by its alternative names alone, not its common name, and with `*` for a whole label (Go's `VerifyHostname`). */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkAsNode(host, certificate)
  if (error !== undefined) return error
  const x509 = new X509Certificate(certificate.raw)
  const match = isIP(host) === 0 ? x509.checkHost(host, { subject: 'never', partialWildcards: false }) : x509.checkIP(host)
  if (match !== undefined) return undefined
  const names = x509.subjectAltName === undefined ? 'has no alternative names' : `is for ${x509.subjectAltName}`
  return Object.assign(new Error(`The certificate ${names}, and not for ${host}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}
