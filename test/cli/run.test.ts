/** Tests of the options that `proreus run` derives from flags and environment variables and passes to the function `run`. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { runCommand } from '../../src/cli/run.ts'
import type { Client } from '../../src/client/client.ts'
import type { Operator } from '../../src/manager/operator.ts'
import type { RunOptions } from '../../src/manager/run-options.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { tlsCipherSuites } from '../../src/webhook/http/tls.ts'
import { recordingLogger } from '../support/recording-logger.ts'

interface Call {
  readonly operators: readonly Operator[]
  readonly options: RunOptions
  readonly lines: readonly string[]
}

const folder = t.testdir({
  kubeconfig: stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    contexts: [
      { name: 'x', context: { cluster: 'c', namespace: 'of-x' } },
      { name: 'y', context: { cluster: 'c', namespace: 'of-y' } },
    ],
    'current-context': 'x',
  }),
  account: { token: 'a-token', namespace: 'of-the-pod' },
  nameless: { token: 'a-token' },
  'proreus.yaml': 'watch-namespace: [a, b]\ninstall: false\ndrain-delay: 5s\n',
})
const outside = { KUBECONFIG: join(folder, 'kubeconfig'), KUBERNETES_SERVICE_HOST: '', PROREUS_OPERATORS: 'mypod' }
const inside = {
  KUBECONFIG: '',
  KUBERNETES_SERVICE_HOST: '127.0.0.1',
  KUBERNETES_SERVICE_PORT: '1',
  SERVICE_ACCOUNT_DIR: join(folder, 'account'),
  PROREUS_OPERATORS: 'mypod',
}

/**
 * Executes `proreus run` with these arguments and environment variables, and returns the arguments that the command passes to the function
 * `run`.
 */
