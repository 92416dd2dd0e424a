import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { WatchOptions } from '../../../src/devcluster/registry/registry.ts'
import type { ListOptions } from '../../../src/devcluster/registry/verbs/list.ts'
import { badRequest } from '../../../src/devcluster/apimachinery/status-error.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { Fixture } from '../../support/devcluster/registry.ts'
import { fixture, foo, manualClock, foos, pod, refusal } from '../../support/devcluster/registry.ts'

const signal = new AbortController().signal

async function withFoos(...names: readonly string[]): Promise<Fixture> {
  const f = await fixture({ namespaces: ['default', 'other'] })
  for (const name of names) await f.create('foos', foo(name, {}, { labels: { name } }))
  return f
}

function names(f: Fixture, options: ListOptions, plural = 'foos'): unknown[] {
  return f.registry.list(f.info(plural), options).items.map(({ metadata }) => (metadata as JsonObject).name)
}

t.test('every page of a list has the revision of the first', async (t) => {
  const f = await withFoos('a', 'b', 'c', 'd')
  const first = f.registry.list(f.info('foos'), { namespace: 'default', limit: 2 })
  t.strictSame(first.items.length, 2)
  t.match(first.metadata, { resourceVersion: String(f.store.revision), remainingItemCount: 2 })
  t.match(JSON.parse(Buffer.from(first.metadata.continue!, 'base64url').toString()), { v: 'meta.k8s.io/v1', rv: f.store.revision })
  await f.registry.delete(f.info('foos'), { namespace: 'default', name: 'c' }, {}, f.context)
  await f.create('foos', foo('cc'))
  const second = f.registry.list(f.info('foos'), { namespace: 'default', limit: 2, continue: first.metadata.continue })
  t.strictSame(
    second.items.map(({ metadata }) => (metadata as JsonObject).name),
    ['c', 'd'],
  )
  t.strictSame(second.metadata, { resourceVersion: first.metadata.resourceVersion })
  f.store.compact()
  const gone = await refusal(() => f.registry.list(f.info('foos'), { namespace: 'default', limit: 2, continue: first.metadata.continue }))
  t.match(gone, { code: 410, reason: 'Expired', message: /The provided continue parameter is too old/ })
  t.strictSame(
    names(f, { namespace: 'default', continue: gone.metadata.continue }),
    ['cc', 'd'],
    'the token of the error continues with the current state',
  )
})

t.test('a list is limited by label and field selectors', async (t) => {
  const f = await withFoos('a', 'b')
  await f.create('foos', foo('a', {}, { namespace: 'other' }))
  await f.create('pods', pod('p', { nodeName: 'n' }))
  await f.create('pods', pod('q'))
  t.strictSame(names(f, {}), ['a', 'b', 'a'])
  t.strictSame(names(f, { namespace: 'other' }), ['a'])
  t.strictSame(names(f, { labelSelector: 'name in (b,c)' }), ['b'])
  t.strictSame(names(f, { fieldSelector: 'metadata.name=a,metadata.namespace!=other' }), ['a'])
  t.strictSame(names(f, { fieldSelector: 'spec.nodeName=' }, 'pods'), ['q'])
  t.strictSame(names(f, { fieldSelector: 'status.phase=Pending,spec.nodeName!=' }, 'pods'), ['p'])
  const page = f.registry.list(f.info('foos'), { labelSelector: 'name=a', limit: 1 })
  t.strictSame(page.metadata, { resourceVersion: String(f.store.revision) }, 'no further object matches')
  await f.create('foos', foo('unlabelled'))
  t.strictSame(names(f, { namespace: 'default', labelSelector: '!name' }), ['unlabelled'])
  t.strictSame(names(f, { namespace: 'default', labelSelector: 'name!=a' }), ['b', 'unlabelled'])
  t.strictSame(names(f, { namespace: 'default', labelSelector: 'name' }), ['a', 'b'])
  t.strictSame(names(f, { labelSelector: 'name=a', fieldSelector: 'metadata.namespace=other' }), [], 'both selectors must match')
})

