import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { ExecPluginOptions } from '../../src/client/exec-plugin.ts'
import { ExecPlugin } from '../../src/client/exec-plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { eventually } from '../support/eventually.ts'

// A running plugin does not keep this process alive, so the tests need a timer. In production, the request that waits for the credentials
// keeps the process alive.
const alive = setInterval(() => undefined, 60_000)
t.teardown(() => clearInterval(alive))

const v1 = 'client.authentication.k8s.io/v1'

/**
 * Writes a plugin that runs the JavaScript code `script`. In this code, `answer(status)` writes an ExecCredential, and `starts` is the
 * number of runs, including the current run.
 */
async function pluginOf(
  t: Test,
  script: string,
  { exec, ...options }: Partial<ExecPluginOptions> = {},
): Promise<{ plugin: ExecPlugin; clock: FakeClock }> {
  const directory = t.testdir({})
  const file = join(directory, 'plugin.cjs')
  const starts = JSON.stringify(join(directory, 'starts'))
  const preamble = `const fs = require('node:fs'); fs.appendFileSync(${starts}, 'x'); const starts = fs.readFileSync(${starts}).length
const answer = (status) => console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: '${v1}', status }))
`
  await writeFile(file, `${preamble}${script}`)
  const clock = new FakeClock('2026-01-01T00:00:00Z')
  const plugin = new ExecPlugin({
    exec: { apiVersion: v1, command: process.execPath, args: [file], ...exec },
    cluster: {},
    ca: undefined,
    env: {},
    clock,
    isTerminal: false,
    ...options,
  })
  return { plugin, clock }
}

t.test('a token and a client certificate are returned', async (t) => {
  for (const [status, expected] of [
    [{ token: 'abc' }, { authorization: 'Bearer abc' }],
    [
      { clientCertificateData: 'CERT', clientKeyData: 'KEY' },
      { cert: 'CERT', key: 'KEY' },
    ],
    [
      { token: 'abc', clientCertificateData: 'CERT', clientKeyData: 'KEY' },
      { authorization: 'Bearer abc', cert: 'CERT', key: 'KEY' },
    ],
  ] as const) {
    const { plugin } = await pluginOf(t, `answer(${JSON.stringify(status)})`)
    t.strictSame(await plugin.load(false), expected)
  }
})

t.test('the plugin gets its arguments, its environment and an ExecCredential', async (t) => {
  const script = `answer({ token: JSON.stringify({ args: process.argv.slice(2), own: process.env.OWN, given: process.env.GIVEN, info: JSON.parse(process.env.KUBERNETES_EXEC_INFO), stdin: fs.readFileSync(0, 'utf8') }) })`
  const told = async (exec: JsonObject): Promise<JsonObject> => {
    const cluster = {
      server: 'https://api:6443',
      'certificate-authority': '/a/ca.crt',
      'tls-server-name': 'kubernetes',
      'proxy-url': 'http://proxy',
      extensions: [
        { name: 'other', extension: { x: 1 } },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'me' } },
      ],
    }
    const { plugin } = await pluginOf(t, script, { cluster, ca: 'PEM', env: { OWN: 'a', GIVEN: 'b' }, exec })
    return JSON.parse((await plugin.load(false)).authorization!.slice('Bearer '.length)) as JsonObject
  }
  t.strictSame(await told({ env: [{ name: 'GIVEN', value: 'c' }] }), {
    args: [],
    own: 'a',
    given: 'c',
    info: { kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false } },
    stdin: '',
  })
  t.match(await told({ provideClusterInfo: true }), {
    given: 'b',
    info: {
      spec: {
        cluster: {
          server: 'https://api:6443',
          'tls-server-name': 'kubernetes',
          'proxy-url': 'http://proxy',
          'certificate-authority-data': Buffer.from('PEM').toString('base64'),
          'certificate-authority': undefined,
          config: { audience: 'me' },
        },
      },
    },
  })
})

