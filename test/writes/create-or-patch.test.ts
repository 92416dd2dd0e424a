import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { configMap, deployment, pod } from '../../src/api/builtin.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { cacheView } from '../../src/cache/view.ts'
import type { Client } from '../../src/client/client.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { createOrPatch } from '../../src/writes/create-or-patch.ts'
import { writesWorld } from '../support/writes/world.ts'

const controlPlane = await startControlPlane({ controllers: false, namespaces: ['test'] })
t.teardown(() => controlPlane.stop())
const admin = controlPlane.client
const world = await writesWorld(t, controlPlane, [configMap, pod, deployment])
const { context, taken, meanwhile, cached } = world
const key = (name: string) => ({ namespace: 'test', name })
const dataOf = async (name: string) => (await admin.get(configMap, key(name))).data

t.test('an object is created, then unchanged, then patched', async (t) => {
  const set = (n: string) =>
    createOrPatch(context, configMap, key('a'), (object) => {
      object.data = { ...object.data, n }
    })
  const created = await set('1')
  t.match(created, { result: 'created', object: { data: { n: '1' } } })
  t.equal((await set('1')).result, 'unchanged')
  await admin.patch(configMap, key('a'), { data: { other: 'x' } })
  await cached(configMap, key('a'))
  t.match(await set('2'), { result: 'updated', object: { data: { n: '2', other: 'x' } } })
  t.strictSame(taken(), ['create configmaps a', 'patch configmaps a'])
})

t.test('a field is removed, and the object in the cache is not changed', async (t) => {
  await admin.create(configMap, { metadata: { ...key('b'), labels: { x: '1' } }, data: { a: '1', b: '2' } })
  await cached(configMap, key('b'))
  const before = JSON.stringify(context.cache.get(configMap, key('b')))
  let during = ''
  const { result } = await createOrPatch(context, configMap, key('b'), (object) => {
    delete object.data!['a']
    delete object.metadata.labels
    during = JSON.stringify(context.cache.get(configMap, key('b')))
  })
  t.equal(result, 'updated')
  t.equal(during, before)
  t.strictSame(await dataOf('b'), { b: '2' })
  t.equal((await admin.get(configMap, key('b'))).metadata.labels, undefined)
  taken()
})

t.test('after a conflict the change is made to the stored object', async (t) => {
  await admin.create(configMap, { metadata: key('c'), data: { n: '1' } })
  await cached(configMap, key('c'))
  meanwhile(/^patch/, () => admin.patch(configMap, key('c'), { data: { n: '10' } }))
  const { result } = await createOrPatch(context, configMap, key('c'), (object) => {
    object.data = { n: String(Number(object.data?.['n']) + 1) }
  })
  t.equal(result, 'updated')
  t.strictSame(await dataOf('c'), { n: '11' })
  t.strictSame(taken(), ['patch configmaps c', 'get configmaps c', 'patch configmaps c'])
})

t.test('an object that another client creates in the meantime is patched', async (t) => {
  meanwhile(/^create/, () => admin.create(configMap, { metadata: key('d'), data: { theirs: 'x' } }))
  const { result } = await createOrPatch(context, configMap, key('d'), (object) => {
    object.data = { ...object.data, ours: 'y' }
  })
  t.equal(result, 'updated')
  t.strictSame(await dataOf('d'), { theirs: 'x', ours: 'y' })
  t.strictSame(taken(), ['create configmaps d', 'get configmaps d', 'patch configmaps d'])
})

t.test('an object that is deleted in the meantime is created', async (t) => {
  await admin.create(configMap, { metadata: key('e'), data: { old: 'x' } })
  await cached(configMap, key('e'))
  meanwhile(/^patch/, () => admin.delete(configMap, key('e')))
  const { result } = await createOrPatch(context, configMap, key('e'), (object) => {
    object.data = { ...object.data, ours: 'y' }
  })
  t.equal(result, 'created')
  t.strictSame(await dataOf('e'), { ours: 'y' })
  taken()
})

