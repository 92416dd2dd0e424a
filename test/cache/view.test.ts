import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { configMap, node, pod } from '../../src/api/builtin.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { ObjectOf, ResourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import { Cache } from '../../src/cache/cache.ts'
import { DeclaredCache } from '../../src/cache/declared-cache.ts'
import { Informer } from '../../src/cache/informer.ts'
import type { Cause } from '../../src/cache/origin.ts'
import { Selector, storedCopy, storedForm } from '../../src/cache/stored-form.ts'
import type { CacheViewOptions } from '../../src/cache/view.ts'
import { cacheView, describeType, isSameView, nameIn } from '../../src/cache/view.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { isMetadataOnly, metadataOnly } from '../../src/client/metadata-only.ts'
import { defineController } from '../../src/controller/builder.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { ListAnswer } from '../support/client/fake-cluster.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const web = { matchLabels: { app: 'web' } }
const expired = new ApiError(failure(410, 'Expired', 'too old'))

t.test('the static type of the objects follows from the options', async () => {
  const names = cacheView(configMap, { metadataOnly: true })
  const small = cacheView(configMap, {
    transform: ({ apiVersion, kind, metadata, data }) => ({ apiVersion, kind, metadata, n: data?.['n'] }),
  })
  const some = cacheView(configMap, { labels: web })
  const check = (
    name: ObjectOf<typeof names>,
    reduced: ObjectOf<typeof small>,
    whole: ObjectOf<typeof some>,
  ): readonly (string | undefined)[] => [
    name.metadata.name,
    reduced.n,
    whole.data?.['n'],
    // @ts-expect-error only the metadata
    name.data,
    // @ts-expect-error the transform drops it
    reduced.data,
  ]
  void [check, some]
  // @ts-expect-error a transform returns an object
  void (() => cacheView(configMap, { transform: () => 'x' }))
  defineController(small, { reconcile: async (each) => void each.n?.length, owns: [names] })
})

t.test('views are the same when their types and options have the same meaning', async (t) => {
  const transform = (each: KubernetesObject): KubernetesObject => each
  const same: [CacheViewOptions<KubernetesObject, KubernetesObject>, CacheViewOptions<KubernetesObject, KubernetesObject>][] = [
    [{ labels: web }, { labels: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'web'] }] } }],
    [{ labels: { matchLabels: { a: '1', b: '2' } } }, { labels: { matchLabels: { b: '2', a: '1' } } }],
    [{ fields: 'metadata.name=a,status.phase=x' }, { fields: 'status.phase==x,metadata.name=a' }],
    [{ namespaces: ['b', 'a'] }, { namespaces: ['a', 'b', 'a'] }],
    [{ transform }, { transform }],
    [{}, { managedFields: false, metadataOnly: false }],
  ]
  const make = (options: object): ResourceType => cacheView(widget, options)
  for (const [a, b] of same) t.ok(isSameView(make(a), make(b)), JSON.stringify(a))
  t.ok(isSameView(make({}), widget), 'a view of everything is the type')
  const all = [{ labels: web }, { fields: 'metadata.name=a' }, { namespaces: ['a'] }, { metadataOnly: true }, { managedFields: true }, { transform }, { transform: (each: KubernetesObject) => each }, {}] // prettier-ignore
  for (const [index, a] of all.entries())
    for (const b of all.slice(index + 1)) t.notOk(isSameView(make(a), make(b)), JSON.stringify([a, b]))
  t.notOk(isSameView(make({ labels: web }), cacheView(resourceType({ ...widget, version: 'v2' }), { labels: web })))
})

t.test('a view is described by its options', async (t) => {
  const reduce = (each: KubernetesObject): KubernetesObject => each
  const all = { labels: web, fields: 'metadata.name=a', namespaces: ['b', 'a'], managedFields: true, transform: reduce }
  t.equal(
    describeType(cacheView(widget, { ...all, metadataOnly: true })),
    'widgets.example.com (labels app=web; fields metadata.name=a; namespaces a,b; only metadata; with managedFields; transform reduce)',
  )
  t.equal(describeType(widget), 'widgets.example.com')
  t.equal(nameIn(cacheView(widget, { fields: 'status.phase=x,metadata.name=a' })), 'a')
  t.equal(nameIn(cacheView(widget, { fields: 'metadata.name!=a' })), undefined)
})

