import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import type { WatchEvent, WatcherOptions } from '../../../src/devcluster/storage/watcher.ts'
import { Watcher } from '../../../src/devcluster/storage/watcher.ts'
import { manualClock } from '../../support/devcluster/registry.ts'
import { fc } from '../../support/property.ts'

const type = 'ex.com/foos'

function watch(store: ObjectStore, options: Partial<WatcherOptions> = {}, signal = new AbortController().signal): Watcher {
  return new Watcher(
    { store, clock: manualClock(), storageKey: type, since: undefined, matches: () => true, present: (object) => object, ...options },
    signal,
  )
}

/** Returns up to `count` events. If the watch ends earlier, fewer events are returned. */
async function drain(watcher: Watcher, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  for (let index = 0; index < count; index += 1) {
    const { value, done } = await watcher.next()
    if (done === true) break
    events.push(value)
  }
  return events
}

function brief({ type: what, object }: WatchEvent): string {
  const { name, resourceVersion } = object.metadata as { name?: string; resourceVersion: string }
  return [what, name, resourceVersion].filter(Boolean).join(' ')
}

function put(store: ObjectStore, name: string, fields: JsonObject = {}, namespace = 'n'): void {
  const key = { namespace, name }
  void store.put(type, key, { metadata: key, ...fields }, store.get(type, key))
}

function remove(store: ObjectStore, name: string): void {
  const key = { namespace: 'n', name }
  const stored = store.get(type, key)
  if (stored !== undefined) void store.delete(type, key, stored)
}

t.test('a watch sends the existing objects, then changes', async (t) => {
  const store = new ObjectStore()
  put(store, 'b')
  put(store, 'a')
  const watcher = watch(store)
  put(store, 'c')
  put(store, 'a')
  remove(store, 'b')
  t.strictSame((await drain(watcher, 5)).map(brief), ['ADDED a 3', 'ADDED b 2', 'ADDED c 4', 'MODIFIED a 5', 'DELETED b 6'])
})

t.test('a watch from a revision replays later changes', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  const since = store.revision
  put(store, 'b')
  remove(store, 'a')
  const watcher = watch(store, { since })
  put(store, 'c')
  t.strictSame((await drain(watcher, 3)).map(brief), ['ADDED b 3', 'DELETED a 4', 'ADDED c 5'])
})

t.test('a watch of a namespace excludes namespaces with the same prefix', async (t) => {
  const store = new ObjectStore()
  const both = (name: string): void => {
    for (const namespace of ['nn', 'n-2', 'n']) put(store, `${namespace}-${name}`, {}, namespace)
  }
  both('before')
  const since = store.revision
  both('after')
  const [all, later] = [watch(store, { namespace: 'n' }), watch(store, { namespace: 'n', since })]
  both('then')
  t.strictSame((await drain(all, 3)).map(brief), ['ADDED n-after 7', 'ADDED n-before 4', 'ADDED n-then 10'])
  t.strictSame((await drain(later, 2)).map(brief), ['ADDED n-after 7', 'ADDED n-then 10'])
})

t.test('a watch from a compacted revision sends one ERROR event', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  put(store, 'b')
  store.compact()
  const watcher = watch(store, { since: 1 })
  const events = await drain(watcher, 5)
  t.equal(events.length, 1)
  t.match(events[0], { type: 'ERROR', object: { reason: 'Expired', code: 410, message: 'too old resource version: 1 (3)' } })
})

t.test('a watch from a future revision sends the changes after it', async (t) => {
  const store = new ObjectStore()
  const watcher = watch(store, { since: 3 })
  for (const name of ['a', 'b', 'c', 'd']) put(store, name)
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED c 4', 'ADDED d 5'])
})

