/** Tests of the embedded cluster's controllers: the requests that they send, and their reactions to the responses. */
import t from 'tap'
import type { Test } from 'tap'
import { configMap, namespace as namespaceType, node as nodeType, pod as podType, serviceAccount } from '../../../src/api/builtin.ts'
import { formatTime } from '../../../src/api/conditions.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { ControllerDefinition } from '../../../src/controller/builder.ts'
import { kubelet } from '../../../src/devcluster/controllers/kubelet/kubelet.ts'
import { namespaceController } from '../../../src/devcluster/controllers/namespace-controller.ts'
import { rootCaPublisher } from '../../../src/devcluster/controllers/root-ca-publisher.ts'
import { scheduler } from '../../../src/devcluster/controllers/scheduler/scheduler.ts'
import { serviceAccountController } from '../../../src/devcluster/controllers/service-account-controller.ts'
import type { TypeSource } from '../../../src/devcluster/controllers/type-source.ts'
import type { ControllerWorld } from '../../support/controller/fakes.ts'
import type { Answer, ScriptedController } from '../../support/devcluster/scripted-controller.ts'
import {
  apiError,
  conflict,
  exists,
  forbidden,
  notFound,
  objectOf,
  podOf,
  quiet,
  runScripted,
  time,
} from '../../support/devcluster/scripted-controller.ts'
import type { EventRecorder } from '../../../src/telemetry/event-recorder.ts'
import { until } from '../../../src/testing/until.ts'

const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { pods: '10' } } }
const nodeOf = (name: string, fields: object = ready): KubernetesObject => objectOf(name, fields, { namespace: undefined })

const schedule = (): ControllerDefinition => scheduler()

t.test('the scheduler binds a pending Pod to the node with the fewest Pods', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1'), nodeOf('n2'))
  world.set(podType, podOf('there', { nodeName: 'n1' }), podOf('a'))
  t.strictSame(await world.take(1), [
    [
      'raw',
      '/api/v1/namespaces/ns/pods/a/binding',
      {
        method: 'POST',
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a', namespace: 'ns', uid: 'uid-a' },
          target: { apiVersion: 'v1', kind: 'Node', name: 'n2' },
        },
        contentType: 'application/json',
      },
    ],
  ])
  t.strictSame(world.events, ['a Normal Scheduled: Successfully assigned ns/a to n2'])
})

t.test('the scheduler ignores Pods that are bound, deleted, gated, finished or for another scheduler', async (t) => {
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1'))
  world.set(
    podType,
    podOf('bound', { nodeName: 'n1' }),
    podOf('deleted', {}, {}, { deletionTimestamp: time }),
    podOf('gated', { schedulingGates: [{ name: 'g' }] }),
    podOf('other', { schedulerName: 'mine' }),
    podOf('done', {}, { status: { phase: 'Succeeded' } }),
    podOf('own', { schedulerName: 'default-scheduler', schedulingGates: [] }, { status: { phase: 'Pending' } }),
  )
  const asked = await world.take(1)
  await quiet()
  t.match(asked, [['raw', '/api/v1/namespaces/ns/pods/own/binding', {}]])
  t.strictSame([asked.length, world.asked.length], [1, 0])
})

t.test('the scheduler ignores that a Pod was deleted or bound meanwhile', async (t) => {
  for (const error of [notFound, conflict]) {
    const world = runScripted(t, schedule, () => Promise.reject(error))
    world.set(nodeType, nodeOf('n1'))
    world.set(podType, podOf('a'))
    await world.take(1)
    await quiet()
    t.strictSame([world.events, world.log.filter(({ level }) => level === 'error')], [[], []])
  }
  const world = runScripted(t, schedule, () => Promise.reject(apiError(500, 'InternalError')))
  world.set(nodeType, nodeOf('n1'))
  world.set(podType, podOf('a'))
  await world.take(1)
  await until('it is tried again', async () => {
    await world.clock.advance(10)
    return world.asked.length > 0
  })
})