t.test('without a cache the object is read from the API server', async (t) => {
  const { client } = context
  const increment = () =>
    createOrPatch({ client }, configMap, key('f'), async (object) => {
      await setImmediate()
      object.data = { n: String(Number(object.data?.['n'] ?? 0) + 1) }
    })
  t.equal((await increment()).result, 'created')
  t.equal((await increment()).result, 'updated')
  t.strictSame(taken(), ['get configmaps f', 'create configmaps f', 'get configmaps f', 'patch configmaps f'])
})

t.test('a status is patched through the subresource', async (t) => {
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  }
  const set = (replicas: number, ready: number) =>
    createOrPatch(context, deployment, key('g'), (object) => {
      object.spec = { ...(object.spec ?? spec), replicas }
      object.status = { ...object.status, replicas: ready }
    })
  t.match(await set(1, 1), { result: 'created', object: { spec: { replicas: 1 }, status: { replicas: 1 } } })
  t.strictSame(taken(), ['create deployments g', 'patchStatus deployments g'])
  t.equal((await set(1, 1)).result, 'unchanged')
  t.match(await set(1, 2), { result: 'updated', object: { status: { replicas: 2 } } })
  t.strictSame(taken(), ['patchStatus deployments g'])
  t.equal((await set(2, 2)).result, 'updated')
  t.strictSame(taken(), ['patch deployments g'])
  meanwhile(/^patchStatus/, () => admin.patch(deployment, key('g'), { metadata: { labels: { changed: 'yes' } } }))
  t.match(await set(3, 3), { result: 'updated', object: { spec: { replicas: 3 }, status: { replicas: 3 } } })
  t.strictSame(taken(), ['patch deployments g', 'patchStatus deployments g', 'get deployments g', 'patchStatus deployments g'])
})

t.test('a created object whose status has a conflict still counts as created', async (t) => {
  meanwhile(/^patchStatus/, () => admin.patch(pod, key('h'), { metadata: { labels: { changed: 'yes' } } }))
  const { result, object } = await createOrPatch(context, pod, key('h'), (draft) => {
    draft.spec ??= { containers: [{ name: 'a', image: 'a' }] }
    draft.status = { ...draft.status, message: 'x' }
  })
  t.match([result, object.status?.message], ['created', 'x'])
  taken()
})

t.test('an object that is deleted before its status is patched is created again', async (t) => {
  const set = (message: string) =>
    createOrPatch(context, pod, key('i'), (draft) => {
      draft.spec ??= { containers: [{ name: 'a', image: 'a' }] }
      draft.metadata.labels = { message }
      draft.status = { ...draft.status, message }
    })
  const remove = () => admin.delete(pod, key('i'), { gracePeriodSeconds: 0 })
  meanwhile(/^patchStatus/, remove)
  t.match(await set('x'), { result: 'created', object: { status: { message: 'x' } } })
  t.strictSame(taken(), ['create pods i', 'patchStatus pods i', 'get pods i', 'get pods i', 'create pods i', 'patchStatus pods i'])
  await cached(pod, key('i'))
  meanwhile(/^patchStatus/, remove)
  t.match(await set('y'), { result: 'created', object: { status: { message: 'y' } } })
  t.strictSame(taken(), ['patch pods i', 'patchStatus pods i', 'get pods i', 'get pods i', 'create pods i', 'patchStatus pods i'])
})

t.test('a status that cannot be written is an error after one attempt', async (t) => {
  const client = {
    ...context.client,
    patchStatus: () => Promise.reject(new ApiError(failure(404, 'NotFound', 'the server could not find the requested resource'))),
  } as unknown as Client
  const failed = createOrPatch({ ...context, client }, pod, key('i'), (draft) => void (draft.status = { ...draft.status, message: 'z' }))
  await t.rejects(failed, { message: /could not find the requested resource/ })
  t.strictSame(taken(), ['get pods i'])
})