t.test('an object that starts to match is ADDED, and one that stops is DELETED in its last matching state', async (t) => {
  const store = new ObjectStore()
  const watcher = watch(store, { matches: (object) => object.color === 'red' })
  put(store, 'a', { color: 'blue' })
  put(store, 'a', { color: 'red' })
  put(store, 'a', { color: 'red', size: 1 })
  put(store, 'a', { color: 'blue', size: 1 })
  remove(store, 'a')
  put(store, 'b', { color: 'red' })
  const events = await drain(watcher, 4)
  t.strictSame(events.map(brief), ['ADDED a 3', 'MODIFIED a 4', 'DELETED a 5', 'ADDED b 7'])
  t.match(events[2]?.object, { color: 'red', size: 1 })
})

t.test('bookmarks are sent each minute, after the initial events and before the timeout', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  const clock = manualClock()
  const bookmark = (revision: number, end: boolean): JsonObject => ({ metadata: { resourceVersion: String(revision) }, end })
  const watcher = watch(store, { clock, bookmark, timeoutMs: 90_000 })
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED a 2', 'BOOKMARK 2'])
  clock.advance(59_000)
  put(store, 'b')
  clock.advance(1000)
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED b 3', 'BOOKMARK 3'])
  put(store, 'c')
  clock.advance(28_000)
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED c 4', 'BOOKMARK 4'])
  clock.advance(2_000)
  t.strictSame(await drain(watcher, 1), [], 'the watch has ended')
  clock.advance(120_000)
  t.strictSame(await watcher.next(), { done: true, value: undefined })
})

t.test('bookmarks are sent without writes, so that a client can distinguish a quiet watch from a dead one', async (t) => {
  const store = new ObjectStore()
  const clock = manualClock()
  const bookmark = (revision: number): JsonObject => ({ metadata: { resourceVersion: String(revision) } })
  const watcher = watch(store, { clock, bookmark, since: store.revision, timeoutMs: 200_000 })
  clock.advance(120_000)
  t.strictSame((await drain(watcher, 2)).map(brief), ['BOOKMARK 1', 'BOOKMARK 1'])
  put(store, 'a')
  clock.advance(60_000)
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED a 2', 'BOOKMARK 2'])
  clock.advance(20_000)
  t.strictSame((await drain(watcher, 1)).map(brief), ['BOOKMARK 2'], 'the last bookmark comes before the timeout')
})

t.test('a watch ends with its signal, and when its reader is too slow', async (t) => {
  const store = new ObjectStore()
  const abort = new AbortController()
  const watcher = watch(store, {}, abort.signal)
  const pending = watcher.next()
  abort.abort()
  t.equal((await pending).done, true)

  const slow = watch(store, { queueLimit: 2 })
  for (const name of ['a', 'b', 'c']) put(store, name)
  t.equal((await slow.next()).done, true)

  const dropped = watch(store, { since: store.revision })
  store.endSubscriptions()
  t.equal((await dropped.next()).done, true)
})

t.test('a list and the watch from its revision reproduce the state of the store', async () => {
  const operation = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), color: fc.constantFrom('red', 'blue', undefined) })
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), fc.nat(40), fc.boolean(), async (operations, listAt, live) => {
      const store = new ObjectStore()
      const selected = (object: JsonObject): boolean => object.color === 'red'
      const view = new Map<string, JsonObject>()
      let watcher: Watcher | undefined
      let since = 1
      const list = (): void => {
        const snapshot = store.snapshot(type)
        for (const key of snapshot.keys) if (selected(snapshot.get(key)!)) view.set(key, snapshot.get(key)!)
        since = snapshot.revision
        if (live) watcher = watch(store, { since, matches: selected })
      }
      operations.forEach(({ name, color }, index) => {
        if (index === listAt) list()
        if (color === undefined) remove(store, name)
        else put(store, name, { color })
      })
      if (listAt >= operations.length) list()
      watcher ??= watch(store, { since, matches: selected })
      put(store, 'end', { color: 'red' })
      for await (const { type: what, object } of watcher) {
        const key = `n/${(object.metadata as { name: string }).name}`
        if (what === 'DELETED') view.delete(key)
        else view.set(key, object)
        if (key === 'n/end') break
      }
      const snapshot = store.snapshot(type)
      const expected = snapshot.keys.filter((key) => selected(snapshot.get(key)!))
      if (JSON.stringify([...view.keys()].sort()) !== JSON.stringify(expected))
        throw new Error(`saw ${[...view.keys()].join()}, is ${expected.join()}`)
      for (const key of expected) if (view.get(key) !== snapshot.get(key)) throw new Error(`${key} is another object`)
    }),
  )
})