t.test('the scheduler reports once why a Pod fits on no node', async (t) => {
  const message =
    '0/1 nodes are available: 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
  const world = runScripted(t, schedule)
  world.set(nodeType, nodeOf('n1', { spec: { unschedulable: true }, ...ready }))
  const other = { type: 'Other', status: 'True' }
  const scheduled = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: time,
  }
  const status = (...conditions: object[]) => ({ status: { conditions } })
  world.set(podType, podOf('a', {}, status({ type: 'PodScheduled', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }, other)))
  const [[verb, plural, key, patch]] = (await world.take(1)) as [[string, string, object, object]]
  t.strictSame([verb, plural, patch], ['patchStatus', 'pods', { status: { conditions: [other, scheduled] } }])
  t.match(key, { name: 'a', namespace: 'ns' })
  t.strictSame(world.events, [`a Warning FailedScheduling: ${message}`])
  world.set(podType, podOf('b', {}, status(scheduled)))
  const since = '2020-01-01T00:00:00Z'
  world.set(podType, podOf('c', {}, status({ ...scheduled, message: 'x', lastTransitionTime: since })))
  t.match(await world.take(1), [
    ['patchStatus', 'pods', { name: 'c' }, { status: { conditions: [{ ...scheduled, lastTransitionTime: since }] } }],
  ])
  world.set(podType, podOf('d', {}, status({ ...scheduled, reason: 'x' })))
  t.equal((await world.take(1)).length, 1)
  world.set(nodeType, nodeOf('n2'))
  const bindings = await world.take(4)
  t.strictSame(
    bindings.map(([, path]) => path).sort(),
    ['a', 'b', 'c', 'd'].map((name) => `/api/v1/namespaces/ns/pods/${name}/binding`),
  )
})

const onNode = { nodeName: 'n1' }
const kubelets = (_world: ControllerWorld, events: EventRecorder): ControllerDefinition => kubelet({ eventsOf: () => events })
const addressed = (address: string): object => ({ status: { addresses: [{ type: 'InternalIP', address }] } })
/** Responds to a patch of a status with the Pod. */
const patched: Answer = (method: string, _type: never, metadata: never, patch: never) =>
  method === 'patchStatus' ? { ...(patch as object), metadata } : {}
/** Runs the kubelets of two nodes. */
function runKubelets(t: Test, answer: Answer = patched): ScriptedController {
  const world = runScripted(t, kubelets, answer)
  world.set(nodeType, nodeOf('n0', addressed('10.0.0.1')), nodeOf('n1', addressed('10.0.0.2')))
  return world
}
const runningStatus = {
  phase: 'Running',
  containerStatuses: [{ name: 'main', image: 'x:1', restartCount: 0, ready: true, state: { running: { startedAt: time } } }],
}

t.test('the kubelet runs the Pods on its nodes', async (t) => {
  const world = runKubelets(t)
  world.set(podType, podOf('elsewhere', { nodeName: 'other' }), podOf('unbound'))
  for (const phase of ['Succeeded', 'Failed']) world.set(podType, podOf(phase.toLowerCase(), onNode, { status: { phase } }))
  world.set(podType, podOf('a', onNode))
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
    podType,
    podOf('b', onNode, { status: { podIP: '10.244.7.7' } }),
    podOf('c', onNode, { status: { phase: 'Pending' } }),
    podOf('running', onNode, { status: runningStatus }),
  )
  t.match(await world.take(2), [
    ['patchStatus', 'pods', { name: 'b' }, { status: { podIPs: [{ ip: '10.244.7.7' }] } }],
    ['patchStatus', 'pods', { name: 'c' }, { status: { podIP: '10.244.0.3' } }],
  ])
  t.equal(world.events.length, 10, 'the image is pulled once, and a running Pod is not started again')
  world.set(podType, podOf('d', { nodeName: 'n0' }, { status: { phase: 'Pending' } }))
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
  world.set(podType, deleted())
  await until('it stops', () => world.clock.pending > 0)
  await world.clock.advance(60)
  world.set(podType, deleted({ x: 'y' }))
  await quiet()
  await world.clock.advance(40)
  t.match(await world.take(2), [
    ['patchStatus', 'pods', { name: 'a' }, { status: { phase: 'Failed' } }],
    ['delete', 'pods', { name: 'a' }, { gracePeriodSeconds: 0 }],
  ])
  world.set(podType, podOf('b', onNode, {}, { deletionTimestamp: time }))
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
  world.set(podType, podOf('a', onNode))
  t.equal(await addressOf(), '10.244.0.2')
  world.set(podType, podOf('a', onNode, {}, { uid: 'other' }))
  t.equal(await addressOf(), '10.244.0.2')
  world.set(podType, podOf('b', onNode))
  t.equal(await addressOf(), '10.244.0.3')
  world.cache.of(podType).delete({ namespace: 'ns', name: 'a' })
  await quiet()
  world.set(podType, podOf('c', onNode))
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
  world.set(podType, deleted('a', 30), deleted('short', 0.05), deleted('held', 0))
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
    world.set(podType, podOf('a', onNode))
    await world.take(1)
    world.set(podType, podOf('b', onNode, { status: runningStatus }, { deletionTimestamp: time, deletionGracePeriodSeconds: 1 }))
    await until('it stops', () => world.clock.pending > 0)
    await world.clock.advance(100)
    await world.take(1)
    await quiet()
    t.strictSame([world.log.filter(({ level }) => level === 'error'), world.clock.pending], [[], 0])
  }
})

