/** A self-signed certificate for 127.0.0.1, for tests of HTTPS servers. */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'

export function testCertificate(): { cert: string; key: string; ca: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  certificate.serialNumber = '01'
  certificate.validity.notBefore = new Date(Date.now() - 60_000)
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000)
  certificate.setSubject([{ name: 'commonName', value: 'test' }])
  certificate.setIssuer([{ name: 'commonName', value: 'test' }])
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ])
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create())
  const cert = forge.pki.certificateToPem(certificate)
  return { cert, key: privateKey, ca: cert }
}