t.test('invalid options are refused, all at once', async (t) => {
  const make =
    (options: object, type: ResourceType = widget) =>
    (): unknown =>
      cacheView(type, options)
  const code = 'PRO_CONFIG_INVALID'
  t.throws(make({ lables: web, fields: 7 }), { code, message: /lables: unknown field; did you mean labels\?; fields: must be a string/ })
  t.throws(make({ labels: { matchLabels: { 'a b': '' } }, fields: 'x', namespaces: ['A'] }), { code, message: /labels\.matchLabels\[a b\].+fields: The field selector "x".+namespaces\[0\]: / }) // prettier-ignore
  t.throws(make({ namespaces: [] }), { code, message: /namespaces: must name one at least/ })
  t.throws(make({ namespaces: ['a'] }, node), { code, message: /namespaces: Node is cluster-scoped/ })
  t.throws(make({}, cacheView(widget, { labels: web })), { code, message: /type: is a view already; pass the type of the view/ })
})

t.test('an object is stored frozen, reduced as the view says', async (t) => {
  const full = (): KubernetesObject => {
    const made = object('a', 1, { spec: { n: 1 } })
    return { ...made, metadata: { ...made.metadata, managedFields: [{ manager: 'x' }] } }
  }
  const { managedFields: _, ...metadata } = full().metadata
  t.strictSame(storedForm(widget, full()), { ...full(), metadata })
  t.strictSame(storedForm(cacheView(widget, { managedFields: true }), full()), full())
  const names = storedForm(cacheView(widget, { metadataOnly: true }), full())
  t.strictSame(names, { apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  t.ok(Object.isFrozen(names.metadata))
  const reduced = cacheView(widget, { transform: (each: KubernetesObject & { spec?: unknown }) => (delete each.spec, each) })
  t.strictSame(storedForm(reduced, full()), { apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  for (const [field, value] of [
    ['uid', 'other'],
    ['name', 'b'],
    ['namespace', 'x'],
    ['resourceVersion', '2'],
  ] as const) {
    // prettier-ignore
    const wrong = cacheView(widget, { transform: (each) => ({ ...each, metadata: { ...each.metadata, [field]: value } }) })
    t.throws(() => storedForm(wrong, full()), { code: 'PRO_INPUT', message: `The transform of a view must not change metadata.${field}: return it unchanged.` }) // prettier-ignore
  }
  t.throws(() => storedForm(cacheView(widget, { transform: () => undefined as never }), full()), { code: 'PRO_INPUT' })
})

t.test('the stored form of an object that is in use is a copy with equal values', async (t) => {
  const spec = { list: [1, { text: 'a' }, null], large: 2n ** 60n, off: false, none: null, ['__proto__']: { own: true } }
  const used = object('a', 1, { spec }) as KubernetesObject & { spec: typeof spec }
  const copy = storedCopy(widget, used) as typeof used
  t.strictSame(copy, object('a', 1, { spec }))
  t.strictSame(Object.keys(copy.spec), Object.keys(spec))
  t.ok(Object.isFrozen(copy.spec.list[1]))
  for (const part of [used, used.metadata, used.spec, used.spec.list]) t.notOk(Object.isFrozen(part))
})

t.test('a selector decides which objects a view contains', async (t) => {
  const selects = (options: object, of = object('a', 1, { labels: { app: 'web' } })): boolean | undefined =>
    new Selector(cacheView(widget, options)).selects(of)
  t.equal(selects({}), true)
  t.equal(selects({ labels: web }), true)
  t.equal(selects({ labels: web }, object('a', 1)), false)
  t.equal(selects({ labels: web, fields: 'metadata.name=b' }), false)
  t.equal(selects({ labels: web, fields: 'status.phase=x' }), undefined)
  t.equal(selects({ namespaces: ['default'] }), true)
  t.equal(selects({ namespaces: ['other'] }), false)
})

interface World {
  readonly script: ScriptedClient
  readonly informer: Informer
  readonly seen: string[]
  readonly log: readonly string[]
  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubernetesObject): Promise<void>
}

async function watching(t: Test, view: ResourceType, answer: ListAnswer = { items: [], resourceVersion: '1' }): Promise<World> {
  const script = new ScriptedClient()
  script.answers = [answer]
  const { logger, lines } = recordingLogger()
  const informer = new Informer({ client: script.client, type: view, logger, clock: new FakeClock(), random: () => 0 })
  const stop = new AbortController()
  const running = informer.start(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
  })
  await informer.whenSynced()
  await eventually(() => script.watches.length === 1)
  const seen: string[] = []
  const by = (cause: Cause): string => (typeof cause === 'object' ? ' by us' : '')
  informer.addHandler({
    added: ({ metadata }, initial, cause) => void (initial ? undefined : seen.push(`added ${metadata.resourceVersion}${by(cause)}`)),
    updated: ({ metadata }, _old, cause) => void seen.push(`updated ${metadata.resourceVersion}${by(cause)}`),
    deleted: ({ metadata }) => void seen.push(`deleted ${metadata.resourceVersion}`),
    overtaken: ({ metadata }) => void seen.push(`overtaken ${metadata.resourceVersion}`),
  })
  return {
    script,
    informer,
    seen,
    log: lines,
    async send(type, sent) {
      script.lastWatch.send(type, sent)
      await eventually(() => script.lastWatch.drained)
    },
  }
}

const origin = { controller: 'web', key: 'default/a' }
const labelled = (version: number, app = 'web'): KubernetesObject => object('a', version, { labels: { app } })

t.test("the client's type for metadata is the view of the metadata", async (t) => {
  t.ok(isSameView(metadataOnly(widget), cacheView(widget, { metadataOnly: true })))
  t.notOk(isSameView(metadataOnly(widget), widget))
})

t.test('the selectors are part of the list and watch requests', async (t) => {
  const { script } = await watching(
    t,
    cacheView(widget, { labels: web, fields: 'status.phase=x', namespaces: ['one'], metadataOnly: true }),
  )
  const selection = { namespace: 'one', labelSelector: web, fieldSelector: 'status.phase=x' }
  t.match(script.lists, [selection])
  t.match(script.lastWatch.options, selection)
  t.strictSame(script.types.map(isMetadataOnly), [true, true])
  const plain = await watching(t, widget)
  t.strictSame(plain.script.types, [widget, widget])
  t.strictSame(plain.script.lists, [{ namespace: undefined, limit: 500 }])
})

t.test('an own write that removes the label removes the object from the view, also when the watch sends older states later', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  informer.written(labelled(14, 'other'), origin)
  t.equal(informer.store.size, 0)
  t.strictSame(seen, ['deleted 10'])
  await send('MODIFIED', labelled(12))
  t.equal(informer.store.size, 0)
  await send('DELETED', labelled(14, 'other'))
  await send('ADDED', labelled(16))
  t.strictSame(seen, ['deleted 10', 'added 16'])
  informer.written(labelled(15, 'other'), origin)
  t.equal(informer.store.size, 1, 'a late response')
})

t.test('an own deletion holds, although the object left the view and returned to it before', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  await send('DELETED', labelled(12, 'other'))
  await send('ADDED', labelled(14))
  await send('DELETED', labelled(15))
  t.strictSame(seen, ['deleted 10'])
})