t.test('events wait for their preparation and keep their order', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  const waiting: { readonly names: string; readonly go: () => void }[] = []
  const prepared: string[] = []
  const prepare = (objects: readonly JsonObject[]): Promise<void> => {
    const names = objects.map(({ metadata }) => String((metadata as JsonObject).name)).join()
    return new Promise((resolve) => waiting.push({ names, go: () => (prepared.push(names), resolve()) }))
  }
  const watcher = watch(store, { prepare })
  put(store, 'b')
  put(store, 'a')
  watcher.end()
  const events = drain(watcher, 4)
  for (const names of ['a', 'b', 'a,a', '']) {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    t.strictSame([waiting.length, waiting[0]!.names], [1, names], 'preparations run one after the other')
    waiting.shift()!.go()
  }
  t.strictSame((await events).map(brief), ['ADDED a 2', 'ADDED b 3', 'MODIFIED a 4'])
  t.strictSame(prepared, ['a', 'b', 'a,a', ''])
})

t.test('changes that wait for their preparation count for the length of the queue', async (t) => {
  const store = new ObjectStore()
  const prepared = Promise.withResolvers<void>()
  const watcher = watch(store, { since: store.revision, queueLimit: 2, prepare: () => prepared.promise })
  let hasEnded = false
  watcher.onEnd(() => (hasEnded = true))
  put(store, 'a')
  put(store, 'b')
  t.equal(hasEnded, false)
  put(store, 'c')
  t.equal(hasEnded, true)
  prepared.resolve()
  t.equal((await watcher.next()).done, true)
})

t.test('a watch that its reader leaves sends none of the events that wait', async (t) => {
  const store = new ObjectStore()
  for (const name of ['a', 'b']) put(store, name)
  const watcher = watch(store)
  t.equal((await watcher.return()).done, true)
  t.equal((await watcher.next()).done, true)
})

t.test('a watch ends when a preparation fails', async (t) => {
  const store = new ObjectStore()
  const watcher = watch(store, { prepare: () => Promise.reject(new Error('over')) })
  put(store, 'a')
  t.strictSame(await watcher.next(), { done: true, value: undefined })
})

t.test('a finished watch releases its timers and its subscription', async (t) => {
  const bookmark = (revision: number): JsonObject => ({ metadata: { resourceVersion: String(revision) } })
  const endings: readonly ((watcher: Watcher, abort: AbortController, store: ObjectStore) => unknown)[] = [
    (watcher) => watcher.return(),
    (watcher) => watcher.end(),
    (_watcher, abort) => abort.abort(),
    (_watcher, _abort, store) => store.endSubscriptions(),
  ]
  for (const end of endings) {
    const store = new ObjectStore()
    const abort = new AbortController()
    const timers = new Set<object>()
    const clock = {
      ...manualClock(),
      now: () => 0,
      after: () => {
        const timer = { cancel: () => void timers.delete(timer) }
        timers.add(timer)
        return timer
      },
    }
    const watcher = watch(store, { clock, bookmark, timeoutMs: 60_000 }, abort.signal)
    t.equal(timers.size, 3, 'timers for the timeout, the next bookmark and the last one')
    let ended = 0
    watcher.onEnd(() => (ended += 1))
    await watcher.next()
    end(watcher, abort, store)
    end(watcher, abort, store)
    put(store, 'late')
    t.strictSame([timers.size, ended], [0, 1])
    t.strictSame(await watcher.next(), { done: true, value: undefined })
    watcher.onEnd(() => (ended += 1))
    t.equal(ended, 2, 'a later end callback runs immediately')
  }
})

