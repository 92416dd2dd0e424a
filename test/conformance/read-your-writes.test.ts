/** Tests of a cache that contains the writes of its own client even while the watch sends no events. */
import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { keyOf } from '../../src/api/object.ts'
import { Cache } from '../../src/cache/cache.ts'
import { readYourWrites } from '../../src/cache/read-your-writes.ts'
import { createClient } from '../../src/client/client.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-own-writes'
const key = (name: string) => ({ namespace, name })
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })

t.test('while the watch is silent, reads return own writes, and afterwards the state of the API server', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const watching = createClient(proxy.connection)
  const cache = new Cache(watching, { logger: silentLogger(), namespaces: [namespace] })
  const client = readYourWrites(controlPlane.client, cache)
  const stop = new AbortController()
  cache.informer(configMap)
  const running = cache.start(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
    await watching.close()
  })
  await cache.whenSynced()
  const read = (name: string) => cache.get(configMap, key(name))
  await controlPlane.client.create(configMap, { metadata: key('foreign'), data: { n: '1' } })
  await until('the watch is open', () => read('foreign') !== undefined)

  const silence = proxy.halfOpen()
  await client.create(configMap, { metadata: key('a'), data: { n: '1' } })
  t.strictSame(read('a')?.data, { n: '1' })
  const updated = await client.patch(configMap, key('a'), { data: { n: '2' } })
  t.strictSame(read('a')?.data, { n: '2' })
  await client.patch(configMap, key('a'), { data: { n: '3' } }, { dryRun: true })
  t.equal(read('a')?.metadata.resourceVersion, updated.metadata.resourceVersion)
  await client.apply(configMap, { metadata: key('b'), data: { n: '1' } })
  await client.delete(configMap, key('a'))
  t.equal(read('a'), undefined)
  const second = await client.create(configMap, { metadata: key('a'), data: { n: '4' } })
  await client.patch(configMap, key('b'), { metadata: { finalizers: ['example.com/wait'] } })
  await client.delete(configMap, key('b'))
  t.type(read('b')?.metadata.deletionTimestamp, 'string')
  await controlPlane.client.patch(configMap, key('foreign'), { data: { n: '2' } })
  t.strictSame(read('foreign')?.data, { n: '1' }, 'the write of another client is not known yet')
  await client.patch(configMap, key('foreign'), { data: { m: '1' } })
  t.strictSame(read('foreign')?.data, { n: '2', m: '1' }, 'the response contains it')

  silence.end()
  await controlPlane.client.create(configMap, { metadata: key('last') })
  await until('the watch has sent everything', () => read('last') !== undefined)
  t.equal(read('a')?.metadata.uid, second.metadata.uid)
  const { items } = await controlPlane.client.list(configMap, { namespace })
  const versions = (objects: readonly { metadata: { name: string; resourceVersion: string } }[]): string[] =>
    objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted()
  t.strictSame(versions(cache.list(configMap, { namespace })), versions(items))
  await controlPlane.client.patch(configMap, key('b'), { metadata: { finalizers: null } })
})

t.test('a controller is not called for its own writes, other controllers and other objects are', async (t) => {
  const seen: string[] = []
  const calls = (of: string): string[] => seen.filter((call) => call.startsWith(`${of} `))
  const writer = defineController(configMap, {
    name: 'writer',
    async reconcile(object, { client }) {
      const { name } = object.metadata
      if (!name.startsWith('copied')) return
      seen.push(`writer ${name} ${object.data?.['n']}`)
      if (object.data?.['copy'] === object.data?.['n']) return
      await client.patch(configMap, keyOf(object), { data: { copy: object.data!['n']! } })
      await client.apply(configMap, { metadata: { ...key(`${name}-child`) }, data: { n: object.data!['n']! } })
    },
  })
  const other = defineController(configMap, {
    name: 'other',
    reconcile: async ({ metadata, data }) => void seen.push(`other ${metadata.name} ${data?.['n']} ${data?.['copy']}`),
  })
  const operator = await controlPlane.startOperator([defineOperator({ name: 'own-writes', kinds: [], controllers: [writer, other] })])
  t.teardown(() => operator.stop())
  const { client } = controlPlane
  const create = async (name: string): Promise<void> => {
    await client.create(configMap, { metadata: key(name), data: { n: '1' } })
    await until(`${name} is copied`, () => seen.includes(`other ${name}-child 1 1`))
  }
  await create('copied-a')
  await create('copied-b') // after this wait, the events of the first objects have arrived
  t.strictSame(calls('writer copied-a'), ['writer copied-a 1'])
  t.ok(seen.includes('other copied-a 1 1'))
  await client.patch(configMap, key('copied-a'), { data: { n: '2' } })
  await until('the change is copied', () => seen.includes('other copied-a-child 2 2'))
  t.strictSame(calls('writer copied-a'), ['writer copied-a 1', 'writer copied-a 2'])
  t.strictSame(calls('writer copied-a-child'), ['writer copied-a-child 1', 'writer copied-a-child 2'])
})

t.test('a reconcile whose write changes nothing is called again for a change that another client has made meanwhile', async (t) => {
  const seen: string[] = []
  let running = Promise.withResolvers<void>()
  let isGated = false
  const controller = defineController(configMap, {
    async reconcile(object, { client }) {
      if (object.metadata.name !== 'repeated') return
      seen.push(object.data!['n']!)
      if (isGated) await running.promise
      await client.apply(configMap, { metadata: { ...keyOf(object), labels: { managed: 'yes' } } })
    },
  })
  const operator = await controlPlane.startOperator([defineOperator({ name: 'repeats', kinds: [], controllers: [controller] })], {
    namespaces: [namespace],
  })
  t.teardown(() => operator.stop())
  await controlPlane.client.create(configMap, { metadata: key('repeated'), data: { n: '1' } })
  await until('the label is there', async () => (await controlPlane.client.get(configMap, key('repeated'))).metadata.labels !== undefined)
  for (const n of [2, 4, 6]) {
    isGated = true
    await controlPlane.client.patch(configMap, key('repeated'), { data: { n: `${n}` } })
    await until('the change is reconciled', () => seen.includes(`${n}`))
    await controlPlane.client.patch(configMap, key('repeated'), { data: { n: `${n + 1}` } })
    isGated = false
    running.resolve()
    running = Promise.withResolvers()
    await until('the change during the reconcile is reconciled, too', () => seen.includes(`${n + 1}`))
  }
})