t.test('an object that leaves the view and returns to it by own writes is there', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  informer.written(labelled(12, 'other'), origin)
  informer.written(labelled(14), origin)
  t.equal(informer.store.size, 1)
  await send('DELETED', labelled(12, 'other'))
  t.equal(informer.store.size, 1, 'the deletion event is older than the own write')
  await send('ADDED', labelled(14))
  t.strictSame(seen.slice(0, 2), ['deleted 10', 'added 14 by us'])
  t.equal(informer.store.get({ namespace: 'default', name: 'a' })?.metadata.resourceVersion, '14')
})

t.test('the watch confirms that an object has left the view only with a state that is as new', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  informer.written(labelled(16, 'other'), origin)
  await send('DELETED', labelled(12, 'other'))
  await send('ADDED', labelled(14))
  t.strictSame(seen, ['deleted 10'])
})

t.test('after an own write that is not in the view, older states are not in it, either', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }))
  informer.written(labelled(14, 'other'), origin)
  await send('ADDED', labelled(10))
  await send('DELETED', labelled(12, 'other'))
  await send('ADDED', labelled(13))
  t.strictSame(seen, [])
  await send('DELETED', labelled(14, 'other'))
  await send('ADDED', labelled(16))
  t.strictSame(seen, ['added 16'])
})

