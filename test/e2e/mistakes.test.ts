/** What people get wrong: one clear sentence with what to do and a non-zero exit, or a repair; never a stack trace. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { Connection } from '../../src/client/connection.ts'
import { startDevCluster } from '../../src/testing/index.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { freePort, logLines, startOperator } from '../support/operator.ts'
import { proreus, repository, startProreus, until } from '../support/process.ts'

const day = 24 * 3_600_000
const anyPorts = [
  ...['--webhook-host', '127.0.0.1', '--webhook-port', '0'],
  ...['--health-probe-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0'],
]
/** An environment in which no API server is named. */
const bare: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }

const read: PolicyRule['verbs'] = ['get', 'list', 'watch']
const users = [
  { name: 'nobody', token: 'token-of-nobody', rules: [] },
  {
    name: 'reader',
    token: 'token-of-reader',
    rules: [
      { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: read },
      { apiGroups: [''], resources: ['pods'], verbs: read },
    ],
  },
]

/** Runs a command that must fail with nothing on stderr but log lines and one sentence. */
async function sentence(
  t: Test,
  args: readonly string[],
  { cwd, env = bare, code = 1 }: { cwd: string; env?: NodeJS.ProcessEnv; code?: number },
): Promise<string> {
  const result = await proreus(args, { cwd, env })
  const said = result.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  t.equal(result.code, code, `${args.join(' ')}: ends with ${code}`)
  t.notMatch(result.stderr, /^ {4}at /m, 'no stack trace')
  t.equal(said.length, 1, `one sentence: ${said.join('\n')}`)
  t.match(said[0], /^proreus: \S.*[.)]$/)
  return said[0] ?? ''
}

