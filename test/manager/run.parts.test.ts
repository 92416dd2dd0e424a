/** Tests of the options that `run` passes to each of its components. */
import assert from 'node:assert'
import t, { type Test } from 'tap'
import { configMap, pod, secret } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { version } from '../../src/api/version.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import type { CertificateSource } from '../../src/certs/serving-certificate.ts'
import type { Client } from '../../src/client/client.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { Transport, TransportOptions } from '../../src/client/transport.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import type { ControllerDefinition } from '../../src/controller/builder.ts'
import type { ControllerEnvironment } from '../../src/controller/prepared-controller.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import { formatListenAddress } from '../support/listen-address.ts'
import type { Runnable, RunnableContext } from '../../src/manager/runnable.ts'
import { runWith, type Endpoints, type Parts, type RunOptions } from '../../src/manager/run.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { FakeCache } from '../support/controller/fakes.ts'
import { youngMbOfNewThread } from '../support/heap-size.ts'
import { until } from '../../src/testing/until.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
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
const index = defineCacheIndex(pod, 'node', ({ spec }) => spec?.nodeName)
const connection: Connection = { server: 'https://127.0.0.1:1', describe: 'a test' }

interface Recorded {
  connection?: Connection
  transport?: TransportOptions
  permissions?: Parameters<Parts['checkPermissions']>[0]
  certificates?: Parameters<Parts['openCertificates']>[0]
  webhooks?: Parameters<Parts['createWebhookServer']>[0]
  injection?: Parameters<Parts['injectCaBundle']>[0]
  cache?: Parameters<Parts['createCache']>
  readonly environments: Map<string, ControllerEnvironment>
}

interface Life {
  readonly given: Recorded
  readonly options: RunOptions
  readonly cache: FakeCache
  readonly source: CertificateSource
  readonly requests: ApiRequest[]
  readonly endpoints: Endpoints
  readonly entries: Record<string, unknown>[]
  /** The argument with which `run` called `onServing`. */
  readonly serving: Endpoints
  end(reason?: Error): Promise<void>
}

const controller = (name: string, given: Recorded): ControllerDefinition => ({
  name,
  type: kind,
  types: [kind],
  rbac: [],
  everyReplica: false,
  prepare(environment) {
    given.environments.set(name, environment)
    return { work: ({ stop }) => untilAborted(stop), close: () => undefined }
  },
})

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
}

/** Calls `run` with components that record their options. Resolves when `run` has called `onStarted`. */
async function start(
  t: Test,
  operators: (given: Recorded) => readonly Operator[],
  more: Partial<RunOptions> = {},
  otherParts: Partial<Parts> = {},
): Promise<Life> {
  const given: Recorded = { environments: new Map() }
  const clock = new FakeClock()
  const random = (): number => 0.5
  const { logger, entries } = recordingLogger()
  const stop = new AbortController()
  const requests: ApiRequest[] = []
  const transport: Transport = {
    request: async (request) => {
      requests.push(request)
      return { statusCode: 200, headers: {}, body: { metadata: {} } }
    },
    stream: () => Promise.reject(new Error('nothing is streamed')),
    close: async () => undefined,
  }
  const source: CertificateSource = {
    current: () => ({ cert: '', key: '', caBundle: 'the bundle', notAfter: new Date(0) }),
    onChange: () => () => undefined,
    start: untilAborted,
  }
  const cache = new FakeCache()
  const parts: Parts = {
    createTransport: (connection, options) => {
      Object.assign(given, { connection, transport: options })
      return transport
    },
    checkPermissions: async (options) => void (given.permissions = options),
    openCertificates: async (options) => {
      given.certificates = options
      return source
    },
    createWebhookServer: ((options: NonNullable<Recorded['webhooks']>) => {
      given.webhooks = options
      return { start: async () => ({ port: 4, url: 'https://address:4' }), beginDrain: () => undefined, stop: async () => undefined }
    }) as unknown as Parts['createWebhookServer'],
    injectCaBundle: async (options, signal) => {
      given.injection = options
      await untilAborted(signal)
    },
    createCache: (...options) => {
      given.cache = options
      return Object.assign(cache, {
        start: untilAborted,
        status: () => [{ type: 'things.example.com', version: 'v1', synced: true, objects: 7 }],
      })
    },
    createElector: () => assert.fail('leader election is off'),
    ...otherParts,
  }
  let serving: Endpoints | undefined
  const started = Promise.withResolvers<Endpoints>()
  const options: RunOptions = {
    connection,
    signal: stop.signal,
    probeBindAddress: '0',
    metricsBindAddress: '0',
    instance: 'replica-1',
    logger,
    clock,
    random,
    metrics: new Metrics(),
    onServing: (endpoints) => void (serving = endpoints),
    onStarted: (endpoints) => started.resolve(endpoints),
    ...more,
  }
  const done = runWith(parts, operators(given), options)
  done.catch((error: unknown) => started.reject(error))
  const end = async (reason?: Error): Promise<void> => {
    stop.abort(reason)
    await done
  }
  t.teardown(() => end().catch(() => undefined))
  const endpoints = await started.promise
  await clock.advance(0)
  return { given, options, cache, source, requests, endpoints, entries, serving: serving!, end }
}

