/** Tests of the embedded cluster's controllers: the requests that they send, and their reactions to the responses. */
import t from 'tap'
import { configMap, namespace as namespaceType, serviceAccount } from '../../../src/api/builtin.ts'
import { formatTime } from '../../../src/api/conditions.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { namespaceController } from '../../../src/devcluster/controllers/namespace-controller.ts'
import { rootCaPublisher } from '../../../src/devcluster/controllers/root-ca-publisher.ts'
import { serviceAccountController } from '../../../src/devcluster/controllers/service-account-controller.ts'
import type { TypeSource } from '../../../src/devcluster/controllers/type-source.ts'
import { apiError, exists, forbidden, notFound, objectOf, quiet, runScripted, time } from '../../support/devcluster/scripted-controller.ts'
import { until } from '../../../src/testing/until.ts'

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
