import { createServer } from 'node:tls'
import assert from 'node:assert'
import type { Server } from 'node:tls'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { Client } from '../../src/client/client.ts'
import type { TransportOptions } from '../../src/client/transport.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { ServingCertificate } from '../../src/certs/serving-certificate.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { ControllerDefinition } from '../../src/controller/builder.ts'
import type { PreparedController } from '../../src/controller/prepared-controller.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { formatListenAddress } from '../support/listen-address.ts'
import type { Election } from '../../src/manager/leader-election.ts'
import type { LeaderElectorOptions, Term } from '../../src/leader-election/leader-elector.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import { runWith, type Endpoints, type Parts, type RunOptions } from '../../src/manager/run.ts'
import { createLogger, silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { FakeCache } from '../support/controller/fakes.ts'
import { freePort } from '../support/process/free-port.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const connection: Connection = { server: 'https://127.0.0.1:1', describe: 'a test' }

/** A certificate that is issued once, for all tests of this file. */
const pair = (async (): Promise<ServingCertificate> => {
  const authority = await issueAuthority(Date.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: Date.now() })
  return { ...leaf, caBundle: authority.cert, notAfter: new Date(Date.now() + 1_000_000) }
})()

function working(work: (stop: AbortSignal) => Promise<void>): PreparedController {
  return { work: ({ stop }) => work(stop), close: () => undefined }
}