const foos = resourceType({ group: 'g.io', version: 'v1', kind: 'Foo', plural: 'foos' })
const bars = resourceType({ group: 'g.io', version: 'v1', kind: 'Bar', plural: 'bars', namespaced: false })
const types: TypeSource = { types: () => [foos, bars], byKind: () => undefined, onChange: () => () => undefined }
const leaving = (metadata: object = {}, fields: object = {}): KubernetesObject =>
  objectOf(
    'n',
    { spec: { finalizers: ['kubernetes', 'x.io/mine'] }, ...fields },
    { namespace: undefined, deletionTimestamp: time, ...metadata },
  )

t.test('a terminating namespace is emptied after a delay and finalized when it is empty', async (t) => {
  let lists: object[][] = [
    [{ metadata: { name: 'a' } }],
    [{ metadata: { name: 'a', finalizers: ['x.io/a'] } }, { metadata: { name: 'b' } }],
  ]
  const latest = { metadata: { name: 'n', resourceVersion: '9' }, spec: { finalizers: ['kubernetes', 'x.io/mine'], other: 1 } }
  const world = runScripted(
    t,
    () => namespaceController(types),
    (method) => (method === 'list' ? { items: lists.shift() ?? [] } : method === 'get' ? latest : {}),
  )
  world.set(namespaceType, leaving())
  await until('it waits', () => world.clock.pending === 1)
  await world.clock.advance(1_999)
  await quiet()
  t.strictSame(world.asked, [])
  await world.clock.advance(1)
  const [first, removal, second, report] = await world.take(4)
  t.strictSame(first, ['list', 'foos', { namespace: 'n', limit: 1 }])
  t.strictSame(removal, [
    'raw',
    '/apis/g.io/v1/namespaces/n/foos',
    {
      method: 'DELETE',
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
      contentType: 'application/json',
    },
  ])
  t.strictSame(second, ['list', 'foos', { namespace: 'n' }])
  t.match(report, [
    'patchStatus',
    'namespaces',
    { name: 'n' },
    { status: { conditions: [{}, {}, {}, { message: /foos.g.io has 2 resource instances/ }, { message: /x.io\/a in 1/ }] } },
  ])
  await until('it waits', () => world.clock.pending === 1)
  lists = []
  await world.clock.advance(200)
  const asked = await world.take(4)
  t.strictSame(asked[0], ['list', 'foos', { namespace: 'n', limit: 1 }])
  t.match(asked[1], [
    'patchStatus',
    'namespaces',
    { name: 'n' },
    { status: { conditions: [{}, {}, {}, { reason: 'ContentRemoved' }, {}] } },
  ])
  t.strictSame(asked[2], ['get', 'namespaces', { name: 'n' }, {}])
  t.strictSame(asked[3], [
    'raw',
    '/api/v1/namespaces/n/finalize',
    {
      method: 'PUT',
      body: { ...latest, apiVersion: 'v1', kind: 'Namespace', spec: { finalizers: ['x.io/mine'], other: 1 } },
      contentType: 'application/json',
    },
  ])
})

