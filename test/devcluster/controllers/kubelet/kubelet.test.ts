/** Tests of the simulated kubelets with several Pods and nodes, and of the requests that these kubelets send. */
import t from 'tap'
import type { Test } from 'tap'
import type { Pod } from '../../../../src/api/builtin.ts'
import { node, pod } from '../../../../src/api/builtin.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import type { Client } from '../../../../src/client/client.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import { replicaSetController } from '../../../../src/devcluster/controllers/workloads/replica-set.ts'
import { statefulSetController } from '../../../../src/devcluster/controllers/workloads/stateful-set/stateful-set.ts'
import type { ControllerDefinition } from '../../../../src/controller/builder.ts'
import { kubelet } from '../../../../src/devcluster/controllers/kubelet/kubelet.ts'
import { simulatedRuntime } from '../../../../src/devcluster/controllers/kubelet/simulated/simulated-runtime.ts'
import type { ContainerRuntime } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import { PodAddresses } from '../../../../src/devcluster/controllers/kubelet/pod-addresses.ts'
import type { EventRecorder } from '../../../../src/telemetry/event-recorder.ts'
import { until } from '../../../../src/testing/until.ts'
import type { ControllerWorld } from '../../../support/controller/fakes.ts'
import type { Answer, ScriptedController } from '../../../support/devcluster/scripted-controller.ts'
import { conflict, notFound, objectOf, podOf, quiet, runScripted, time } from '../../../support/devcluster/scripted-controller.ts'
import { namespace, simulatedCluster } from '../../../support/workloads/simulated-cluster.ts'

const now = '2026-01-01T00:00:00Z'
const start = Date.parse(now)

const create = (client: Client, name: string, nodeName = 'one'): Promise<Pod> =>
  client.create(pod, { metadata: { namespace, name }, spec: { nodeName, containers: [{ name: 'main', image: 'x:1' }] } } as never)
const addressOf = async (client: Client, name: string): Promise<string | undefined> =>
  (await client.get(pod, { namespace, name })).status?.podIP

t.test('a Pod for which no address is free does not start until another Pod ends', async (t) => {
  const addresses = new PodAddresses()
  // Only the last address is free.
  for (let number = 2; number < 0xfffe; number += 1) addresses.addressOf(String(number))
  const { client, events, advanceTo } = await simulatedCluster(t, { now, addresses })
  await create(client, 'first')
  await advanceTo(start)
  t.equal(await addressOf(client, 'first'), '10.244.255.254')
  await create(client, 'second')
  await create(client, 'deleted')
  await advanceTo(start + 25_000)
  t.equal(await addressOf(client, 'second'), undefined)
  t.equal(events.get('second FailedCreatePodSandBox'), 3)
  await client.delete(pod, { namespace, name: 'deleted' })
  await client.delete(pod, { namespace, name: 'first' })
  await advanceTo(start + 40_000)
  t.strictSame(
    (await client.list(pod, { namespace })).items.map(({ metadata }) => metadata.name),
    ['second'],
  )
  t.equal(await addressOf(client, 'second'), '10.244.255.254')
})

for (const [phase, expected] of [
  ['Running', '10.244.0.3'],
  ['Succeeded', '10.244.0.2'],
] as const)
  t.test(`after a restart of the cluster, a new Pod gets ${expected} if the Pod that had 10.244.0.2 is ${phase}`, async (t) => {
    const { client, settle } = await simulatedCluster(t, {
      now,
      async prepare(client) {
        await client.create(node, { metadata: { name: 'away', annotations: { 'simulate.proreus.dev/kubelet': 'stopped' } } } as never)
        const { metadata } = await create(client, 'old', 'away')
        await client.patchStatus(pod, metadata, { status: { phase, podIP: '10.244.0.2' } })
      },
    })
    await create(client, 'new')
    await settle()
    t.equal(await addressOf(client, 'new'), expected)
  })

