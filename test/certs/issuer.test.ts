import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { decideAuthority, leafProblem } from '../../src/certs/authority.ts'
import { readCertificateRequest } from '../../src/certs/certificate-request.ts'
import type { KeyPair } from '../../src/certs/issue.ts'
import { issueAuthority, issueLeaf, signRequest } from '../../src/certs/issue.ts'
import { signingProblem } from '../../src/certs/issuer.ts'
import { certificateRequests } from '../support/certs/certificate-requests.ts'

const names = { names: ['localhost'], ips: ['127.0.0.1'] }

function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Creates a self-signed CA with OpenSSL. */
function opensslAuthority(folder: string, key: readonly string[], extensions: readonly string[]): KeyPair {
  const [cert, keyFile] = [join(folder, 'ca.crt'), join(folder, 'ca.key')]
  openssl('genpkey', ...key, '-out', keyFile)
  const config = join(folder, 'ca.cnf')
  execFileSync('tee', [config], { input: `[req]\ndistinguished_name=dn\nx509_extensions=ca\n[dn]\n[ca]\n${extensions.join('\n')}\n` })
  openssl('req', '-x509', '-config', config, '-key', keyFile, '-subj', '/O=Example/CN=Example CA', '-days', '365', '-out', cert)
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

const p256 = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']
const p384 = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384']
const rsa = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']
const ca = 'basicConstraints=critical,CA:TRUE'
const identified = [ca, 'keyUsage=critical,keyCertSign,cRLSign', 'subjectKeyIdentifier=hash']

async function verifies(t: Test, authority: KeyPair): Promise<void> {
  const leaf = await issueLeaf(authority, { ...names, now: Date.now() })
  t.equal(leafProblem(leaf, { current: authority }, names, Date.now()), undefined)
  const signing = { usages: [0], extendedUsages: [], notBefore: Date.now(), notAfter: Date.now() + 60_000 }
  const signed = signRequest(authority, readCertificateRequest(certificateRequests.rsa), signing)
  const folder = t.testdir({ 'ca.crt': authority.cert, 'tls.crt': leaf.cert, 'client.crt': signed })
  for (const file of ['tls.crt', 'client.crt'])
    t.match(openssl('verify', '-CAfile', join(folder, 'ca.crt'), join(folder, file)), /: OK/, `OpenSSL accepts ${file}`)
}

t.test('a CA of another program signs certificates that verify', async (t) => {
  const cases: readonly [name: string, key: readonly string[], extensions: readonly string[]][] = [
    ['with an EC key on P-256', p256, identified],
    ['with an EC key on P-384', p384, identified],
    ['with an RSA key', rsa, identified],
    ['with an Ed25519 key', ['-algorithm', 'ED25519'], identified],
    ['without a key identifier', p256, [ca, 'subjectKeyIdentifier=none']],
    ['without keyUsage', p256, [ca, 'subjectKeyIdentifier=hash']],
  ]
  for (const [name, key, extensions] of cases)
    await t.test(name, async (t) => {
      const authority = opensslAuthority(t.testdir({}), key, extensions)
      t.equal(decideAuthority({ current: authority }, Date.now()).action, 'keep')
      await verifies(t, authority)
    })
})

t.test('the first certificate of a chain is the CA', async (t) => {
  const [first, second] = [await issueAuthority(Date.now()), await issueAuthority(Date.now())]
  await verifies(t, { ...first, cert: first.cert + second.cert })
})

t.test('a CA that cannot sign certificates is replaced, and the reason is reported', (t) => {
  const cases: readonly [name: string, key: readonly string[], extensions: readonly string[], reason: string][] = [
    ['a leaf', p256, ['basicConstraints=critical,CA:FALSE'], 'the certificate is not that of an authority'],
    ['keyUsage', p256, [ca, 'keyUsage=critical,cRLSign'], 'the certificate is not that of an authority'],
    [
      'the type of the key',
      ['-algorithm', 'RSA-PSS'],
      identified,
      'the key has the type rsa-pss, but an authority needs an EC, RSA or Ed25519 key',
    ],
  ]
  for (const [name, key, extensions, reason] of cases)
    t.test(name, async (t) => {
      const authority = opensslAuthority(t.testdir({}), key, extensions)
      t.equal(signingProblem(authority.cert, authority.key), reason)
      t.strictSame(decideAuthority({ current: authority }, Date.now()), { action: 'replace', urgent: true, reason })
      if (name === 'the type of the key') await t.rejects(issueLeaf(authority, { ...names, now: Date.now() }), /rsa-pss/)
    })
  t.end()
})