t.test('a namespace that is active, or lacks the finalizer kubernetes, is not emptied', async (t) => {
  const world = runScripted(t, () => namespaceController(types))
  world.set(namespaceType, objectOf('n', { spec: { finalizers: ['kubernetes'] } }, { namespace: undefined }))
  world.set(
    namespaceType,
    objectOf('o', { spec: { finalizers: ['x.io/a'] } }, { namespace: undefined, deletionTimestamp: '2020-01-01T00:00:00Z' }),
  )
  await quiet()
  t.strictSame([world.asked, world.clock.pending], [[], 0])
})

t.test('a type that is no longer served, or cannot be deleted, does not block a namespace', async (t) => {
  for (const error of [notFound, apiError(405, 'MethodNotAllowed')]) {
    const world = runScripted(
      t,
      () => namespaceController(types),
      (method) => (method === 'list' ? Promise.reject(error) : method === 'get' ? { metadata: { name: 'n' } } : {}),
    )
    world.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }))
    const asked = await world.take(4)
    t.strictSame(
      asked.map(([method]) => method),
      ['list', 'patchStatus', 'get', 'raw'],
    )
    const [, path, { body }] = asked[3] as [string, string, { body: { spec: object } }]
    t.strictSame([path, body.spec], ['/api/v1/namespaces/n/finalize', { finalizers: [] }])
  }
  const gone = runScripted(
    t,
    () => namespaceController(types),
    (method) => (method === 'list' ? { items: [] } : Promise.reject(notFound)),
  )
  gone.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }))
  t.match(await gone.take(3), [['list'], ['patchStatus'], ['get']])
  await quiet()
  t.strictSame(
    gone.log.filter(({ level }) => level === 'error'),
    [],
  )
  const failing = runScripted(
    t,
    () => namespaceController(types),
    () => Promise.reject(apiError(500, 'InternalError')),
  )
  failing.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }))
  await failing.take(1)
  await until('it is tried again', async () => {
    await failing.clock.advance(10)
    return failing.asked.length > 0
  })
  t.notOk(
    failing.asked.some(([method]) => method !== 'list'),
    'the namespace is not finalized',
  )
})

t.test('a namespace whose finalizer cannot be removed is tried again', async (t) => {
  const world = runScripted(
    t,
    () => namespaceController(types),
    (method) =>
      method === 'list'
        ? { items: [] }
        : method === 'get'
          ? { metadata: { name: 'n' } }
          : method === 'raw'
            ? Promise.reject(apiError(500, 'InternalError'))
            : {},
  )
  world.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }))
  const isFinalize = ([method, path]: unknown[]): boolean => method === 'raw' && path === '/api/v1/namespaces/n/finalize'
  t.ok((await world.take(4)).some(isFinalize))
  await until('it is tried again', async () => {
    await world.clock.advance(10)
    return world.asked.some(isFinalize)
  })
})

t.test('the status of a namespace is written only when it changes', async (t) => {
  const world = runScripted(
    t,
    () => namespaceController(types),
    (method) => (method === 'list' ? { items: [{ metadata: { name: 'a' } }] } : {}),
  )
  world.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }))
  const [, , , report] = (await world.take(4)) as [unknown, unknown, unknown, [string, string, object, { status: object }]]
  await until('it waits', () => world.clock.pending === 1)
  world.set(namespaceType, leaving({ deletionTimestamp: '2020-01-01T00:00:00Z' }, { status: report[3].status }))
  const asked = await world.take(3)
  await until('it waits', () => world.clock.pending >= 1)
  t.strictSame(
    [...asked, ...world.asked].map(([method]) => method),
    ['list', 'raw', 'list'],
  )
})