t.test('a single operator gives the process its name and version', async (t) => {
  const webhook = defineWebhook(kind, { reads: [secret, pod], indexes: [index] })
  const operator = (given: Recorded): readonly Operator[] => [
    defineOperator({ name: 'thing', version: '1.2.3', kinds: [kind], webhooks: [webhook], controllers: [controller('thing', given)] }),
  ]
  const { given, options, cache, source, requests, endpoints, entries, serving, end } = await start(t, operator, { namespaces: ['a'] })
  const { clock, random, logger, metrics, signal } = options
  t.equal(given.connection, connection)
  const userAgent = `thing/1.2.3 (${process.platform}/${process.arch}) proreus/${version}`
  t.equal(given.transport!.userAgent, userAgent)
  t.equal(given.transport!.clock, clock)
  t.equal(given.transport!.random, random)
  given.transport!.onRequest!({ method: 'GET', verb: 'list', host: 'h', code: 200, seconds: 1 })
  t.match(await metrics!.registry.metrics(), /rest_client_requests_total\{code="200",method="GET",host="h"\} 1/)

  const { client, operators: checked, ...permissions } = given.permissions!
  t.equal(checked[0]!.name, 'thing')
  t.strictSame(permissions, { namespaces: ['a'], connection, logger, signal })
  const [cacheClient, cacheOptions] = given.cache!
  t.equal(cacheClient, client)
  t.strictSame(cacheOptions, { logger, clock, random, namespaces: ['a'] })
  t.strictSame([...cache.informers.keys()], ['secrets', 'pods'])
  t.strictSame(cache.indexes, [index])

  const names = { names: ['localhost'], ips: ['127.0.0.1', '::1'] }
  const { client: certificateClient, ...certificates } = given.certificates!
  t.equal(certificateClient, client)
  t.strictSame(certificates, { certificates: { kind: 'files', directory: 'certs' }, ...names, clock, logger, signal })
  const { client: webhookClient, memory, webhooks, cache: webhookCache, ...served } = given.webhooks!
  t.equal(webhookClient, client)
  t.equal(webhookCache, cache)
  t.ok(memory)
  t.strictSame(
    webhooks.map(({ client: _, ...each }) => each),
    [webhook],
  )
  t.strictSame(served, { conversions: [], certificates: source, logger, metrics, clock }, 'with the defaults of the server')
  t.strictSame(endpoints, {
    webhook: { port: 4, url: 'https://address:4', caBundle: 'the bundle' },
    probes: undefined,
    metrics: undefined,
    debug: undefined,
  })
  t.equal(serving, endpoints)
  const { client: injectionClient, ...injection } = given.injection!
  t.equal(injectionClient, client)
  t.strictSame(injection, { mutating: ['thing-mutating'], validating: ['thing-validating'], definitions: [], source, logger, clock })

  const { client: own, events, cache: controllerCache, ...environment } = given.environments.get('thing')!
  t.equal(controllerCache, cache)
  t.match(await metrics!.registry.metrics(), /proreus_cache_up_to_date\{resource="things\.example\.com",version="v1",view=""\} 1/)
  const { onQueue, ...others } = environment
  t.type(onQueue, 'function')
  t.strictSame(others, { logger, metrics, clock, random, graceMs: 30_000 })
  const object = { metadata: { namespace: 'a', name: 'b' } }
  await own.create(configMap, object)
  await client.create(configMap, object as never)
  t.match(requests, [
    { method: 'POST', path: '/api/v1/namespaces/a/configmaps', query: { fieldManager: 'thing' }, userAgent },
    { method: 'POST', path: '/api/v1/namespaces/a/configmaps', query: { fieldManager: 'thing' }, userAgent: undefined },
  ])
  events.event({ apiVersion: 'example.com/v1', kind: 'Thing', ...object } as never, 'Normal', 'Done', 'it is done')
  await end(new Error('enough'))
  t.match(JSON.parse(requests.at(-1)!.body!), { reason: 'Done', source: { component: 'thing' }, reportingComponent: 'thing', reportingInstance: 'replica-1' }) // prettier-ignore
  t.match(
    entries.filter(({ msg }) => msg !== 'stopped'),
    [
      { level: 'info', msg: 'started', operators: ['thing'], webhookPort: 4 },
      { level: 'info', msg: 'stopping', reason: 'enough' },
    ],
  )
})

