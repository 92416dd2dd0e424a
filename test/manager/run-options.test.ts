import { hostname } from 'node:os'
import t from 'tap'
import { systemClock } from '../../src/runtime/clock.ts'
import { systemRandom } from '../../src/runtime/random.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { RunOptions } from '../../src/manager/run-options.ts'
import { serviceOf, withDefaults } from '../../src/manager/run-options.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { noteOperator } from '../support/manager/world.ts'

const outside: Connection = { server: 'https://127.0.0.1:1', describe: 'a test', namespace: 'of-the-connection' }
const inside: Connection = { ...outside, inCluster: true }
const ofEverybody = {
  names: namesOf('note'),
  webhook: {},
  webhookConfigurations: { mutating: ['note-mutating'], validating: ['note-validating'] },
  drainDeadlineMs: 30_000,
  saveMemory: true,
  instance: hostname(),
}

t.test('the namespace of the process is the given one, that of the Pod, or its own, in this order', async (t) => {
  const namespaceIn = (options: RunOptions): string => serviceOf(namesOf('note'), options).namespace
  t.equal(namespaceIn({ connection: inside, namespace: 'given' }), 'given')
  t.equal(namespaceIn({ connection: inside }), 'of-the-connection')
  t.equal(namespaceIn({ connection: outside, namespace: 'given' }), 'given')
  t.equal(
    namespaceIn({ connection: outside }),
    'note-system',
    'the namespace of a context is for commands that read and write, not for this process',
  )
})

t.test('the Service is the given one', (t) => {
  t.strictSame(serviceOf(namesOf('note'), { connection: outside, webhook: { service: 'tunnel' } }), {
    namespace: 'note-system',
    name: 'tunnel',
  })
  const { namespace, ...nameless } = inside
  t.strictSame(
    serviceOf(namesOf('note'), { connection: nameless }),
    { namespace: 'note-system', name: 'note-webhook' },
    `not of ${namespace}`,
  )
  t.end()
})

/** Returns the options that can be compared. Omits the objects that are created anew for each run. */
function plain({
  connection: _,
  logger: __,
  clock: ___,
  metrics: ____,
  random: _____,
  ...options
}: ReturnType<typeof withDefaults>): object {
  return options
}

t.test('given options are used', (t) => {
  const input = {
    connection: inside,
    name: 'team-a',
    namespace: 'own',
    certificates: { kind: 'files', directory: 'mine' },
    webhook: { port: 1, service: 'tunnel' },
    webhookConfigurations: { mutating: [], validating: ['a'], definitions: [] },
    probeBindAddress: ':1',
    metricsBindAddress: '0',
    metricsSecure: true,
    metricsCertDir: 'elsewhere',
    debugBindAddress: '127.0.0.1:6060',
    drainDelayMs: 0,
    drainDeadlineMs: 0,
    saveMemory: false,
    leaderElection: { name: 'lock', namespace: 'elsewhere', leaseDurationMs: 20_000 },
    instance: 'me',
    logger: silentLogger(),
    clock: new FakeClock(),
    random: () => 0.5,
    metrics: new Metrics(),
  } as const
  const complete = withDefaults([noteOperator], input)
  const leaderElection = {
    lease: { name: 'lock', namespace: 'elsewhere' },
    leaseDurationMs: 20_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  }
  t.strictSame(complete, { ...input, leaderElection, names: namesOf('team-a'), service: { namespace: 'own', name: 'tunnel' } })
  for (const part of ['logger', 'clock', 'random', 'metrics'] as const) t.equal(complete[part], input[part])
  t.end()
})

t.test('omitted options have defaults', async (t) => {
  const { logger, clock, random, metrics } = withDefaults([noteOperator], { connection: outside })
  t.equal(logger.level, 'info')
  t.equal(clock, systemClock)
  t.equal(random, systemRandom)
  t.match(await metrics.registry.metrics(), /^process_resident_memory_bytes \d+$/m)
})

t.test('in a cluster, servers listen on all addresses, certificates are in a Secret, and there is a drain delay', async (t) => {
  t.strictSame(plain(withDefaults([noteOperator], { connection: inside })), {
    ...ofEverybody,
    certificates: { kind: 'secret', namespace: 'of-the-connection', name: 'note-webhook-ca' },
    service: { namespace: 'of-the-connection', name: 'note-webhook' },
    probeBindAddress: ':8081',
    metricsBindAddress: ':8443',
    metricsSecure: true,
    debugBindAddress: '0',
    leaderElection: {
      lease: { namespace: 'of-the-connection', name: 'note-leader' },
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    },
    drainDelayMs: 10_000,
  })
})

t.test('outside a cluster, servers listen on loopback, certificates are in files, and there is no drain delay', async (t) => {
  t.strictSame(plain(withDefaults([noteOperator], { connection: outside })), {
    ...ofEverybody,
    certificates: { kind: 'files', directory: 'certs' },
    service: { namespace: 'note-system', name: 'note-webhook' },
    probeBindAddress: '127.0.0.1:8081',
    metricsBindAddress: '127.0.0.1:8080',
    metricsSecure: false,
    debugBindAddress: '0',
    leaderElection: undefined,
    drainDelayMs: 0,
  })
})

t.test('metrics are plain only on loopback outside a cluster, or by choice', async (t) => {
  const metricsOf = (connection: Connection, options: Partial<RunOptions>): unknown[] => {
    const { metricsBindAddress, metricsSecure } = withDefaults([noteOperator], { connection, ...options })
    return [metricsBindAddress, metricsSecure]
  }
  t.strictSame(metricsOf(inside, { metricsSecure: false }), [':8080', false])
  t.strictSame(metricsOf(inside, { metricsBindAddress: '127.0.0.1:1' }), ['127.0.0.1:1', true])
  t.strictSame(metricsOf(outside, { metricsBindAddress: ':1' }), [':1', true])
  t.strictSame(metricsOf(outside, { metricsBindAddress: '[::1]:1' }), ['[::1]:1', false])
  t.strictSame(metricsOf(outside, { metricsBindAddress: '0' }), ['0', false])
  t.strictSame(metricsOf(outside, { metricsSecure: true }), ['127.0.0.1:8080', true])
})

t.test('debugging without a host is on loopback', async (t) => {
  t.equal(withDefaults([noteOperator], { connection: inside, debugBindAddress: ':6060' }).debugBindAddress, '127.0.0.1:6060')
  t.equal(withDefaults([noteOperator], { connection: inside, debugBindAddress: '0.0.0.0:6060' }).debugBindAddress, '0.0.0.0:6060')
})
