/**
 * Tests of the node controllers while another client changes the same objects. This client changes each object immediately before a
 * controller patches the object for the first time.
 */
import t from 'tap'
import type { Test } from 'tap'
import type { ResourceType } from '../../../../src/api/group-version-kind.ts'
import { node, pod } from '../../../../src/api/builtin.ts'
import { findCondition } from '../../../../src/api/conditions.ts'
import type { ObjectKey } from '../../../../src/api/object.ts'
import { Cache } from '../../../../src/cache/cache.ts'
import { isNotFound } from '../../../../src/client/api-error.ts'
import type { Client } from '../../../../src/client/client.ts'
import { runController } from '../../../../src/controller/run-controller.ts'
import { kubeletAnnotation, nodeStatus } from '../../../../src/devcluster/controllers/nodes/node.ts'
import { nodeLifecycle } from '../../../../src/devcluster/controllers/nodes/node-lifecycle.ts'
import { podGarbageCollector } from '../../../../src/devcluster/controllers/nodes/pod-garbage-collector.ts'
import { taintEviction } from '../../../../src/devcluster/controllers/nodes/taint-eviction.ts'
import { Metrics } from '../../../../src/telemetry/metrics.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { inProcessClient } from '../../../support/devcluster/in-process-client.ts'
import { fixture } from '../../../support/devcluster/registry.ts'
import { recordingLogger } from '../../../support/recording-logger.ts'

const key = { namespace: 'default', name: 'web' }
const graceMs = 50_000

/**
 * Returns a client that causes conflicts. Immediately before the first `patch` of an object, the client changes a label of the object.
 * Immediately before the first `patchStatus` of the object, the client changes the label again. A call is the first call if `seen` does not
 * contain its method, kind and name. For each first call, the client adds the method, kind and name to `seen`.
 */
function disturbed(client: Client, seen: Set<string>): Client {
  let changes = 0
  const disturb = async (verb: string, type: ResourceType, { name }: ObjectKey): Promise<void> => {
    const id = `${verb} ${type.kind} ${name}`
    if (seen.has(id)) return
    seen.add(id)
    await client.patch(type, type.namespaced ? { ...key, name } : { name }, { metadata: { labels: { change: String(++changes) } } })
  }
  const patch: Client['patch'] = async (type, at, ...rest) => {
    await disturb('patch', type, at)
    return client.patch(type, at, ...rest)
  }
  const patchStatus: Client['patchStatus'] = async (type, at, ...rest) => {
    await disturb('patchStatus', type, at)
    return client.patchStatus(type, at, ...rest)
  }
  return new Proxy(client, {
    get: (target, property) =>
      property === 'patch' ? patch : property === 'patchStatus' ? patchStatus : (Reflect.get(target, property, target) as unknown),
  })
}

async function start(t: Test) {
  const clock = new FakeClock('2026-01-01T00:00:00Z')
  const client = inProcessClient(await fixture({ clock }))
  for (const [index, name] of ['n1', 'n2'].entries()) {
    const status = nodeStatus(name, { address: `10.0.0.${index + 1}`, now: clock.now(), version: 'v1.36.0' })
    await client.create(node, { metadata: { name }, status } as never)
  }
  const containers = [{ name: 'web', image: 'web:1' }]
  const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]
  await client.create(pod, { metadata: key, spec: { nodeName: 'n1', containers, tolerations, terminationGracePeriodSeconds: 0 } })
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }
  await client.patchStatus(pod, key, { status: { phase: 'Running', conditions: [ready] } } as never)

  const { logger, lines } = recordingLogger('error')
  const recorded: string[] = []
  const events = { event: (_object: object, _type: string, reason: string) => void recorded.push(reason) }
  const cache = new Cache(client, { logger, clock: new FakeClock() })
  const seen = new Set<string>()
  const environment = { client: disturbed(client, seen), cache, logger, metrics: new Metrics(), clock, events, graceMs: 0 }
  const stop = new AbortController()
  const definitions = [nodeLifecycle(graceMs), taintEviction(), podGarbageCollector()]
  const running = [...definitions.map((each) => runController(each, environment, stop.signal)), cache.start(stop.signal)]
  t.teardown(() => {
    stop.abort()
    return Promise.allSettled(running)
  })
  const current = () => client.get(pod, key).catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error as Error)))
  await until('the controllers have seen both nodes', () => recorded.filter((reason) => reason === 'RegisteredNode').length === 2)
  return { client, clock, lines, recorded, current, seen }
}

t.test('conflicts of the node controllers are retried without an error, and an eviction keeps its time', async (t) => {
  const { client, clock, lines, recorded, current, seen } = await start(t)
  await client.patch(node, { name: 'n1' }, { metadata: { annotations: { [kubeletAnnotation]: 'stopped' } } })
  const passing = async (ms: number, what: string, condition: () => Promise<boolean>): Promise<void> => {
    await clock.advance(ms)
    // A retry after a conflict waits for less than a second.
    await until(what, async () => (await clock.advance(10), condition()))
  }
  await clock.advance(10)
  await passing(
    graceMs,
    'the Pod is not ready',
    async () => findCondition((await current())?.status?.conditions, 'Ready')?.status === 'False',
  )
  await passing(0, 'the node has the taint', async () => {
    const { spec } = await client.get(node, { name: 'n1' })
    return spec?.taints?.some(({ effect }) => effect === 'NoExecute') === true
  })
  t.not(await current(), undefined, 'the Pod tolerates the taint for a while')
  seen.clear()
  await passing(100_000, 'the Pod is evicted', async () => (await current()) === undefined)
  t.ok(clock.now() < Date.parse('2026-01-01T00:00:00Z') + graceMs + 110_000, 'the conflict has not restarted the time')
  t.equal(recorded.filter((reason) => reason === 'TaintManagerEviction').length, 1)
  t.strictSame(lines, [])
})

t.test('conflicts of the Pod garbage collector are retried without an error', async (t) => {
  const { client, clock, lines, current } = await start(t)
  await client.delete(node, { name: 'n1' })
  await clock.advance(40_000)
  await until('the Pod is deleted', async () => (await clock.advance(100), (await current()) === undefined))
  t.strictSame(lines, [])
})
