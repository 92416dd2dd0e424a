import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import { Cache } from '../../src/cache/cache.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const gadget = resourceType({ group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets' })

t.test('the cache has one informer for each type, and starts informers that are added later', async (t) => {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 1)], resourceVersion: '1' }]
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const informer = cache.informer(widget)
  t.equal(cache.informer(resourceType({ ...widget })), informer)
  t.not(cache.informer(resourceType({ ...widget, version: 'v2' })), informer, 'another version has an informer of its own')
  t.equal(script.lists.length, 0)
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  await cache.whenSynced(abort.signal)
  t.equal(script.lists.length, 2)
  t.equal(cache.get(widget, { namespace: 'default', name: 'a' })?.metadata.name, 'a')
  t.equal(cache.get(widget, { namespace: 'default', name: 'b' }), undefined)
  t.equal(cache.list(widget, { namespace: 'default' }).length, 1)

  cache.informer(gadget)
  await cache.whenSynced()
  t.equal(cache.list(gadget).length, 1)
  await eventually(() => script.watches.length === 3)
  abort.abort()
  await running
  t.ok(script.watches.every((watch) => watch.ended))
})

t.test('waiting for the sync can be aborted', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  cache.informer(widget)
  const abort = new AbortController()
  const synced = cache.whenSynced(abort.signal)
  abort.abort(new Error('enough'))
  t.equal(await Promise.race([synced.catch((error: Error) => error.message), setImmediate('still waiting')]), 'enough')
})

t.test('reading a type that is not watched throws', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  const error = { code: 'PRO_INPUT', message: /^widgets\.example\.com is not watched: / }
  t.throws(() => cache.get(widget, { name: 'a' }), error)
  t.throws(() => cache.list(widget), error)
})

t.test('the cache exposes its namespaces', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger, namespaces: ['a'] })
  t.strictSame(cache.namespaces, ['a'])
  t.strictSame(new Cache(new ScriptedClient().client, { logger: recordingLogger().logger }).namespaces, [])
})

t.test('reading a namespace that is not watched, or without a namespace, throws', async (t) => {
  const { logger } = recordingLogger()
  const limited = new Cache(new ScriptedClient().client, { logger, namespaces: ['a', 'b'] })
  const cluster = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
  for (const type of [widget, cluster]) limited.informer(type)
  const put = (type: ResourceType, name: string, namespace: string): void =>
    void limited.informer(type).store.set(object(name, 1, { namespace }))
  put(widget, 'one', 'a')
  put(widget, 'two', 'b')
  put(cluster, 'node', '')

  const elsewhere =
    /^widgets\.example\.com of the namespace "c" are not in the cache, which is limited to "a", "b": read them with the client\.$/
  t.throws(() => limited.get(widget, { namespace: 'c', name: 'x' }), { code: 'PRO_INPUT', message: elsewhere })
  t.throws(() => limited.list(widget, { namespace: 'c' }), { code: 'PRO_INPUT', message: elsewhere })
  const nowhere = /^widgets\.example\.com have a namespace: name it in the key to read "one" from the cache\.$/
  t.throws(() => limited.get(widget, { name: 'one' }), { code: 'PRO_INPUT', message: nowhere })
  t.throws(() => limited.get(widget, { namespace: '', name: 'one' }), { code: 'PRO_INPUT', message: nowhere })

  t.equal(limited.get(widget, { namespace: 'a', name: 'one' })?.metadata.name, 'one')
  t.equal(limited.get(widget, { namespace: 'b', name: 'one' }), undefined)
  const names = (objects: readonly unknown[]): unknown[] => objects.map((each) => (each as KubernetesObject).metadata.name)
  t.strictSame(names(limited.list(widget)), ['one', 'two'], 'all watched namespaces')
  t.strictSame(names(limited.list(widget, { namespace: '' })), ['one', 'two'])
  t.equal(
    limited.get(cluster, { namespace: 'c', name: 'node' })?.metadata.name,
    'node',
    'the namespace of a cluster-scoped type is ignored',
  )
  t.strictSame(names(limited.list(cluster, { namespace: 'c' })), ['node'])
})