/** A controller that logs its start and its end. When the controller is stopped, it calls `end`. */
function fakeController(name: string, log: string[], end: () => Promise<void> = async () => undefined): ControllerDefinition {
  return {
    name,
    type: kind,
    types: [kind],
    rbac: [],
    everyReplica: false,
    prepare: () =>
      working(async (stop) => {
        log.push(`${name} starts`)
        await untilAborted(stop)
        await end()
        log.push(`${name} ends`)
      }),
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
}

interface Life {
  readonly log: string[]
  readonly clock: FakeClock
  readonly stop: AbortController
  readonly done: Promise<void>
  readonly started: Promise<Endpoints>
  /** Sends a request for `path` to the server for probes. */
  probe(path: string): Promise<{ code: number; body: string }>
}

/** Calls `run` with fake components, each of which logs its steps. */
function start(
  t: { teardown(end: () => unknown): unknown },
  operators: (log: string[]) => readonly Operator[],
  options: Partial<RunOptions> = {},
  parts: (log: string[]) => Partial<Parts> = () => ({}),
): Life {
  const log: string[] = []
  const clock = new FakeClock()
  const stop = new AbortController()
  const started = Promise.withResolvers<Endpoints>()
  started.promise.catch(() => undefined)
  let endpoints: Endpoints | undefined
  const background = (name: string) => async (signal: AbortSignal) => {
    log.push(`${name} starts`)
    await untilAborted(signal)
    log.push(`${name} ends`)
  }
  const cache = Object.assign(new FakeCache(), {
    start: background('cache'),
    status: () => [{ type: 'things.example.com', version: 'v1', synced: false, objects: 0, lastError: 'no such CRD' }],
  })
  const fakes: Parts = {
    createTransport: () => transportThat(async () => void log.push('client closes')),
    checkPermissions: async () => void log.push('permissions'),
    openCertificates: async () => {
      log.push('certificates open')
      const current = await pair
      return { current: () => current, onChange: () => () => undefined, start: background('certificates') }
    },
    createWebhookServer: fakeWebhookServer(log, t),
    injectCaBundle: (_options, signal) => background('injection')(signal),
    createCache: () => cache,
    createElector: () => assert.fail('leader election is off'),
    ...parts(log),
  }
  const done = runWith(fakes, operators(log), {
    connection,
    signal: stop.signal,
    certificates: { kind: 'files', directory: 'unused' },
    drainDelayMs: 10_000,
    webhook: { host: '127.0.0.1', port: 0 },
    probeBindAddress: '127.0.0.1:0',
    metricsBindAddress: '0',
    logger: silentLogger(),
    clock,
    metrics: new Metrics(),
    ...options,
    onServing: async (...args) => {
      log.push('serving')
      await options.onServing?.(...args)
    },
    onStarted: async (...args) => {
      await options.onStarted?.(...args)
      endpoints = args[0]
      started.resolve(args[0])
    },
  })
  done.catch((error: unknown) => started.reject(error))
  t.teardown(async () => {
    stop.abort()
    await clock.advance(120_000)
    await done.catch(() => undefined)
  })
  const probe = async (path: string): Promise<{ code: number; body: string }> => {
    const response = await fetch(`http://${formatListenAddress((endpoints ?? (await started.promise)).probes!)}${path}`)
    return { code: response.status, body: await response.text() }
  }
  return { log, clock, stop, done, started: started.promise, probe }
}

/** Returns a transport whose responses contain the method and the path of the request. */
function transportThat(close: () => Promise<void>): Transport {
  return {
    request: async ({ method, path }) => ({ statusCode: 200, headers: {}, body: `${method} ${path}` }),
    stream: () => Promise.reject(new Error('nothing is streamed')),
    close,
  }
}

/** Returns a function that creates a fake webhook server. The server accepts TLS connections, but serves no HTTP. */
function fakeWebhookServer(log: string[], t: { teardown(end: () => unknown): unknown }): Parts['createWebhookServer'] {
  return (({ certificates }: Parameters<Parts['createWebhookServer']>[0]) => {
    let server: Server | undefined
    return {
      async start() {
        const { cert, key } = certificates.current()
        server = createServer({ cert, key }, (socket) => void socket.on('error', () => undefined).end())
        t.teardown(() => server?.close())
        server.listen(0, '127.0.0.1')
        await new Promise((resolve) => server?.once('listening', resolve))
        log.push('webhooks listen')
        const { port } = server.address() as AddressInfo
        return { port, url: `https://127.0.0.1:${port}` }
      },
      beginDrain: () => void log.push('webhooks drain'),
      stop: async (deadlineMs: number) => {
        log.push(`webhooks stop within ${deadlineMs}`)
        server?.close()
      },
    }
  }) as unknown as Parts['createWebhookServer']
}

const complete = (log: string[]): readonly Operator[] => [
  defineOperator({
    name: 'thing',
    kinds: [kind],
    webhooks: [defineWebhook(kind)],
    controllers: [fakeController('thing', log), fakeController('other', log)],
  }),
]

t.test('everything starts and stops in order', async (t) => {
  const life = start(t, complete)
  const endpoints = await life.started
  t.match(endpoints, { webhook: { url: /^https:\/\/127\.0\.0\.1:\d+$/, caBundle: /BEGIN CERTIFICATE/ }, probes: { host: '127.0.0.1' } })
  await life.clock.advance(0)
  t.strictSame(life.log, [
    'permissions',
    'certificates open',
    'certificates starts',
    'webhooks listen',
    'serving',
    'injection starts',
    'cache starts',
    'thing starts',
    'other starts',
  ])
  life.log.length = 0
  life.stop.abort()
  await life.clock.untilPending()
  t.strictSame(life.log, ['webhooks drain', 'thing ends', 'other ends'])
  await life.clock.advance(9_999)
  t.equal(life.log.length, 3, 'the webhooks keep accepting')
  await life.clock.advance(1)
  await life.done
  t.strictSame(life.log.slice(3), ['webhooks stop within 30000', 'cache ends', 'injection ends', 'certificates ends', 'client closes'])
  t.equal(life.clock.pending, 0)
})

t.test('a running reconcile may take as long as the webhooks accept and finish', async (t) => {
  let graceMs: number | undefined
  const controller: ControllerDefinition = {
    ...fakeController('thing', []),
    prepare(environment) {
      graceMs = environment.graceMs
      return working(untilAborted)
    },
  }
  const life = start(t, () => [defineOperator({ name: 'thing', kinds: [kind], controllers: [controller] })], {
    drainDelayMs: 2_000,
    drainDeadlineMs: 5_000,
  })
  await life.started
  await life.clock.advance(0)
  t.equal(graceMs, 7_000)
})

t.test('an operator with conversions only has no webhook configurations to wait for', async (t) => {
  const converted = defineKind({
    group: 'example.com',
    kind: 'Converted',
    versions: [
      { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
      { name: 'v2', spec: Type.Object({ replicas: Type.Integer() }) },
    ],
  })
  const conversion = defineConversion(converted, {
    converters: {
      v2: { toHub: ({ spec }) => ({ spec: { size: spec.replicas } }), fromHub: ({ spec }) => ({ spec: { replicas: spec.size } }) },
    },
  })
  const targets: object[] = []
  const injectCaBundle: Parts['injectCaBundle'] = async ({ mutating, validating, definitions }, signal) => {
    targets.push({ mutating, validating, definitions })
    await untilAborted(signal)
  }
  const converting = defineOperator({ name: 'converting', kinds: [converted], conversions: [conversion] })
  await start(
    t,
    () => [converting],
    {},
    () => ({ injectCaBundle }),
  ).started
  const both = defineOperator({ name: 'both', kinds: [converted], conversions: [conversion], webhooks: [defineWebhook(converted)] })
  await start(
    t,
    () => [both],
    {},
    () => ({ injectCaBundle }),
  ).started
  t.strictSame(targets, [
    { mutating: [], validating: [], definitions: ['converteds.example.com'] },
    { mutating: ['both-mutating'], validating: ['both-validating'], definitions: ['converteds.example.com'] },
  ])
})

t.test('readiness depends on the webhooks only, caches and controllers are shown', async (t) => {
  const failing: ControllerDefinition = {
    ...fakeController('failing', []),
    prepare: () => working(() => Promise.reject(new Error('out of luck'))),
  }
  const life = start(t, () => [defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind)], controllers: [failing] })])
  await life.started
  t.strictSame(await life.probe('/readyz'), { code: 200, body: 'ok' })
  t.strictSame(await life.probe('/readyz?verbose'), {
    code: 200,
    body: [
      '[+]ping ok',
      '[+]shutdown ok',
      '[+]webhook ok',
      '[~]cache/things.example.com: no such CRD (does not decide)',
      '[~]controller/failing: has failed: out of luck (does not decide)',
      'readyz check passed',
      '',
    ].join('\n'),
  })
  t.strictSame(await life.probe('/readyz/webhook'), { code: 200, body: 'ok' })
})

