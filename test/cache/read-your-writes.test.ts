import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import type { OwnWrites } from '../../src/cache/read-your-writes.ts'
import { readYourWrites } from '../../src/cache/read-your-writes.ts'
import type { Client } from '../../src/client/client.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const key: ObjectKey = { namespace: 'ns', name: 'a' }
const sent = { metadata: { namespace: 'ns', name: 'a' } } as never
const response = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { ...key, uid: 'u', resourceVersion: '7' } } as KubernetesObject

function setUp(answer: unknown = response): { client: Client; told: unknown[]; calls: unknown[][] } {
  const told: unknown[] = []
  const calls: unknown[][] = []
  const inner = new Proxy({} as Client, {
    get:
      (_target, method) =>
      async (...parameters: unknown[]) => {
        calls.push([method, ...parameters])
        if (answer instanceof Error) throw answer
        return answer
      },
  })
  const writes: OwnWrites = {
    written: (type, object) => told.push(['written', type.plural, object]) > 0,
    stored: (type, { name }) => `${type.plural} ${name}, before ${calls.length} requests` as never,
    deleted: (type, deletedKey, uid, before) => void told.push(['deleted', type.plural, deletedKey, uid, before]),
  }
  return { client: readYourWrites(inner, writes), told, calls }
}

const writesOf = (client: Client, options: object): Record<string, () => Promise<unknown>> => ({
  create: () => client.create(widget, sent, options),
  update: () => client.update(widget, sent, options),
  patch: () => client.patch(widget, key, {}, options),
  apply: () => client.apply(widget, sent, options),
  updateStatus: () => client.updateStatus(widget, sent, options),
  patchStatus: () => client.patchStatus(widget, key, { status: {} } as never, options),
})

t.test('the cache gets the response to each write', async (t) => {
  const options = { fieldManager: 'me' }
  for (const name of Object.keys(writesOf({} as Client, {}))) {
    const { client, told, calls } = setUp()
    t.equal(await writesOf(client, options)[name]!(), response, name)
    t.strictSame(told, [['written', 'widgets', response]], name)
    t.equal(calls[0]![0], name)
    t.equal(calls[0]!.at(-1), options, name)
  }
})

t.test('a dry run and a failed write are not in the cache', async (t) => {
  for (const name of Object.keys(writesOf({} as Client, {}))) {
    const dry = setUp()
    await writesOf(dry.client, { dryRun: true })[name]!()
    t.strictSame(dry.told, [], name)
    const failed = setUp(new Error('refused'))
    await t.rejects(writesOf(failed.client, {})[name]!(), new Error('refused'))
    t.strictSame(failed.told, [], name)
  }
})

t.test('a deletion', async (t) => {
  const pending = { ...response, metadata: { ...response.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  for (const [what, answer, told] of [
    [
      'of an object that is gone',
      { kind: 'Status', status: 'Success', details: { uid: 'u' } },
      [['deleted', 'widgets', key, 'u', 'widgets a, before 0 requests']],
    ],
    ['that returns the object', response, [['deleted', 'widgets', key, 'u', 'widgets a, before 0 requests']]],
    ['that finalizers delay', pending, [['written', 'widgets', pending]]],
    ['without a uid', { kind: 'Status', status: 'Success' }, []],
  ] as const) {
    const { client, told: actual } = setUp(answer)
    t.equal(await client.delete(widget, key, { gracePeriodSeconds: 0 }), answer as never)
    t.strictSame(actual, told, what)
    const dry = setUp(answer)
    await dry.client.delete(widget, key, { dryRun: true })
    t.strictSame(dry.told, [], what)
  }
})

t.test('other requests are passed on', async (t) => {
  const { client, told, calls } = setUp()
  const options = {}
  await client.get(widget, key, options)
  await client.list(widget, options)
  client.watch(widget, options)
  await client.deleteCollection(widget, options)
  client.logs(key, options)
  await client.raw('/version', options)
  await client.close()
  t.strictSame(calls, [['get', widget, key, options], ['list', widget, options], ['watch', widget, options], ['deleteCollection', widget, options], ['logs', key, options], ['raw', '/version', options], ['close']]) // prettier-ignore
  t.strictSame(told, [])
})

t.test('a stub that returns nothing does not fail', async (t) => {
  const { client, told } = setUp(null)
  for (const write of Object.values(writesOf(client, {}))) await write()
  t.equal(await client.delete(widget, key), null)
  t.strictSame(told, [])
})