for (const [what, nodeName] of [
  ['the kubelet of its node is stopped', 'away'],
  ['its node is gone', 'gone'],
] as const)
  t.test(`after a restart of the cluster, a Pod that is deleted while ${what} gives its address back`, async (t) => {
    const { client, settle } = await simulatedCluster(t, {
      now,
      async prepare(client) {
        await client.create(node, { metadata: { name: 'away', annotations: { 'simulate.proreus.dev/kubelet': 'stopped' } } } as never)
        const { metadata } = await create(client, 'old', nodeName)
        await client.patchStatus(pod, metadata, { status: { phase: 'Running', podIP: '10.244.0.2' } })
      },
    })
    await create(client, 'during')
    await settle()
    t.equal(await addressOf(client, 'during'), '10.244.0.3')
    await client.delete(pod, { namespace, name: 'old' }, { gracePeriodSeconds: 0 })
    await settle()
    await create(client, 'after')
    await settle()
    t.equal(await addressOf(client, 'after'), '10.244.0.2')
  })

t.test('a Pod that has ended keeps its address until its network is removed', async (t) => {
  const simulated = simulatedRuntime()
  let removedAt = Number.POSITIVE_INFINITY
  let wake = (): void => undefined
  const runtime: ContainerRuntime = {
    ...simulated,
    runPod(made, options) {
      const run = simulated.runPod(made, options)
      if (made.metadata.name === 'ending') {
        wake = options.wake
        Object.defineProperty(run, 'removedAt', { get: () => removedAt, set: () => undefined })
      }
      return run
    },
  }
  const { client, clock, advanceTo, settle } = await simulatedCluster(t, { now, runtime })
  const ending = { namespace, name: 'ending', annotations: { 'simulate.proreus.dev/run-for': '1s' } }
  const spec = { nodeName: 'one', restartPolicy: 'Never', containers: [{ name: 'main', image: 'x:1' }] }
  await client.create(pod, { metadata: ending, spec } as never)
  await advanceTo(start + 2000)
  t.match(await client.get(pod, ending), { status: { phase: 'Succeeded', podIP: '10.244.0.2' } })
  await create(client, 'during')
  await settle()
  t.equal(await addressOf(client, 'during'), '10.244.0.3')
  removedAt = clock.now()
  wake()
  await settle()
  await create(client, 'after')
  await settle()
  t.equal(await addressOf(client, 'after'), '10.244.0.2')
})

t.test('a Pod that has ended gives its address back', async (t) => {
  const { client, advanceTo } = await simulatedCluster(t, { now })
  const ending = { namespace, name: 'ending', annotations: { 'simulate.proreus.dev/run-for': '1s' } }
  const spec = { nodeName: 'one', restartPolicy: 'Never', containers: [{ name: 'main', image: 'x:1' }] }
  await client.create(pod, { metadata: ending, spec } as never)
  await advanceTo(start + 1000)
  await create(client, 'next')
  await advanceTo(start + 2000)
  t.match(await client.get(pod, ending), { status: { phase: 'Succeeded', podIP: '10.244.0.2' } })
  t.equal(await addressOf(client, 'next'), '10.244.0.2')
})

t.test('a node that is created again has no images', async (t) => {
  const { client, events, settle } = await simulatedCluster(t, { now })
  const pulls = async (name: string): Promise<number | undefined> => {
    await create(client, name)
    await settle()
    return events.get(`${name} Pulling`)
  }
  t.equal(await pulls('first'), 1)
  t.equal(await pulls('second'), undefined)
  const { metadata, status } = await client.get(node, { name: 'one' })
  await client.delete(node, { name: 'one' })
  await settle()
  await client.create(node, { metadata: { name: 'one', labels: metadata.labels }, status } as never)
  await settle()
  t.equal(await pulls('third'), 1)
})

