import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { readBundle, readCertificate, isSignedBy } from '../../src/certs/certificate.ts'
import { openFileCertificates } from '../../src/certs/file-store.ts'
import { describeCertificates, verifyCertificates } from '../../src/certs/inspect.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { RefreshingCertificateSource } from '../../src/certs/serving-certificate.ts'
import type { ProreusError } from '../../src/api/errors.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { servedNames, trustShapes } from '../support/certs/trust-shapes.ts'

const day = 86_400_000
const names = { names: ['localhost'], ips: ['127.0.0.1'] }

function folder(t: Test): {
  directory: string
  clock: FakeClock
  lines: string[]
  entries: Record<string, unknown>[]
  open: (more?: string[]) => Promise<RefreshingCertificateSource>
  text: (name: string) => string
} {
  const directory = join(t.testdir({}), 'certs')
  const clock = new FakeClock()
  const { logger, lines, entries } = recordingLogger()
  return {
    directory,
    clock,
    lines,
    entries,
    open: (more = []) => openFileCertificates({ directory, names: [...names.names, ...more], ips: names.ips, clock, logger }),
    text: (name) => readFileSync(join(directory, name), 'utf8'),
  }
}

t.test('missing files are created with mode 0600, and reused', async (t) => {
  const { directory, open, lines, entries, text } = folder(t)
  const first = (await open()).current()
  t.strictSame(readdirSync(directory).sort(), ['.gitignore', 'ca.crt', 'ca.key', 'tls.crt', 'tls.key'])
  for (const name of readdirSync(directory)) t.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(text('.gitignore'), '*\n')
  t.equal(first.cert, text('tls.crt'))
  t.equal(first.key, text('tls.key'))
  t.equal(first.caBundle, text('ca.crt'))
  t.equal(first.notAfter.toISOString(), '2026-01-08T00:00:00.000Z')
  t.strictSame((await open()).current(), first)
  t.strictSame(lines, [`info: made a certificate authority in ${directory}`, `info: issued ${join(directory, 'tls.crt')}`])
  t.equal(entries[1]!.notAfter, '2026-01-08T00:00:00.000Z')
})

