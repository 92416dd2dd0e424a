import { createServer } from 'node:tls'
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
import { defineConversion } from '../../src/conversion/definition.ts'
import { formatListenAddress } from '../../src/manager/listen-address.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import { runWith, type Endpoints, type Parts, type RunOptions } from '../../src/manager/run.ts'
import { createLogger, silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import { FakeCache } from '../support/controller-fakes.ts'
import { freePort } from '../support/free-port.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const connection: Connection = { server: 'https://127.0.0.1:1', describe: 'a test' }

/** Issued once: every test serves the same pair. */
const pair = (async (): Promise<ServingCertificate> => {
  const authority = await issueAuthority(Date.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: Date.now() })
  return { ...leaf, caBundle: authority.cert, notAfter: new Date(Date.now() + 1_000_000) }
})()

/** A controller that notes when it starts and ends; `end` is what it does when told to stop. */
function fakeController(name: string, said: string[], end: () => Promise<void> = async () => undefined): ControllerDefinition {
  return {
    name,
    type: kind,
    types: [kind],
    rbac: [],
    async start(_environment, signal) {
      said.push(`${name} starts`)
      await untilAborted(signal)
      await end()
      said.push(`${name} ends`)
    },
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
}

interface Life {
  readonly said: string[]
  readonly clock: FakeClock
  readonly stop: AbortController
  readonly done: Promise<void>
  readonly started: Promise<Endpoints>
  /** Asks for a probe. */
  probe(path: string): Promise<{ code: number; body: string }>
}

/** The life of a process made of fakes; what each part does is noted in `said`. */
function start(
  t: { teardown(end: () => unknown): unknown },
  operators: (said: string[]) => readonly Operator[],
  options: Partial<RunOptions> = {},
  parts: (said: string[]) => Partial<Parts> = () => ({}),
): Life {
  const said: string[] = []
  const clock = new FakeClock()
  const stop = new AbortController()
  const started = Promise.withResolvers<Endpoints>()
  started.promise.catch(() => undefined)
  let endpoints: Endpoints | undefined
  const background = (name: string) => async (signal: AbortSignal) => {
    said.push(`${name} starts`)
    await untilAborted(signal)
    said.push(`${name} ends`)
  }
  const cache = Object.assign(new FakeCache(), {
    start: background('cache'),
    status: () => [{ type: 'things.example.com', synced: false, lastError: 'no such CRD' }],
  })
  const fakes: Parts = {
    createTransport: () => transportThat(async () => void said.push('client closes')),
    checkPermissions: async () => void said.push('permissions'),
    openCertificates: async () => {
      said.push('certificates open')
      const current = await pair
      return { current: () => current, onChange: () => () => undefined, start: background('certificates') }
    },
    createWebhookServer: fakeWebhookServer(said, t),
    injectCaBundle: (_options, signal) => background('injection')(signal),
    createCache: () => cache,
    elected: async () => undefined,
    ...parts(said),
  }
  const done = runWith(fakes, operators(said), {
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
    onServing: async (...given) => {
      said.push('serving')
      await options.onServing?.(...given)
    },
    onStarted: async (...given) => {
      await options.onStarted?.(...given)
      endpoints = given[0]
      started.resolve(given[0])
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
  return { said, clock, stop, done, started: started.promise, probe }
}

/** Answers each request with its method and path. */
function transportThat(close: () => Promise<void>): Transport {
  return {
    request: async ({ method, path }) => ({ statusCode: 200, headers: {}, body: `${method} ${path}` }),
    stream: () => Promise.reject(new Error('nothing is streamed')),
    close,
  }
}

/** Shakes hands over TLS and knows no HTTP. */
function fakeWebhookServer(said: string[], t: { teardown(end: () => unknown): unknown }): Parts['createWebhookServer'] {
  return (({ certificates }: Parameters<Parts['createWebhookServer']>[0]) => {
    let server: Server | undefined
    return {
      async start() {
        const { cert, key } = certificates.current()
        server = createServer({ cert, key }, (socket) => void socket.on('error', () => undefined).end())
        t.teardown(() => server?.close())
        server.listen(0, '127.0.0.1')
        await new Promise((resolve) => server?.once('listening', resolve))
        said.push('webhooks listen')
        const { port } = server.address() as AddressInfo
        return { port, url: `https://127.0.0.1:${port}` }
      },
      beginDrain: () => void said.push('webhooks drain'),
      stop: async (deadlineMs: number) => {
        said.push(`webhooks stop within ${deadlineMs}`)
        server?.close()
      },
    }
  }) as unknown as Parts['createWebhookServer']
}

const complete = (said: string[]): readonly Operator[] => [
  defineOperator({
    name: 'thing',
    kinds: [kind],
    webhooks: [defineWebhook(kind)],
    controllers: [fakeController('thing', said), fakeController('other', said)],
  }),
]

t.test('everything starts and stops in order', async (t) => {
  const life = start(t, complete)
  const endpoints = await life.started
  t.match(endpoints, { webhook: { url: /^https:\/\/127\.0\.0\.1:\d+$/, caBundle: /BEGIN CERTIFICATE/ }, probes: { host: '127.0.0.1' } })
  await life.clock.advance(0)
  t.strictSame(life.said, [
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
  life.said.length = 0
  life.stop.abort()
  await life.clock.untilPending()
  t.strictSame(life.said, ['webhooks drain', 'thing ends', 'other ends'])
  await life.clock.advance(9_999)
  t.equal(life.said.length, 3, 'the webhooks go on accepting')
  await life.clock.advance(1)
  await life.done
  t.strictSame(life.said.slice(3), ['webhooks stop within 30000', 'cache ends', 'injection ends', 'certificates ends', 'client closes'])
  t.equal(life.clock.pending, 0)
})

t.test('a reconcile that runs may go on as long as the webhooks accept and finish', async (t) => {
  let graceMs: number | undefined
  const controller: ControllerDefinition = {
    ...fakeController('thing', []),
    async start(environment, signal) {
      graceMs = environment.graceMs
      await untilAborted(signal)
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

t.test('who only converts has no webhook configurations to wait for', async (t) => {
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

t.test('readiness is that of the webhooks; caches and controllers are shown', async (t) => {
  const failing: ControllerDefinition = {
    ...fakeController('failing', []),
    async start() {
      throw new Error('out of luck')
    },
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

t.test('a controller that has ended by itself is named by the liveness probe', async (t) => {
  const broken = new AbortController()
  const failing: ControllerDefinition = {
    ...fakeController('failing', []),
    async start() {
      await untilAborted(broken.signal)
      throw new Error('out of luck')
    },
  }
  const life = start(t, (said) => [
    defineOperator({ name: 'thing', kinds: [kind], controllers: [failing, fakeController('working', said)] }),
  ])
  await life.started
  t.strictSame(await life.probe('/healthz'), { code: 200, body: 'ok' })
  broken.abort()
  await life.clock.advance(0)
  t.strictSame(await life.probe('/healthz'), {
    code: 500,
    body: '[+]ping ok\n[-]controller/failing failed: has failed: out of luck\n[+]controller/working ok\nhealthz check failed\n',
  })
})

t.test('readiness is gone as soon as the stop begins, and the process is alive until its end', async (t) => {
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

t.test('without webhooks nothing of them is started, and nobody waits for a drain', async (t) => {
  const life = start(t, (said) => [defineOperator({ name: 'thing', kinds: [kind], controllers: [fakeController('thing', said)] })])
  const { webhook } = await life.started
  t.equal(webhook, undefined)
  t.strictSame(await life.probe('/readyz'), { code: 200, body: 'ok' })
  life.stop.abort()
  await life.done
  t.strictSame(life.said, ['permissions', 'serving', 'cache starts', 'thing starts', 'thing ends', 'cache ends', 'client closes'])
})

t.test('a start that fails takes down what was started, and says why', async (t) => {
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
    t.strictSame(life.said, expected, name)
    t.equal(life.clock.pending, 0)
  }
  const life = start(t, complete, {
    onServing: () => {
      throw new Error('cannot install')
    },
  })
  await t.rejects(life.done, { message: 'cannot install' })
  t.strictSame(life.said.slice(-4), ['webhooks drain', 'webhooks stop within 5000', 'certificates ends', 'client closes'])
})

t.test('a stop in the middle of the start is a stop like any other', async (t) => {
  const opening = Promise.withResolvers<void>()
  const life = start(t, complete, {}, (said) => ({
    checkPermissions: async () => {
      said.push('permissions')
      opening.resolve()
    },
  }))
  await opening.promise
  life.stop.abort()
  await life.done
  t.notOk(life.said.includes('cache starts'))
  t.equal(life.said.at(-1), 'client closes')
})

t.test('a stop while others install what is served starts nothing more', async (t) => {
  const life: Life = start(t, complete, { onServing: () => life.stop.abort() })
  await life.done
  t.strictSame(life.said, [
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
  const life: Life = start(t, complete, {}, (said) => ({
    openCertificates: async () => {
      life.stop.abort()
      const current = await pair
      return { current: () => current, onChange: () => () => undefined, start: async () => void said.push('certificates') }
    },
  }))
  await life.done
  t.strictSame(life.said, ['permissions', 'certificates', 'client closes'])
})

t.test('a stop waits for no certificates that are still being opened', async (t) => {
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
  t.strictSame(life.said, ['permissions', 'client closes'])
})

t.test('whoever installs gets the client of the process', async (t) => {
  const given: Client[] = []
  const life = start(
    t,
    complete,
    { onServing: (_, served) => void given.push(served), onStarted: (_, started) => void given.push(started) },
    () => ({ createTransport: () => transportThat(async () => undefined) }),
  )
  await life.started
  t.equal(given.length, 2)
  t.equal(given[0], given[1])
  t.equal(await given[0]!.raw('/version'), 'GET /version')
})

t.test('what the API server warns of is logged once', async (t) => {
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

t.test('a reconcile that does not end is left behind after the deadline', async (t) => {
  const life = start(
    t,
    (said) => [
      defineOperator({ name: 'thing', kinds: [kind], controllers: [fakeController('thing', said, () => new Promise(() => undefined))] }),
    ],
    { drainDelayMs: 0, drainDeadlineMs: 1000 },
  )
  await life.started
  life.stop.abort()
  await life.clock.untilPending()
  await life.clock.advance(1_999)
  t.notOk(life.said.includes('client closes'))
  await life.clock.advance(1)
  await life.done
  t.ok(life.said.includes('client closes'))
})

t.test('configurations that others look after are left alone', async (t) => {
  const life = start(t, complete, { webhookConfigurations: { mutating: [], validating: [] } })
  await life.started
  t.notOk(life.said.includes('injection starts'))
})

t.test('controllers wait until this replica is elected, webhooks do not', async (t) => {
  const elected = Promise.withResolvers<void>()
  const life = start(t, complete, {}, () => ({ elected: () => elected.promise }))
  await life.started
  t.notOk(life.said.includes('thing starts'))
  t.match(await life.probe('/readyz'), { code: 200 })
  elected.resolve()
  await life.clock.advance(0)
  t.ok(life.said.includes('thing starts'))
})
