import { X509Certificate } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { issueServingCertificate, openState } from '../../../src/devcluster/state/state.ts'
import { createLogger } from '../../../src/telemetry/logger.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

function logged(): { logger: ReturnType<typeof createLogger>; lines: { msg: string }[] } {
  const lines: { msg: string }[] = []
  return { lines, logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line) as { msg: string }) } }) }
}

t.test('the state survives restarts and is readable by its owner only', async (t) => {
  const directory = join(t.testdir(), 'new')
  const { logger, lines } = logged()
  const first = await openState(directory, { now, logger })
  const second = await openState(directory, { now, logger })
  t.strictSame(second, first)
  t.equal(statSync(join(directory, 'state.json')).mode & 0o777, 0o600)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.strictSame(lines, [])
})

t.test('a state of an earlier release gets a key of ServiceAccount tokens, and keeps the rest', async (t) => {
  const directory = t.testdir()
  const { logger, lines } = logged()
  const { serviceAccountKey, ...rest } = await openState(directory, { now, logger })
  writeFileSync(join(directory, 'state.json'), JSON.stringify({ version: 1, ...rest }))
  const upgraded = await openState(directory, { now, logger })
  t.match(upgraded, rest)
  t.match(upgraded.serviceAccountKey, /^-----BEGIN PRIVATE KEY-----/)
  t.not(upgraded.serviceAccountKey, serviceAccountKey)
  t.strictSame(await openState(directory, { now, logger }), upgraded)
  t.strictSame(lines, [])
})

t.test('without a directory no state is stored', async (t) => {
  const { logger } = logged()
  t.not((await openState(undefined, { now, logger })).token, (await openState(undefined, { now, logger })).token)
})

const damages: [string, (text: string) => string, RegExp][] = [
  ['no JSON', () => '{', /^.*state\.json is replaced because it is not valid JSON: clients need the new kubeconfig\.$/],
  [
    'half of it',
    (text) => JSON.stringify({ token: (JSON.parse(text) as { token: string }).token }),
    /its certificate authority or token is missing/,
  ],
  ['a damaged key', (text) => text.replace(/BEGIN PRIVATE KEY-----\\n..../, 'BEGIN PRIVATE KEY-----\\n!!!!'), /the key cannot be read/],
]
for (const [name, damage, expected] of damages) {
  t.test(`a state with ${name} is replaced with one warning`, async (t) => {
    const directory = t.testdir()
    const path = join(directory, 'state.json')
    const { logger, lines } = logged()
    const before = await openState(directory, { now, logger })
    writeFileSync(path, damage(readFileSync(path, 'utf8')))
    const after = await openState(directory, { now, logger })
    t.not(after.token, before.token)
    t.equal(lines.length, 1)
    t.match(lines[0]?.msg, expected)
    t.strictSame(await openState(directory, { now, logger }), after)
  })
}

const exposures: [string, (directory: string, path: string) => void, RegExp][] = [
  ['others may write', (_, path) => chmodSync(path, 0o666), /its mode is 0666, so that others may know or change it, expected 0600/],
  ['others may read', (_, path) => chmodSync(path, 0o640), /its mode is 0640/],
  ['is in a folder of everybody', (directory) => chmodSync(directory, 0o777), /everybody may write to its folder \(mode 0777\)/],
  ['belongs to somebody else', (_, path) => chownSync(path, 12345, 0), /it belongs to user 12345, and this process runs as user 0/],
  ['is in a folder of somebody else', (directory) => chownSync(directory, 12345, 0), /its folder belongs to user 12345/],
]
for (const [name, expose, expected] of exposures) {
  const skip = name.includes('somebody') && process.getuid?.() !== 0 && 'only root can give files away'
  t.test(`a state that ${name} is refused and not modified`, { skip }, async (t) => {
    const directory = t.testdir({ own: {} })
    const own = join(directory, 'own')
    const path = join(own, 'state.json')
    const { logger, lines } = logged()
    const state = await openState(own, { now, logger })
    const text = readFileSync(path, 'utf8')
    expose(own, path)
    await t.rejects(openState(own, { now, logger }), { code: 'PRO_STATE_FILE', message: expected })
    t.equal(readFileSync(path, 'utf8'), text)
    for (const part of [own, path]) if (process.getuid?.() === 0) chownSync(part, 0, 0)
    chmodSync(own, 0o1777)
    chmodSync(path, 0o600)
    t.strictSame(
      await openState(own, { now, logger }),
      state,
      'a private state under a world-writable folder with the sticky bit, such as /tmp, is accepted',
    )
    t.strictSame(lines, [])
  })
}

