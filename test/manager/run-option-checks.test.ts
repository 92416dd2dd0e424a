/**
 * Tests of the errors of `run`, `startControlPlane` and `startOperator` for invalid options. No compiler checks the options in a JavaScript
 * program.
 */
import t from 'tap'
import { createLogger, run, systemClock } from '../../src/index.ts'
import { systemRandom } from '../../src/runtime/random.ts'
import { checkRunOptions } from '../../src/manager/run-option-checks.ts'
import { FakeClock, startControlPlane } from '../../src/testing/index.ts'
import { startOperator } from '../../src/testing/operator.ts'
import { noteOperator } from '../support/manager/world.ts'

const connection = { server: 'https://127.0.0.1:1', describe: 'nothing' }

const cases: [string, object, string][] = [
  ['no connection', { connection: undefined }, 'connection: is missing'],
  ['a misspelled option', { namespcaes: ['a'] }, 'namespcaes: unknown field; did you mean namespaces?'],
  ['one namespace', { namespaces: 'a' }, 'namespaces: must be a list, found "a"'],
  ['an address as the connection', { connection: 'https://127.0.0.1:1' }, 'connection: must be an object, found "https://127.0.0.1:1"'],
  ['a misspelled part of the connection', { connection: { ...connection, Ca: '' } }, 'connection.Ca: unknown field; did you mean ca?'],
  ['an invalid port', { webhook: { port: 70_000 } }, 'webhook.port: must be a port from 0 (any free one) to 65535, found 70000'],
  ['a misspelled option of the webhooks', { webhook: { urll: 'a' } }, 'webhook.urll: unknown field; did you mean url?'],
  [
    'an invalid share of reviews',
    { webhook: { reviewLogSampling: 2 } },
    'webhook.reviewLogSampling: must be a number from 0 (none) to 1 (all), found 2',
  ],
  [
    'certificates without their kind',
    { certificates: { directory: 'a' } },
    'certificates.kind: must be one of "files", "secret", found undefined',
  ],
  ['a Secret without a name', { certificates: { kind: 'secret', namespace: 'a' } }, 'certificates.name: is missing'],
  ['a Secret with a folder', { certificates: { kind: 'files', directory: 'a', namespace: 'b' } }, 'certificates.namespace: unknown field'],
  ['half of the webhook configurations', { webhookConfigurations: { mutating: [] } }, 'webhookConfigurations.validating: is missing'],
  ['the other half', { webhookConfigurations: { validating: [] } }, 'webhookConfigurations.mutating: is missing'],
  ['an address as a number', { probeBindAddress: 8081 }, 'probeBindAddress: must be a string, found 8081'],
  ['no reconciles', { maxConcurrentReconciles: 0 }, 'maxConcurrentReconciles: must be a whole number of at least 1, found 0'],
  ['a time below zero', { drainDelayMs: -1 }, 'drainDelayMs: must be a number of milliseconds of at least 0, found -1'],
  ['a time in words', { drainDeadlineMs: '30s' }, 'drainDeadlineMs: must be a number of milliseconds of at least 0, found "30s"'],
  ['memory as text', { memoryLimitBytes: '1Gi' }, 'memoryLimitBytes: must be a whole number of at least 1, found "1Gi"'],
  ['a controller instead of its signal', { signal: new AbortController() }, 'signal: must be an AbortSignal, found an object'],
  ['no clock', { clock: { now: () => 0 } }, 'clock: must be a clock, with now, monotonicNow and after, found an object'],
  ['a number instead of its source', { random: 0.5 }, 'random: must be a function, found 0.5'],
  ['no logger', { logger: () => undefined }, 'logger: must be a logger, such as createLogger returns, found a function'],
  ['a callback that is not a function', { onStarted: true }, 'onStarted: must be a function, found true'],
]

for (const [name, options, problem] of cases)
  t.test(name, (t) =>
    t.rejects(run([noteOperator], { connection, ...options } as never), {
      code: 'PRO_CONFIG_INVALID',
      message: `The options of run are invalid: ${problem}.`,
    }),
  )

t.test('all problems are reported at once', (t) =>
  t.rejects(run([noteOperator], { instance: 1, a: 2 } as never), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The options of run are invalid: connection: is missing; instance: must be a string, found 1; a: unknown field.',
  }),
)