t.test('the readiness check connects to the host of the webhooks, and expects the name in their URL', async (t) => {
  for (const [webhook, problem] of [
    [{ host: '127.0.0.3', port: 0 }, / not answer/],
    [{ host: '127.0.0.1', port: 0, url: 'https://elsewhere:1' }, /caBundle trusts: .*elsewhere/],
  ] as const) {
    const life = start(t, complete, { webhook })
    await life.started
    t.match(await life.probe('/readyz/webhook'), { code: 500, body: problem })
  }
})

t.test('a controller that has ended by itself is named by the liveness probe', async (t) => {
  const broken = new AbortController()
  const failing: ControllerDefinition = {
    ...fakeController('failing', []),
    prepare: () =>
      working(async () => {
        await untilAborted(broken.signal)
        throw new Error('out of luck')
      }),
  }
  const life = start(t, (log) => [defineOperator({ name: 'thing', kinds: [kind], controllers: [failing, fakeController('working', log)] })])
  await life.started
  t.strictSame(await life.probe('/healthz'), { code: 200, body: 'ok' })
  broken.abort()
  await life.clock.advance(0)
  t.strictSame(await life.probe('/healthz'), {
    code: 500,
    body: '[+]ping ok\n[+]cache ok\n[-]controller/failing failed: has failed: out of luck\n[+]controller/working ok\nhealthz check failed\n',
  })
})

t.test('the process is not ready once the stop begins, and alive until its end', async (t) => {
  const life = start(t, complete)
  await life.started
  life.stop.abort()
  await life.clock.untilPending()
  const { code, body } = await life.probe('/readyz')
  t.equal(code, 500)
  t.match(body, /\[-\]shutdown failed: the process is ending/)
  t.strictSame(await life.probe('/healthz'), { code: 200, body: 'ok' })
  await life.clock.advance(10_000)
  await life.done
})

t.test('the process is not ready before its webhooks are', async (t) => {
  const listening = Promise.withResolvers<void>()
  const probePort = Promise.withResolvers<number>()
  const port = await freePort()
  const life = start(t, complete, { probeBindAddress: `127.0.0.1:${port}` }, () => ({
    openCertificates: async () => {
      probePort.resolve(port)
      await listening.promise
      throw new ProreusError('PRO_CERTIFICATE', 'no certificate')
    },
  }))
  await probePort.promise
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  t.equal(response.status, 500)
  t.match(await response.text(), /\[-\]webhook failed: the webhook server does not listen yet/)
  listening.resolve()
  await t.rejects(life.done, { code: 'PRO_CERTIFICATE' })
})

