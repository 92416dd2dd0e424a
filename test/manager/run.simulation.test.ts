/**
 * Runs an operator and an API server in the process of the test, without sockets. The clock is a fake clock, and a seed determines all
 * random numbers.
 */
import t from 'tap'
import { configMap, secret } from '../../src/api/builtin.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { realParts, runWith } from '../../src/manager/run.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { InProcessServer } from '../support/client/in-process-server.ts'
import { Dice } from '../support/dice.ts'
import { recordingLogger } from '../support/recording-logger.ts'

/**
 * Creates a Secret for each ConfigMap. The Secret has the name of the ConfigMap, and contains the id of the reconcile that has created the
 * Secret.
 */
const operator = defineOperator({
  name: 'copies',
  kinds: [],
  controllers: [
    defineController(configMap, {
      name: 'copies',
      owns: [secret],
      workers: 2,
      finalizer: {
        name: 'example.com/copies',
        finalize: async (object, { client }) => void (await client.delete(secret, object.metadata)),
      },
      async reconcile(object, { client, cache, events, reconcileID }) {
        if (cache.get(secret, object.metadata) !== undefined) return { requeueAfterMs: 240_000 }
        const { namespace = 'default', name } = object.metadata
        const metadata = { namespace, name, ownerReferences: [controllerReference(object)] }
        await client.create(secret, { metadata, stringData: { reconcileID } })
        events.event(object, 'Normal', 'Copied', `copied ${name}`)
        return undefined
      },
    }),
  ],
})

interface Simulation {
  readonly server: InProcessServer
  readonly log: readonly object[]
}

const minute = 60_000
const leases = '/apis/coordination.k8s.io/v1/namespaces/copies-system/leases'
const configMaps = '/api/v1/configmaps'
const newConfigMap = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, uid: `uid-of-${name}`, resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z' },
})

/**
 * Runs the operator for half an hour of simulated time. Some requests fail, so the operator retries them after delays with random jitter.
 */
async function simulate(seed: number): Promise<Simulation> {
  const clock = new FakeClock()
  const dice = new Dice(seed)
  const random = (): number => dice.next()
  const server = new InProcessServer(clock)
  for (const name of ['a', 'b']) server.put(configMaps, newConfigMap(name))
  const faults = new Map([
    [`POST ${leases}`, 500],
    ['GET /api/v1/secrets', 500],
    ['PATCH /api/v1/namespaces/default/configmaps/a', 409],
    ['POST /api/v1/namespaces/default/events', 500],
  ])
  server.fault = ({ method, path }) => {
    const request = `${method} ${path}`
    const code = faults.get(request)
    faults.delete(request)
    return code
  }
  const { logger, entries } = recordingLogger('debug')
  const stop = new AbortController()
  const started = Promise.withResolvers<unknown>()
  const done = runWith({ ...realParts, createTransport: () => server.transport }, [operator], {
    connection: { server: 'https://in-process.invalid', describe: 'the simulation' },
    signal: stop.signal,
    probeBindAddress: '0',
    metricsBindAddress: '0',
    drainDelayMs: 0,
    leaderElection: true,
    instance: 'replica',
    clock,
    random,
    logger,
    metrics: new Metrics(),
    onStarted: started.resolve,
  })
  done.catch(started.reject)
  await started.promise
  await clock.advance(10 * minute)
  server.put(configMaps, newConfigMap('c'))
  await clock.advance(10 * minute)
  const { metadata, ...rest } = server.get(`${configMaps}/default/a`)!
  server.put(configMaps, { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:20:00Z' } })
  await clock.advance(10 * minute)
  faults.set(`PUT ${leases}/copies-leader`, 409)
  stop.abort()
  await clock.advance(1_000)
  await done
  return { server, log: entries }
}

t.test('an operator runs over a transport without sockets', async (t) => {
  const { server, log } = await simulate(1)
  t.match(server.get('/api/v1/secrets/default/b'), { metadata: { ownerReferences: [{ name: 'b' }] }, stringData: { reconcileID: /-4/ } })
  t.match(server.get('/api/v1/secrets/default/c'), { metadata: { ownerReferences: [{ name: 'c' }] } })
  t.equal(server.get('/api/v1/secrets/default/a'), undefined, 'the finalizer has deleted it')
  t.equal(server.get(`${configMaps}/default/a`), undefined)
  t.match(server.get('/apis/coordination.k8s.io/v1/leases/copies-system/copies-leader'), { spec: { holderIdentity: '' } })
  t.ok(server.requests.some((request) => / POST .*\/events.*copied c/.test(request)))
  t.match(log.at(-1), { level: 'info' })
})

t.test('the same clock and the same numbers give the same requests at the same times', async (t) => {
  const first = await simulate(7)
  const second = await simulate(7)
  t.ok(first.server.requests.length > 100, `${first.server.requests.length} requests`)
  t.strictSame(second.server.requests, first.server.requests)
  t.strictSame(second.log, first.log)
})

t.test('other numbers give other ids, pauses and timeouts', async (t) => {
  const first = await simulate(7)
  const other = await simulate(8)
  const parts = {
    'the identity of the elector': /"holderIdentity":"replica_([^"]+)"/,
    'the id of a reconcile': /"reconcileID":"([^"]+)"/,
    'the timeout of a watch': /timeoutSeconds=(\d+)/,
    'the pause after a failed list': /^([\d.]+) GET \/api\/v1\/secrets\?.*watch=true/,
    'the pause after a conflict': /^([\d.]+) POST \/api\/v1\/namespaces\/default\/secrets/,
    'the pause after a failed Event': /^([1-9][\d.]*) POST \/api\/v1\/namespaces\/default\/events/,
    'the pause of the elector after a failure': /^([1-9][\d.]*) POST .*\/leases/,
    'the pause after a conflict at the release of the lease': /^(18000[\d.]+) PUT .*\/leases/,
  }
  for (const [what, pattern] of Object.entries(parts)) {
    const find = ({ server }: Simulation): string[] => server.requests.flatMap((request) => pattern.exec(request)?.[1] ?? [])
    t.ok(find(first).length > 0, what)
    t.strictNotSame(find(other), find(first), what)
  }
})