t.test('credentials are cached until they expire or the server rejects them', async (t) => {
  const { plugin, clock } = await pluginOf(t, `answer({ token: String(starts), expirationTimestamp: '2026-01-01T00:10:00Z' })`)
  const token = async (refresh = false): Promise<string> => (await plugin.load(refresh)).authorization!
  t.strictSame(await Promise.all([token(), token(), token(true)]), ['Bearer 1', 'Bearer 1', 'Bearer 1'], 'one run at a time')
  await clock.advance(599_999)
  t.equal(await token(), 'Bearer 1')
  t.equal(await token(true), 'Bearer 2')
  await clock.advance(1)
  t.equal(await token(), 'Bearer 3', 'expired')
  t.equal(await token(), 'Bearer 4', 'this plugin returns an old time')

  const { plugin: endless, clock: later } = await pluginOf(t, `answer({ token: String(starts) })`)
  await endless.load(false)
  await later.advance(1e12)
  t.equal((await endless.load(false)).authorization, 'Bearer 1')
})

t.test('a failed run is not cached', async (t) => {
  const { plugin } = await pluginOf(t, `if (starts === 1) { console.error('log in first'); process.exit(3) } answer({ token: 'abc' })`)
  await t.rejects(plugin.load(false), new Error('it failed with exit code 3: log in first'))
  t.strictSame(await plugin.load(false), { authorization: 'Bearer abc' })
})

t.test('the error output of a plugin is copied and reported without its tokens', async (t) => {
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl'
  const { plugin } = await pluginOf(t, `console.error('open https://login.example.com; got ${jwt}'); process.exit(3)`)
  const written = t.capture(process.stderr, 'write', () => true)
  await t.rejects(plugin.load(false), { message: 'it failed with exit code 3: open https://login.example.com; got [redacted]' })
  t.equal(written.args().join(''), 'open https://login.example.com; got [redacted]\n')
})