t.test('an invalid selector or token is refused', async (t) => {
  const f = await withFoos('a')
  const refused = (options: ListOptions, plural = 'foos') => refusal(() => f.registry.list(f.info(plural), options))
  t.match(await refused({ fieldSelector: 'data.x=1' }, 'configmaps'), {
    code: 400,
    message: '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  })
  t.match(await refused({ fieldSelector: 'spec.x=1' }, 'pods'), { code: 400, message: 'field label not supported: spec.x' })
  t.match(await refused({ labelSelector: 'a in (b' }), { code: 400, message: /^unable to parse requirement: found ''/ })
  t.match(await refused({ continue: 'xxx' }), { code: 400, message: /^invalid continue token: / })
  t.match(await refused({ resourceVersion: 'abc' }), {
    code: 400,
    message: /^invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: /,
  })
})

t.test('conflicting list options are refused', async (t) => {
  const f = await withFoos('a', 'b')
  const token = f.registry.list(f.info('foos'), { limit: 1 }).metadata.continue!
  const field = 'resourceVersionMatch:'
  const needsVersion = `${field} Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`
  const withContinue = `${field} Forbidden: resourceVersionMatch is forbidden when continue is provided`
  const unsupported = `${field} Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""`
  const cases: [options: ListOptions, problem: string | undefined][] = [
    [{ resourceVersionMatch: 'Exact' }, needsVersion],
    [{ resourceVersionMatch: 'NotOlderThan', resourceVersion: '' }, needsVersion],
    [{ resourceVersionMatch: 'NotOlderThan', resourceVersion: '0' }, undefined],
    [{ resourceVersionMatch: 'NotOlderThan', resourceVersion: '1', continue: token }, withContinue],
    [{ resourceVersionMatch: 'x', resourceVersion: '1' }, unsupported],
    [
      { resourceVersionMatch: 'Exact', resourceVersion: '0' },
      `${field} Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    [{ sendInitialEvents: false }, 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [{ resourceVersionMatch: '', continue: token }, undefined],
    [{ resourceVersion: '0', continue: token }, undefined],
  ]
  for (const [options, problem] of cases) {
    if (problem === undefined) t.ok(f.registry.list(f.info('foos'), options).items, JSON.stringify(options))
    else
      t.match(
        await refusal(() => f.registry.list(f.info('foos'), options)),
        { code: 422, message: `ListOptions.meta.k8s.io "" is invalid: ${problem}` },
        JSON.stringify(options),
      )
  }
  t.match(await refusal(() => f.registry.list(f.info('foos'), { resourceVersion: '5', continue: token })), {
    code: 400,
    message: 'specifying resource version is not allowed when using continue',
  })
})

t.test('the last page has no continue token, and a list at version 0 is complete', async (t) => {
  const f = await withFoos('a', 'b', 'c')
  const page = (options: ListOptions) => f.registry.list(f.info('foos'), options)
  const revision = String(f.store.revision)
  for (const limit of [3, 4, 0, -1]) t.strictSame(page({ limit }).metadata, { resourceVersion: revision }, String(limit))
  t.equal(page({ limit: 1, resourceVersion: '0' }).items.length, 3)
  const first = page({ limit: 2 })
  t.equal(first.metadata.remainingItemCount, 1)
  const selected = page({ limit: 1, labelSelector: 'name!=b' })
  t.strictSame(Object.keys(selected.metadata), ['resourceVersion', 'continue'], 'a list with a selector has no remainingItemCount')
  t.strictSame(
    page({ limit: 1, labelSelector: 'name!=b', continue: selected.metadata.continue }).items.map(
      ({ metadata }) => (metadata as JsonObject).name,
    ),
    ['c'],
  )
  await f.create('foos', foo('0', {}, { namespace: 'other' }))
  const everywhere = page({ limit: 3 })
  t.strictSame(
    page({ continue: everywhere.metadata.continue }).items.map(({ metadata }) => (metadata as JsonObject).namespace),
    ['other'],
  )
})

t.test('a limit with a resourceVersion lists that exact revision', async (t) => {
  const f = await withFoos('a', 'b')
  const resourceVersion = String(f.store.revision)
  await f.create('foos', foo('c'))
  t.strictSame(names(f, { resourceVersion, limit: 10 }), ['a', 'b'])
  t.strictSame(names(f, { resourceVersion, limit: 0 }), ['a', 'b', 'c'])
  t.strictSame(names(f, { resourceVersion, limit: 10, resourceVersionMatch: 'NotOlderThan' }), ['a', 'b', 'c'])
  t.strictSame(names(f, { resourceVersion }), ['a', 'b', 'c'])
  f.store.compact()
  t.match(await refusal(() => names(f, { resourceVersion, limit: 10 })), {
    code: 410,
    message: 'The resourceVersion for the provided list is too old.',
  })
  t.strictSame(names(f, { resourceVersion: String(f.store.compactedRevision), limit: 10 }), ['a', 'b', 'c'])
})

t.test('a list waits for a future revision for a limited time', async (t) => {
  const clock = manualClock()
  const f = await fixture({ clock })
  const { signal } = f.context
  const waiting = f.registry.waitFor(String(f.store.revision + 1), signal)
  await f.create('configmaps', { metadata: { name: 'a' } })
  await waiting
  for (const past of [undefined, '', '0', '1', String(f.store.revision)]) await f.registry.waitFor(past, signal)
  const tooLarge = refusal(() => f.registry.waitFor('999999', signal))
  clock.advance(3_000)
  t.match(await tooLarge, {
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: 999999, current: ${f.store.revision}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
  })
  t.match(await refusal(() => f.registry.waitFor('abc', signal)), { code: 500, message: /^resourceVersion: Invalid value: "abc": / })
})

t.test('resourceVersionMatch=Exact lists at an exact revision', async (t) => {
  const f = await withFoos('a')
  const resourceVersion = String(f.store.revision)
  await f.create('foos', foo('b'))
  t.strictSame(names(f, { resourceVersion, resourceVersionMatch: 'Exact' }), ['a'])
  t.strictSame(names(f, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }), ['a', 'b'])
  t.strictSame(names(f, { resourceVersion: '0', limit: 500 }), ['a', 'b'])
  f.store.compact()
  t.match(await refusal(() => f.registry.list(f.info('foos'), { resourceVersion, resourceVersionMatch: 'Exact' })), {
    code: 410,
    reason: 'Expired',
  })
})

t.test('a watch with sendInitialEvents sends a bookmark after them', async (t) => {
  const f = await withFoos('a')
  const events = f.registry.watch(f.info('foos'), { sendInitialEvents: true, allowWatchBookmarks: true }, signal)
  t.match((await events.next()).value, { type: 'ADDED', object: { metadata: { name: 'a' } } })
  t.match((await events.next()).value, {
    type: 'BOOKMARK',
    object: {
      kind: 'Foo',
      apiVersion: 'ex.com/v1',
      metadata: { resourceVersion: String(f.store.revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  })
  await events.return?.()
})

t.test('only the bookmark after the initial events is annotated', async (t) => {
  const clock = manualClock()
  const f = await fixture({ clock })
  const bookmark = (annotations?: object): object => ({
    type: 'BOOKMARK',
    object: {
      kind: 'Foo',
      apiVersion: 'ex.com/v1',
      metadata: { resourceVersion: String(f.store.revision), ...(annotations && { annotations }) },
    },
  })
  const events = f.registry.watch(f.info('foos'), { sendInitialEvents: true, allowWatchBookmarks: true }, signal)
  t.strictSame((await events.next()).value, bookmark({ 'k8s.io/initial-events-end': 'true' }))
  await f.create('configmaps', { metadata: { name: 'a' } })
  clock.advance(60_000)
  t.strictSame((await events.next()).value, bookmark())
  await events.return?.()
})

t.test('a watch of one object begins now or at a revision', async (t) => {
  const f = await withFoos('a', 'b')
  const since = f.registry.list(f.info('foos'), {}).metadata.resourceVersion
  const events = f.registry.watch(f.info('foos'), { fieldSelector: 'metadata.name=b', resourceVersion: since }, signal)
  for (const name of ['a', 'b']) await f.registry.delete(f.info('foos'), { namespace: 'default', name }, {}, f.context)
  t.match((await events.next()).value, { type: 'DELETED', object: { metadata: { name: 'b', resourceVersion: String(f.store.revision) } } })
  await events.return?.()
})

t.test('a watch of a name sends no other object', async (t) => {
  const f = await withFoos('a', 'b')
  const watch = (options: WatchOptions) => f.registry.watch(f.info('foos'), { name: 'b', ...options }, signal)
  for (const options of [{}, { fieldSelector: 'metadata.name=b' }, { fieldSelector: 'metadata.namespace=default,metadata.name=b' }]) {
    const events = watch(options)
    t.match((await events.next()).value, { type: 'ADDED', object: { metadata: { name: 'b' } } })
    await events.return?.()
  }
  const mismatch = "fieldSelector metadata.name doesn't match requested name"
  for (const fieldSelector of ['metadata.name=a', 'metadata.name!=a', 'metadata.namespace=default', 'metadata.name=a,metadata.name=b'])
    t.match(await refusal(() => watch({ fieldSelector })), { code: 400, message: mismatch }, fieldSelector)
  t.match(await refusal(() => watch({ fieldSelector: 'spec.x=1' })), { code: 400, message: 'field label not supported: spec.x' })
})

t.test('two watches share the stored object', async (t) => {
  const f = await withFoos('a')
  const [one, two] = [f.registry.watch(f.info('foos'), {}, signal), f.registry.watch(f.info('foos'), {}, signal)]
  const objects = await Promise.all([one, two].map(async (events) => (await events.next()).value?.object as JsonObject))
  t.equal(objects[0], objects[1])
  t.equal(objects[0], f.registry.get(f.info('foos'), { namespace: 'default', name: 'a' }))
})

t.test('a watch begins with the initial events that its options require', async (t) => {
  const f = await withFoos('a', 'b')
  const first = f.registry.list(f.info('foos'), {}).metadata.resourceVersion
  await f.create('foos', foo('c'))
  const seen = async (options: WatchOptions): Promise<string> => {
    const events = f.registry.watch(f.info('foos'), options, signal)
    await f.registry.patch(
      f.info('foos'),
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { spec: { note: String(Math.random()) } }, duplicates: [] },
      f.context,
    )
    const found: string[] = []
    for await (const { type, object } of events) {
      found.push(`${type} ${String((object.metadata as JsonObject).name)}`)
      if (type === 'MODIFIED') break
    }
    return found.join(', ')
  }
  const all = 'ADDED a, ADDED b, ADDED c, MODIFIED a'
  t.equal(await seen({}), all)
  t.equal(await seen({ resourceVersion: '' }), all)
  t.equal(await seen({ resourceVersion: '0' }), all)
  t.equal(await seen({ sendInitialEvents: true, resourceVersion: first }), all)
  t.equal(await seen({ sendInitialEvents: false }), 'MODIFIED a')
  t.equal(await seen({ sendInitialEvents: false, resourceVersion: '0' }), 'MODIFIED a')
  t.equal(await seen({ resourceVersion: String(f.store.revision) }), 'MODIFIED a')
  t.match(await seen({ resourceVersion: first }), /^ADDED c, MODIFIED a/)
  t.match(await seen({ sendInitialEvents: false, resourceVersion: first }), /^ADDED c, MODIFIED a/)
  t.equal(await seen({ labelSelector: 'name in (a, b)' }), 'ADDED a, ADDED b, MODIFIED a')
  t.match(await refusal(() => f.registry.watch(f.info('foos'), { resourceVersion: 'x' }, signal)), { code: 500 })
  t.match(await refusal(() => f.registry.watch(f.info('foos'), { labelSelector: 'a in' }, signal)), { code: 400 })
})

t.test('a watch ends after its timeout, and never without one', async (t) => {
  const clock = manualClock()
  const f = await fixture({ clock })
  const ended = new Set<number>()
  const watches = [undefined, 0, -1, 2].map((timeoutSeconds, index) => {
    const events = f.registry.watch(f.info('foos'), { timeoutSeconds }, signal)
    void events.next().then(() => ended.add(index))
    return events
  })
  clock.advance(1_999)
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame([...ended], [])
  clock.advance(1)
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame([...ended], [3])
  for (const events of watches) await events.return?.()
})

t.test('watches of a type end when it is no longer served', async (t) => {
  const f = await withFoos()
  const events = f.registry.watch(f.info('foos'), {}, signal)
  const next = events.next()
  f.catalog.remove('ex.com', 'foos')
  t.equal((await next).done, true)
})

t.test('every version of a type lists the same objects with its own apiVersion', async (t) => {
  const f = await withFoos('a')
  const v2 = { ...foos, version: 'v2' }
  f.catalog.add(v2)
  t.match(f.registry.get(v2, { namespace: 'default', name: 'a' }), { apiVersion: 'ex.com/v2', metadata: { name: 'a' } })
  await f.registry.create(v2, 'default', { object: { ...foo('b'), apiVersion: 'ex.com/v2' }, duplicates: [] }, f.context)
  t.match(f.store.get('ex.com/foos', { namespace: 'default', name: 'b' }), { apiVersion: 'ex.com/v1' }, 'one version is stored')
  t.match(f.registry.list(foos, {}).items, [{ apiVersion: 'ex.com/v1' }, { apiVersion: 'ex.com/v1' }])
})

t.test('a finished watch unsubscribes from catalog changes', async (t) => {
  const f = await fixture()
  let listeners = 0
  const { onChange } = f.catalog
  f.catalog.onChange = (listener) => {
    const leave = onChange.call(f.catalog, listener)
    listeners += 1
    return () => {
      listeners -= 1
      leave()
    }
  }
  const controller = new AbortController()
  const watches = [f.registry.watch(f.info('foos'), {}, controller.signal), f.registry.watch(f.info('foos'), {}, signal)]
  t.equal(listeners, 2)
  controller.abort()
  await watches[1]!.return?.()
  t.equal(listeners, 0)
})

t.test('a watch retries a failed conversion and skips no event', async (t) => {
  const clock = new FakeClock()
  const f = await fixture({ clock })
  await f.create('foos', foo('a'))
  const answers: (Error | 'fine')[] = [badRequest('no'), badRequest('no'), 'fine', new TypeError('boom')]
  let asked = 0
  const converter = {
    convert: (object: JsonObject, apiVersion: string) => {
      const answer = answers[asked++]
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ ...object, apiVersion })
    },
  }
  const v2 = { ...foos, version: 'v2', converter } as unknown as typeof foos
  f.catalog.add(v2)
  const events = f.registry.watch(v2, {}, signal)
  const first = events.next()
  await clock.untilPending()
  await clock.advance(499)
  t.equal(asked, 1)
  await clock.advance(1)
  t.equal(asked, 2)
  await clock.advance(500)
  t.match((await first).value, { type: 'ADDED', object: { apiVersion: 'ex.com/v2', metadata: { name: 'a' } } })
  await f.registry.create(foos, 'default', { object: foo('b'), duplicates: [] }, f.context)
  t.equal((await events.next()).done, true, 'an unexpected error ends the watch')
  t.equal(asked, 4)
  t.equal(clock.pending, 0)
})

t.test('an aborted watch does not retry a failed conversion', async (t) => {
  const clock = new FakeClock()
  const f = await fixture({ clock })
  await f.create('foos', foo('a'))
  let asked = 0
  const converter = {
    convert: () => {
      asked += 1
      return Promise.reject(badRequest('no'))
    },
  }
  const v2 = { ...foos, version: 'v2', converter } as unknown as typeof foos
  f.catalog.add(v2)
  const client = new AbortController()
  const next = f.registry.watch(v2, {}, client.signal).next()
  await clock.untilPending()
  t.equal(asked, 1)
  client.abort()
  t.equal((await next).done, true)
  t.equal(clock.pending, 0, 'no retry is scheduled')
  await clock.advance(500)
  t.equal(asked, 1)
})

t.test('a changed conversion ends the watches of a type, and another change does not', async (t) => {
  const f = await withFoos()
  const converter = { convert: (object: JsonObject) => Promise.resolve(object) }
  const row = { ...foos, version: 'v2', converter } as unknown as typeof foos
  f.catalog.add(row)
  const events = f.registry.watch(row, {}, signal)
  const next = events.next()
  let ended = false
  void next.then(() => (ended = true))
  f.catalog.add({ ...row, shortNames: ['f'] })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(ended, false)
  f.catalog.add({ ...row, converter: { ...converter } } as unknown as typeof foos)
  t.equal((await next).done, true)
})

t.test('a converted list has the state at the time of the request', async (t) => {
  const f = await withFoos('a', 'b')
  const gate = Promise.withResolvers<void>()
  const converter = { convert: (object: JsonObject, apiVersion: string) => gate.promise.then(() => ({ ...object, apiVersion })) }
  const v2 = { ...foos, version: 'v2', converter } as unknown as typeof foos
  f.catalog.add(v2)
  const revision = String(f.store.revision)
  const listing = f.registry.readList(v2, { limit: 1 })
  await f.registry.delete(foos, { namespace: 'default', name: 'a' }, {}, f.context)
  gate.resolve()
  const { items, metadata } = await listing
  t.match(items, [{ apiVersion: 'ex.com/v2', metadata: { name: 'a' } }])
  t.match(metadata, { resourceVersion: revision, remainingItemCount: 1 })
  t.match(await refusal(() => f.registry.readList(v2, { labelSelector: 'a in' })), { code: 400 })
})