t.test('workloads whose Pods are evicted at once make few Pods and Events', async (t) => {
  const { client, events, advanceTo } = await simulatedCluster(t, {
    now,
    types: [apps.replicaSet, apps.statefulSet],
    controllers: [replicaSetController(), statefulSetController()],
  })
  const labels = { app: 'web' }
  const template = {
    metadata: { labels, annotations: { 'simulate.proreus.dev/evict-after': '0s' } },
    spec: { containers: [{ name: 'main', image: 'x:1' }] },
  }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await client.create(apps.replicaSet, { metadata: { namespace, name: 'web' }, spec } as never)
  await client.create(apps.statefulSet, { metadata: { namespace, name: 'db' }, spec: { ...spec, serviceName: 'db' } } as never)
  await advanceTo(start + 60_000)
  const count = (reason: string): number => [...events].reduce((sum, [key, times]) => sum + (key.endsWith(` ${reason}`) ? times : 0), 0)
  t.equal(count('Evicted'), 7)
  t.ok(count('SuccessfulCreate') <= 4 + 7)
  t.ok([...events.values()].reduce((sum, times) => sum + times) < 150)
})

const onNode = { nodeName: 'n1' }
const kubelets = (_world: ControllerWorld, events: EventRecorder): ControllerDefinition =>
  kubelet({ runtime: simulatedRuntime(), eventsOf: () => events })
const nodeWith = (name: string, address: string): KubernetesObject =>
  objectOf(name, { status: { addresses: [{ type: 'InternalIP', address }] } }, { namespace: undefined })
/** Returns the response to a request. The response to a status patch is the changed Pod. */
const patched: Answer = (method: string, _type: never, metadata: never, patch: never) =>
  method === 'patchStatus' ? { ...(patch as object), metadata } : {}
/** Runs the kubelets of two nodes. */
function runKubelets(t: Test, answer: Answer = patched): ScriptedController {
  const world = runScripted(t, kubelets, answer)
  world.set(node, nodeWith('n0', '10.0.0.1'), nodeWith('n1', '10.0.0.2'))
  return world
}
const runningStatus = {
  phase: 'Running',
  containerStatuses: [{ name: 'main', image: 'x:1', restartCount: 0, ready: true, state: { running: { startedAt: time } } }],
}

t.test('the kubelet runs the Pods on its nodes', async (t) => {
  const world = runKubelets(t)
  world.set(pod, podOf('elsewhere', { nodeName: 'other' }), podOf('unbound'))
  for (const phase of ['Succeeded', 'Failed']) world.set(pod, podOf(phase.toLowerCase(), onNode, { status: { phase } }))
  world.set(pod, podOf('a', onNode))
  const [[method, plural, key, patch]] = (await world.take(1)) as [[string, string, object, object]]
  t.strictSame([method, plural], ['patchStatus', 'pods'])
  t.match(key, { name: 'a', namespace: 'ns' })
  t.match(patch, {
    metadata: { resourceVersion: (key as { resourceVersion: string }).resourceVersion },
    status: { phase: 'Running', hostIP: '10.0.0.2', podIP: '10.244.0.2', startTime: time },
  })
  t.strictSame(world.events, [
    'a Normal Pulling: Pulling image "x:1"',
    'a Normal Pulled: Successfully pulled image "x:1" in 0s (0s including waiting). Image size: 0 bytes.',
    'a Normal Created: Container created',
    'a Normal Started: Container started',
  ])
  world.set(
    pod,
    podOf('b', onNode, { status: { podIP: '10.244.7.7' } }),
    podOf('c', onNode, { status: { phase: 'Pending' } }),
    podOf('running', onNode, { status: runningStatus }),
  )
  t.match(await world.take(2), [
    ['patchStatus', 'pods', { name: 'b' }, { status: { podIPs: [{ ip: '10.244.7.7' }] } }],
    ['patchStatus', 'pods', { name: 'c' }, { status: { podIP: '10.244.0.3' } }],
  ])
  t.equal(world.events.length, 10, 'the image is pulled once, and a running Pod is not started again')
  world.set(pod, podOf('d', { nodeName: 'n0' }, { status: { phase: 'Pending' } }))
  t.match(await world.take(1), [['patchStatus', 'pods', { name: 'd' }, { status: { hostIP: '10.0.0.1', podIP: '10.244.0.5' } }]])
  await quiet()
  t.strictSame(world.asked, [])
  t.strictSame(world.events.slice(10), [
    'd Normal Pulling: Pulling image "x:1"',
    'd Normal Pulled: Successfully pulled image "x:1" in 0s (0s including waiting). Image size: 0 bytes.',
    'd Normal Created: Container created',
    'd Normal Started: Container started',
  ])
})