t.test('without webhooks nothing of them starts, and there is no drain delay', async (t) => {
  const life = start(t, (log) => [defineOperator({ name: 'thing', kinds: [kind], controllers: [fakeController('thing', log)] })])
  const { webhook } = await life.started
  t.equal(webhook, undefined)
  t.strictSame(await life.probe('/readyz'), { code: 200, body: 'ok' })
  life.stop.abort()
  await life.done
  t.strictSame(life.log, ['permissions', 'serving', 'cache starts', 'thing starts', 'thing ends', 'cache ends', 'client closes'])
})

t.test('a failed start stops what was started, and throws the reason', async (t) => {
  const failures: [string, Partial<Parts>, string[]][] = [
    ['permissions', { checkPermissions: () => Promise.reject(new ProreusError('PRO_PERMISSION', 'may not')) }, ['client closes']],
    [
      'certificates',
      { openCertificates: () => Promise.reject(new ProreusError('PRO_CERTIFICATE', 'is damaged')) },
      ['permissions', 'client closes'],
    ],
  ]
  for (const [name, parts, expected] of failures) {
    const life = start(t, complete, {}, () => parts)
    await t.rejects(life.done, ProreusError, name)
    t.strictSame(life.log, expected, name)
    t.equal(life.clock.pending, 0)
  }
  const life = start(t, complete, {
    onServing: () => {
      throw new Error('cannot install')
    },
  })
  await t.rejects(life.done, { message: 'cannot install' })
  t.strictSame(life.log.slice(-4), ['webhooks drain', 'webhooks stop within 5000', 'certificates ends', 'client closes'])
})

t.test('a stop during the start is orderly', async (t) => {
  const opening = Promise.withResolvers<void>()
  const life = start(t, complete, {}, (log) => ({
    checkPermissions: async () => {
      log.push('permissions')
      opening.resolve()
    },
  }))
  await opening.promise
  life.stop.abort()
  await life.done
  t.notOk(life.log.includes('cache starts'))
  t.equal(life.log.at(-1), 'client closes')
})

t.test('a stop during the installation starts nothing more', async (t) => {
  const life: Life = start(t, complete, { onServing: () => life.stop.abort() })
  await life.done
  t.strictSame(life.log, [
    'permissions',
    'certificates open',
    'certificates starts',
    'webhooks listen',
    'serving',
    'webhooks drain',
    'webhooks stop within 5000',
    'certificates ends',
    'client closes',
  ])
})

t.test('a stop while the certificates are opened starts no webhooks', async (t) => {
  const life: Life = start(t, complete, {}, (log) => ({
    openCertificates: async () => {
      life.stop.abort()
      const current = await pair
      return { current: () => current, onChange: () => () => undefined, start: async () => void log.push('certificates') }
    },
  }))
  await life.done
  t.strictSame(life.log, ['permissions', 'certificates', 'client closes'])
})

t.test('a stop does not wait for certificates that are still being opened', async (t) => {
  const opening = Promise.withResolvers<void>()
  const life = start(t, complete, {}, () => ({
    openCertificates: ({ signal }) => {
      opening.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  }))
  await opening.promise
  life.stop.abort()
  await life.done
  t.strictSame(life.log, ['permissions', 'client closes'])
})

t.test('onServing and onStarted receive the client of the process', async (t) => {
  const clients: Client[] = []
  const life = start(
    t,
    complete,
    { onServing: (_, served) => void clients.push(served), onStarted: (_, started) => void clients.push(started) },
    () => ({ createTransport: () => transportThat(async () => undefined) }),
  )
  await life.started
  t.equal(clients.length, 2)
  t.equal(clients[0], clients[1])
  t.equal(await clients[0]!.raw('/version'), 'GET /version')
})

t.test('warnings of the API server are logged once', async (t) => {
  const lines: string[] = []
  let warn: TransportOptions['onWarning']
  const life = start(
    t,
    complete,
    { logger: createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } }) },
    () => ({
      createTransport: (_connection, options) => {
        warn = options?.onWarning
        return transportThat(async () => undefined)
      },
    }),
  )
  await life.started
  for (let time = 0; time < 3; time += 1) warn?.('things v1 is deprecated', { method: 'GET', path: '/apis/example.com/v1/things' })
  t.equal(lines.length, 1)
  t.match(lines[0], /the API server warns: things v1 is deprecated/)
})

