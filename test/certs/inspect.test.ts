import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCertificate } from '../../src/certs/certificate.ts'
import { describeCertificates, verifyCertificates } from '../../src/certs/inspect.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { issue, servedNames } from '../support/certs/trust-shapes.ts'

const day = 86_400_000
const now = Date.parse('2026-01-01T00:00:00Z')
const names = { names: ['localhost'], ips: ['127.0.0.1'] }

t.test('each certificate of a folder is described with its names and lifetime', async (t) => {
  const [authority, old] = [await issueAuthority(now), await issueAuthority(now - 365 * day - 1)]
  const leaf = await issueLeaf(authority, { ...names, now })
  const foreign = t.testdir({ 'ca.crt': authority.cert + old.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key })
  const [ca, before, served] = [authority, old, leaf].map(({ cert }) => readCertificate(cert))
  t.equal(
    await describeCertificates(foreign, now + 1),
    `${join(foreign, 'ca.crt')}
  subject  ${ca!.x509.subject}
  issuer   ${ca!.x509.subject}
  valid    2025-12-31T23:00:00.000Z to 2027-01-01T00:00:00.000Z (364 days left)
  sha256   ${ca!.fingerprint}

${join(foreign, 'ca.crt')}, certificate 2
  subject  ${before!.x509.subject}
  issuer   ${before!.x509.subject}
  valid    2024-12-31T22:59:59.000Z to 2025-12-31T23:59:59.000Z (expired 0 days ago)
  sha256   ${before!.fingerprint}

${join(foreign, 'tls.crt')}
  subject  CN=proreus-webhook
  issuer   ${ca!.x509.subject}
  names    DNS:localhost, IP Address:127.0.0.1
  valid    2025-12-31T23:00:00.000Z to 2026-01-08T00:00:00.000Z (6 days left)
  sha256   ${served!.fingerprint}

There is no ca.key: the certificate was issued elsewhere, and is not renewed here.
`,
  )
})

t.test('the remaining days are whole days', async (t) => {
  const folder = t.testdir({ 'ca.crt': (await issueAuthority(now)).cert })
  const end = now + 365 * day
  for (const [at, expected] of [
    [now, '(365 days left)'],
    [end - day, '(1 days left)'],
    [end - day + 1, '(0 days left)'],
    [end, '(expired 0 days ago)'],
    [end + day, '(expired 1 days ago)'],
  ] as const)
    t.equal(/\(.*\)/.exec(await describeCertificates(folder, at))?.[0], expected)
})

t.test('missing and damaged files of a folder are described', async (t) => {
  const [ca, tls] = ['ca.crt', 'tls.crt']
  const empty = t.testdir({})
  t.equal(await describeCertificates(empty, now), `${join(empty, ca)}: missing\n\n${join(empty, tls)}: missing\n`)
  const damaged = t.testdir({ 'ca.crt': '', 'tls.crt': 'damaged' })
  t.equal(await describeCertificates(damaged, now), `${join(damaged, ca)}: damaged\n\n${join(damaged, tls)}: damaged\n`)
})

t.test('an expired intermediate certificate is reported', async (t) => {
  const root = issue({ name: 'root', authority: true, days: 10 })
  const intermediate = issue({ name: 'intermediate', authority: true, days: 1 }, root)
  const leaf = issue({ name: 'leaf', authority: false, days: 10 }, intermediate)
  const folder = t.testdir({ 'ca.crt': root.cert, 'tls.crt': leaf.cert + intermediate.cert, 'tls.key': leaf.key })
  const served = { names: servedNames, ips: ['127.0.0.1'] }
  t.strictSame(await verifyCertificates(folder, served, Date.now()), [])
  const expired = new Date(readCertificate(intermediate.cert).notAfter).toISOString()
  t.strictSame(await verifyCertificates(folder, served, Date.now() + 2 * day), [
    `${join(folder, 'tls.crt')}, certificate 2: the certificate expired on ${expired}.`,
  ])
  const old = issue({ name: 'old', authority: true, days: 1 })
  const another = t.testdir({ 'ca.crt': old.cert + root.cert, 'tls.crt': leaf.cert + intermediate.cert, 'tls.key': leaf.key })
  t.strictSame(
    await verifyCertificates(another, served, Date.now() + 2 * day),
    [`${join(another, 'tls.crt')}, certificate 2: the certificate expired on ${expired}.`],
    'an expired CA that has signed nothing in the chain is no problem',
  )
})

