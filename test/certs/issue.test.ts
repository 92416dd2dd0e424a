import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { namedBits, toBuffer } from '../../src/certs/der.ts'
import { ipBytes } from '../../src/certs/extensions.ts'
import { readCertificate } from '../../src/certs/certificate.ts'
import type { CertificateRequest } from '../../src/certs/certificate-request.ts'
import type { KeyPair } from '../../src/certs/issue.ts'
import { issueAuthority, issueLeaf, signRequest } from '../../src/certs/issue.ts'
import { readCertificateRequest } from '../../src/certs/certificate-request.ts'
import { certificateRequests } from '../support/certs/certificate-requests.ts'

const names = ['proreus-webhook.proreus-system.svc', 'localhost', '*.example.com']
const ips = ['127.0.0.1', '::1', '2001:db8::ffff:1.2.3.4']
const day = 86_400_000

async function issue(now = Date.now()): Promise<{ authority: KeyPair; leaf: KeyPair }> {
  const authority = await issueAuthority(now)
  return { authority, leaf: await issueLeaf(authority, { names, ips, now }) }
}

function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Returns the key identifier that RFC 7093 §2 method 1 defines for the public key of the certificate. */
function keyIdentifier(cert: string): string {
  const { x, y } = new X509Certificate(cert).publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
  return createHash('sha256').update(point).digest('hex').slice(0, 40)
}

t.test('OpenSSL accepts the certificates', async (t) => {
  const { authority, leaf } = await issue()
  const directory = t.testdir({ 'ca.crt': authority.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key })
  const ca = join(directory, 'ca.crt')
  const crt = join(directory, 'tls.crt')

  t.match(
    openssl('verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', names[0]!, '-CAfile', ca, crt),
    /: OK/,
    'chain, strictly',
  )
  t.match(openssl('verify', '-x509_strict', '-verify_ip', '127.0.0.1', '-CAfile', ca, crt), /: OK/)
  t.match(openssl('verify', '-x509_strict', '-verify_ip', '2001:db8::ffff:102:304', '-CAfile', ca, crt), /: OK/)
  t.match(openssl('verify', '-x509_strict', '-check_ss_sig', '-CAfile', ca, ca), /: OK/, 'the self-signature of the authority')
  t.throws(() => openssl('verify', '-purpose', 'sslclient', '-CAfile', ca, crt), 'no client certificate')
  t.throws(() => openssl('verify', '-verify_hostname', 'other', '-CAfile', ca, crt))
  t.equal(
    openssl('x509', '-in', crt, '-noout', '-pubkey'),
    openssl('pkey', '-in', join(directory, 'tls.key'), '-pubout'),
    'key and certificate',
  )

  const leafText = openssl('x509', '-in', crt, '-noout', '-text')
  t.match(leafText, /Version: 3/)
  t.match(leafText, /Signature Algorithm: ecdsa-with-SHA256/)
  t.match(leafText, /ASN1 OID: prime256v1/)
  t.match(leafText, /Key Usage: critical\n +Digital Signature\n/)
  t.match(leafText, /Extended Key Usage: *\n +TLS Web Server Authentication\n/)
  t.match(leafText, /Basic Constraints: critical\n +CA:FALSE\n/)
  t.match(
    leafText,
    /Subject Alternative Name: *\n +DNS:proreus-webhook\.proreus-system\.svc, DNS:localhost, DNS:\*\.example\.com, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:FFFF:102:304\n/,
  )
  const authorityText = openssl('x509', '-in', ca, '-noout', '-text')
  t.match(authorityText, /Basic Constraints: critical\n +CA:TRUE, pathlen:0\n/)
  t.match(authorityText, /Key Usage: critical\n +Certificate Sign, CRL Sign\n/)
  const keyId = /Subject Key Identifier: *\n +([0-9A-F:]{59})\n/.exec(authorityText)?.[1]
  t.equal(keyId?.replaceAll(':', '').toLowerCase(), keyIdentifier(authority.cert), 'RFC 7093 §2 method 1')
  t.equal(/Authority Key Identifier: *\n +(?:keyid:)?([0-9A-F:]{59})\n/.exec(leafText)?.[1], keyId)
  const leafKeyId = /Subject Key Identifier: *\n +([0-9A-F:]{59})\n/.exec(leafText)?.[1]
  t.equal(leafKeyId?.replaceAll(':', '').toLowerCase(), keyIdentifier(leaf.cert), 'the leaf is identified by its own key')
})

