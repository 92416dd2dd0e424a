/**
 * Tests of users' mistakes. Each command must print one sentence with advice instead of a stack trace, and must not exit with code zero.
 */
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import type { Connection } from '../../src/client/connection.ts'
import { startDevCluster } from '../../src/testing/index.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { oldCertificates } from '../support/certs/old-certificates.ts'
import { freePort } from '../support/process/free-port.ts'
import { proreus } from '../support/process/process.ts'

const anyPorts = [
  ...['--webhook-host', '127.0.0.1', '--webhook-port', '0'],
  ...['--health-probe-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0'],
]
/** An environment without variables that contain the address of an API server or the path of a kubeconfig. */
const bare: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }

const rulesOfReader: readonly PolicyRule[] = [
  { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
]
const users = [
  { name: 'nobody', token: 'token-of-nobody', rules: [] },
  { name: 'reader', token: 'token-of-reader', rules: rulesOfReader },
]

t.test('mistakes of users are reported in one sentence', async (t) => {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger(), users })
  t.teardown(() => cluster.close())
  const cwd = t.testdir({
    kubeconfig: cluster.kubeconfigYaml(),
    wrong: await kubeconfigOf(cluster.connection, 'wrong'),
    nobody: await kubeconfigOf(cluster.connectionFor('nobody')),
    reader: await kubeconfigOf(cluster.connectionFor('reader')),
    unreachable: await kubeconfigOf({ ...cluster.connection, server: `https://127.0.0.1:${await freePort()}` }),
    'garbage.yaml': '{{{ : garbage\n\tmore',
    folder: {},
    file: 'not a folder',
    'colour.yaml': 'colour: red\n',
    'throws.ts': "export function fail(): never {\n  throw new Error('first line\\nsecond line')\n}\nfail()\n",
    'nothing.ts': 'export const other = 1\n',
    'broken.ts': 'const = \n',
    foreign: await oldCertificates({ days: 30, foreign: true }),
  })
  const as = (kubeconfig: string, ...args: string[]): string[] => [
    'run',
    '--operators',
    'mypod',
    '--kubeconfig',
    kubeconfig,
    ...anyPorts,
    ...args,
  ]
  const run = (...args: string[]): string[] => as('kubeconfig', ...args)
  const generate = (file: string): string[] => ['generate', '--operators', file]

  type Mistake = readonly [args: readonly string[], sentence: RegExp | string, env?: NodeJS.ProcessEnv, stack?: readonly string[]]

  /**
   * Checks that each command exits with 1. Apart from log lines, stderr may contain only one sentence. If a stack is expected, it must
   * follow the sentence.
   */
  async function oneSentence(t: Test, ...mistakes: Mistake[]): Promise<void> {
    const results = await Promise.all(mistakes.map(([args, , env]) => proreus(args, { cwd, env: { ...bare, ...env } })))
    for (const [index, { code, stderr }] of results.entries()) {
      const [args, sentence, , stack = []] = mistakes[index]!
      const [sentenceLine, ...below] = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
      t.equal(code, 1, `${args.join(' ')} exits with 1`)
      t.strictSame(below, stack)
      t.match(sentenceLine, sentence)
      t.match(sentenceLine, /^proreus: \S.*[.)]$/)
    }
  }

  await t.test('a port that is in use', async (t) => {
    const { address, port } = await occupiedPort(t)
    await oneSentence(
      t,
      [['dev', '--operators', 'none', '--port', port], `The address 127.0.0.1:${port} is in use`],
      [run('--webhook-port', port), /is in use .* --webhook-port/],
      [run('--health-probe-bind-address', address), /is in use .* --health-probe-bind-address/],
      [run('--metrics-bind-address', address), /is in use .* --metrics-bind-address/],
    )
  })

  await t.test('an invalid address', (t) =>
    oneSentence(
      t,
      [run('--health-probe-bind-address', 'here'), /write it as :8081/],
      [run('--webhook-host', '192.0.2.1'), /this machine has no such address/],
    ),
  )

  await t.test('a kubeconfig that cannot be read', (t) =>
    oneSentence(
      t,
      [['run', '--operators', 'mypod', '--kubeconfig', 'absent'], /kubeconfig absent does not exist: check --kubeconfig/],
      [['run', '--operators', 'mypod'], /kubeconfig absent does not exist: check --kubeconfig and KUBECONFIG/, { KUBECONFIG: 'absent' }],
      [['run', '--operators', 'mypod', '--kubeconfig', 'garbage.yaml'], /garbage\.yaml is not valid YAML: /],
      [['run', '--operators', 'mypod', '--kubeconfig', 'file'], /file is no kubeconfig: it must have clusters, users and contexts/],
      [['run', '--operators', 'mypod', '--kubeconfig', 'folder'], /folder is a folder: check --kubeconfig/],
      [run('--context', 'other'), /has no context "other": it has proreus\./],
      [['run', '--operators', 'mypod'], /No kubeconfig was found: name one with --kubeconfig or KUBECONFIG/, { HOME: cwd }],
    ),
  )

  await t.test('an API server that cannot be reached, or that does not accept the credentials', (t) =>
    oneSentence(
      t,
      [as('unreachable'), /Nothing answers at https:\/\/127\.0\.0\.1:\d+ \(connection refused\): start/],
      [as('wrong'), /Unauthorized \(https:\S+ does not accept the credentials of kubeconfig wrong, context x: renew them/],
      [as('wrong', '--install', '--webhook-url', 'https://localhost:9443'), /Unauthorized \(https:\S+ does not accept the credentials/],
    ),
  )

  await t.test('a missing permission', (t) =>
    oneSentence(
      t,
      [
        as('nobody'),
        /kubeconfig nobody, context x may not list and watch mypods\.harryyann\.github\.io in all namespaces, .*; grant it: apply config.rbac.role\.yaml/,
      ],
      [
        as('reader', '--install', '--webhook-url', 'https://localhost:9443'),
        /User "reader" cannot patch resource "customresourcedefinitions" .*: have an administrator/,
      ],
    ),
  )

  await t.test('an unknown operator', (t) =>
    oneSentence(
      t,
      [
        run('--operators', 'mypods'),
        /no operator "mypods"\. The shipped ones are: mypod, memcached, echo, cronjob, xxx; for your own operator/,
      ],
      [['dev', '--operators', 'mypods'], /no operator "mypods"\./],
      [generate('./absent.ts'), /\.\/absent\.ts does not exist: use a file/],
      [
        generate('./throws.ts'),
        /\.\/throws\.ts cannot be loaded: first line second line \(\.\/throws\.ts:2:9\)\.$/,
        {},
        framesOf('throws'),
      ],
      [generate('./broken.ts'), /\.\/broken\.ts cannot be loaded: .* \(\.\/broken\.ts:1:7\)\.$/],
      [generate('./nothing.ts'), /\.\/nothing\.ts exports no "operator" made with defineOperator/],
    ),
  )

  await t.test('an invalid option of a shipped operator', (t) =>
    oneSentence(t, [
      run('--operators', 'xxx'),
      /The environment variable XXX_OUTPUT is "\/opt"\. Expected: emptyDir, /,
      { XXX_OUTPUT: '/opt' },
    ]),
  )

  await t.test('no selected operators', (t) =>
    oneSentence(t, [['dev'], /No operators are selected: add --operators with your file, e\.g\. --operators \.\/my-operator\.ts/]),
  )

  await t.test('an installation that the API server cannot call', (t) =>
    oneSentence(t, [
      run('--install'),
      /--install outside a cluster needs the address at which the API server reaches the webhooks: add --webhook-url https:\/\/HOST:PORT /,
    ]),
  )

  await t.test('an invalid configuration file', (t) =>
    oneSentence(
      t,
      [['run', '--config', 'absent.yaml'], /absent\.yaml does not exist/],
      [['run', '--config', 'garbage.yaml'], /garbage\.yaml cannot be read: /],
      [['run', '--config', 'folder'], /folder cannot be read: /],
      [['run', '--config', 'colour.yaml'], /colour\.yaml: there is no option "colour"\. The options are: /],
    ),
  )

  await t.test('an invalid folder', (t) =>
    oneSentence(
      t,
      [['dev', '--operators', 'none', '--port', '0', '--state-dir', 'file'], /The folder file cannot be written: .*--state-dir/],
      [run('--cert-dir', 'file'), /file\/ca\.crt cannot be read: /],
      [['generate', '--operators', 'mypod', '--output', 'file'], /cannot be written to file: .* choose another one\./],
    ),
  )

  await t.test('a provided certificate that has expired', (t) =>
    oneSentence(t, [
      run('--cert-dir', 'foreign'),
      /tls\.crt cannot be used: the certificate expired on .* There is no ca\.key to issue another with: put a valid certificate and key there/,
    ]),
  )

  await t.test('unknown options exit with code 2', async (t) => {
    const cases: [string[], RegExp][] = [
      [['run', '--colour'], /unknown option '--colour'/],
      [['certs', 'issue', '--colour'], /unknown option '--colour'/],
      [['paint'], /unknown command 'paint'/],
      [['dev', '--port', '70000'], /a port is a number from 0/],
      [['run', '--webhook-url', 'http://here'], /write it as https:\/\/host:port\./],
      [['validate'], /missing required argument 'file'/],
    ]
    const results = await Promise.all(cases.map(([args]) => proreus(args, { cwd, env: bare })))
    for (const [index, { code, stderr }] of results.entries()) {
      const [args, sentence] = cases[index]!
      t.equal(code, 2, args.join(' '))
      t.match(stderr, sentence)
      const command = args.filter((arg) => ['run', 'certs', 'issue', 'dev', 'validate'].includes(arg))
      t.match(stderr, new RegExp(`^proreus: .*\\n\\(${['proreus', ...command].join(' ')} --help lists the commands and options\\)\\n$`))
    }
  })
})

/** Returns the stack that is printed when the file of an operator throws in a function `fail`. */
function framesOf(file: string): readonly string[] {
  return [`    at fail (./${file}.ts:2:9)`, `    at ./${file}.ts:4:1`]
}

async function kubeconfigOf({ server, ca = '', authorization }: Connection, token?: string): Promise<string> {
  const bearer = token ?? (await authorization?.())?.replace('Bearer ', '')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'u', user: { token: bearer } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
}

async function occupiedPort(t: Test): Promise<{ address: string; port: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  const port = String((server.address() as AddressInfo).port)
  return { address: `127.0.0.1:${port}`, port }
}
