import t from 'tap'
import type { ConfigMap } from '../../src/api/builtin.ts'
import { configMap, pod } from '../../src/api/builtin.ts'
import type { Client } from '../../src/client/client.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import { systemClock } from '../../src/api/clock.ts'
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

t.test('its cache holds what it was given, frozen, by type', async (t) => {
  const byColour = defineCacheIndex(configMap, 'colour', ({ data }) => data?.['colour'])
  const [red, blue] = [mapOf('a', 'red', { colour: 'red' }), mapOf('b', 'blue', { colour: 'blue' })]
  const { cache } = reconcileContext({ client, cached: [red, blue] })
  t.equal(cache.get(configMap, { namespace: 'a', name: 'red' }), red)
  t.ok(Object.isFrozen(red.data))
  t.equal(cache.get(pod, { namespace: 'a', name: 'red' }), undefined)
  t.strictSame(cache.list(configMap, { namespace: 'b' }), [blue])
  t.strictSame(cache.list(configMap, { index: [byColour, 'red'] }), [red])
})

t.test('an object that does not say what it is has no place in it', async (t) => {
  const { kind: _kind, ...kindless } = mapOf('a', 'b')
  t.throws(() => reconcileContext({ client, cached: [kindless as never] }), { code: 'PRO_INPUT' })
  const { apiVersion: _, ...object } = mapOf('a', 'b')
  t.throws(() => reconcileContext({ client, cached: [object as never] }), {
    code: 'PRO_INPUT',
    message: 'The object a/b for the cache has no apiVersion or no kind.',
  })
})

t.test('it tells the events', async (t) => {
  const { events, recorded } = reconcileContext({ client })
  const object = mapOf('a', 'b') as ConfigMap
  events.event(object, 'Warning', 'Why', 'because')
  t.strictSame(recorded, [{ object, type: 'Warning', reason: 'Why', message: 'because' }])
})

t.test('it is what it is given, and has what a reconciler may ask for', (t) => {
  const clock = new FakeClock()
  const { signal } = new AbortController()
  const logger = createLogger({ level: 'warn' })
  const given = reconcileContext({ client, clock, signal, logger })
  t.strictSame([given.client, given.clock, given.signal, given.logger], [client, clock, signal, logger])
  const usual = reconcileContext({ client })
  t.equal(usual.clock, systemClock)
  t.equal(usual.signal.aborted, false)
  t.equal(usual.logger.isLevelEnabled('fatal'), false)
  t.match(usual.reconcileID, /^[0-9a-f-]{36}$/)
  t.not(usual.reconcileID, given.reconcileID)
  t.strictSame(usual.cache.list(pod), [])
  t.end()
})