t.test('no state is written into a world-writable folder', async (t) => {
  const directory = join(t.testdir({ open: {} }), 'open')
  chmodSync(directory, 0o777)
  await t.rejects(openState(directory, { now, logger: logged().logger }), { code: 'PRO_STATE_FILE', message: /everybody may write/ })
  t.strictSame(readdirSync(directory), [])
})

t.test('a CA that expires within thirty days is replaced', async (t) => {
  const directory = t.testdir()
  const { logger, lines } = logged()
  const day = 24 * 3_600_000
  const before = await openState(directory, { now, logger })
  t.strictSame(await openState(directory, { now: now + 335 * day - 1_000, logger }), before)
  t.strictSame(lines, [])
  const after = await openState(directory, { now: now + 335 * day, logger })
  t.not(after.authority.cert, before.authority.cert)
  t.not(after.token, before.token)
  t.match(lines, [{ level: 'warn', msg: /its certificate authority expires soon: clients need the new kubeconfig\.$/ }])
  await openState(directory, { now: now + 1000 * day, logger })
  t.match(lines[1]?.msg, /is replaced because the certificate expired on /)
})

t.test('the state file is JSON in a fixed form', async (t) => {
  const directory = t.testdir()
  const { logger, lines } = logged()
  const path = join(directory, 'state.json')
  const state = await openState(directory, { now, logger })
  t.equal(readFileSync(path, 'utf8'), `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`)
  t.match(state.token, /^[\w-]{43}$/, '256 bits')
  const wrong: [value: unknown, problem: string][] = [
    [[], 'its certificate authority or token is missing'],
    [null, 'its certificate authority or token is missing'],
    [{ ...state, authority: 'x' }, 'its certificate authority or token is missing'],
    [{ ...state, token: 1 }, 'its certificate authority or token is missing'],
    [{ ...state, token: 'x'.repeat(31) }, 'its certificate authority or token is missing'],
    [{ ...state, serviceAccountKey: 'x' }, 'its key of ServiceAccount tokens is damaged'],
    [{ ...state, serviceAccountKey: 1 }, 'its key of ServiceAccount tokens is damaged'],
    [{ ...state, authority: { key: state.authority.key } }, 'its certificate authority is missing'],
    [{ ...state, authority: { cert: state.authority.cert } }, 'its certificate authority is missing'],
  ]
  for (const [value, problem] of wrong) {
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 })
    lines.length = 0
    t.not((await openState(directory, { now, logger })).token, state.token)
    t.strictSame(
      lines.map(({ msg }) => msg),
      [`${path} is replaced because ${problem}: clients need the new kubeconfig.`],
    )
  }
  const short = { ...state, token: 'x'.repeat(32) }
  writeFileSync(path, JSON.stringify(short))
  lines.length = 0
  t.strictSame(await openState(directory, { now, logger }), short)
  t.strictSame(lines, [])
})

t.test('a folder that cannot be written is reported in one sentence', async (t) => {
  const directory = t.testdir({ file: '' })
  const { logger } = logged()
  await t.rejects(openState(join(directory, 'file', 'x'), { now, logger }), { code: 'PRO_STATE_FILE', message: /^Cannot (use|write) / })
  mkdirSync(join(directory, 'state.json'))
  await t.rejects(openState(directory, { now, logger }), {
    code: 'PRO_STATE_FILE',
    message: /^Cannot use .*state\.json: .*or delete it/,
  })
})

t.test('the serving certificate is for loopback', async (t) => {
  const { logger } = logged()
  const { authority } = await openState(undefined, { now, logger })
  const leaf = new X509Certificate((await issueServingCertificate(authority, now)).cert)
  t.ok(leaf.checkIP('127.0.0.1'))
  t.ok(leaf.checkHost('localhost', { subject: 'never' }))
  t.ok(leaf.verify(new X509Certificate(authority.cert).publicKey))
  t.equal(
    leaf.subjectAltName,
    'DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc, DNS:kubernetes.default.svc.cluster.local, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:10.96.0.1',
  )
  t.equal(leaf.validTo, new X509Certificate(authority.cert).validTo, 'the certificate expires with the CA')
})