t.test('a reconcile that does not end is abandoned after the deadline', async (t) => {
  const life = start(
    t,
    (log) => [
      defineOperator({ name: 'thing', kinds: [kind], controllers: [fakeController('thing', log, () => new Promise(() => undefined))] }),
    ],
    { drainDelayMs: 0, drainDeadlineMs: 1000 },
  )
  await life.started
  life.stop.abort()
  await life.clock.untilPending()
  await life.clock.advance(1_999)
  t.notOk(life.log.includes('client closes'))
  await life.clock.advance(1)
  await life.done
  t.ok(life.log.includes('client closes'))
})

t.test('with empty webhookConfigurations no caBundle is injected', async (t) => {
  const life = start(t, complete, { webhookConfigurations: { mutating: [], validating: [] } })
  await life.started
  t.notOk(life.log.includes('injection starts'))
})

/** An elector that logs its steps. The test decides when a term begins. */
function fakeElector(log: string[]): { elector: Election; begin(): void } {
  const term = Promise.withResolvers<Term>()
  const elector: Election = {
    run: async (signal) => {
      log.push('the election starts')
      await untilAborted(signal)
      log.push('the election ends')
    },
    term: (signal) => Promise.race([term.promise, untilAborted(signal).then(() => Promise.reject(signal.reason as Error))]),
    guard: () => undefined,
    resign: async () => void log.push('resigns'),
  }
  return { elector, begin: () => term.resolve({ lost: new AbortController().signal }) }
}

t.test('controllers work while this replica is the leader; webhooks and controllers for every replica do not wait', async (t) => {
  let leaseDurationMs: number | undefined
  let fake: ReturnType<typeof fakeElector> | undefined
  let given: LeaderElectorOptions | undefined
  const life = start(
    t,
    (log) => {
      const thing = fakeController('thing', log)
      return [
        defineOperator({
          name: 'thing',
          kinds: [kind],
          webhooks: [defineWebhook(kind)],
          controllers: [
            { ...thing, prepare: (environment) => ((leaseDurationMs = environment.leaseDurationMs), thing.prepare(environment)) },
            { ...fakeController('local', log), everyReplica: true },
          ],
        }),
      ]
    },
    { leaderElection: true, namespace: 'ns', instance: 'pod-1' },
    (log) => ({
      createElector(options) {
        given = options
        return (fake = fakeElector(log)).elector
      },
    }),
  )
  await life.started
  await life.clock.advance(0)
  t.match(given, {
    lease: { namespace: 'ns', name: 'thing-leader' },
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    identity: /^pod-1_[0-9a-f-]{36}$/,
  })
  t.equal(leaseDurationMs, 15_000, 'the controllers need it for their time on standby')
  t.ok(life.log.includes('local starts'))
  t.notOk(life.log.includes('thing starts'))
  t.match(await life.probe('/readyz'), { code: 200 })
  t.match(await life.probe('/healthz?verbose'), { code: 200, body: /leader-election ok/ })
  fake?.begin()
  await life.clock.advance(0)
  t.ok(life.log.includes('thing starts'))
  life.stop.abort()
  await life.clock.advance(0)
  const order = life.log.filter((line) => /thing ends|resigns|webhooks stop/.test(line))
  t.strictSame(order, ['thing ends', 'resigns'], 'the next leader does not wait until the webhooks have stopped')
  await life.clock.advance(10_000)
  await life.done
  t.ok(life.log.includes('the election ends'))
})

t.test('an election that ends by itself is named by the liveness probe', async (t) => {
  const life = start(t, complete, { leaderElection: true }, (log) => ({
    createElector: () => ({ ...fakeElector(log).elector, run: () => Promise.reject(new Error('out of luck')) }),
  }))
  await life.started
  await life.clock.advance(0)
  t.match(await life.probe('/healthz'), { code: 500, body: /leader-election failed/ })
})
