/** `trust`: the TLS options of everything that verifies a server. */

/** What TLS verifies a server's certificate with. */
export interface TrustOptions {
  readonly ca?: string
  readonly allowPartialTrustChain: true
}

/**
 * Trust as Go's x509 has it, and so kubectl, kube-apiserver and every bundle that was made for them: each certificate of `ca` is an
 * anchor, an intermediate or the serving certificate itself included. OpenSSL alone accepts a self-signed root only.
 *
 * @param ca certificates as PEM; without any, those of the system are trusted.
 */
export function trust(ca: string | undefined): TrustOptions {
  return { ...(ca === undefined ? {} : { ca }), allowPartialTrustChain: true }
}
