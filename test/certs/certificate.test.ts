import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'
import t from 'tap'
import { bundleText, isSignedBy, isTrusted, pairProblem, readBundle, readCertificate, uncoveredNames } from '../../src/certs/certificate.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

t.test('a PEM text may have certificates, keys and other text with any line endings', async (t) => {
  const [a, b] = [await issueAuthority(now), await issueAuthority(now)]
  const text = `Some prose\r\n${a.cert.replaceAll('\n', '\r\n')}${a.key}${b.cert}${a.cert}`
  const { x509, ...first } = readCertificate(text)
  t.strictSame(first, {
    pem: a.cert,
    notBefore: now - 3_600_000,
    notAfter: now + 365 * 86_400_000,
    fingerprint: x509.fingerprint256,
  })
  t.equal(x509.toString(), a.cert)
  t.equal(bundleText(readBundle(text)), a.cert + b.cert, 'without duplicates, in order')
  const unreadable = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  t.equal(bundleText(readBundle(unreadable + b.cert)), b.cert, 'without unreadable certificates')
  t.throws(() => readCertificate(unreadable + b.cert))
  t.throws(() => readCertificate(a.key), { message: 'there is no certificate in it' })
  t.strictSame(readBundle(''), [])
  const open = '-----BEGIN CERTIFICATE-----\n'
  t.equal(bundleText(readBundle(open + b.cert)), b.cert, 'without a block that does not end')
  t.strictSame(readBundle(open.repeat(100_000)), [], 'in linear time')
})

t.test('a key pair is valid from notBefore until just before notAfter', async (t) => {
  const { cert, key } = await issueAuthority(now)
  const [first, last] = [now - 3_600_000, now + 365 * 86_400_000]
  t.equal(pairProblem(cert, key, first - 1), 'the certificate is not valid before 2025-12-31T23:00:00.000Z')
  t.equal(pairProblem(cert, key, first), undefined)
  t.equal(pairProblem(cert, key, last - 1), undefined)
  t.equal(pairProblem(cert, key, last), 'the certificate expired on 2027-01-01T00:00:00.000Z')
})

t.test('the signer of a certificate must match in key and name', (t) => {
  const [one, other] = [keys(), keys()]
  const ca = { basicConstraints: { cA: true } }
  const [a, b] = [issue('a', one, 'a', one, ca), issue('b', one, 'b', one, ca)]
  const leaf = issue('leaf', other, 'a', one)
  t.equal(isSignedBy(leaf, [b, a]), true)
  t.equal(isSignedBy(leaf, [b]), false, 'the right key under another name')
  t.equal(isSignedBy(leaf, [issue('a', other, 'a', other, ca)]), false, 'the right name with another key')
  t.equal(isSignedBy(leaf, []), false)
  t.end()
})

t.test('a chain of authorities must lead to a trusted certificate', (t) => {
  const [rootKey, middleKey, leafKey] = [keys(), keys(), keys()]
  const ca = { basicConstraints: { cA: true } }
  const root = issue('root', rootKey, 'root', rootKey, ca)
  const middle = issue('middle', middleKey, 'root', rootKey, ca)
  const noAuthority = issue('middle', middleKey, 'root', rootKey)
  const leaf = issue('leaf', leafKey, 'middle', middleKey)
  t.equal(isTrusted([leaf, middle], [root]), true)
  t.equal(isTrusted([leaf], [root]), false, 'an incomplete chain')
  t.equal(isTrusted([leaf, noAuthority], [root]), false, 'a certificate that is not a CA signs nothing')
  t.equal(isTrusted([leaf], [noAuthority]), false, 'even if it is trusted itself')
  t.equal(isTrusted([leaf], [leaf]), true, 'a trusted leaf')
  t.equal(isTrusted([leaf, middle, root], [issue('else', leafKey, 'else', leafKey, ca)]), false, 'a chain with an untrusted root')
  t.equal(isTrusted([leaf], [middle]), true, 'a trusted intermediate')
  t.equal(isTrusted([leaf], [root, middle]), true, 'an intermediate among the trusted ones')
  const [below, end] = [issue('below', leafKey, 'middle', middleKey, ca), issue('end', rootKey, 'below', leafKey)]
  for (const chain of [
    [end, below, middle],
    [end, middle, below],
  ])
    t.equal(isTrusted(chain, [root]), true, 'two intermediates in any order')
  t.equal(isTrusted([end, below], [root]), false)
  t.equal(isTrusted([end, middle], [root]), false)
  t.equal(isTrusted([], [root]), false)
  t.end()
})

t.test('authorities that signed each other are not trusted for that', (t) => {
  const [aKey, bKey, leafKey] = [keys(), keys(), keys()]
  const ca = { basicConstraints: { cA: true } }
  const [a, b] = [issue('a', aKey, 'b', bKey, ca), issue('b', bKey, 'a', aKey, ca)]
  const leaf = issue('leaf', leafKey, 'a', aKey)
  t.equal(isTrusted([leaf, a, b], [issue('root', leafKey, 'root', leafKey, ca)]), false)
  t.equal(isTrusted([leaf, a, b], [b]), true)
  t.end()
})

t.test('names and addresses that a certificate does not cover are listed', async (t) => {
  const names = ['a.svc', '*.example.com', '*.org']
  const leaf = readCertificate((await issueLeaf(await issueAuthority(now), { names, ips: ['10.0.0.1', '::1'], now })).cert)
  const uncovered = (names: string[], ips: string[] = []): string[] => uncoveredNames(leaf, { names, ips })
  t.strictSame(uncovered(['a.svc', '*.example.com', 'x.example.com', '*.org'], ['10.0.0.1', '::1', '0:0:0:0:0:0:0:1']), [])
  t.strictSame(uncovered(['b.svc', 'a.svc', 'example.com', '*.svc'], ['::2', '10.0.0.1', '10.0.0.2']), [
    'b.svc',
    'example.com',
    '*.svc',
    '::2',
    '10.0.0.2',
  ])
  const bare = readCertificate((await issueAuthority(now)).cert)
  t.strictSame(uncoveredNames(bare, { names: ['a.svc'], ips: ['::1'] }), ['a.svc', '::1'], 'a certificate without names')
})

function keys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

/** Issues a certificate whose only extensions are `extensions`. */
function issue(
  subject: string,
  { publicKey }: { publicKey: string },
  issuer: string,
  { privateKey }: { privateKey: string },
  extensions: Record<string, object> = {},
): ReturnType<typeof readCertificate> {
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  certificate.serialNumber = '01'
  certificate.validity.notBefore = new Date(now)
  certificate.validity.notAfter = new Date(now + 86_400_000)
  certificate.setSubject([{ name: 'commonName', value: subject }])
  certificate.setIssuer([{ name: 'commonName', value: issuer }])
  certificate.setExtensions(Object.entries(extensions).map(([name, value]) => ({ name, ...value })))
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create())
  return readCertificate(forge.pki.certificateToPem(certificate))
}