t.test('all problems of a folder are reported', async (t) => {
  const [authority, other] = [await issueAuthority(now), await issueAuthority(now)]
  const leaf = await issueLeaf(authority, { ...names, now })
  const self = await issueAuthority(now)
  const old = await issueAuthority(now - 366 * day)
  const good = { 'ca.crt': authority.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key }
  const missing = (file: string): string => `FOLDER/${file} is missing: \`proreus certs issue\` makes it.`
  const unsigned = 'FOLDER/tls.crt: not signed by FOLDER/ca.crt.'
  const cases: [string, Record<string, string>, typeof names, number, string[]][] = [
    ['a valid folder', good, names, now, []],
    ['an expired former authority', { ...good, 'ca.crt': old.cert + authority.cert }, names, now, []],
    ['nothing', {}, names, now, [missing('tls.crt'), missing('tls.key')]],
    ['no key', { ...good, 'tls.key': '' }, names, now, [missing('tls.key')]],
    ['no certificate', { 'tls.key': leaf.key }, names, now, [missing('tls.crt')]],
    [
      'a damaged certificate',
      { ...good, 'tls.crt': 'x' },
      names,
      now,
      ['FOLDER/tls.crt: the certificate cannot be read (there is no certificate in it).'],
    ],
    [
      'another key, another authority, other names',
      { ...good, 'tls.key': other.key, 'ca.crt': other.cert },
      { names: ['localhost', 'x.test'], ips: ['::1'] },
      now,
      ['FOLDER/tls.crt: the key does not belong to the certificate.', unsigned, 'FOLDER/tls.crt: not for x.test, ::1.'],
    ],
    ['before the last moment of the leaf', good, names, now + 7 * day - 1, []],
    ['the last moment of the leaf', good, names, now + 7 * day, ['FOLDER/tls.crt: the certificate expired on 2026-01-08T00:00:00.000Z.']],
    [
      'the last moment of both',
      good,
      names,
      now + 365 * day,
      [
        'FOLDER/tls.crt: the certificate expired on 2026-01-08T00:00:00.000Z.',
        'FOLDER/ca.crt: the certificate expired on 2027-01-01T00:00:00.000Z.',
      ],
    ],
    ['a damaged authority', { ...good, 'ca.crt': 'x' }, names, now, [unsigned]],
    [
      'a chain with a gap and no authority',
      { 'tls.crt': leaf.cert + other.cert, 'tls.key': leaf.key },
      names,
      now,
      ['FOLDER/tls.crt: not signed by the last certificate of tls.crt (FOLDER/ca.crt is missing or empty).'],
    ],
    ['a complete chain and an empty authority', { ...good, 'ca.crt': '', 'tls.crt': leaf.cert + authority.cert }, names, now, []],
    ['an authority without its certificate', { ...good, 'ca.crt': '', 'ca.key': authority.key }, names, now, [missing('ca.crt')]],
    ['a self-signed certificate', { 'tls.crt': self.cert, 'tls.key': self.key }, { names: [], ips: [] }, now, []],
    [
      'an expired self-signed certificate',
      { 'tls.crt': self.cert, 'tls.key': self.key },
      { names: [], ips: [] },
      now + 365 * day,
      ['FOLDER/tls.crt: the certificate expired on 2027-01-01T00:00:00.000Z.'],
    ],
  ]
  for (const [name, files, requested, at, expected] of cases) {
    const folder = t.testdir(files)
    for (const name of ['ca.key', 'tls.key']) if (name in files) chmodSync(join(folder, name), 0o600)
    const problems = await verifyCertificates(folder, requested, at)
    t.strictSame(
      problems.map((problem) => problem.replaceAll(folder, 'FOLDER')),
      expected,
      name,
    )
  }
})