t.test('the name and the namespace cannot be changed', async (t) => {
  const changing = (metadata: { name: string; namespace?: string }) =>
    createOrPatch(context, configMap, key('a'), (object) => void Object.assign(object.metadata, metadata))
  await t.rejects(changing({ name: 'z' }), {
    code: 'PRO_INPUT',
    message: 'configmaps "test/a": the name and namespace cannot be changed, found "test/z".',
  })
  await t.rejects(changing({ name: 'a', namespace: 'default' }), { code: 'PRO_INPUT' })
  t.strictSame(taken(), [])
})

t.test('a view that omits fields does not hide them from the change', async (t) => {
  const slim = cacheView(configMap, { metadataOnly: true })
  const sizes = cacheView(configMap, { transform: ({ apiVersion, kind, metadata, data }) => ({ apiVersion, kind, metadata, size: data }) })
  const some = cacheView(configMap, { labels: { matchLabels: { app: 'shop' } } })
  const views = await writesWorld(t, controlPlane, [slim, sizes, some])
  const count = (view: typeof slim, name: string) =>
    createOrPatch(views.context, view, key(name), (object) => {
      object.data = { ...object.data, n: String(Number(object.data?.['n'] ?? 0) + 1) }
    })
  for (const [view, name] of [
    [slim, 'slim'],
    [sizes, 'sizes'],
    [some, 'some'],
  ] as const) {
    for (let times = 0; times < 3; times += 1) await count(view, name)
    t.strictSame(await dataOf(name), { n: '3' }, name)
  }
  await createOrPatch(views.context, slim, key('slim'), (object) => {
    object.data = { other: 'x' }
  })
  t.strictSame(await dataOf('slim'), { other: 'x' }, 'fields that the change removes are removed')
  const set = () => createOrPatch(views.context, slim, key('slim'), (object) => void Object.assign(object, { data: { other: 'x' } }))
  views.taken()
  t.equal((await set()).result, 'unchanged')
  t.strictSame(views.taken(), ['get configmaps slim'])
})

t.test('a key without a name is refused before any request', async (t) => {
  for (const name of [undefined, ''])
    await t.rejects(
      createOrPatch(context, configMap, { namespace: 'test', name: name! }, () => undefined),
      { code: 'PRO_INPUT' },
    )
  t.strictSame(taken(), [])
})

t.test('an abort ends the pause after a conflict', async (t) => {
  await cached(configMap, key('a'))
  meanwhile(/^patch/, () => admin.patch(configMap, key('a'), { data: { theirs: 'y' } }))
  const clock = new FakeClock()
  const abort = new AbortController()
  const writing = createOrPatch({ ...context, clock, signal: abort.signal }, configMap, key('a'), (object) => {
    object.data = { mine: 'z' }
  })
  const rejected = t.rejects(writing, { message: 'enough' })
  await until('it waits for the next attempt', () => clock.pending === 1)
  abort.abort(new Error('enough'))
  t.equal(clock.pending, 0)
  await clock.advance(1000)
  await rejected
  t.strictSame(taken(), ['patch configmaps a'])
})

t.test('other errors, and conflicts after five attempts, are thrown', async (t) => {
  await t.rejects(
    createOrPatch(context, configMap, { namespace: 'missing', name: 'a' }, () => undefined),
    { reason: 'NotFound' } as never,
  )
  t.strictSame(taken(), ['create configmaps a'])
  for (let each = 0; each < 5; each += 1) meanwhile(/^patch/, () => admin.patch(configMap, key('a'), { data: { each: String(each) } }))
  const failed = createOrPatch({ ...context }, configMap, key('a'), (object) => void (object.data = { mine: 'x' }))
  await t.rejects(failed, { reason: 'Conflict' } as never)
  t.equal(taken().filter((call) => call.startsWith('patch')).length, 5)
})