t.test('the cache lists by declared indexes', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  const byApp = defineCacheIndex(widget, 'app', ({ metadata }) => metadata.labels?.['app'])
  cache.addIndex(byApp)
  t.strictSame(cache.list(widget), [], 'adding an index watches its type')
  const { store } = cache.informer(widget)
  store.set(object('a', 1, { labels: { app: 'x' } }))
  store.set(object('b', 2, { labels: { app: 'x' }, namespace: 'other' }))
  store.set(object('c', 3))
  t.equal(cache.list(widget, { index: [byApp, 'x'] }).length, 2)
  t.equal(cache.list(widget, { index: [byApp, 'x'], namespace: 'other' }).length, 1)
  t.throws(() => cache.list(widget, { index: [defineCacheIndex(widget, 'app', () => 'x'), 'x'] }), { code: 'PRO_INPUT' })
})

t.test('the status of each type is reported', async (t) => {
  const script = new ScriptedClient()
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock() })
  cache.informer(widget)
  t.strictSame(cache.status(), [{ type: 'widgets.example.com', version: 'v1', synced: false, objects: 0 }])
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  await cache.whenSynced()
  script.answers = [new ApiError(failure(404, 'NotFound', 'x'))]
  cache.informer(gadget)
  await eventually(() => cache.status()[1]?.lastError !== undefined)
  t.match(cache.status(), [
    { type: 'widgets.example.com', synced: true },
    { type: 'gadgets.example.com', synced: false, lastError: /install its CustomResourceDefinition/ },
  ])
  abort.abort()
  await running
})

t.test('a cache whose signal is aborted stops at once', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  cache.informer(widget)
  await cache.start(AbortSignal.abort())
  t.notOk(cache.status()[0]?.synced)
})

t.test('the error for a type that is not watched has advice', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  const message = "widgets.example.com is not watched: name it in the controller's `owns` or `watches`, or read it with the client."
  t.throws(() => cache.get(widget, { namespace: 'a', name: 'a' }), { code: 'PRO_INPUT', message })
  t.throws(() => cache.list(widget), { code: 'PRO_INPUT', message })
})

t.test('lists filter by labels and indexes, also of cluster-scoped types', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger, namespaces: ['a'] })
  const cluster = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
  for (const type of [widget, cluster]) {
    const { store } = cache.informer(type)
    const namespace = type === widget ? 'a' : ''
    store.set(object('x', 1, { namespace, labels: { app: 'x' } }))
    store.set(object('y', 2, { namespace, labels: { app: 'y' } }))
    const labelSelector = { matchLabels: { app: 'y' } }
    const names = (options: { namespace?: string }): string[] =>
      cache.list(type, { ...options, labelSelector }).map((each) => (each as KubernetesObject).metadata.name)
    t.strictSame([names({}), names({ namespace: 'a' })], [['y'], ['y']], type.plural)
  }
})

t.test('each configured namespace is watched on its own', async (t) => {
  const script = new ScriptedClient()
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock(), namespaces: ['a', 'b'] })
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  cache.informer(widget)
  await cache.whenSynced()
  t.strictSame(script.lists.map(({ namespace }) => namespace).sort(), ['a', 'b'])
  let stopped = false
  void running.then(() => (stopped = true))
  await setImmediate()
  t.notOk(stopped)
  abort.abort()
  await running
})

t.test('the cache has stopped once all its informers have', async (t) => {
  const listed = Promise.withResolvers<never>()
  const client = { list: () => listed.promise } as unknown as Pick<Client, 'list' | 'watch'>
  const cache = new Cache(client, { logger: recordingLogger().logger, clock: new FakeClock() })
  cache.informer(widget)
  const abort = new AbortController()
  let stopped = false
  const running = cache.start(abort.signal).then(() => (stopped = true))
  abort.abort()
  await setImmediate()
  t.notOk(stopped)
  listed.reject(new Error('aborted at last'))
  await running
})

t.test('types of the same plural in different groups have their own informers', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const other = resourceType({ ...widget, group: 'example.org' })
  t.not(cache.informer(other), cache.informer(widget))
  t.throws(() => cache.get(resourceType({ ...widget, group: '' }), { name: 'a' }), { message: /^widgets is not watched/ })
})

t.test('an informer that is added after the start is waited for at the stop', async (t) => {
  const listed = Promise.withResolvers<never>()
  const client = { list: () => listed.promise } as unknown as Pick<Client, 'list' | 'watch'>
  const cache = new Cache(client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const abort = new AbortController()
  let stopped = false
  const running = cache.start(abort.signal).then(() => (stopped = true))
  await setImmediate()
  cache.informer(widget)
  abort.abort()
  await setImmediate()
  t.notOk(stopped)
  listed.reject(new Error('aborted at last'))
  await running
})
