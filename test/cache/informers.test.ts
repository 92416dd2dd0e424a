import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { Test } from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { Cache } from '../../src/cache/cache.ts'
import type { Informer } from '../../src/cache/informer.ts'
import { Informers } from '../../src/cache/informers.ts'
import { cacheView } from '../../src/cache/view.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const view = cacheView(widget, { labels: { matchLabels: { app: 'web' } } })

interface World {
  readonly cache: Cache
  readonly script: ScriptedClient
  readonly clock: FakeClock
  stop(): Promise<void>
}

function started(t: Test): World {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 1)], resourceVersion: '1' }]
  const clock = new FakeClock()
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock })
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  const stop = (): Promise<void> => {
    abort.abort(new Error('the end'))
    return running
  }
  t.teardown(stop)
  return { cache, script, clock, stop }
}

t.test('an informer runs until its last lease is released, and another lease lists again', async (t) => {
  const { cache, script, clock } = started(t)
  const [first, second] = [cache.acquire(widget), cache.acquire(resourceType({ ...widget }))]
  t.equal(first.informer, second.informer)
  await first.whenSynced()
  await eventually(() => script.watches.length === 1)
  first.release()
  first.release()
  t.equal(cache.list(widget).length, 1)
  t.notOk(script.lastWatch.ended)
  t.throws(() => first.informer, { code: 'PRO_INPUT', message: 'The lease of widgets.example.com was released: acquire another one.' })
  second.release()
  t.ok(script.lastWatch.ended)
  t.throws(() => cache.list(widget), { code: 'PRO_INPUT' })
  t.strictSame(cache.status(), [])
  await eventually(() => clock.pending === 0)

  const third = cache.acquire(widget)
  t.notOk(third.informer.synced)
  await third.whenSynced()
  t.equal(script.lists.length, 2)
  t.equal(cache.list(widget).length, 1)
  t.equal(cache.status().length, 1)
})

t.test('an informer that `informer` has returned runs as long as the cache', async (t) => {
  const { cache, script } = started(t)
  const lease = cache.acquire(widget)
  t.equal(cache.informer(widget), lease.informer)
  cache.informer(widget)
  await cache.whenSynced()
  lease.release()
  t.equal(cache.list(widget).length, 1)
  const other = cache.acquire(view)
  await other.whenSynced()
  await eventually(() => script.watches.length === 2)
  other.release()
  t.strictSame(cache.status(), [{ type: 'widgets.example.com', version: 'v1', synced: true, objects: 1 }])
  t.equal(script.watches.filter(({ ended }) => ended).length, 1)
})

t.test('waiting for the sync ends when the signal aborts, the last lease is released, or the cache stops', async (t) => {
  const { cache, script, stop } = started(t)
  script.answers = [new ApiError(failure(403, 'Forbidden', 'no'))]
  const lease = cache.acquire(widget)
  const abort = new AbortController()
  const aborted = t.rejects(lease.whenSynced(abort.signal), new Error('enough'))
  abort.abort(new Error('enough'))
  await aborted
  const released = t.rejects(lease.whenSynced(), { code: 'PRO_ABORTED', message: 'The lease of widgets.example.com was released.' })
  const all = cache.whenSynced()
  lease.release()
  await released
  await all
  const late = cache.acquire(view)
  const stopped = t.rejects(late.whenSynced(), new Error('the end'))
  const allStopped = t.rejects(cache.whenSynced(), new Error('the end'))
  await stop()
  await stopped
  await allStopped
  const tooLate = cache.acquire(widget)
  await t.rejects(tooLate.whenSynced(), new Error('the end'))
})

t.test('the cache stops only when a released informer has stopped, too', async (t) => {
  const listed = Promise.withResolvers<never>()
  const client = { list: () => listed.promise } as never
  const cache = new Cache(client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const abort = new AbortController()
  let stopped = false
  const running = cache.start(abort.signal).then(() => (stopped = true))
  cache.acquire(widget).release()
  abort.abort()
  await setImmediate()
  t.notOk(stopped)
  listed.reject(new Error('aborted at last'))
  await running
})

t.test('waiting for the sync through a released lease ends while other leases hold the informer', async (t) => {
  const { cache, script } = started(t)
  script.answers = [new ApiError(failure(403, 'Forbidden', 'no'))]
  const [lease, other] = [cache.acquire(widget), cache.acquire(widget)]
  const waiting = t.rejects(lease.whenSynced(), { code: 'PRO_ABORTED', message: 'The lease of widgets.example.com was released.' })
  lease.release()
  await waiting
  await t.rejects(lease.whenSynced(), { code: 'PRO_INPUT', message: 'The lease of widgets.example.com was released: acquire another one.' })
  other.release()
})

t.test('the objects of a released informer leave the memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { cache, script, clock } = started(t)
  const lease = cache.acquire(widget)
  await lease.whenSynced()
  await eventually(() => script.watches.length === 1)
  const store = new WeakRef(lease.informer.store)
  lease.release()
  await eventually(() => clock.pending === 0)
  script.watches.length = 0 // these options contain callbacks, which keep the reflector in memory
  await eventually(() => {
    collect()
    return store.deref() === undefined
  })
  t.equal(store.deref(), undefined)
  lease.release()
})

t.test('an informer that ends by an error ends the start of the cache, so that the liveness probe fails', async (t) => {
  const bug = new Error('a bug')
  const informer = { type: widget, start: () => Promise.reject(bug), whenSynced: () => Promise.resolve() }
  const informers = new Informers(() => informer as unknown as Informer)
  informers.keep(widget)
  await t.rejects(informers.start(new AbortController().signal), bug)
})
