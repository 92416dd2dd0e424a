/** Tests of the simulated kubelets and nodes in a cluster whose clock the test advances. */
import t from 'tap'
import type { Test } from 'tap'
import type { Event, Pod } from '../../../src/api/builtin.ts'
import { configMap, event, node, pod, secret, serviceAccount } from '../../../src/api/builtin.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import { discovery } from '../../../src/api/kubernetes/discovery.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { Client } from '../../../src/client/client.ts'
import type { SimulationOptions } from '../../../src/devcluster/controllers/kubelet/simulated/simulation.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { clientFor, find } from '../../support/devcluster/client.ts'
import { startTestCluster } from '../../support/devcluster/kubectl.ts'

const key = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })
const containers = [{ name: 'main', image: 'example.com/app:1' }]

interface World {
  readonly client: Client
  readonly clock: FakeClock
  create(name: string, annotations?: Record<string, string>, spec?: object): Promise<Pod>
  get(name: string): Promise<Pod>
  eventsOf(name: string): Promise<readonly Event[]>
}

async function start(t: Test, nodes: string[] = ['n1'], simulation: SimulationOptions = {}): Promise<World> {
  const clock = new FakeClock(Date.now())
  const cluster = await startTestCluster(t, { clock, simulation, nodes: nodes.map((name) => ({ name })) })
  const client = clientFor(t, cluster.connection)
  // Pods cannot be created before this ServiceAccount exists.
  await until('the default ServiceAccount is there', () => find(client, serviceAccount, key('default')))
  return {
    client,
    clock,
    create: (name, annotations = {}, spec = {}) =>
      client.create(pod, { metadata: { ...key(name), annotations }, spec: { containers, ...spec } } as never),
    get: (name) => client.get(pod, key(name)),
    eventsOf: async (name) => (await client.list(event, { fieldSelector: `involvedObject.name=${name}` })).items,
  }
}

const reasonOf = ({ status }: Pod): string => {
  const [container] = status?.containerStatuses ?? []
  return container?.state?.waiting?.reason ?? container?.state?.terminated?.reason ?? status?.phase ?? ''
}

t.test('a crashing Pod is in CrashLoopBackOff, with the Events of the kubelet', async (t) => {
  const { clock, create, get, eventsOf } = await start(t)
  await create('crash', { 'simulate.proreus.dev/exit-code': '1' })
  await until('it runs', async () => (await get('crash')).status?.phase === 'Running')
  const at = async (ms: number, reason: string, restarts: number): Promise<void> => {
    await clock.advance(ms)
    await until(`${reason} ${restarts}`, async () => {
      const found = await get('crash')
      return reasonOf(found) === reason && found.status?.containerStatuses?.[0]?.restartCount === restarts
    })
  }
  await at(1000, 'Error', 0)
  await at(1000, 'Running', 1)
  await at(1000, 'Error', 1)
  await at(1000, 'CrashLoopBackOff', 1)
  await at(9000, 'Running', 2)
  await at(2000, 'CrashLoopBackOff', 2)
  const events = await until('the Events are there', async () => {
    const found = await eventsOf('crash')
    return found.some(({ reason, count }) => reason === 'BackOff' && count === 2) && found
  })
  const backOff = events.find(({ reason }) => reason === 'BackOff')
  t.match(backOff, {
    type: 'Warning',
    message: /^Back-off restarting failed container main in pod crash_default\([0-9a-f-]+\)$/,
    involvedObject: { kind: 'Pod', fieldPath: 'spec.containers{main}' },
    source: { component: 'kubelet', host: 'n1' },
  })
  const counts = Object.fromEntries(events.map(({ reason, count }) => [reason, count]))
  t.match(counts, { Scheduled: 1, Pulling: 1, Created: 3, Started: 3, BackOff: 2 })
})

t.test('a Pod whose readiness probe begins to fail is no ready endpoint until it succeeds again', async (t) => {
  const { client, clock, create, get, eventsOf } = await start(t)
  const labels = { app: 'web' }
  const readinessProbe = { httpGet: { path: '/ready', port: 80 }, failureThreshold: 2 }
  await client.create(core.service, { metadata: key('web'), spec: { selector: labels, ports: [{ port: 80 }] } })
  await create('web', {}, { containers: [{ ...containers[0], readinessProbe }] })
  await client.patch(pod, key('web'), { metadata: { labels } })
  const slice = { namespace: 'default', labelSelector: { matchLabels: { 'kubernetes.io/service-name': 'web' } } }
  const endpoint = (ready: boolean): Promise<unknown> =>
    until(`the endpoint is ${ready ? '' : 'not '}ready`, async () =>
      (await client.list(discovery.endpointSlice, slice)).items.some(({ endpoints }) => endpoints?.[0]?.conditions?.ready === ready),
    )
  await endpoint(true)
  const annotations = { 'simulate.proreus.dev/readiness-fails-after': '0s', 'simulate.proreus.dev/readiness-fails-for': '15s' }
  await client.patch(pod, key('web'), { metadata: { annotations } })
  await until('the first probe fails', async () => (await eventsOf('web')).some(({ reason }) => reason === 'Unhealthy'))
  t.equal(findCondition((await get('web')).status?.conditions, 'Ready')?.status, 'True')
  await until('the next probe is scheduled', () => clock.nextDue !== undefined && clock.nextDue <= clock.now() + 10_000)
  await clock.advance(10_000)
  await endpoint(false)
  const unhealthy = (await eventsOf('web')).find(({ reason }) => reason === 'Unhealthy')
  t.match(unhealthy, { type: 'Warning', message: 'Readiness probe failed: HTTP probe failed with statuscode: 503' })
  await clock.advance(10_000)
  await endpoint(true)
})