t.test('a watch with an aborted signal sends no events', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  const watcher = watch(store, {}, AbortSignal.abort())
  put(store, 'b')
  t.strictSame(await watcher.next(), { done: true, value: undefined })
})

t.test('a reader may be behind by the length of the queue', async (t) => {
  const store = new ObjectStore()
  const watcher = watch(store, { queueLimit: 2 })
  put(store, 'a')
  put(store, 'b')
  t.strictSame((await drain(watcher, 1)).map(brief), ['ADDED a 2'])
  put(store, 'c')
  t.strictSame((await drain(watcher, 2)).map(brief), ['ADDED b 3', 'ADDED c 4'])
  for (const name of ['d', 'e', 'f']) put(store, name)
  t.equal((await watcher.next()).done, true)
})

t.test('changes before the timeout can still be read after it, and a short watch has no last bookmark', async (t) => {
  const store = new ObjectStore()
  const clock = manualClock()
  const bookmark = (revision: number): JsonObject => ({ metadata: { resourceVersion: String(revision) } })
  const watcher = watch(store, { clock, bookmark, since: store.revision, timeoutMs: 2000 })
  put(store, 'a')
  clock.advance(1999)
  put(store, 'b')
  clock.advance(1)
  put(store, 'c')
  t.strictSame((await drain(watcher, 5)).map(brief), ['ADDED a 2', 'ADDED b 3'])
  const longer = watch(store, { clock, bookmark, since: store.revision, timeoutMs: 2001 })
  clock.advance(1)
  clock.advance(2000)
  t.strictSame((await drain(longer, 5)).map(brief), ['BOOKMARK 4'])
})

t.test('events have the version of the watch, and a DELETED event the last matching state', async (t) => {
  const store = new ObjectStore()
  put(store, 'a', { color: 'red' })
  const present = (object: JsonObject): JsonObject => ({ ...object, shown: true })
  const watcher = watch(store, { present, matches: ({ color }) => color === 'red' })
  put(store, 'a', { color: 'red', size: 1 })
  put(store, 'a', { color: 'blue', size: 2 })
  put(store, 'b', { color: 'red' })
  remove(store, 'b')
  const meta = (name: string, resourceVersion: string): JsonObject => ({ namespace: 'n', name, resourceVersion })
  t.strictSame(await drain(watcher, 5), [
    { type: 'ADDED', object: { metadata: meta('a', '2'), color: 'red', shown: true } },
    { type: 'MODIFIED', object: { metadata: meta('a', '3'), color: 'red', size: 1, shown: true } },
    { type: 'DELETED', object: { metadata: meta('a', '4'), color: 'red', size: 1, shown: true } },
    { type: 'ADDED', object: { metadata: meta('b', '5'), color: 'red', shown: true } },
    { type: 'DELETED', object: { metadata: meta('b', '6'), color: 'red', shown: true } },
  ])
})

t.test('the bookmark after the initial events has their revision and the annotation initial-events-end', async (t) => {
  const store = new ObjectStore()
  put(store, 'a')
  const seen: unknown[] = []
  const bookmark = (revision: number, end: boolean): JsonObject => (seen.push([revision, end]), {})
  const clock = manualClock()
  const watcher = watch(store, { clock, bookmark })
  put(store, 'b')
  clock.advance(60_000)
  t.strictSame(
    (await drain(watcher, 4)).map(({ type: what }) => what),
    ['ADDED', 'BOOKMARK', 'ADDED', 'BOOKMARK'],
  )
  t.strictSame(seen, [
    [2, true],
    [3, false],
  ])
})
