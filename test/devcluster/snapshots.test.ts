/** Tests of snapshots: the objects that `restore` writes, and the watch events that clients receive for them. */
import t from 'tap'
import { configMap, customResourceDefinition, deployment, namespace, pod } from '../../src/api/builtin.ts'
import { definitionsKey } from '../../src/devcluster/crd/custom-resource-definitions.ts'
import type { ClusterSnapshot } from '../../src/devcluster/snapshots.ts'
import { Snapshots } from '../../src/devcluster/snapshots.ts'
import { ObjectStore } from '../../src/devcluster/storage/object-store.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until as untilSoon } from '../../src/testing/until.ts'
import { clientFor, createWidgetDefinition, find, widgetType } from '../support/devcluster/client.ts'
import { startTestCluster } from '../support/devcluster/kubectl.ts'
import { rejectionOf } from '../support/rejection.ts'

const key = (name: string) => ({ namespace: 'default', name })

t.test('a restore sets changed, deleted and created objects back, and keeps the others', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const create = (name: string) => client.create(configMap, { metadata: key(name), data: { a: '1' } })
  const kept = await create('kept')
  const changed = await create('changed')
  const deleted = await create('deleted')
  const clean = await cluster.snapshot()
  const since = Number(clean.resourceVersion)
  t.equal((await client.list(configMap)).metadata.resourceVersion, clean.resourceVersion)

  for (const round of [1, 2]) {
    await client.patch(configMap, key('changed'), { data: { a: '2', b: 'x' } })
    await client.delete(configMap, key('deleted'))
    await create('created')
    const { metadata } = await client.list(configMap)
    await cluster.restore(clean)
    const { items, metadata: after } = await client.list(configMap, { namespace: 'default' })
    const withoutRevision = items.map(({ metadata: { resourceVersion: _, ...rest }, data }) => ({ ...rest, data }))
    t.strictSame(
      withoutRevision,
      [changed, deleted, kept].map(({ metadata: { resourceVersion: _, ...rest }, data }) => ({ ...rest, data })),
      `round ${round}: with their uids`,
    )
    t.equal(Number(after.resourceVersion), Number(metadata.resourceVersion) + 3, 'one write for each object that differs')
    t.equal(items[2]!.metadata.resourceVersion, kept.metadata.resourceVersion)
    await cluster.restore(clean)
    t.equal((await client.list(configMap)).metadata.resourceVersion, after.resourceVersion, 'a second restore writes nothing')
  }
  const gone = client
    .watch(configMap, { resourceVersion: String(since) })
    [Symbol.asyncIterator]()
    .next()
  t.match(await rejectionOf(gone), { status: { code: 410 } }, 'a watch from before a restore must list again')
})

t.test('a restore ends the watches', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const clean = await cluster.snapshot()
  const watch = client.watch(configMap, { resourceVersion: clean.resourceVersion })[Symbol.asyncIterator]()
  await client.create(configMap, { metadata: key('a') })
  t.match(await watch.next(), { value: { type: 'ADDED' } })
  await cluster.restore(clean)
  const rest: string[] = []
  for await (const { type } of { [Symbol.asyncIterator]: () => watch }) rest.push(type)
  t.ok(rest.length <= 1, 'only the deletion of the object may still be sent')
})

t.test('restored CRDs are served, and created ones are not', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const empty = await cluster.snapshot()
  await createWidgetDefinition(client)
  await client.create(widgetType, { metadata: key('w'), spec: { size: 1 } })
  const full = await cluster.snapshot()
  await cluster.restore(empty)
  t.match(await rejectionOf(client.list(widgetType)), { status: { code: 404 } })
  await cluster.restore(full)
  t.match(await client.get(widgetType, key('w')), { spec: { size: 1 } })
  await client.delete(customResourceDefinition, { name: 'widgets.example.com' })
  await cluster.restore(full)
  t.match(await client.get(widgetType, key('w')), { spec: { size: 1 } })
})

for (const [name, clock] of [
  ['system', systemClock],
  ['fake', new FakeClock()],
] as const) {
  t.test(`controllers reconcile what was restored, with the ${name} clock`, async (t) => {
    const cluster = await startTestCluster(t, { clock })
    const until: typeof untilSoon = (what, check) =>
      untilSoon(what, async () => {
        await (clock instanceof FakeClock ? clock.advance(100) : undefined)
        return check()
      })
    const client = clientFor(t, cluster.connection)
    await client.create(namespace, { metadata: { name: 'own' } })
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
    await client.create(deployment, { metadata: key('web'), spec: { replicas: 2, selector: { matchLabels: labels }, template } } as never)
    const running = async (count: number): Promise<boolean> =>
      (await client.list(pod, { namespace: 'default' })).items.filter(({ status }) => status?.phase === 'Running').length === count
    await until('two Pods run', () => running(2))
    const clean = await cluster.snapshot()
    await client.delete(deployment, key('web'))
    await client.delete(namespace, { name: 'own' })
    await until('the Pods are gone', async () => (await client.list(pod, { namespace: 'default' })).items.length === 0)
    await cluster.restore(clean)
    t.ok(await find(client, deployment, key('web')))
    await until('two Pods run again', () => running(2))
    await client.patch(deployment, key('web'), { spec: { replicas: 3 } } as never)
    await until('three Pods run', () => running(3))
    t.match(await client.get(namespace, { name: 'own' }), { status: { phase: 'Active' } })
  })
}

t.test('a snapshot of another cluster is refused', async (t) => {
  const [one, other] = await Promise.all([startTestCluster(t, { controllers: false }), startTestCluster(t, { controllers: false })])
  await t.rejects(other.restore(await one.snapshot()), { code: 'PRO_INPUT', message: /one of another cluster/ })
})

/** A store whose writes are committed in a later iteration of the event loop. */
const keptStore = (): ObjectStore => new ObjectStore({ persistence: { commit: () => undefined } })

t.test('writes that are not committed yet are in a snapshot, and are set back by a restore', async (t) => {
  const store = keptStore()
  const snapshots = new Snapshots(store)
  const create = (name: string) => store.put('/configmaps', { name }, { metadata: { name } }, undefined)
  void create('a')
  const snapshot = await snapshots.take()
  const created = create('b')
  await snapshots.restore(snapshot)
  await created
  t.strictSame(store.snapshot('/configmaps').keys, ['a'])
})

t.test('definitions are written before their objects, and deleted after them', async (t) => {
  const store = keptStore()
  const snapshots = new Snapshots(store)
  const put = (type: string, name: string) => store.put(type, { name }, { metadata: { name } }, undefined)
  const writesOf = async (snapshot: ClusterSnapshot): Promise<string[]> => {
    const { revision } = store
    await snapshots.restore(snapshot)
    return store.changesSince(revision).map(({ type, key }) => `${type} ${key}`)
  }
  const empty = await snapshots.take()
  // The store lists the types in the order in which their first objects were stored.
  await put('example.com/widgets', 'object')
  await put(definitionsKey, 'definition')
  const full = await snapshots.take()
  t.strictSame(await writesOf(empty), ['DELETED object', 'DELETED definition'])
  t.strictSame(await writesOf(full), ['ADDED definition', 'ADDED object'])
})
