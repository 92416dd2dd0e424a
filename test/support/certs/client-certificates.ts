/** Certificates for tests of TLS. The certificates are issued while the tests run. */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'

export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * Issues a certificate for 127.0.0.1 with the common name `name`. The certificate expires `days` days from now. `issuer` signs the
 * certificate. If `issuer` is absent, the certificate is self-signed.
 */
export function testCertificate(name: string, issuer?: TestCertificate, days = 1): TestCertificate {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  const subject = [{ name: 'commonName', value: name }]
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey)
  certificate.serialNumber = `01${Buffer.from(name).toString('hex')}`
  certificate.validity.notBefore = new Date(Date.now() - 2 * 86_400_000)
  certificate.validity.notAfter = new Date(Date.now() + days * 86_400_000)
  certificate.setSubject(subject)
  certificate.setIssuer(issuer === undefined ? subject : forge.pki.certificateFromPem(issuer.cert).subject.attributes)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: issuer === undefined },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ])
  certificate.sign(forge.pki.privateKeyFromPem(issuer?.key ?? pair.privateKey), forge.md.sha256.create())
  return { cert: forge.pki.certificateToPem(certificate), key: pair.privateKey }
}