t.test('after an own write that is not in the view, earlier objects with the same name are not in it, either', async (t) => {
  const { informer, seen, send } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  const second = (resourceVersion: number): KubernetesObject => {
    const { metadata, ...rest } = labelled(resourceVersion, 'other')
    return { ...rest, metadata: { ...metadata, uid: 'second' } }
  }
  informer.written(second(9), origin)
  t.strictSame(seen, [], 'a late response')
  informer.written(second(14), origin)
  t.strictSame(seen, ['deleted 10'])
  await send('MODIFIED', labelled(11))
  await send('DELETED', labelled(12))
  t.equal(informer.store.size, 0)
})

t.test('an own write that is not in the view is ignored, and one that enters it is stored', async (t) => {
  const { informer, seen } = await watching(t, cacheView(widget, { labels: web }))
  informer.written(labelled(5, 'other'), origin)
  t.equal(informer.store.size, 0)
  informer.written(labelled(6), origin)
  t.strictSame(seen, ['added 6 by us'])
})

t.test('when only the API server knows whether an object is in the view, an own write waits for the watch', async (t) => {
  const { informer, send } = await watching(t, cacheView(widget, { fields: 'status.phase=x' }))
  informer.written(object('a', 5), origin)
  t.equal(informer.store.size, 0)
  await send('ADDED', object('a', 5))
  t.equal(informer.store.size, 1)
  informer.deleted({ namespace: 'default', name: 'a' }, 'uid-a')
  t.equal(informer.store.size, 0)
})

t.test('own writes are reduced like all objects, and the written object stays as it is', async (t) => {
  const view = cacheView(widget, { transform: (each: KubernetesObject & { spec?: unknown }) => (delete each.spec, each) })
  const { informer, send } = await watching(t, view)
  const written = object('a', 5, { spec: { n: 1 } })
  informer.written(written, origin)
  t.ok('spec' in written)
  t.notOk('spec' in informer.store.list()[0]!)
  await send('ADDED', object('b', 6, { spec: { n: 1 } }))
  t.notOk('spec' in informer.store.get({ namespace: 'default', name: 'b' })!)
})

t.test('an object that cannot be transformed is not in the view, which is logged', async (t) => {
  const view = cacheView(widget, {
    transform: (each: KubernetesObject & { bad?: boolean }) => {
      if (each.bad === true) throw new Error('cannot')
      return each
    },
  })
  const items = [object('a', 1), object('b', 1, { bad: true })]
  const { informer, log, seen, send } = await watching(t, view, { items, resourceVersion: '1' })
  t.equal(informer.store.size, 1)
  t.strictSame(log, ['error: the transform of a view failed: the object is not in it'])
  await send('MODIFIED', object('a', 3, { bad: true }))
  t.equal(informer.store.size, 0)
  await send('MODIFIED', object('a', 4))
  informer.written(object('a', 5, { bad: true }), origin)
  t.equal(informer.store.size, 0)
  await send('MODIFIED', object('a', 5, { bad: true }))
  await send('DELETED', object('a', 6, { bad: true }))
  await send('ADDED', object('a', 7))
  t.strictSame(seen, ['deleted 1', 'added 4', 'deleted 4', 'added 7'])
  informer.written(object('a', 9))
  await send('MODIFIED', object('a', 8, { bad: true }))
  t.equal(informer.store.size, 1, 'the event is older than the own write')
})

function cacheOf(namespaces: readonly string[] = []): { cache: Cache; script: ScriptedClient } {
  const script = new ScriptedClient()
  return { cache: new Cache(script.client, { logger: recordingLogger().logger, clock: new FakeClock(), namespaces }), script }
}