t.test('several operators share the process, and each has its own field manager', async (t) => {
  const operators = (given: Recorded): readonly Operator[] => [
    defineOperator({ name: 'one', version: '1', kinds: [kind], controllers: [controller('one', given)] }),
    defineOperator({
      name: 'two',
      kinds: [converted],
      webhooks: [defineWebhook(converted)],
      conversions: [conversion],
      controllers: [controller('two', given)],
    }),
  ]
  const more = {
    name: 'together',
    webhook: {
      host: '127.0.0.1',
      port: 0,
      url: 'https://elsewhere:1',
      reviewLogSampling: 0.5,
      tlsMinVersion: 'VersionTLS13',
      tlsCipherSuites: [],
    },
    webhookConfigurations: { mutating: ['a'], validating: [], definitions: ['b'] },
    memoryLimitBytes: 700 * 2 ** 20,
  } as const
  const { given, requests, endpoints } = await start(t, operators, more)
  t.equal(given.transport!.userAgent, `together/unknown (${process.platform}/${process.arch}) proreus/${version}`)
  const { host, port, reviewLogSampling, tlsMinVersion, tlsCipherSuites, conversions, webhooks } = given.webhooks!
  t.strictSame(
    { host, port, reviewLogSampling, tlsMinVersion, tlsCipherSuites, conversions },
    {
      host: '127.0.0.1',
      port: 0,
      reviewLogSampling: 0.5,
      tlsMinVersion: 'VersionTLS13',
      tlsCipherSuites: [],
      conversions: [conversion],
    },
  )
  t.equal(given.webhooks!.memory!.limitBytes, more.memoryLimitBytes)
  t.equal(endpoints.webhook!.url, 'https://elsewhere:1', 'the URL for the API server')
  t.strictSame(given.certificates!.names, ['elsewhere', 'localhost'])
  const { mutating, validating, definitions } = given.injection!
  t.strictSame({ mutating, validating, definitions }, { mutating: ['a'], validating: [], definitions: ['b'] })
  t.strictSame(given.cache![1].namespaces, [], 'all namespaces')
  t.equal(given.permissions!.namespaces, undefined)
  const metadata = { namespace: 'a', name: 'b' }
  const clients = [
    given.environments.get('one')!.client,
    given.environments.get('two')!.client,
    webhooks[0]!.client!,
    given.permissions!.client,
  ] as const
  for (const client of clients) await client.create(configMap, { metadata } as never)
  t.strictSame(
    requests.map(({ query }) => query!['fieldManager']),
    ['one', 'two', 'two', 'together'],
  )
})