const wrong: [string, unknown, string][] = [
  ...['name', 'namespace', 'probeBindAddress', 'metricsBindAddress', 'metricsCertDir', 'debugBindAddress', 'instance'].map(
    (name): [string, unknown, string] => [name, 1, 'a string'],
  ),
  ...['metricsSecure', 'enableWebhooks'].map((name): [string, unknown, string] => [name, 1, 'true or false']),
  ...['onServing', 'onStarted'].map((name): [string, unknown, string] => [name, 1, 'a function']),
  ...['drainDelayMs', 'drainDeadlineMs'].map((name): [string, unknown, string] => [name, -1, 'a number of milliseconds of at least 0']),
  ...['host', 'url', 'service', 'tlsMinVersion'].map((name): [string, unknown, string] => [`webhook.${name}`, 1, 'a string']),
  ...['server', 'ca', 'serverName', 'proxyUrl', 'namespace', 'describe'].map((name): [string, unknown, string] => [
    `connection.${name}`,
    1,
    'a string',
  ]),
  ...['insecureSkipTlsVerify', 'inCluster'].map((name): [string, unknown, string] => [`connection.${name}`, 1, 'true or false']),
  ...['authorization', 'tls'].map((name): [string, unknown, string] => [`connection.${name}`, 1, 'a function']),
  ...['mutating', 'validating', 'definitions'].map((name): [string, unknown, string] => [`webhookConfigurations.${name}`, 1, 'a list']),
  ['connection.headers', 1, 'an object'],
  ['webhook.tlsCipherSuites', 1, 'a list'],
  ['namespaces', 1, 'a list'],
  ['metrics', 1, 'an object'],
  ['memoryLimitBytes', 0, 'a whole number of at least 1'],
  ...[-1, 65_536, 1.5].map((port): [string, unknown, string] => ['webhook.port', port, 'a port from 0 (any free one) to 65535']),
  ...[-0.1, 1.1].map((share): [string, unknown, string] => ['webhook.reviewLogSampling', share, 'a number from 0 (none) to 1 (all)']),
]

t.test('each option is reported with path, expected and found value', (t) => {
  const right = { connection, webhook: {}, webhookConfigurations: { mutating: [], validating: [] } }
  for (const [path, value, expected] of wrong) {
    const [option, field] = path.split('.') as [keyof typeof right, string?]
    const options = { ...right, [option]: field === undefined ? value : { ...right[option], [field]: value } }
    t.throws(
      () => checkRunOptions(options as never),
      { message: new RegExp(`: ${path}: must be ${escaped(expected)}, found ${value}\\.$`) },
      path,
    )
  }
  for (const part of ['now', 'monotonicNow', 'after']) refused('clock', { now, monotonicNow: now, after: now, [part]: 1 })
  for (const part of ['child', 'debug', 'info', 'warn', 'error'])
    refused('logger', { child: now, debug: now, info: now, warn: now, error: now, [part]: 1 })
  for (const part of ['addEventListener', 'throwIfAborted']) refused('signal', { addEventListener: now, throwIfAborted: now, [part]: 1 })
  for (const [kind, parts] of Object.entries({ files: ['directory'], secret: ['namespace', 'name'] }))
    for (const part of [...parts, 'names', 'ips'])
      refused('certificates', { kind, ...Object.fromEntries(parts.map((part) => [part, 'a'])), [part]: 1 })
  t.end()

  function refused(option: string, value: object): void {
    t.throws(() => checkRunOptions({ connection, [option]: value } as never), { code: 'PRO_CONFIG_INVALID' }, JSON.stringify(value))
  }
  function now(): number {
    return 0
  }
  function escaped(text: string): string {
    return text.replace(/[()]/g, '\\$&')
  }
})

t.test('valid options pass, and undefined counts as absent', async (t) => {
  const options = {
    connection: { ...connection, ofSomebodyElse: true },
    clock: new FakeClock(0),
    logger: createLogger({ level: 'silent' }),
    signal: new AbortController().signal,
    certificates: { kind: 'secret', namespace: 'a', name: 'b', names: ['c'] },
    webhook: { port: 0, reviewLogSampling: 1, tlsMinVersion: 'VersionTLS13', tlsCipherSuites: ['a'], host: '', url: 'b', service: 'c' },
    webhookConfigurations: { mutating: [], validating: [] },
    drainDelayMs: 0,
    memoryLimitBytes: undefined,
  } as const
  t.doesNotThrow(() => checkRunOptions({ connection, webhook: { port: 65_535, reviewLogSampling: 0 }, memoryLimitBytes: 1 }))
  t.doesNotThrow(() => checkRunOptions({ connection, certificates: { kind: 'files', directory: 'a', names: ['b'], ips: ['::1'] } }))
  t.doesNotThrow(() => checkRunOptions(options as never))
  t.doesNotThrow(() => checkRunOptions({ connection, clock: systemClock }))
})

t.test('startControlPlane checks its options alike', async (t) => {
  const cases: [object, string][] = [
    [{ namespace: ['a'] }, 'namespace: unknown field; did you mean namespaces?'],
    [{ backend: 'embeded' }, 'backend: must be one of "embedded", "binaries", "existing", found "embeded"'],
    [{ users: [{ name: 'a' }] }, 'users[0].rules: is missing'],
    [{ serviceAccounts: ['a/b'] }, 'serviceAccounts[0]: must be an object, found "a/b"'],
    [{ nodes: [{ labels: {} }] }, 'nodes[0].name: is missing'],
  ]
  for (const [options, problem] of cases)
    await t.rejects(startControlPlane(options), {
      code: 'PRO_CONFIG_INVALID',
      message: `The options of startControlPlane are invalid: ${problem}.`,
    })
})

t.test('startOperator checks its options alike', (t) =>
  t.rejects(
    startOperator(
      { connection, client: undefined as never, logger: undefined as never, clock: systemClock, random: systemRandom },
      [noteOperator],
      {
        namespace: 'a',
      } as never,
    ),
    {
      code: 'PRO_CONFIG_INVALID',
      message: 'The options of startOperator are invalid: namespace: unknown field; did you mean namespaces?.',
    },
  ),
)