t.test('malformed output is an error', async (t) => {
  const credential = (fields: object): string =>
    `console.log(${JSON.stringify(JSON.stringify({ kind: 'ExecCredential', apiVersion: v1, ...fields }))})`
  for (const [script, message] of [
    [`console.log('token')`, 'its output is not JSON: an ExecCredential is expected'],
    [`console.log('[]')`, 'its output is not an ExecCredential'],
    [credential({ kind: 'Secret' }), 'its output is not an ExecCredential'],
    [
      credential({ apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      `its output has the apiVersion "client.authentication.k8s.io/v1beta1"; expected is "${v1}"`,
    ],
    [credential({}), 'its output has no status'],
    [credential({ status: {} }), 'its output has neither a token nor a client certificate'],
    [credential({ status: { token: '' } }), 'its output has neither a token nor a client certificate'],
    [
      credential({ status: { token: 'a', clientKeyData: 'b' } }),
      'its output has a client certificate without its key, or a key without its certificate',
    ],
    [credential({ status: { token: 'a', expirationTimestamp: 'soon' } }), 'its expirationTimestamp "soon" is not a time'],
    [`console.log('x'.repeat(2_000_000)); setInterval(() => undefined, 1000)`, 'its output exceeds 1048576 characters'],
    [`process.kill(process.pid, 'SIGTERM'); setInterval(() => undefined, 1000)`, 'it was ended by SIGTERM'],
  ] as const) {
    const { plugin } = await pluginOf(t, script)
    await t.rejects(plugin.load(false), { message }, script)
  }
})

t.test('a plugin that hangs is killed after a minute, unless a person may be answering it', async (t) => {
  const started = async (isTerminal: boolean): Promise<{ clock: FakeClock; loading: Promise<unknown>; pid: number }> => {
    const pidFile = join(t.testdir({}), 'pid')
    const script = `fs.writeFileSync(${JSON.stringify(`${pidFile}.new`)}, String(process.pid)); fs.renameSync(${JSON.stringify(`${pidFile}.new`)}, ${JSON.stringify(pidFile)}); setInterval(() => undefined, 1000)`
    const { plugin, clock } = await pluginOf(t, script, { isTerminal, exec: { interactiveMode: 'IfAvailable' } })
    const loading = plugin.load(false)
    loading.catch(() => undefined)
    await eventually(() => existsSync(pidFile))
    return { clock, loading, pid: Number(await readFile(pidFile, 'utf8')) }
  }
  const quiet = await started(false)
  await quiet.clock.advance(55_000)
  await t.rejects(quiet.loading, { message: 'it was killed, or did not end within 55 s' })
  t.equal(quiet.clock.pending, 0)

  const asking = await started(true)
  t.equal(asking.clock.pending, 0)
  process.kill(asking.pid, 'SIGTERM')
  await t.rejects(asking.loading, { message: 'it was ended by SIGTERM' })
})

t.test('a plugin that hangs ends with the process, which exits when the client is closed', async (t) => {
  const directory = t.testdir({})
  const pidFile = join(directory, 'pid')
  const config = join(directory, 'config')
  const script = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => undefined, 1000)`
  const exec = { apiVersion: v1, command: process.execPath, args: ['-e', script] }
  const content = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { exec } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  await writeFile(config, JSON.stringify(content))
  const program = `import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { loadConnection } from '${import.meta.resolve('../../src/client/kubeconfig.ts')}'
import { namespace } from '${import.meta.resolve('../../src/api/builtin.ts')}'
import { createClient } from '${import.meta.resolve('../../src/client/client.ts')}'
const client = createClient(await loadConnection({ kubeconfig: ${JSON.stringify(config)}, env: process.env }))
const failed = client.list(namespace).catch((error) => error.code)
while (!existsSync(${JSON.stringify(pidFile)})) await setTimeout(10)
await client.close()
console.log(await failed)`
  const child = spawn(process.execPath, ['--conditions=proreus-source', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.equal((await text(child.stdout)).trim(), 'PRO_ABORTED')
  const pid = Number(await readFile(pidFile, 'utf8'))
  await eventually(() => !existsSync(`/proc/${pid}`))
})

t.test('a child process of a killed plugin does not keep its load waiting', async (t) => {
  const ready = join(t.testdir({}), 'ready')
  const script = `require('node:child_process').spawn('sleep', ['15'], { stdio: 'inherit' }); fs.writeFileSync(${JSON.stringify(ready)}, ''); setInterval(() => undefined, 1000)`
  const { plugin, clock } = await pluginOf(t, script)
  const loading = t.rejects(plugin.load(false), { message: 'it was killed, or did not end within 55 s' })
  await eventually(() => existsSync(ready))
  const exits = process.listenerCount('exit')
  await clock.advance(55_000)
  await loading
  t.equal(process.listenerCount('exit'), exits - 1)
})

t.test('an error does not quote the output, which may contain a token', async (t) => {
  const { plugin } = await pluginOf(t, `console.log('{"token":"ya29.secret"')`)
  const error = await plugin.load(false).catch((thrown: Error) => thrown)
  t.equal((error as Error).cause, undefined)
})

t.test('a missing command is an error with its install hint', async (t) => {
  for (const [exec, hint] of [
    [{}, ''],
    [{ installHint: 'npm install it\n' }, ' (npm install it)'],
  ] as const) {
    const { plugin } = await pluginOf(t, '', { exec: { command: 'no-such-plugin', ...exec } })
    await t.rejects(plugin.load(false), { message: `the command was not found${hint}`, cause: { code: 'ENOENT' } })
  }
})

t.test('an invalid entry is refused', async (t) => {
  for (const [exec, message] of [
    [{ command: '' }, 'exec.command is missing'],
    [
      { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      `exec.apiVersion is "client.authentication.k8s.io/v1alpha1"; expected is ${v1} or client.authentication.k8s.io/v1beta1`,
    ],
    [{ interactiveMode: 'Sometimes' }, 'exec.interactiveMode is "Sometimes"; expected is Never, IfAvailable or Always'],
    [{ interactiveMode: 'Always' }, 'exec.interactiveMode is Always, but there is no terminal'],
  ] as const)
    await t.rejects(pluginOf(t, '', { exec }), { message })
})

t.test('a plugin may ask questions only on a terminal', async (t) => {
  const script = `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: JSON.parse(process.env.KUBERNETES_EXEC_INFO).apiVersion, status: { token: String(JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec.interactive) } }))`
  const v1beta1 = 'client.authentication.k8s.io/v1beta1'
  for (const [exec, isTerminal, expected] of [
    [{ interactiveMode: 'Never' }, true, false],
    [{ interactiveMode: 'IfAvailable' }, true, true],
    [{ interactiveMode: 'IfAvailable' }, false, false],
    [{ interactiveMode: 'Always' }, true, true],
    [{}, true, false],
    [{ apiVersion: v1beta1 }, true, true],
    [{ apiVersion: v1beta1 }, false, false],
  ] as const) {
    const { plugin } = await pluginOf(t, script, { exec, isTerminal })
    t.strictSame(await plugin.load(false), { authorization: `Bearer ${expected}` }, JSON.stringify([exec, isTerminal]))
  }
})