t.test('a change of a Pod that is being deleted does not delay its deletion', async (t) => {
  const world = runKubelets(t)
  const deleted = (annotations: object = {}): KubernetesObject =>
    podOf('a', onNode, { status: runningStatus }, { deletionTimestamp: time, deletionGracePeriodSeconds: 30, annotations })
  world.set(pod, deleted())
  await until('it stops', () => world.clock.pending > 0)
  await world.clock.advance(60)
  world.set(pod, deleted({ x: 'y' }))
  await quiet()
  await world.clock.advance(40)
  t.match(await world.take(2), [
    ['patchStatus', 'pods', { name: 'a' }, { status: { phase: 'Failed' } }],
    ['delete', 'pods', { name: 'a' }, { gracePeriodSeconds: 0 }],
  ])
  world.set(pod, podOf('b', onNode, {}, { deletionTimestamp: time }))
  t.match(
    (await world.take(2))[1],
    ['delete', 'pods', { name: 'b' }, { gracePeriodSeconds: 0 }],
    'without a grace period it is deleted at once',
  )
})

t.test('the address of a deleted or replaced Pod is reused', async (t) => {
  const world = runKubelets(t)
  const addressOf = async (): Promise<string> => {
    const [[, , , patch]] = (await world.take(1)) as [[string, string, object, { status: { podIP: string } }]]
    return patch.status.podIP
  }
  world.set(pod, podOf('a', onNode))
  t.equal(await addressOf(), '10.244.0.2')
  world.set(pod, podOf('a', onNode, {}, { uid: 'other' }))
  t.equal(await addressOf(), '10.244.0.2')
  world.set(pod, podOf('b', onNode))
  t.equal(await addressOf(), '10.244.0.3')
  world.cache.of(pod).delete({ namespace: 'ns', name: 'a' })
  await quiet()
  world.set(pod, podOf('c', onNode))
  t.equal(await addressOf(), '10.244.0.2')
})

t.test('the kubelet confirms a deletion after the containers have stopped', async (t) => {
  const world = runKubelets(t)
  const deleted = (name: string, deletionGracePeriodSeconds?: number) =>
    podOf(
      name,
      onNode,
      { status: runningStatus },
      { deletionTimestamp: time, ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }) },
    )
  world.set(pod, deleted('a', 30), deleted('short', 0.05), deleted('held', 0))
  t.match(await world.take(1), [['patchStatus', 'pods', { name: 'held' }, { status: { phase: 'Failed' } }]])
  await until('they stop', () => world.clock.pending > 0)
  await quiet()
  t.strictSame(world.asked, [], 'a deletion without a grace period needs no confirmation')
  const confirmed = (name: string) => [
    ['patchStatus', 'pods', { name }, { status: { phase: 'Failed' } }],
    ['delete', 'pods', { name, namespace: 'ns' }, { gracePeriodSeconds: 0, preconditions: { uid: `uid-${name}` } }],
  ]
  await world.clock.advance(50)
  t.match(await world.take(2), confirmed('short'))
  await world.clock.advance(49)
  await quiet()
  t.strictSame(world.asked, [])
  await world.clock.advance(1)
  t.match(await world.take(2), confirmed('a'))
})

t.test('the kubelet ignores that a Pod was changed or deleted meanwhile', async (t) => {
  for (const error of [notFound, conflict]) {
    const world = runKubelets(t, () => Promise.reject(error))
    world.set(pod, podOf('a', onNode))
    await world.take(1)
    world.set(pod, podOf('b', onNode, { status: runningStatus }, { deletionTimestamp: time, deletionGracePeriodSeconds: 1 }))
    await until('it stops', () => world.clock.pending > 0)
    await world.clock.advance(100)
    await world.take(1)
    await quiet()
    t.strictSame([world.log.filter(({ level }) => level === 'error'), world.clock.pending], [[], 0])
  }
})