t.test('operators without watches and webhooks need neither cache nor webhook server', async (t) => {
  const { given, endpoints, end } = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })])
  t.strictSame([given.cache, given.certificates, given.webhooks, given.injection], [undefined, undefined, undefined, undefined])
  t.equal(endpoints.webhook, undefined)
  await end()
  const others = { mutating: ['a'], validating: [], definitions: ['b'] }
  const named = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })], { webhookConfigurations: others })
  t.equal(named.given.injection, undefined, 'there is no certificate to inject')
})

t.test('types that webhooks read are watched even without controllers', async (t) => {
  const webhooks = [defineWebhook(kind, { reads: [secret] })]
  const { cache, given } = await start(t, () => [defineOperator({ name: 'reading', kinds: [kind], webhooks })])
  t.strictSame([...cache.informers.keys()], ['secrets'])
  t.equal(given.webhooks!.cache, cache)
  const both = defineOperator({ name: 'reading', kinds: [kind, converted], webhooks, conversions: [conversion] })
  const without = await start(t, () => [both], { enableWebhooks: false })
  t.strictSame([without.given.webhooks, without.given.cache, without.endpoints.webhook], [undefined, undefined, undefined])
  const none = await start(t, () => [defineOperator({ name: 'alone', kinds: [kind], webhooks: [defineWebhook(kind)] })])
  t.equal(none.given.webhooks!.cache, undefined)
})

t.test('runnables get the client of their operator, and what they read is watched', async (t) => {
  const contexts: RunnableContext[] = []
  const runnables: Runnable[] = [
    {
      name: 'import',
      reads: [secret],
      run: async (context) => {
        contexts.push(context)
        await untilAborted(context.signal)
      },
    },
  ]
  const checks = { readyz: [{ name: 'database', problem: () => 'no answer' }] }
  const life = await start(t, () => [defineOperator({ name: 'own', kinds: [kind], runnables, checks })], {
    probeBindAddress: '127.0.0.1:0',
  })
  const { cache, options, requests, endpoints, end } = life
  t.strictSame([...cache.informers.keys()], ['secrets'])
  t.strictSame(contexts, [])
  cache.of(secret).sync()
  const { client, clock, metrics, signal } = await until('it runs', () => contexts[0])
  t.equal(clock, options.clock)
  t.equal(metrics, options.metrics)
  await client.create(configMap, { metadata: { namespace: 'a', name: 'b' } })
  t.strictSame(requests.at(-1)!.query!['fieldManager'], 'own')
  const probes = `http://${formatListenAddress(endpoints.probes!)}`
  t.match(await (await fetch(`${probes}/readyz`)).text(), '[-]database failed: no answer')
  t.match(await (await fetch(`${probes}/healthz?verbose`)).text(), '[+]runnable/import ok')
  await end()
  t.equal(signal.aborted, true)
})

t.test('without a signal, a termination of the process stops it', async (t) => {
  const listeners = process.listenerCount('SIGTERM')
  const toggles = process.listenerCount('SIGUSR2')
  const { entries, options } = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })], { signal: undefined as never })
  t.equal(process.listenerCount('SIGTERM'), listeners + 1)
  const { logger } = options
  process.emit('SIGUSR2', 'SIGUSR2')
  t.equal(logger!.level, 'debug')
  process.emit('SIGUSR2', 'SIGUSR2')
  t.equal(logger!.level, 'info')
  const youngMb = await youngMbOfNewThread()
  process.emit('SIGTERM', 'SIGTERM')
  await until('it has stopped', () => entries.at(-1)?.msg === 'stopped' && process.listenerCount('SIGTERM') === listeners)
  t.match(entries.at(-2), { msg: 'stopping', reason: 'received SIGTERM' })
  t.equal(process.listenerCount('SIGUSR2'), toggles)
  t.equal(youngMb, 8)
  t.ok((await youngMbOfNewThread()) < 8)
})

