/**
 * A serving certificate that an intermediate CA has issued, and trust bundles. With some of the bundles, Go's TLS client trusts the
 * certificate; with the others, it does not.
 */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'
import type { TestCertificate } from './client-certificates.ts'

export const servedNames = ['hooks.system.svc', 'localhost'] as const

export interface TrustShapes {
  /** The chain that a server presents (leaf and intermediate CA), and the key of the leaf. */
  readonly served: TestCertificate
  /** The leaf and its key, without the intermediate CA. */
  readonly bare: TestCertificate
  /** Bundles with which Go's crypto/x509 trusts `served`. */
  readonly trusted: readonly (readonly [name: string, bundle: string])[]
  /** Bundles with which Go's crypto/x509 does not trust `served`. */
  readonly untrusted: readonly (readonly [name: string, bundle: string])[]
}

export function trustShapes(): TrustShapes {
  const root = issue({ name: 'root', authority: true })
  const intermediate = issue({ name: 'intermediate', authority: true }, root)
  const leaf = issue({ name: 'leaf', authority: false }, intermediate)
  const stranger = issue({ name: 'stranger', authority: true })
  const sameName = issue({ name: 'intermediate', authority: true }, stranger)
  const sibling = issue({ name: 'leaf', authority: false }, intermediate)
  return {
    served: { cert: leaf.cert + intermediate.cert, key: leaf.key },
    bare: leaf,
    trusted: [
      ['the root', root.cert],
      ['an intermediate alone', intermediate.cert],
      ['the serving certificate itself', leaf.cert],
      ['a bundle of several', stranger.cert + sibling.cert + intermediate.cert],
    ],
    untrusted: [
      ['another root', stranger.cert],
      ['an intermediate of the same name', sameName.cert],
      ['another certificate of the same authority and name', sibling.cert],
    ],
  }
}

/** Issues a certificate that is valid for `days`. It is signed by `issuer`; without an issuer it is self-signed. */
export function issue(
  { name, authority, days = 1 }: { name: string; authority: boolean; days?: number },
  issuer?: TestCertificate,
): TestCertificate {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  const subject = [{ name: 'commonName', value: name }]
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey)
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`
  certificate.validity.notBefore = new Date(Date.now() - 3_600_000)
  certificate.validity.notAfter = new Date(Date.now() + days * 86_400_000)
  certificate.setSubject(subject)
  certificate.setIssuer(issuer === undefined ? subject : forge.pki.certificateFromPem(issuer.cert).subject.attributes)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: authority, critical: true },
    ...(authority
      ? [{ name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }]
      : [
          { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames: [...servedNames.map((value) => ({ type: 2, value })), { type: 7, ip: '127.0.0.1' }] },
        ]),
  ])
  certificate.sign(forge.pki.privateKeyFromPem(issuer?.key ?? pair.privateKey), forge.md.sha256.create())
  return { cert: forge.pki.certificateToPem(certificate), key: pair.privateKey }
}