async function kubeconfigOf(connection: Connection, token?: string): Promise<string> {
  const bearer = token ?? (await connection.authorization?.())?.replace('Bearer ', '')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: { server: connection.server, 'certificate-authority-data': Buffer.from(connection.ca ?? '').toString('base64') },
      },
    ],
    users: [{ name: 'u', user: { token: bearer } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
}

t.test('mistakes', async (t) => {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger(), users })
  t.teardown(() => cluster.close())
  const cwd = t.testdir({
    kubeconfig: cluster.kubeconfigYaml(),
    wrong: await kubeconfigOf(cluster.connection, 'wrong'),
    nobody: await kubeconfigOf(cluster.connectionFor('nobody')),
    reader: await kubeconfigOf(cluster.connectionFor('reader')),
    'unreachable.yaml': await kubeconfigOf({ ...cluster.connection, server: `https://127.0.0.1:${await freePort()}` }),
    'garbage.yaml': '{{{ : garbage\n\tmore',
    folder: {},
    file: 'not a folder',
    'colour.yaml': 'colour: red\n',
    'throws.ts': "throw new Error('first line\\nsecond line')\n",
    'nothing.ts': 'export const other = 1\n',
    'broken.ts': 'const = \n',
    'valid.yaml': readFileSync(join(repository, 'config/samples/mypod.yaml'), 'utf8'),
    'invalid.yaml': readFileSync(join(repository, 'config/samples/invalid/mypod-several-errors.yaml'), 'utf8'),
  })
  const run = (...args: string[]): string[] => ['run', '--kubeconfig', 'kubeconfig', ...anyPorts, ...args]

  await t.test('a port that is in use', async (t) => {
    const { address, port } = await occupiedPort(t)
    t.match(await sentence(t, ['dev', '--operators', 'none', '--port', port], { cwd }), `Port ${port} on 127.0.0.1 is in use`)
    t.match(await sentence(t, run('--webhook-port', port), { cwd }), `Port ${port} for the webhooks is in use`)
    t.match(await sentence(t, run('--health-probe-bind-address', address), { cwd }), /is in use .* --health-probe-bind-address/)
    t.match(await sentence(t, run('--metrics-bind-address', address), { cwd }), /is in use .* --metrics-bind-address/)
  })

  await t.test('an address that is none', async (t) => {
    t.match(await sentence(t, run('--health-probe-bind-address', 'here'), { cwd }), /write it as :8081/)
    t.match(await sentence(t, run('--webhook-host', '192.0.2.1'), { cwd }), /this machine has no such address/)
    t.match(await sentence(t, run('--install', '--webhook-url', 'here'), { cwd, code: 2 }), /https:\/\/host:port/)
    t.match(await sentence(t, run('--install', '--webhook-url', 'http://here'), { cwd, code: 2 }), /https:\/\/host:port/)
  })

  await t.test('a kubeconfig that cannot be read', async (t) => {
    t.match(await sentence(t, ['run', '--kubeconfig', 'absent'], { cwd }), /kubeconfig absent does not exist: check --kubeconfig/)
    t.match(
      await sentence(t, ['run'], { cwd, env: { ...bare, KUBECONFIG: 'absent' } }),
      /absent does not exist: check --kubeconfig and KUBECONFIG/,
    )
    t.match(await sentence(t, ['run', '--kubeconfig', 'garbage.yaml'], { cwd }), /garbage\.yaml is not valid YAML: /)
    t.match(await sentence(t, ['run', '--kubeconfig', 'file'], { cwd }), /file is no kubeconfig: it must have clusters, users and contexts/)
    t.match(await sentence(t, ['run', '--kubeconfig', 'folder'], { cwd }), /folder is a folder: check --kubeconfig/)
    t.match(await sentence(t, run('--context', 'other'), { cwd }), /has no context "other": it has proreus\./)
    t.match(
      await sentence(t, ['run'], { cwd, env: { ...bare, HOME: cwd } }),
      /No kubeconfig was found: name one with --kubeconfig or KUBECONFIG/,
    )
  })

  await t.test('an API server that cannot be reached, or that lets nobody in', async (t) => {
    t.match(
      await sentence(t, ['run', '--kubeconfig', 'unreachable.yaml', ...anyPorts], { cwd }),
      /Nothing answers at https:\/\/127\.0\.0\.1:\d+ \(connection refused\): start/,
    )
    for (const install of [[], ['--install']]) {
      const said = await sentence(t, ['run', '--kubeconfig', 'wrong', ...anyPorts, ...install], { cwd })
      t.match(said, /Unauthorized \(https:\S+ does not accept the credentials of kubeconfig wrong, context x: renew them/)
    }
  })

  await t.test('a permission that is missing', async (t) => {
    t.match(
      await sentence(t, ['run', '--kubeconfig', 'nobody', ...anyPorts], { cwd }),
      /kubeconfig nobody, context x may not list and watch mypods\.harryyann\.github\.io in all namespaces, .*: grant it with/,
    )
    t.match(
      await sentence(t, ['run', '--kubeconfig', 'reader', '--install', ...anyPorts], { cwd }),
      /User "reader" cannot patch resource "customresourcedefinitions" .*: have an administrator/,
    )
  })

  await t.test('an operator that is none', async (t) => {
    for (const command of ['run', 'dev', 'generate']) {
      t.match(
        await sentence(t, [command, '--operators', 'mypods'], { cwd }),
        /no operator "mypods"\. The shipped ones are: mypod; for one of your own/,
      )
    }
    t.match(await sentence(t, ['generate', '--operators', './absent.ts'], { cwd }), /\.\/absent\.ts does not exist: give a file/)
    t.match(
      await sentence(t, ['generate', '--operators', './throws.ts'], { cwd }),
      /\.\/throws\.ts cannot be loaded: first line second line\./,
    )
    t.match(await sentence(t, ['generate', '--operators', './broken.ts'], { cwd }), /\.\/broken\.ts cannot be loaded: /)
    t.match(
      await sentence(t, ['generate', '--operators', './nothing.ts'], { cwd }),
      /\.\/nothing\.ts exports no "operator" made with defineOperator/,
    )
  })

  await t.test('options that are none', async (t) => {
    const cases: [string[], RegExp][] = [
      [['run', '--colour'], /^proreus: unknown option '--colour'/],
      [['certs', 'issue', '--colour'], /^proreus: unknown option '--colour'/],
      [['paint'], /^proreus: unknown command 'paint'/],
      [['dev', '--port', '70000'], /a port is a number from 0/],
      [['run', '--drain-delay', '5'], /a duration is a number with ms, s, m or h/],
      [['validate'], /missing required argument 'file'/],
    ]
    for (const [args, text] of cases) {
      const { code, stderr } = await proreus(args, { cwd, env: bare })
      t.equal(code, 2, args.join(' '))
      t.match(stderr, text)
      t.match(stderr, /^proreus: .*\n\(proreus --help shows what there is\)\n$/)
    }
  })

  await t.test('a configuration file that cannot be used', async (t) => {
    t.match(await sentence(t, ['run', '--config', 'absent.yaml'], { cwd }), /absent\.yaml does not exist/)
    t.match(await sentence(t, ['run', '--config', 'garbage.yaml'], { cwd }), /garbage\.yaml cannot be read: /)
    t.match(await sentence(t, ['run', '--config', 'folder'], { cwd }), /folder cannot be read: /)
    t.match(await sentence(t, ['run', '--config', 'colour.yaml'], { cwd }), /colour\.yaml: there is no option "colour"\. The options are: /)
  })

  await t.test('a folder that is none', async (t) => {
    t.match(await sentence(t, ['dev', '--port', '0', '--state-dir', 'file'], { cwd }), /file\/kubeconfig cannot be replaced: .*--state-dir/)
    t.match(await sentence(t, run('--cert-dir', 'file'), { cwd }), /file\/ca\.crt cannot be read: /)
    t.match(await sentence(t, ['generate', '--output', 'file'], { cwd }), /cannot be written to file: .* choose another one\./)
  })

  await t.test("somebody else's certificate that has expired", async (t) => {
    const { authority, leaf } = await issued(Date.now() - 30 * day)
    const certs = t.testdir({ 'ca.crt': authority.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key })
    t.match(
      await sentence(t, run('--cert-dir', certs), { cwd }),
      /tls\.crt cannot be used: .*expired.*There is no ca\.key .*: put a valid certificate/,
    )
  })

  await t.test('certificates of our own that cannot be used are replaced, with one warning', async (t) => {
    const cases: [string, number, Record<string, string>, RegExp][] = [
      ['the certificate has expired', 30, {}, /replaced .*tls\.crt: .*expired/],
      ['the authority has expired', 400, {}, /replaced the certificate authority .*: .*expired/],
      ['the key of the authority is garbage', 0, { 'ca.key': 'garbage' }, /replaced the certificate authority .*: the key cannot be read/],
      ['the certificate is garbage', 0, { 'tls.crt': 'garbage' }, /replaced .*tls\.crt: /],
    ]
    for (const [name, days, damage, warning] of cases) {
      await t.test(name, async (t) => {
        const { authority, leaf } = await issued(Date.now() - days * day)
        const certs = { 'ca.crt': authority.cert, 'ca.key': authority.key, 'tls.crt': leaf.cert, 'tls.key': leaf.key, ...damage }
        const directory = t.testdir({ kubeconfig: cluster.kubeconfigYaml(), certs })
        const options = { directory, kubeconfig: join(directory, 'kubeconfig'), args: ['--drain-delay', '0s'] }
        const { running, probesUrl } = await startOperator(t, options, await freePort())
        await until('it is ready', async () => (await fetch(`${probesUrl}/readyz`)).ok)
        t.equal((await proreus(['certs', 'verify', '--ip', '127.0.0.1'], { cwd: directory })).code, 0)
        t.equal(await running.stop(), 0)
        const warnings = logLines(running.output()).filter(({ level }) => level === 'warn')
        t.equal(warnings.length, 1, JSON.stringify(warnings))
        t.match(warnings[0]?.msg, warning)
      })
    }
  })

  await t.test('a damaged state file is replaced, with one warning', async (t) => {
    const directory = t.testdir({ '.proreus': { 'state.json': 'garbage', kubeconfig: 'old' } })
    const running = startProreus(['dev', '--operators', 'none', '--port', '0'], { cwd: directory })
    t.teardown(() => running.stop('SIGKILL'))
    await until('it is ready', () => logLines(running.output()).some(({ msg }) => msg === 'ready'))
    t.match(readFileSync(join(directory, '.proreus/kubeconfig'), 'utf8'), /^apiVersion: v1\nkind: Config\n/)
    t.equal(await running.stop(), 0)
    const warnings = logLines(running.output()).filter(({ level }) => level === 'warn')
    t.equal(warnings.length, 1)
    t.match(warnings[0]?.msg, /state\.json is replaced because it is no JSON: clients need the new kubeconfig\./)
    t.type((JSON.parse(readFileSync(join(directory, '.proreus/state.json'), 'utf8')) as { token: unknown }).token, 'string')
  })

  await t.test('validate tells valid, invalid and unreadable apart', async (t) => {
    const validate = (...args: string[]): ReturnType<typeof proreus> => proreus(['validate', ...args], { cwd, env: bare })
    t.match(await validate('valid.yaml'), { code: 0, stdout: 'valid.yaml: MyPod "mypod-sample" is valid\n', stderr: '' })
    const invalid = await validate('valid.yaml', 'invalid.yaml')
    t.match(invalid, { code: 1, stderr: '' })
    t.match(invalid.stdout, /invalid\.yaml: The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)
    const unreadable = await validate('invalid.yaml', 'garbage.yaml', 'absent.yaml', 'valid.yaml')
    t.equal(unreadable.code, 2)
    t.match(unreadable.stderr, /^garbage\.yaml: .*\nabsent\.yaml: .*\n$/)
    t.match(unreadable.stdout, /"mypod-sample" is valid\n$/, 'the rest is judged all the same')
    const json = await validate('-o', 'json', 'valid.yaml', 'invalid.yaml')
    t.equal(json.code, 1)
    t.match(JSON.parse(json.stdout), [
      { source: 'valid.yaml', kind: 'MyPod', name: 'mypod-sample', valid: true },
      { source: 'invalid.yaml', valid: false, errors: [{ path: /^spec\./, reason: /^FieldValue/, message: /./ }] },
    ])
    const piped = await proreus(['validate', '-'], { cwd, env: bare, input: readFileSync(join(cwd, 'valid.yaml'), 'utf8') })
    t.match(piped, { code: 0, stdout: '-: MyPod "mypod-sample" is valid\n' })
  })

  await t.test('generate --check finds drift and writes nothing', async (t) => {
    const directory = t.testdir()
    const generate = (...args: string[]): ReturnType<typeof proreus> => proreus(['generate', ...args], { cwd: directory, env: bare })
    t.equal((await generate()).code, 0)
    t.match(await generate('--check'), { code: 0, stdout: '', stderr: '' })
    const role = join(directory, 'config/rbac/role.yaml')
    writeFileSync(role, 'changed')
    writeFileSync(join(directory, 'config/crd/bases/old.yaml'), 'old')
    const drifted = await generate('--check')
    t.equal(drifted.code, 1)
    t.match(drifted.stdout, /^not up to date: config\/crd\/bases\/old\.yaml\nnot up to date: config\/rbac\/role\.yaml\n/)
    t.equal(readFileSync(role, 'utf8'), 'changed')
    t.equal((await generate()).code, 0)
    t.equal((await generate('--check')).code, 0)
  })

  await t.test('certificates are issued, shown and verified', async (t) => {
    const directory = t.testdir()
    const certs = (...args: string[]): ReturnType<typeof proreus> => proreus(['certs', ...args], { cwd: directory, env: bare })
    t.match(await certs('verify'), {
      code: 1,
      stderr: 'certs/tls.crt is missing: `proreus certs issue` makes it.\ncerts/tls.key is missing: `proreus certs issue` makes it.\n',
    })
    const issue = await certs('issue', '--name', 'hooks.example.com')
    t.match(issue, { code: 0, stderr: '' })
    t.match(issue.stdout, /DNS:localhost, DNS:hooks\.example\.com, IP Address:127\.0\.0\.1/)
    t.match(await certs('show'), { code: 0, stdout: issue.stdout })
    t.match(await certs('verify', '--name', 'hooks.example.com', '--ip', '127.0.0.1'), {
      code: 0,
      stdout: 'The certificate in certs is valid.\n',
    })
    t.match(await certs('verify', '--name', 'other.example.com'), { code: 1, stderr: 'certs/tls.crt: not for other.example.com.\n' })
    t.equal((await certs('issue', '--name', 'hooks.example.com')).stdout, issue.stdout, 'what is good stays')
  })
})

async function occupiedPort(t: Test): Promise<{ address: string; port: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  const port = String((server.address() as AddressInfo).port)
  return { address: `127.0.0.1:${port}`, port }
}

/** An authority and a certificate as they would have been made at that time. */
async function issued(now: number): Promise<{ authority: { cert: string; key: string }; leaf: { cert: string; key: string } }> {
  const authority = await issueAuthority(now)
  return {
    authority,
    leaf: await issueLeaf(authority, { names: ['localhost', 'proreus-webhook.proreus-system.svc'], ips: ['127.0.0.1', '::1'], now }),
  }
}