t.test('the heap is limited with a signal, too, unless saveMemory is false', async (t) => {
  const before = await youngMbOfNewThread()
  const life = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })])
  t.equal(await youngMbOfNewThread(), 8)
  await life.end()
  const other = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })], { saveMemory: false })
  t.equal(await youngMbOfNewThread(), before)
  await other.end()
})

t.test('a heap snapshot is limited by the memory of the container', async (t) => {
  const { constrainedMemory } = process
  process.constrainedMemory = () => 100 * 2 ** 20
  t.teardown(() => (process.constrainedMemory = constrainedMemory))
  const { endpoints, end } = await start(t, () => [defineOperator({ name: 'idle', kinds: [kind] })], { debugBindAddress: '127.0.0.1:0' })
  const response = await fetch(`http://127.0.0.1:${endpoints.debug!.port}/debug/heap`)
  t.equal(response.status, 503)
  t.match(await response.text(), 'below the memory limit of 100 MiB')
  await end()
})

t.test('incompatible operators are not started', async (t) => {
  const a = defineOperator({ name: 'a', kinds: [kind] })
  const other = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v2', spec: Type.Object({}) }] })
  await t.rejects(start(t, () => [a, a]), { message: 'two operators are called "a"' }) // prettier-ignore
  await t.rejects(start(t, () => [a, defineOperator({ name: 'b', kinds: [other] })]), { message: 'define Thing.example.com differently' }) // prettier-ignore
  await t.rejects(start(t, () => [a, defineOperator({ name: 'b', kinds: [] })]), { message: 'has no name' }) // prettier-ignore
})

t.test('with leader election, requests of reconciles and runnables ask the elector, except those of every replica', async (t) => {
  const guard = (): void => undefined
  const elector = { guard, run: untilAborted, resign: async () => undefined, term: async () => ({ lost: new AbortController().signal }) }
  const clients = new Map<string, Client>()
  const runnable = (name: string): Runnable => ({
    name,
    run: async ({ client, signal }) => {
      clients.set(name, client)
      await untilAborted(signal)
    },
  })
  const life = await start(
    t,
    (given) => [
      defineOperator({
        name: 'thing',
        kinds: [kind],
        controllers: [controller('thing', given), { ...controller('local', given), everyReplica: true }],
        runnables: [runnable('import'), { ...runnable('export'), everyReplica: true }],
      }),
    ],
    { leaderElection: true },
    { createElector: () => elector },
  )
  await until('the runnables run', () => clients.size === 2)
  for (const name of ['thing', 'local']) await life.given.environments.get(name)?.client.get(pod, { namespace: 'ns', name })
  for (const name of ['import', 'export']) await clients.get(name)?.get(pod, { namespace: 'ns', name })
  t.strictSame(
    life.requests.slice(-4).map((request) => [request.path.split('/').at(-1), request.guard]),
    [
      ['thing', guard],
      ['local', undefined],
      ['import', guard],
      ['export', undefined],
    ],
  )
  await life.end()
})

t.test('the controllers of a process share the limit of concurrent reconciles', async (t) => {
  const operators = (given: Recorded): readonly Operator[] => [
    defineOperator({ name: 'a', kinds: [kind], controllers: ['one', 'two'].map((name) => controller(name, given)) }),
  ]
  const limited = await start(t, operators, { name: 'limited', maxConcurrentReconciles: 1 })
  const [one, two] = ['one', 'two'].map((name) => limited.given.environments.get(name)?.limit)
  t.equal(one, two)
  t.strictSame([one?.tryTake(() => undefined), one?.tryTake(() => undefined)], [true, false])
  await limited.end()
  const unlimited = await start(t, operators, { name: 'unlimited' })
  t.equal(unlimited.given.environments.get('one')?.limit, undefined)
  await unlimited.end()
})