t.test('a condition of a namespace keeps its transition time until its status changes', async (t) => {
  interface Since {
    readonly type: string
    readonly lastTransitionTime: string
  }
  const since = (asked: unknown[]): Record<string, string> => {
    const [, , , { status }] = asked as [unknown, unknown, unknown, { status: { conditions: readonly Since[] } }]
    return Object.fromEntries(status.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
  }
  let items = [{ metadata: { name: 'a', finalizers: ['x.io/a'] } }]
  const world = runScripted(
    t,
    () => namespaceController(types),
    (method) => (method === 'list' ? { items } : method === 'get' ? { metadata: { name: 'n' } } : {}),
  )
  const deletionTimestamp = '2020-01-01T00:00:00Z'
  world.set(namespaceType, leaving({ deletionTimestamp }))
  const [, , , first] = (await world.take(4)) as [unknown, unknown, unknown, [string, string, object, { status: { conditions: object[] } }]]
  const before = '2020-01-01T00:00:03Z'
  const conditions = first[3].status.conditions.map((condition) => ({ ...condition, lastTransitionTime: before }))
  await until('it waits', () => world.clock.pending === 1)
  items = []
  world.set(namespaceType, leaving({ deletionTimestamp }, { status: { conditions } }))
  const [, report] = (await world.take(4)) as [unknown, unknown[]]
  const now = formatTime(world.clock.now())
  t.strictSame(since(report), {
    NamespaceDeletionDiscoveryFailure: before,
    NamespaceDeletionGroupVersionParsingFailure: before,
    NamespaceDeletionContentFailure: before,
    NamespaceContentRemaining: now,
    NamespaceFinalizersRemaining: now,
  })
})

const inNamespace = (name: string): KubernetesObject => objectOf(name, {}, { namespace: 'ns' })
const plain = (metadata: object = {}): KubernetesObject => objectOf('ns', {}, { namespace: undefined, ...metadata })

t.test('a namespace gets the default ServiceAccount, which is created again after its deletion', async (t) => {
  const world = runScripted(t, serviceAccountController)
  world.set(namespaceType, plain())
  const created = ['create', 'serviceaccounts', { metadata: { namespace: 'ns', name: 'default' } }, {}]
  t.strictSame(await world.take(1), [created])
  world.set(serviceAccount, inNamespace('default'))
  world.set(serviceAccount, inNamespace('other'))
  await quiet()
  t.strictSame(world.asked, [])
  world.cache.of(serviceAccount).delete({ namespace: 'ns', name: 'default' })
  t.strictSame(await world.take(1), [created])
})

t.test('a namespace gets the root CA, which is restored after changes', async (t) => {
  const world = runScripted(t, () => rootCaPublisher('CA'))
  world.set(namespaceType, plain())
  t.strictSame(await world.take(1), [
    [
      'create',
      'configmaps',
      {
        metadata: {
          namespace: 'ns',
          name: 'kube-root-ca.crt',
          annotations: {
            'kubernetes.io/description':
              'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
          },
        },
        data: { 'ca.crt': 'CA' },
      },
      {},
    ],
  ])
  world.set(configMap, objectOf('kube-root-ca.crt', { data: { 'ca.crt': 'old' } }))
  t.strictSame(await world.take(1), [
    ['patch', 'configmaps', { namespace: 'ns', name: 'kube-root-ca.crt' }, { data: { 'ca.crt': 'CA' } }, {}],
  ])
  world.set(configMap, objectOf('kube-root-ca.crt', { data: { 'ca.crt': 'CA' } }))
  world.set(configMap, inNamespace('other'))
  await quiet()
  t.strictSame(world.asked, [])
})

for (const [plural, make] of [
  ['serviceaccounts', serviceAccountController],
  ['configmaps', () => rootCaPublisher('CA')],
] as const)
  t.test(`a terminating namespace gets no ${plural}, errors of races are ignored, and other errors are retried`, async (t) => {
    const away = runScripted(t, make)
    away.set(namespaceType, plain({ deletionTimestamp: time }))
    await quiet()
    t.strictSame(away.asked, [])
    for (const error of [exists, notFound, forbidden]) {
      const world = runScripted(t, make, () => Promise.reject(error))
      world.set(namespaceType, plain())
      t.match(await world.take(1), [['create', plural]])
      if (plural === 'configmaps') {
        world.set(configMap, objectOf('kube-root-ca.crt', {}))
        t.match(await world.take(1), [['patch', plural]])
      }
      await quiet()
      t.strictSame([world.log.filter(({ level }) => level === 'error'), world.clock.pending], [[], 0])
    }
    const failing = runScripted(t, make, () => Promise.reject(apiError(500, 'InternalError')))
    failing.set(namespaceType, plain())
    t.match(await failing.take(1), [['create', plural]])
    await until('it is tried again', async () => {
      await failing.clock.advance(10)
      return failing.asked.length > 0
    })
  })
