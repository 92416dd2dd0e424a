/**
 * Tests of the views of a cache. The API server sends only the objects of the view. A write through a read-your-writes client adds an
 * object to a view, or removes an object from it, without waiting for the watch. A controller can have a view as its primary type.
 */
import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import type { DeepReadonly } from '../../src/api/json.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { keyOf } from '../../src/api/object.ts'
import { Cache } from '../../src/cache/cache.ts'
import { readYourWrites } from '../../src/cache/read-your-writes.ts'
import { cacheView } from '../../src/cache/view.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-views'
const other = 'conformance-views-other'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace, other] })
const { client } = controlPlane
const web = { matchLabels: { app: 'web' } }
const key = (name: string) => ({ namespace, name })
const make = (name: string, app: string, inNamespace = namespace) =>
  client.create(configMap, { metadata: { namespace: inNamespace, name, labels: { app } }, data: { n: '1' } })
const names = (objects: readonly DeepReadonly<KubernetesObject>[]): string[] => objects.map(({ metadata }) => metadata.name).sort()

t.test('a view has the selected objects with the selected fields, from the list and from the watch', async (t) => {
  const cache = new Cache(client, { logger: silentLogger(), namespaces: [namespace] })
  const ofWeb = cacheView(configMap, { labels: web })
  const oneName = cacheView(configMap, { fields: 'metadata.name=a', namespaces: [namespace, other] })
  const metadata = cacheView(configMap, { metadataOnly: true })
  const reduced = cacheView(configMap, { transform: ({ apiVersion, kind, metadata: { annotations: _, ...rest } }) => ({ apiVersion, kind, metadata: rest }) }) // prettier-ignore
  const views = [ofWeb, oneName, metadata, reduced]
  await make('a', 'web')
  await make('b', 'db')
  await make('a', 'db', other)
  for (const view of views) cache.informer(view)
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
  })
  await cache.whenSynced()
  const configMapsOf = (view: Parameters<Cache['list']>[0]): string[] =>
    names(cache.list(view) as readonly DeepReadonly<KubernetesObject>[]).filter((name) => name !== 'kube-root-ca.crt')
  t.strictSame(views.map(configMapsOf), [['a'], ['a', 'a'], ['a', 'b'], ['a', 'b']])
  await make('c', 'web')
  await until('the watches have sent it', () => configMapsOf(metadata).includes('c') && configMapsOf(reduced).includes('c'))
  await until('the view has it', () => configMapsOf(ofWeb).includes('c'))
  t.strictSame(cache.get(ofWeb, key('c'))?.data, { n: '1' })
  for (const view of [metadata, reduced])
    for (const name of ['a', 'c']) {
      const object = cache.get(view, key(name))!
      t.strictSame(Object.keys(object).sort(), ['apiVersion', 'kind', 'metadata'])
      t.match(object, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: 'web' } } })
      t.notOk('managedFields' in object.metadata)
    }

  const own = readYourWrites(client, cache)
  await own.patch(configMap, key('c'), { metadata: { labels: { app: 'db' } } })
  t.equal(cache.get(ofWeb, key('c')), undefined, 'the own write has removed the label')
  t.equal(cache.get(metadata, key('c'))?.metadata.labels?.['app'], 'db')
  const back = await own.patch(configMap, key('c'), { metadata: { labels: { app: 'web' } } })
  t.equal(cache.get(ofWeb, key('c'))?.metadata.resourceVersion, back.metadata.resourceVersion)
  await make('d', 'web')
  await until('the watch has sent all events', () => configMapsOf(ofWeb).includes('d'))
  t.strictSame(configMapsOf(ofWeb), ['a', 'c', 'd'])
  await client.patch(configMap, key('d'), { metadata: { labels: { app: null } } })
  await until('another client has removed the label', () => !configMapsOf(ofWeb).includes('d'))
  for (const each of cache.list(ofWeb)) await own.delete(configMap, keyOf(each))
  t.strictSame(configMapsOf(ofWeb), [])
})

t.test('a controller whose primary type is a view reconciles the objects of the view, also their leaving', async (t) => {
  const seen: string[] = []
  const view = cacheView(configMap, { labels: { matchLabels: { app: 'viewed' } }, metadataOnly: true })
  const controller = defineController(view, {
    name: 'viewed',
    reconcile: async ({ metadata }) => void seen.push(metadata.name),
    deleted: async ({ name }) => void seen.push(`-${name}`),
  })
  const operator = await controlPlane.startOperator([defineOperator({ name: 'viewed', kinds: [], controllers: [controller] })])
  t.teardown(() => operator.stop())
  await make('x', 'other')
  await make('y', 'viewed')
  await until('the object is reconciled', () => seen.includes('y'))
  await client.patch(configMap, key('y'), { metadata: { labels: { app: 'other' } } })
  await until('the object has left the view', () => seen.includes('-y'))
  t.notOk(seen.includes('x'))
})