t.test('equal views share an informer, and different ones of a type have their own, with their own indexes', async (t) => {
  const { cache } = cacheOf()
  const [one, same] = [cacheView(widget, { labels: web }), cacheView(widget, { labels: web })]
  const other = cacheView(widget, { labels: web, metadataOnly: true })
  t.equal(cache.informer(one), cache.informer(same))
  t.not(cache.informer(one), cache.informer(other))
  t.not(cache.informer(one), cache.informer(widget))
  cache.informer(one).store.set(labelled(1))
  t.equal(cache.list(same).length, 1)
  t.equal(cache.list(other).length, 0)
  const index = defineCacheIndex(one, 'app', ({ metadata }) => metadata.labels?.['app'])
  cache.addIndex(index)
  t.equal(cache.list(same, { index: [index, 'web'] }).length, 1)
  t.throws(() => cache.list(other, { index: [index, 'web'] }), { code: 'PRO_INPUT' })
})

t.test('a read of the type is refused when only a view of it is watched, and the other way round', async (t) => {
  const { cache } = cacheOf()
  const view = cacheView(widget, { labels: web })
  cache.informer(view)
  t.throws(() => cache.list(widget), { code: 'PRO_INPUT', message: 'widgets.example.com is not watched: the cache has only the view "labels app=web" of it. Pass the view to the cache, or read with the client.' }) // prettier-ignore
  cache.informer(cacheView(widget, { metadataOnly: true }))
  t.throws(() => cache.get(widget, { namespace: 'a', name: 'a' }), { message: /only the views "labels app=web", "only metadata" of it/ })
  const refusal = (type: string): string => `${type} is unknown`
  const declared = new DeclaredCache(cache, [view], refusal)
  t.strictSame(declared.list(cacheView(widget, { labels: web })), [])
  t.throws(() => declared.list(widget), { code: 'PRO_INPUT', message: 'widgets.example.com is not declared, but widgets.example.com (labels app=web) is: pass that one to the cache, or declare this one, too.' }) // prettier-ignore
  t.throws(() => declared.list(cacheView(pod, { labels: web })), { message: 'pods (labels app=web) is unknown' })
})

t.test('the namespaces of a view replace those of the process', async (t) => {
  const { cache, script } = cacheOf(['a'])
  const view = cacheView(widget, { namespaces: ['b', 'c'] })
  cache.informer(view).store.set(object('x', 1, { namespace: 'b' }))
  t.equal(cache.get(view, { namespace: 'b', name: 'x' })?.metadata.name, 'x')
  t.throws(() => cache.get(view, { namespace: 'a', name: 'x' }), { message: /limited to "b", "c"/ })
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  await cache.whenSynced()
  t.strictSame(script.lists.map(({ namespace }) => namespace).sort(), ['b', 'c'])
  stop.abort()
  await running
})

t.test('own writes and deletions reach all views of the type', async (t) => {
  const { cache, script } = cacheOf()
  const view = cacheView(widget, { labels: web })
  const names = cacheView(widget, { metadataOnly: true })
  for (const type of [widget, view, names]) cache.informer(type)
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  await cache.whenSynced()
  await eventually(() => script.watches.length === 3)
  const sizes = (): number[] => [widget, view, names].map((type) => cache.list(type).length)
  cache.written(widget, labelled(5))
  t.strictSame(sizes(), [1, 1, 1])
  cache.written(view, labelled(6, 'other'))
  t.strictSame(sizes(), [1, 0, 1])
  const versionsOf = (name: string) =>
    [...cache.stored(widget, { namespace: 'default', name }).values()].map(({ metadata }) => metadata.resourceVersion)
  t.strictSame(versionsOf('a'), ['6', '6'])
  t.strictSame(versionsOf('b'), [])
  cache.deleted(widget, { namespace: 'default', name: 'a' }, 'uid-a')
  t.strictSame(sizes(), [0, 0, 0])
  t.match(cache.status(), [{ type: 'widgets.example.com', version: 'v1' }, { view: 'labels app=web' }, { view: 'only metadata' }])
  stop.abort()
  await running
})

t.test('after an interruption of the watch, the list of a view takes the place of its events', async (t) => {
  const { script, informer, seen } = await watching(t, cacheView(widget, { labels: web }), { items: [labelled(10)], resourceVersion: '10' })
  informer.written(labelled(12, 'other'), origin)
  script.answers = [{ items: [labelled(15)], resourceVersion: '15' }]
  script.lastWatch.fail(expired)
  await eventually(() => script.watches.length === 2)
  await setImmediate()
  t.strictSame(seen, ['deleted 10', 'added 15'])
})
