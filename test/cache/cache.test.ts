import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { Cache } from '../../src/cache/cache.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/cache-client.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/cache-log.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const gadget = resourceType({ group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets' })

t.test('keeps one informer for each type, and starts those that come later', async (t) => {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 1)], resourceVersion: '1' }]
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const informer = cache.informer(widget)
  t.equal(cache.informer(resourceType({ ...widget })), informer)
  t.not(cache.informer(resourceType({ ...widget, version: 'v2' })), informer, 'objects of another version are other objects')
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

t.test('does not call an object missing whose type is not watched', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  const error = { code: 'PRO_INPUT', message: /^widgets\.example\.com is not watched: / }
  t.throws(() => cache.get(widget, { name: 'a' }), error)
  t.throws(() => cache.list(widget), error)
})

t.test('tells which types and namespaces it follows', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger, namespaces: ['a'] })
  const cluster = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
  for (const type of [widget, cluster]) cache.informer(type)
  t.same([cache.has(gadget), cache.has(widget), cache.has(widget, 'a'), cache.has(widget, 'b')], [false, true, true, false])
  t.ok(cache.has(cluster, 'b'), 'what has no namespace is followed as a whole')
})

t.test('tells the state of each type', async (t) => {
  const script = new ScriptedClient()
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock() })
  cache.informer(widget)
  t.same(cache.status(), [{ type: 'widgets.example.com', synced: false }])
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

t.test('a cache that is stopped at once ends at once', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: recordingLogger().logger })
  cache.informer(widget)
  await cache.start(AbortSignal.abort())
  t.notOk(cache.status()[0]?.synced)
})
