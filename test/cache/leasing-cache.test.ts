import t from 'tap'
import type { Test } from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { Cache } from '../../src/cache/cache.ts'
import { DeclaredCache } from '../../src/cache/declared-cache.ts'
import { LeasingCache } from '../../src/cache/leasing-cache.ts'
import { cacheView } from '../../src/cache/view.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const key = { namespace: 'default', name: 'a' }

function started(t: Test) {
  const script = new ScriptedClient()
  script.answers = [{ items: [object('a', 1)], resourceVersion: '1' }]
  const { logger, entries } = recordingLogger()
  const cache = new Cache(script.client, { logger, clock: new FakeClock() })
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  t.teardown(() => {
    abort.abort()
    return running
  })
  const leasing = (): LeasingCache => new LeasingCache(new DeclaredCache(cache, [], (type) => `declare ${type}`), cache)
  return { cache, script, leasing, entries }
}

t.test('a type can be read from the sync of its lease until the release', async (t) => {
  const { leasing, cache } = started(t)
  const own = leasing()
  t.throws(() => own.get(widget, key), { code: 'PRO_INPUT', message: 'declare widgets.example.com' })
  const lease = own.acquire(widget)
  t.notOk(lease.synced)
  t.throws(() => own.list(widget), { code: 'PRO_INPUT', message: /^widgets\.example\.com has not synced yet: await `whenSynced`/ })
  await lease.whenSynced()
  t.ok(lease.synced)
  t.match(own.get(resourceType({ ...widget }), key), { metadata: { name: 'a' } })
  t.equal(own.list(widget, { namespace: 'default' }).length, 1)
  t.throws(() => own.list(cacheView(widget, { metadataOnly: true })), { message: /^declare widgets\.example\.com \(only metadata\)/ })
  t.throws(() => leasing().list(widget), { message: 'declare widgets.example.com' }, 'a lease is for its holder')
  lease.release()
  lease.release()
  t.notOk(lease.synced)
  t.throws(() => own.list(widget), { message: 'declare widgets.example.com' })
  t.strictSame(cache.status(), [])
  await t.rejects(async () => lease.whenSynced(), { code: 'PRO_INPUT' })
})

t.test('a type can be read while one of several leases is left', async (t) => {
  const { leasing, cache } = started(t)
  const own = leasing()
  const [first, second] = [own.acquire(widget), own.acquire(resourceType({ ...widget }))]
  await second.whenSynced()
  first.release()
  t.equal(own.list(widget).length, 1)
  second.release()
  t.throws(() => own.list(widget), { message: 'declare widgets.example.com' })
  const [third] = [own.acquire(widget), own.acquire(cacheView(widget, { metadataOnly: true }))]
  t.equal(cache.status().length, 2)
  own.releaseAll()
  t.strictSame(cache.status(), [])
  t.notOk(third.synced)
})

t.test('listeners get the objects and the changes, until they are removed or the lease is released', async (t) => {
  const { leasing, script, entries } = started(t)
  const own = leasing()
  const lease = own.acquire(widget)
  await lease.whenSynced()
  const seen: string[] = []
  const removed: string[] = []
  lease.onChange((event) => {
    const old = event.type === 'updated' ? ` after ${event.old.metadata.resourceVersion}` : ''
    const initial = event.type === 'added' ? ` ${event.initial}` : ''
    seen.push(`${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}${initial}${old}`)
    if (event.type === 'deleted') throw new Error('a mistake')
  })
  const remove = lease.onChange(({ type }) => removed.push(type))
  await eventually(() => script.watches.length === 1)
  remove()
  script.lastWatch.send('MODIFIED', object('a', 2))
  script.lastWatch.send('ADDED', object('b', 3))
  script.lastWatch.send('DELETED', object('a', 4))
  await eventually(() => seen.length === 4)
  t.strictSame(seen, ['added a 1 true', 'updated a 2 after 1', 'added b 3 false', 'deleted a 4'])
  t.strictSame(removed, ['added'])
  t.match(entries, [{ level: 'error', msg: 'an event handler failed' }])
  const other = own.acquire(widget)
  lease.release()
  script.lastWatch.send('ADDED', object('c', 5))
  await eventually(() => own.list(widget).length === 2)
  t.equal(seen.length, 4)
  t.throws(() => lease.onChange(() => undefined), { code: 'PRO_INPUT', message: /was released: acquire another one/ })
  other.release()
})

t.test('a removed listener is not kept until the release', (t) => {
  const { cache } = started(t)
  let removals = 0
  const informer = { synced: true, addHandler: () => () => void removals++ }
  const source = {
    get: () => undefined,
    list: () => [],
    acquire: () => ({ informer, whenSynced: async () => undefined, release: () => undefined }),
  }
  const lease = new LeasingCache(new DeclaredCache(cache, [], String), source).acquire(widget)
  const [first] = [lease.onChange(() => undefined), lease.onChange(() => undefined)]
  first()
  lease.release()
  t.equal(removals, 2, 'each handler is removed once')
  t.end()
})