async function called(args: readonly string[], environment: Readonly<Record<string, string>> = outside): Promise<Call> {
  let call: Omit<Call, 'lines'> | undefined
  let lines: readonly string[] = []
  const command = runCommand(
    async (operators, options) => void (call = { operators, options }),
    ({ logLevel }) => {
      const recording = recordingLogger(logLevel)
      lines = recording.lines
      return recording.logger
    },
  )
  const names = [...command.options.flatMap(({ envVar = [] }) => envVar), ...Object.keys(environment)]
  const before = names.map((name) => [name, process.env[name]] as const)
  for (const name of names) setVariable(name, environment[name])
  try {
    await command.parseAsync(args, { from: 'user' })
  } finally {
    for (const [name, value] of before) setVariable(name, value)
  }
  if (call === undefined) throw new Error('nothing was run')
  return { ...call, lines }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

/** Returns the options that can be compared, without the objects that every call creates anew. */
function plain({ connection: _, logger: __, ...options }: RunOptions): object {
  return options
}

const defaults = {
  name: 'mypod',
  namespaces: [],
  debugBindAddress: '0',
  drainDeadlineMs: 30_000,
  webhook: { port: 9443, reviewLogSampling: 0, tlsMinVersion: 'VersionTLS12', tlsCipherSuites },
}

t.test('without flags the operators run with default options', async (t) => {
  const { operators, options } = await called([])
  t.strictSame(operators, [mypodOperator])
  t.strictSame(plain(options), defaults, 'the others depend on the environment')
  t.equal(options.connection.server, 'https://127.0.0.1:1')
  t.equal(options.logger!.level, 'info')
  t.equal(options.signal, undefined, 'the function handles the signals of the process')
})

t.test('a configuration file applies where neither a flag nor a variable is set', async (t) => {
  const args = ['--config', join(folder, 'proreus.yaml')]
  t.strictSame(plain((await called(args)).options), { ...defaults, namespaces: ['a', 'b'], drainDelayMs: 5000 })
  t.strictSame(plain((await called([...args, '--watch-namespace', ''], { ...outside, DRAIN_DELAY: '1s' })).options), {
    ...defaults,
    drainDelayMs: 1000,
  })
})

const flags: [flag: string, variable: string, value: string, comesTo: Record<string, unknown> & { webhook?: object }][] = [
  ['--name', 'PROREUS_NAME', 'team-a', { name: 'team-a' }],
  ['--namespace', 'POD_NAMESPACE', 'own', { namespace: 'own' }],
  ['--watch-namespace', 'WATCH_NAMESPACE', 'a, b', { namespaces: ['a', 'b'] }],
  ['--webhook-host', 'WEBHOOK_HOST', '::1', { webhook: { host: '::1' } }],
  ['--webhook-port', 'WEBHOOK_PORT', '8443', { webhook: { port: 8443 } }],
  ['--webhook-url', 'WEBHOOK_URL', 'https://a:1', { webhook: { url: 'https://a:1' } }],
  ['--webhook-service', 'WEBHOOK_SERVICE', 'tunnel', { webhook: { service: 'tunnel' } }],
  ['--review-log-sampling', 'REVIEW_LOG_SAMPLING', '0.5', { webhook: { reviewLogSampling: 0.5 } }],
  ['--tls-min-version', 'TLS_MIN_VERSION', 'VersionTLS13', { webhook: { tlsMinVersion: 'VersionTLS13' } }],
  ['--tls-cipher-suites', 'TLS_CIPHER_SUITES', 'A,B', { webhook: { tlsCipherSuites: ['A', 'B'] } }],
  ['--memory-limit', 'MEMORY_LIMIT', '512Mi', { memoryLimitBytes: 536_870_912 }],
  ['--cert-dir', 'CERT_DIR', 'mine', { certificates: { kind: 'files', directory: 'mine' } }],
  ['--health-probe-bind-address', 'HEALTH_PROBE_BIND_ADDRESS', ':1', { probeBindAddress: ':1' }],
  ['--metrics-bind-address', 'METRICS_BIND_ADDRESS', ':2', { metricsBindAddress: ':2' }],
  ['--metrics-secure', 'METRICS_SECURE', 'false', { metricsSecure: false }],
  ['--metrics-cert-dir', 'METRICS_CERT_DIR', 'other', { metricsCertDir: 'other' }],
  ['--debug-bind-address', 'DEBUG_BIND_ADDRESS', ':6060', { debugBindAddress: ':6060' }],
  ['--drain-delay', 'DRAIN_DELAY', '1.5s', { drainDelayMs: 1500 }],
  ['--leader-elect', 'LEADER_ELECT', 'true', { leaderElection: true }],
  ['--leader-elect', 'LEADER_ELECT', 'false', { leaderElection: false }],
  ['--leader-elect-lease-duration', 'LEADER_ELECT_LEASE_DURATION', '30s', { leaderElection: { leaseDurationMs: 30_000 } }],
  ['--leader-elect-renew-deadline', 'LEADER_ELECT_RENEW_DEADLINE', '5s', { leaderElection: { renewDeadlineMs: 5_000 } }],
  ['--leader-elect-retry-period', 'LEADER_ELECT_RETRY_PERIOD', '1s', { leaderElection: { retryPeriodMs: 1_000 } }],
  ['--leader-elect-resource-name', 'LEADER_ELECT_RESOURCE_NAME', 'lock', { leaderElection: { name: 'lock' } }],
  ['--leader-elect-resource-namespace', 'LEADER_ELECT_RESOURCE_NAMESPACE', 'ns', { leaderElection: { namespace: 'ns' } }],
  ['--drain-deadline', 'DRAIN_DEADLINE', '2m', { drainDeadlineMs: 120_000 }],
  ['--log-level', 'LOG_LEVEL', 'silent', {}],
]
for (const [flag, variable, value, comesTo] of flags)
  t.test(`${flag}, or ${variable}, is an option of the run`, async (t) => {
    for (const { options } of [await called([flag, value]), await called([], { ...outside, [variable]: value })]) {
      t.strictSame(plain(options), { ...defaults, ...comesTo, webhook: { ...defaults.webhook, ...comesTo.webhook } })
      t.equal(options.logger!.level, flag === '--log-level' ? value : 'info')
    }
  })

t.test('a boolean flag alone stands for true, and does not take the next flag as its value', async (t) => {
  const bare = async (...args: string[]): Promise<object> => plain((await called(args)).options)
  t.strictSame(await bare('--leader-elect'), { ...defaults, leaderElection: true })
  t.strictSame(await bare('--leader-elect', '--health-probe-bind-address=:1'), {
    ...defaults,
    leaderElection: true,
    probeBindAddress: ':1',
  })
  t.strictSame(await bare('--leader-elect=true'), { ...defaults, leaderElection: true })
  t.strictSame(await bare('--leader-elect=false', '--name', 'a'), { ...defaults, leaderElection: false, name: 'a' })
  t.strictSame(await bare('--metrics-secure', '--metrics-bind-address', ':2'), {
    ...defaults,
    metricsSecure: true,
    metricsBindAddress: ':2',
  })
  t.strictSame(await bare('--enable-webhooks', '--leader-elect'), { ...defaults, leaderElection: true })
})

t.test('webhooks are disabled by a flag or a variable', async (t) => {
  for (const { operators, options } of [
    await called(['--enable-webhooks', 'false']),
    await called([], { ...outside, ENABLE_WEBHOOKS: 'false' }),
  ]) {
    t.strictSame(operators, [mypodOperator])
    t.strictSame(plain(options), { ...defaults, enableWebhooks: false })
  }
})

/**
 * Checks that the command line selects the certificate store `expected`. If `expected` is undefined, the command line must select no store.
 * The function `run` then uses its default store.
 */
async function certificates(
  t: Test,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  expected?: object,
): Promise<void> {
  t.strictSame((await called(args, environment)).options.certificates, expected, args.join(' '))
}

t.test('in a cluster, the Secret is in --namespace or the namespace of the Pod', async (t) => {
  const mine = ['--cert-secret', 'mine']
  await certificates(t, [], inside)
  await certificates(t, mine, inside, { kind: 'secret', namespace: 'of-the-pod', name: 'mine' })
  await certificates(t, [...mine, '--namespace', 'given'], inside, { kind: 'secret', namespace: 'given', name: 'mine' })
  await certificates(t, [...mine, '--cert-dir', 'folder'], inside, { kind: 'files', directory: 'folder' })
  await certificates(t, mine, outside)
  const nameless = { ...inside, SERVICE_ACCOUNT_DIR: join(folder, 'nameless') }
  await certificates(t, mine, nameless, { kind: 'secret', namespace: 'mypod-system', name: 'mine' })
  await certificates(
    t,
    ['--name', 'team-a'],
    { ...nameless, CERT_SECRET: 'mine' },
    { kind: 'secret', namespace: 'team-a-system', name: 'mine' },
  )
})

t.test('a Secret for the certificates is ignored outside a cluster, with a warning', async (t) => {
  const { options, lines } = await called(['--cert-secret', 'mine'])
  t.notOk('certificates' in options)
  t.strictSame(lines, [
    'warn: --cert-secret is ignored outside a cluster: the certificates are kept in the folder certs, or in that of --cert-dir.',
  ])
  t.strictSame((await called(['--cert-secret', 'mine', '--cert-dir', 'folder'])).lines, [])
  t.strictSame((await called(['--cert-secret', 'mine'], inside)).lines, [])
  t.strictSame((await called([])).lines, [])
})

t.test('the API server is that of the selected kubeconfig and context', async (t) => {
  t.match((await called([])).options.connection, { namespace: 'of-x' })
  t.match((await called(['--context', 'y'])).options.connection, { namespace: 'of-y' })
  t.match((await called(['--kubeconfig', outside.KUBECONFIG], inside)).options.connection, {
    server: 'https://127.0.0.1:1',
    namespace: 'of-x',
  })
  t.match((await called([], inside)).options.connection, { inCluster: true, namespace: 'of-the-pod' })
})

t.test('installation requires --install', async (t) => {
  const url = ['--webhook-url', 'https://a:1']
  t.match((await called([...url, '--install'])).options.onServing, Function)
  t.notOk('onServing' in (await called(url)).options)
})

t.test('an installation has the name of the run, and takes CRDs over with --force-conflicts only', async (t) => {
  const applied = async (...args: string[]): Promise<unknown[]> => {
    const { options } = await called(['--install', ...args])
    const writes: unknown[] = []
    const client = {
      apply: async ({ kind }: { kind: string }, _object: object, { fieldManager, force }: { fieldManager: string; force?: boolean }) =>
        void writes.push([kind, fieldManager, force]),
      get: async () => ({ status: { conditions: [{ type: 'Established', status: 'True' }] } }),
    } as unknown as Client
    await options.onServing!({ webhook: undefined, probes: undefined, metrics: undefined, debug: undefined }, client)
    return writes
  }
  const url = ['--webhook-url', 'https://a:1']
  const configurations = (manager: string): unknown[] =>
    ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind) => [kind, manager, undefined])
  t.strictSame(await applied(...url), [['CustomResourceDefinition', 'mypod-install', false], ...configurations('mypod-install')])
  t.strictSame(await applied(...url, '--force-conflicts', '--name', 'team-a'), [
    ['CustomResourceDefinition', 'team-a-install', true],
    ...configurations('team-a-install'),
  ])
  t.strictSame(await applied('--enable-webhooks', 'false'), [['CustomResourceDefinition', 'mypod-install', false]], 'no webhooks')
  await t.rejects(applied(), { code: 'PRO_CONFIG_INVALID', message: /^--install outside a cluster needs the address/ })
})

t.test('a configuration file is overridden by flags and variables', async (t) => {
  const config = ['--config', join(folder, 'proreus.yaml')]
  t.strictSame((await called(config)).options.namespaces, ['a', 'b'])
  t.strictSame((await called([...config, '--watch-namespace', 'c'])).options.namespaces, ['c'])
  t.strictSame((await called(config, { ...outside, WATCH_NAMESPACE: 'd' })).options.namespaces, ['d'])
})