t.test('an existing folder gets no .gitignore', async (t) => {
  const { directory, open } = folder(t)
  mkdirSync(directory)
  await open()
  t.strictSame(readdirSync(directory).sort(), ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'])
})

t.test('a damaged or mismatched file is replaced with one warning', async (t) => {
  const authority = 'replaced the certificate authority in FOLDER'
  const noCertificate = 'the certificate cannot be read (there is no certificate in it)'
  const cases: [string, (directory: string) => void | Promise<void>, string | RegExp, boolean][] = [
    [
      'a damaged leaf',
      (directory) => writeFileSync(join(directory, 'tls.crt'), 'damaged'),
      `replaced FOLDER/tls.crt: ${noCertificate}`,
      true,
    ],
    [
      'a key of another',
      async (directory) => writeFileSync(join(directory, 'tls.key'), (await issueAuthority(Date.now())).key),
      'replaced FOLDER/tls.crt: the key does not belong to the certificate',
      true,
    ],
    ['a missing certificate', (directory) => rmSync(join(directory, 'tls.crt')), `replaced FOLDER/tls.crt: ${noCertificate}`, true],
    ['a missing key', (directory) => rmSync(join(directory, 'tls.key')), /^replaced FOLDER\/tls\.crt: the key cannot be read/, true],
    ['a damaged authority', (directory) => writeFileSync(join(directory, 'ca.crt'), 'damaged'), `${authority}: ${noCertificate}`, false],
    [
      'a damaged key of the authority',
      (directory) => writeFileSync(join(directory, 'ca.key'), 'damaged'),
      /^replaced the certificate authority in FOLDER: the key cannot be read/,
      false,
    ],
    [
      'an authority without certificate',
      (directory) => rmSync(join(directory, 'ca.crt')),
      `${authority}: the certificate is missing`,
      false,
    ],
  ]
  for (const [name, damage, warning, keepsAuthority] of cases) {
    await t.test(name, async (t) => {
      const { directory, open, lines, text } = folder(t)
      const before = (await open()).current()
      await damage(directory)
      const after = (await open()).current()
      t.not(after.cert, before.cert)
      t.equal(text('ca.crt').startsWith(readBundle(before.caBundle)[0]!.pem), keepsAuthority)
      t.ok(isSignedBy(readCertificate(after.cert), readBundle(after.caBundle).slice(0, 1)))
      const warnings = lines.filter((line) => line.startsWith('warn'))
      t.equal(warnings.length, 1)
      const logged = warnings[0]!.replace('warn: ', '').replaceAll(directory, 'FOLDER')
      if (typeof warning === 'string') t.equal(logged, warning)
      else t.match(logged, warning)
      t.strictSame((await open()).current(), after, 'and is kept afterwards')
    })
  }
})

t.test('a leaf that does not exist yet is issued without a warning', async (t) => {
  const { directory, open, lines } = folder(t)
  const { caBundle } = (await open()).current()
  for (const name of ['tls.crt', 'tls.key']) rmSync(join(directory, name))
  const after = (await open()).current()
  t.equal(after.caBundle, caBundle)
  t.strictSame(lines.slice(2), [`info: issued ${join(directory, 'tls.crt')}`])
})

t.test('a certificate or a key alone is not treated as a provided pair', async (t) => {
  for (const name of ['tls.crt', 'tls.key']) {
    const { directory, open, lines } = folder(t)
    await open()
    for (const other of readdirSync(directory)) if (other !== name) rmSync(join(directory, other))
    lines.length = 0
    const { caBundle } = (await open()).current()
    t.equal(readBundle(caBundle).length, 1)
    t.strictSame(lines, [`info: made a certificate authority in ${directory}`, `info: issued ${join(directory, 'tls.crt')}`])
    rmSync(directory, { recursive: true })
  }
})

t.test('an expired folder is replaced', async (t) => {
  const { directory, open, clock, lines } = folder(t)
  await open()
  await clock.advance(400 * day)
  const { notAfter, caBundle } = (await open()).current()
  t.equal(notAfter.getTime(), clock.now() + 7 * day)
  t.equal(readBundle(caBundle).length, 1, 'expired authorities are not in the bundle')
  t.match(lines.at(-2), /replaced the certificate authority in .*: the certificate expired on 2027-01-01/)
  t.strictSame(await verifyCertificates(directory, names, clock.now()), [])
})

t.test('additional names cause a new leaf', async (t) => {
  const { open } = folder(t)
  const before = (await open()).current()
  const after = (await open(['proreus.test'])).current()
  t.not(after.cert, before.cert)
  t.equal(after.caBundle, before.caBundle)
})

t.test('leaves are renewed while running, and listeners are notified', async (t) => {
  const { open, clock } = folder(t)
  const source = await open()
  const first = source.current()
  const changes: Date[] = []
  source.onChange(() => {
    throw new Error('a listener that fails harms nobody')
  })
  const unsubscribe = source.onChange(({ notAfter }) => changes.push(notAfter))
  const stop = new AbortController()
  const running = source.start(stop.signal)
  t.after(() => stop.abort())
  await until(clock, 3_600_000, () => source.current() !== first)
  const elapsed = (clock.now() - first.notAfter.getTime()) / day + 7
  t.ok(elapsed > 4.6 && elapsed < 4.8, `after two thirds of its life (${elapsed})`)
  t.equal(source.current().caBundle, first.caBundle)
  t.equal(changes.length, 1)
  unsubscribe()
  stop.abort()
  await running
})

t.test('after 244 days the authority is replaced, and the old one stays in the bundle', async (t) => {
  const { open, clock } = folder(t)
  const source = await open()
  const [old] = readBundle(source.current().caBundle)
  await clock.advance(244 * day)
  await source.refresh()
  const bundle = readBundle(source.current().caBundle)
  t.equal(bundle.length, 2)
  t.equal(bundle[1]!.fingerprint, old!.fingerprint)
  t.strictSame((await open()).current(), source.current(), 'also after a restart')
})

t.test('a provided pair is used as it is', async (t) => {
  const { directory, open, clock, lines, text } = folder(t)
  await open()
  const authority = await issueAuthority(clock.now())
  const leaf = await issueLeaf(authority, { names: ['other'], ips: [], now: clock.now() })
  rmSync(join(directory, 'ca.key'))
  for (const [name, content] of [
    ['ca.crt', authority.cert],
    ['tls.crt', leaf.cert],
    ['tls.key', leaf.key],
  ] as const)
    writeFileSync(join(directory, name), content)
  const source = await open()
  t.equal(source.current().cert, leaf.cert)
  t.equal(source.current().caBundle, authority.cert)
  const warning = `warn: ${join(directory, 'tls.crt')} is used as it is, but it is not for localhost, 127.0.0.1`
  t.equal(lines.at(-1), warning)
  await source.refresh()
  t.equal(lines.filter((line) => line === warning).length, 1, 'logged once')
  const another = await issueLeaf(authority, { names: ['other'], ips: [], now: clock.now() })
  writeFileSync(join(directory, 'tls.crt'), another.cert)
  writeFileSync(join(directory, 'tls.key'), another.key)
  await source.refresh()
  t.equal(lines.filter((line) => line === warning).length, 2, 'and again for another one')
  writeFileSync(join(directory, 'tls.crt'), leaf.cert)
  writeFileSync(join(directory, 'tls.key'), leaf.key)
  await source.refresh()
  t.match(await describeCertificates(directory, clock.now()), /issued elsewhere/)

  const renewed = await issueLeaf(authority, { ...names, now: clock.now() })
  writeFileSync(join(directory, 'tls.key'), renewed.key)
  await t.rejects(source.refresh(), { code: 'PRO_CERTIFICATE' }, 'half a pair')
  t.equal(source.current().cert, leaf.cert, 'is ignored')
  writeFileSync(join(directory, 'tls.crt'), renewed.cert)
  await source.refresh()
  t.equal(source.current().cert, renewed.cert, 'a whole pair is used')

  await clock.advance(8 * day)
  await t.rejects(open(), {
    code: 'PRO_CERTIFICATE',
    message: /tls\.crt cannot be used: the certificate expired on 2026-01-08.*There is no ca\.key/,
  })
  t.equal(text('tls.crt'), renewed.cert, 'and is never overwritten')

  rmSync(join(directory, 'ca.crt'))
  const self = await issueAuthority(clock.now())
  writeFileSync(join(directory, 'tls.crt'), self.cert)
  writeFileSync(join(directory, 'tls.key'), self.key)
  t.equal((await open()).current().caBundle, self.cert, 'a self-signed certificate is its own bundle')
  await clock.advance(365 * day)
  await t.rejects(open(), {
    code: 'PRO_CERTIFICATE',
    message: `${join(directory, 'tls.crt')} cannot be used: the certificate expired on 2027-01-09T00:00:00.000Z. There is no ca.key to issue another with: put a valid certificate and key there, or delete tls.crt and tls.key to have them made.`,
  })
})

t.test('without ca.crt, the last certificate of the chain is the bundle', async (t) => {
  const { served } = trustShapes()
  const directory = t.testdir({ 'tls.crt': served.cert, 'tls.key': served.key })
  const { logger, lines } = recordingLogger()
  const requested = { names: [...servedNames], ips: names.ips }
  const source = await openFileCertificates({ directory, ...requested, clock: new FakeClock(Date.now()), logger })
  const [, intermediate] = readBundle(served.cert)
  t.equal(source.current().caBundle, intermediate!.pem)
  t.strictSame(lines, [])
  t.strictSame(await verifyCertificates(directory, requested, Date.now()), [])
})

t.test('a key that other users can access is refused', async (t) => {
  const { directory, open, clock, text } = folder(t)
  const first = await open()
  for (const [name, mode] of [
    ['ca.key', 0o644],
    ['tls.key', 0o660],
  ] as const) {
    chmodSync(join(directory, name), mode)
    const refusal = { code: 'PRO_CERTIFICATE', message: new RegExp(`${name} cannot be read: its mode is 0${mode.toString(8)}.*chmod 600`) }
    await t.rejects(open(), refusal)
    await t.rejects(first.refresh(), refusal)
    await t.rejects(verifyCertificates(directory, names, clock.now()), refusal)
    chmodSync(join(directory, name), 0o600)
  }
  t.equal((await open()).current().key, text('tls.key'))
  rmSync(join(directory, 'ca.key'))
  chmodSync(join(directory, 'tls.key'), 0o640)
  t.equal((await open()).current().key, text('tls.key'), 'a pair in a volume may be readable by its group')
})

t.test('a folder that cannot be written is reported in one sentence', async (t) => {
  const directory = join(t.testdir({ file: '' }), 'file', 'certs')
  const { logger } = recordingLogger()
  await t.rejects(openFileCertificates({ directory, ...names, clock: new FakeClock(), logger }), {
    code: 'PRO_CERTIFICATE',
    message: `${join(directory, 'ca.crt')} cannot be read: ENOTDIR: not a directory, open '${join(directory, 'ca.crt')}'. Make it yours and readable by you alone (chmod 600), or choose another folder.`,
    cause: { code: 'ENOTDIR' },
  })
})

t.test('a folder that cannot be created is reported in one sentence', async (t) => {
  const directory = join(t.testdir({ link: t.fixture('symlink', 'nowhere') }), 'link', 'certs')
  const { logger, lines } = recordingLogger()
  const { code, message, cause } = (await openFileCertificates({ directory, ...names, clock: new FakeClock(), logger }).catch(
    (error: unknown) => error,
  )) as ProreusError
  t.equal(code, 'PRO_CERTIFICATE')
  t.ok(message.startsWith(`Certificates cannot be written to ${directory}: E`), message)
  t.ok(message.endsWith('. Make the folder writable, or choose another one.'), message)
  t.ok(cause instanceof Error)
  t.strictSame(lines, [], 'nor is a created authority logged')
})

t.test('world-readable certificates are accepted', async (t) => {
  const { directory, open, text } = folder(t)
  const first = (await open()).current()
  for (const name of ['ca.crt', 'tls.crt']) chmodSync(join(directory, name), 0o644)
  t.strictSame((await open()).current(), first)
  t.equal(text('tls.crt'), first.cert)
})

t.test('certificates are described and verified', async (t) => {
  const { directory, open, clock } = folder(t)
  t.match(await describeCertificates(directory, clock.now()), /ca\.crt: missing/)
  t.match((await verifyCertificates(directory, names, clock.now()))[0], /tls\.crt is missing: `proreus certs issue`/)
  await open()
  const shown = await describeCertificates(directory, clock.now())
  t.match(shown, /subject +CN=proreus-webhook\n +issuer +CN=proreus-ca-[0-9a-f]{8}\n +names +DNS:localhost, IP Address:127\.0\.0\.1/)
  t.match(shown, /\(7 days left\)/)
  t.strictSame(await verifyCertificates(directory, names, clock.now()), [])
  t.match(await verifyCertificates(directory, { names: ['x.test'], ips: [] }, clock.now()), [/not for x\.test/])
  t.match(await verifyCertificates(directory, names, clock.now() + 10 * day), [/expired on 2026-01-08/])
  writeFileSync(join(directory, 'ca.crt'), (await issueAuthority(clock.now())).cert)
  t.match(await verifyCertificates(directory, names, clock.now()), [/not signed by .*ca\.crt/])
})

t.test('a provided pair is trusted under the same rules as by the API server', async (t) => {
  const { served, bare, trusted, untrusted } = trustShapes()
  const { logger } = recordingLogger()
  const clock = new FakeClock(Date.now())
  const folderOf = (ca: string, { cert, key } = served): string => t.testdir({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key })
  const requested = { names: [...servedNames], ips: [...names.ips] }
  const open = (directory: string): Promise<unknown> => openFileCertificates({ directory, ...requested, clock, logger })
  for (const [name, ca] of trusted) {
    const directory = folderOf(ca)
    t.strictSame(await verifyCertificates(directory, requested, clock.now()), [], name)
    await t.resolves(open(directory), name)
  }
  const [[, root] = []] = trusted
  const refused = [...untrusted.map(([name, ca]) => ({ name, ca, pair: served })), { name: 'a chain with a gap', ca: root!, pair: bare }]
  for (const { name, ca, pair } of refused) {
    const directory = folderOf(ca, pair)
    t.strictSame(
      await verifyCertificates(directory, requested, clock.now()),
      [`${join(directory, 'tls.crt')}: not signed by ${join(directory, 'ca.crt')}.`],
      name,
    )
    await t.rejects(open(directory), { code: 'PRO_CERTIFICATE', message: /it is not signed by .*ca\.crt/ }, name)
  }
})

t.test('an expired certificate in a bundle does not matter if another one signed the leaf', async (t) => {
  const now = Date.now()
  const [old, authority] = [await issueAuthority(now - 400 * day), await issueAuthority(now)]
  const leaf = await issueLeaf(authority, { ...names, now })
  const folderOf = (ca: string): string => t.testdir({ 'ca.crt': ca, 'tls.crt': leaf.cert, 'tls.key': leaf.key })
  t.strictSame(await verifyCertificates(folderOf(old.cert + authority.cert), names, now), [])
  const stillSigned = await verifyCertificates(
    folderOf(authority.cert + (await issueAuthority(now + 400 * day)).cert),
    names,
    now + 400 * day,
  )
  t.match(stillSigned[1], /ca\.crt: the certificate expired on/, 'an unexpired certificate that did not sign is not enough')
  const expired = await verifyCertificates(folderOf(authority.cert), names, now + 400 * day)
  t.equal(expired.length, 2)
  t.match(expired[0], /tls\.crt: the certificate expired on/)
  t.match(expired[1], /ca\.crt: the certificate expired on/)
})

/**
 * Advances the clock in steps until the condition is true. If no timer is pending, the certificate source is reading the files. In this
 * case, the function waits in real time.
 */
async function until(clock: FakeClock, step: number, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true')
    if (clock.pending > 0) await clock.advance(step)
    else await new Promise((resolve) => setImmediate(resolve))
  }
}