t.test('options delay the steps of all Pods', async (t) => {
  const { clock, create, get } = await start(t, ['n1'], { scheduleMs: 1000, pullMs: 2000, readyMs: 3000 })
  await create('slow')
  const after = async (ms: number, what: string, reached: (found: Pod) => boolean): Promise<void> => {
    await clock.advance(ms - 1)
    t.notOk(reached(await get('slow')), `not yet ${what}`)
    await clock.advance(1)
    await until(what, async () => reached(await get('slow')))
  }
  await until('the scheduler waits', () => clock.nextDue !== undefined && clock.nextDue <= clock.now() + 1000)
  await after(1000, 'scheduled', ({ status, spec }) => spec?.nodeName !== undefined && (status?.containerStatuses ?? []).length > 0)
  await after(2000, 'running', ({ status }) => status?.phase === 'Running')
  await after(3000, 'ready', ({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True')
})

t.test('an invalid annotation is reported in an Event and ignored', async (t) => {
  const { create, get, eventsOf } = await start(t)
  await create('wrong', {
    'simulate.proreus.dev/exit-code': 'many',
    'simulate.proreus.dev/exit-cod': '1',
    'simulate.proreus.dev/crash': '1',
    'other.simulate.proreus.dev/run-for': '1s',
    'main.simulate.proreus.dev/evict-after': '1s',
    'main.simulate.proreus.dev/liveness-fails-after': '1s',
    'example.com/exit-code': 'x',
  })
  await until('it runs', async () => findCondition((await get('wrong')).status?.conditions, 'Ready')?.status === 'True')
  const [found] = await until('there is an Event', async () => {
    const events = await eventsOf('wrong')
    const invalid = events.filter(({ reason }) => reason === 'InvalidSimulation')
    return invalid.length > 0 && invalid
  })
  t.equal(found?.type, 'Warning')
  for (const part of [
    'simulate.proreus.dev/exit-code: Invalid value: "many": must be a whole number from 0 to 255',
    'simulate.proreus.dev/exit-cod: unknown annotation; did you mean exit-code?',
    'simulate.proreus.dev/crash: unknown annotation: there are pull-delay, ',
    'other.simulate.proreus.dev/run-for: the Pod has no container "other"',
    'main.simulate.proreus.dev/evict-after: unknown annotation',
    'main.simulate.proreus.dev/liveness-fails-after: no such container declares a livenessProbe',
  ])
    t.ok(found?.message?.includes(part), part)
  t.notOk(found?.message?.includes('example.com'))
})

t.test('a node whose kubelet is stopped loses its Pods, and is ready again with its kubelet', async (t) => {
  const { client, clock, create, get, eventsOf } = await start(t, ['n1', 'n2'])
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' }
  await create('moves', {}, { nodeName: 'n1' })
  await create('stays', {}, { nodeName: 'n1', tolerations: [toleration] })
  const isReady = async (name: string): Promise<string | undefined> => findCondition((await get(name)).status?.conditions, 'Ready')?.status
  for (const name of ['moves', 'stays']) await until(`${name} is ready`, async () => (await isReady(name)) === 'True')
  const readyNode = async (): Promise<string | undefined> =>
    findCondition((await client.get(node, { name: 'n1' })).status?.conditions, 'Ready')?.status
  const annotate = (value: string | null): Promise<unknown> =>
    client.patch(node, { name: 'n1' }, { metadata: { annotations: { 'simulate.proreus.dev/kubelet': value } } } as never)

  await annotate('stopped')
  await until('the grace period is awaited', () => clock.nextDue !== undefined && clock.nextDue <= clock.now() + 50_000)
  await clock.advance(49_000)
  t.equal(await readyNode(), 'True')
  await clock.advance(1000)
  await until('the node is not ready', async () => (await readyNode()) === 'Unknown')
  for (const name of ['moves', 'stays']) await until(`${name} is not ready`, async () => (await isReady(name)) === 'False')
  const taintsOf = async (): Promise<string[]> =>
    ((await client.get(node, { name: 'n1' })).spec?.taints ?? []).map(({ key: name, effect }) => `${name}:${effect}`).sort()
  const unreachable = ['node.kubernetes.io/unreachable:NoExecute', 'node.kubernetes.io/unreachable:NoSchedule']
  await until('there are taints', async () => (await taintsOf()).join() === unreachable.join())
  // Admission has added a toleration of 300 s to the Pod `moves`. After this time, the Pod is evicted.
  await until('the eviction is scheduled', () => clock.nextDue !== undefined && clock.nextDue <= clock.now() + 300_000)
  await clock.advance(299_000)
  t.equal((await get('moves')).metadata.deletionTimestamp, undefined)
  await clock.advance(1000)
  await until('the Pod is evicted', async () => (await get('moves')).metadata.deletionTimestamp !== undefined)
  await clock.advance(60_000)
  t.ok(await find(client, pod, key('moves')), 'without a kubelet, the deletion is not confirmed')
  t.equal((await get('stays')).metadata.deletionTimestamp, undefined)

  await annotate(null)
  await until('the node is ready', async () => (await readyNode()) === 'True')
  await until('the taints are gone', async () => (await taintsOf()).length === 0)
  await until('the Pod is ready again', async () => (await isReady('stays')) === 'True')
  await until('the deletion is confirmed', async () => {
    await clock.advance(100)
    return (await find(client, pod, key('moves'))) === undefined
  })
  await until('there are Events of the node', async () => {
    const reasons = (await eventsOf('n1')).map(({ reason }) => reason)
    return ['RegisteredNode', 'NodeNotReady', 'NodeReady'].every((one) => reasons.includes(one))
  })
})

t.test('no Pods are evicted when no node is ready', async (t) => {
  const { client, clock, create, get } = await start(t, ['n1'], { nodeGraceMs: 1000 })
  await create('a')
  await until('it runs', async () => (await get('a')).status?.phase === 'Running')
  await client.patch(node, { name: 'n1' }, { metadata: { annotations: { 'simulate.proreus.dev/kubelet': 'stopped' } } })
  await until('the grace period is awaited', () => clock.nextDue !== undefined && clock.nextDue <= clock.now() + 1000)
  await clock.advance(1000)
  const taints = await until('there is a taint', async () => {
    const { spec } = await client.get(node, { name: 'n1' })
    return (spec?.taints ?? []).length > 0 && spec?.taints
  })
  t.match(taints, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }])
  t.equal(taints.length, 1)
})

t.test('a node that a user creates has a kubelet, too', async (t) => {
  const { client, create, get } = await start(t)
  await client.create(node, { metadata: { name: 'mine', labels: { disk: 'ssd' } }, status: { capacity: { cpu: '1' } } } as never)
  await create('there', {}, { nodeSelector: { disk: 'ssd' } })
  await until('it runs', async () => (await get('there')).status?.phase === 'Running')
  t.match((await get('there')).status, { hostIP: '10.0.0.2' })
  const { metadata, status, spec } = await client.get(node, { name: 'mine' })
  t.match(metadata.labels, { disk: 'ssd', 'kubernetes.io/hostname': 'mine', 'kubernetes.io/os': 'linux' })
  t.match(status?.allocatable, { cpu: '1', pods: '110' })
  t.strictSame(spec?.taints ?? [], [])
})

t.test('a Pod waits for the ConfigMaps and Secrets that it refers to', async (t) => {
  const { client, clock, create, get, eventsOf } = await start(t)
  const from = (name: string, more: object = {}): object => ({
    containers: [{ ...containers[0], envFrom: [{ configMapRef: { name, ...more } }] }],
  })
  await create('variables', {}, from('settings'))
  await create('optional', {}, from('settings', { optional: true }))
  await create('files', {}, { containers, volumes: [{ name: 'key', secret: { secretName: 'key' } }] })
  await until('optional runs', async () => (await get('optional')).status?.phase === 'Running')
  await until('the container is not created', async () => reasonOf(await get('variables')) === 'CreateContainerConfigError')
  const events = async (name: string): Promise<string[]> => (await eventsOf(name)).map(({ reason, message }) => `${reason} ${message}`)
  await until('FailedMount', async () =>
    (await events('files')).includes('FailedMount MountVolume.SetUp failed for volume "key" : secret "key" not found'),
  )
  t.ok((await events('variables')).includes('Failed Error: configmap "settings" not found'))
  const { status } = await get('files')
  t.match(status, { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] })
  t.equal(status?.podIP, undefined)
  await client.create(configMap, { metadata: key('settings'), data: {} })
  await client.create(secret, { metadata: key('key'), data: {} })
  await clock.advance(10_000)
  for (const name of ['variables', 'files']) await until(`${name} runs`, async () => (await get(name)).status?.phase === 'Running')
})