t.test('a TLS client that trusts the authority trusts the server', async (t) => {
  const { authority, leaf } = await issue()
  const server = createServer({ cert: leaf.cert, key: leaf.key }, (socket) => socket.end())
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const handshake = (ca: string, servername: string): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername }, () => {
        resolve(socket.authorized)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  t.equal(await handshake(authority.cert, 'localhost'), true)
  const old = await issueAuthority(Date.now())
  t.equal(await handshake(old.cert + authority.cert, names[0]!), true, 'from a bundle')
  await t.rejects(handshake(authority.cert, 'elsewhere'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await t.rejects(handshake(old.cert, 'localhost'))
})

t.test('notBefore and notAfter', async (t) => {
  const now = Date.parse('2026-03-01T12:00:00.700Z')
  const { authority, leaf } = await issue(now)
  const ca = readCertificate(authority.cert)
  const crt = readCertificate(leaf.cert)
  t.equal(new Date(ca.notBefore).toISOString(), '2026-03-01T11:00:00.000Z', 'backdated by an hour')
  t.equal(new Date(ca.notAfter).toISOString(), '2027-03-01T12:00:00.000Z')
  t.equal(crt.notBefore, ca.notBefore)
  t.equal(new Date(crt.notAfter).toISOString(), '2026-03-08T12:00:00.000Z')

  const late = await issueLeaf(authority, { names, ips, now: now + 363 * day })
  t.equal(readCertificate(late.cert).notAfter, ca.notAfter, 'not beyond the authority')
  const soon = readCertificate((await issueLeaf(authority, { names, ips, now: now - 600_000, lifeMs: 60_000 })).cert)
  t.equal(soon.notBefore, ca.notBefore, 'nor before it')
  t.equal(new Date(soon.notAfter).toISOString(), '2026-03-01T11:51:00.000Z', 'with its own lifetime')
  const later = readCertificate((await issueLeaf(authority, { names, ips, now: now + day })).cert)
  t.equal(new Date(later.notBefore).toISOString(), '2026-03-02T11:00:00.000Z', 'also backdated by an hour')
})

t.test('years from 2050 on are written as GeneralizedTime', async (t) => {
  const { authority, leaf } = await issue(Date.parse('2049-12-28T00:00:00Z'))
  const directory = t.testdir({})
  for (const [name, { cert }] of Object.entries({ authority, leaf })) {
    const file = join(directory, name)
    writeFileSync(file, cert)
    const asn1 = openssl('asn1parse', '-in', file)
    t.match(asn1, /UTCTIME +:491227230000Z/)
    t.match(asn1, name === 'leaf' ? /GENERALIZEDTIME +:20500104000000Z/ : /GENERALIZEDTIME +:20501228000000Z/)
  }
  const turn = Date.parse('2050-01-01T00:00:00Z')
  for (const [notAfter, written] of [
    [turn - 1, /UTCTIME +:491231235959Z/],
    [turn, /GENERALIZEDTIME +:20500101000000Z/],
  ] as const) {
    const file = join(directory, 'turn')
    writeFileSync(file, (await issueLeaf(authority, { names, ips, now: notAfter - day, lifeMs: day })).cert)
    t.match(openssl('asn1parse', '-in', file), written)
  }
})

t.test('serial numbers are random, positive and of 128 bits, and authorities have distinct names', async (t) => {
  const pairs = await Promise.all(Array.from({ length: 8 }, () => issueAuthority(Date.now())))
  const certificates = pairs.map(({ cert }) => new X509Certificate(cert))
  t.equal(new Set(certificates.map(({ serialNumber }) => serialNumber)).size, 8)
  t.equal(new Set(certificates.map(({ subject }) => subject)).size, 8)
  t.not(new Set(certificates.map(({ serialNumber }) => serialNumber.slice(0, 2))).size, 1, 'also in the first octet')
  for (const { serialNumber, subject, issuer } of certificates) {
    t.match(serialNumber, /^[4-7][0-9A-F]{31}$/)
    t.equal(subject, `CN=proreus-ca-${serialNumber.slice(0, 8).toLowerCase()}`)
    t.equal(issuer, subject)
  }
})

t.test('names that no certificate can have are refused', async (t) => {
  const authority = await issueAuthority(Date.now())
  const noName = (name: string): string => `"${name}" is not a DNS name that a certificate could be for.`
  const cases: [string[], string[], string][] = [
    ...['bad name', 'ünï.example', 'a..b', 'a.', '.a', '-a', 'a-', 'a.-b', '*', '*a.b', 'a.*.b', ''].map(
      (name): [string[], string[], string] => [[name], [], noName(name)],
    ),
    [['localhost'], ['1.2.3'], '"1.2.3" is not an IP address.'],
    [[], ['localhost'], '"localhost" is not an IP address.'],
    [[], [], 'A serving certificate needs at least one DNS name or IP address.'],
  ]
  for (const [names, ips, message] of cases) {
    await t.rejects(issueLeaf(authority, { names, ips, now: Date.now() }), { code: 'PRO_CONFIG_INVALID', message }, message)
  }
})

t.test('each name and address appears once, in order', async (t) => {
  const authority = await issueAuthority(Date.now())
  const requested = { names: ['b-1.x', '_a_b.c', 'x', 'b-1.x', '*.y'], ips: ['::1', '10.0.0.1', '::1'] }
  const { subjectAltName, subject } = readCertificate((await issueLeaf(authority, { ...requested, now: Date.now() })).cert).x509
  t.equal(subjectAltName, 'DNS:b-1.x, DNS:_a_b.c, DNS:x, DNS:*.y, IP Address:0:0:0:0:0:0:0:1, IP Address:10.0.0.1')
  t.equal(subject, 'CN=proreus-webhook')
})

t.test('key usage bits are encoded in DER', (t) => {
  const hex = (...bits: number[]): string => toBuffer(namedBits(...bits)).toString('hex')
  t.equal(hex(0), '03020780')
  t.equal(hex(5, 6), '03020106')
  t.equal(hex(7), '03020001')
  t.equal(hex(0, 8), '0303078080')
  t.end()
})

t.test('IP addresses are encoded from every notation', (t) => {
  t.equal(ipBytes('10.0.0.255').toString('hex'), '0a0000ff')
  t.equal(ipBytes('::').toString('hex'), '0'.repeat(32))
  t.equal(ipBytes('fe80::1:2').toString('hex'), 'fe800000000000000000000000010002')
  t.equal(ipBytes('::ffff:1.2.3.4').toString('hex'), '00000000000000000000ffff01020304')
  t.equal(ipBytes('1:2:3:4:5:6:7:8').toString('hex'), '00010002000300040005000600070008')
  t.end()
})

t.test('a certificate for a request has the names of the request', async (t) => {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const signing = { usages: [], extendedUsages: [], notBefore: now, notAfter: now + day }
  const sign = (request: CertificateRequest): X509Certificate => new X509Certificate(signRequest(authority, request, signing))
  const request = readCertificateRequest(certificateRequests.rsa)
  t.equal(sign(request).subject, 'O=a + O=b\nCN=rsa')
  const alternative = sign(readCertificateRequest(certificateRequests.alt))
  t.strictSame([alternative.subject, alternative.subjectAltName], [undefined, 'email:a@b.c, URI:https://x/y'])
  for (const other of [{ commonName: 'other' }, { organizations: ['a'] }])
    t.throws(() => sign({ ...request, ...other }), /the subject of the certificate differs/)
})
