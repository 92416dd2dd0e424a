import t from 'tap'
import type { ConfigMap } from '../../src/api/builtin.ts'
import { configMap, pod } from '../../src/api/builtin.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { Client } from '../../src/client/client.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import { cacheView } from '../../src/cache/view.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../src/testing/reconcile-context.ts'

const client = {} as Client
const mapOf = (namespace: string, name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
})

t.test('the cache has the given objects, frozen, by type', async (t) => {
  const byColour = defineCacheIndex(configMap, 'colour', ({ data }) => data?.['colour'])
  const [red, blue] = [mapOf('a', 'red', { colour: 'red' }), mapOf('b', 'blue', { colour: 'blue' })]
  const { cache } = reconcileContext({ client, cached: [red, blue] })
  t.equal(cache.get(configMap, { namespace: 'a', name: 'red' }), red)
  t.ok(Object.isFrozen(red.data))
  t.equal(cache.get(pod, { namespace: 'a', name: 'red' }), undefined)
  t.strictSame(cache.list(configMap, { namespace: 'b' }), [blue])
  t.strictSame(cache.list(configMap, { index: [byColour, 'red'] }), [red])
})

t.test('a view of a type has the selected objects, reduced', async (t) => {
  const [red, blue] = [mapOf('a', 'red', { n: '1' }), mapOf('b', 'blue')]
  const { cache } = reconcileContext({ client, cached: [red, blue] })
  const names = cacheView(configMap, { metadataOnly: true, namespaces: ['a'], fields: 'data.n=1' })
  const { data: _, ...metadata } = red
  t.strictSame(cache.list(names), [metadata])
  t.equal(cache.get(names, { namespace: 'a', name: 'red' }), cache.list(names)[0])
  t.equal(cache.get(configMap, { namespace: 'a', name: 'red' }), red)
  t.equal(cache.list(configMap).length, 2)
})

t.test('an object without apiVersion or kind is refused', async (t) => {
  const { kind: _kind, ...kindless } = mapOf('a', 'b')
  t.throws(() => reconcileContext({ client, cached: [kindless as never] }), { code: 'PRO_INPUT' })
  const { apiVersion: _, ...object } = mapOf('a', 'b')
  t.throws(() => reconcileContext({ client, cached: [object as never] }), {
    code: 'PRO_INPUT',
    message: 'The object a/b for the cache has no apiVersion or no kind.',
  })
})

t.test('events are recorded', async (t) => {
  const { events, recorded } = reconcileContext({ client })
  const object = mapOf('a', 'b') as ConfigMap
  events.event(object, 'Warning', 'Why', 'because')
  t.strictSame(recorded, [{ object, type: 'Warning', reason: 'Why', message: 'because' }])
  events.event(object, 'Normal', 'Again', 'x', { action: 'Do' })
  t.strictSame(recorded[1], { object, type: 'Normal', reason: 'Again', message: 'x', options: { action: 'Do' } })
  events.event(object, 'Normal', 'Done', 'at last')
  t.strictSame(
    recorded.map(({ reason }) => reason),
    ['Why', 'Again', 'Done'],
    'the oldest first',
  )
})

t.test('given parts are used, and others have defaults', (t) => {
  const clock = new FakeClock()
  const { signal } = new AbortController()
  const logger = createLogger({ level: 'warn' })
  const custom = reconcileContext({ client, clock, signal, logger })
  t.equal(custom.client, client)
  t.equal(custom.clock, clock)
  t.equal(custom.signal, signal)
  t.equal(custom.logger, logger)
  const usual = reconcileContext({ client })
  t.equal(usual.clock, systemClock)
  t.equal(usual.signal.aborted, false)
  t.equal(usual.logger.isLevelEnabled('fatal'), false)
  t.match(usual.reconcileID, /^[0-9a-f-]{36}$/)
  t.not(usual.reconcileID, custom.reconcileID)
  t.strictSame(usual.cache.list(pod), [])
  t.end()
})

t.test('a lease of any type has synced, and its listeners get the objects of the cache', async (t) => {
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { namespace: 'a', name: 'x' } }
  const { cache } = reconcileContext({ client, cached: [object] })
  const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  const lease = cache.acquire(widget)
  await lease.whenSynced()
  t.ok(lease.synced)
  const seen: string[] = []
  lease.onChange((event) => seen.push(`${event.type} ${event.object.metadata.name}`))()
  t.strictSame(seen, ['added x'])
  lease.release()
})
