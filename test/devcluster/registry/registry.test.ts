/** Tests of the registry: the operations on types and their subresources, and reads that wait for a resourceVersion. */
import { getEventListeners } from 'node:events'
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Admission } from '../../../src/devcluster/admission/admission.ts'
import { Representation } from '../../../src/devcluster/registry/representation.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { Fixture } from '../../support/devcluster/registry.ts'
import { fixture, foo, foos, pod, refusal } from '../../support/devcluster/registry.ts'

const key = { namespace: 'default', name: 'a' }
const notAllowed = { code: 405, reason: 'MethodNotAllowed' }

t.test('an operation that a type or a subresource does not support is refused', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a'))
  const reading: ResourceInfo = { ...foos, verbs: [], subresources: { status: { kind: 'Foo', verbs: [] } } }
  const decoded = { object: foo('a'), duplicates: [] }
  const patch = { type: 'merge', body: {}, duplicates: [] } as const
  const { registry, context } = f
  const { signal } = context
  const operations: Record<string, (info: ResourceInfo, subresource?: string) => unknown> = {
    get: (info, subresource) => registry.get(info, key, subresource),
    read: (info, subresource) => registry.read(info, key, subresource),
    create: (info, subresource) => registry.create(info, 'default', decoded, context, 'a', subresource),
    put: (info, subresource) => registry.put(info, key, decoded, context, subresource),
    update: (info, subresource) => registry.update(info, key, decoded, context, subresource),
    patch: (info, subresource) => registry.patch(info, key, patch, context, subresource),
    list: (info) => registry.list(info, {}),
    readList: (info) => registry.readList(info, {}),
    watch: (info) => registry.watch(info, {}, signal),
    delete: (info) => registry.delete(info, key, {}, context),
    deleteCollection: (info) => registry.deleteCollection(info, {}, {}, context),
  }
  for (const [name, operation] of Object.entries(operations)) {
    t.match(await refusal(() => operation(reading)), notAllowed, name)
    if (operation.length === 1) continue
    t.match(await refusal(() => operation(reading, 'status')), notAllowed, `${name} of a subresource`)
    t.match(
      await refusal(() => operation(foos, 'nothing')),
      { code: 404, message: 'the server could not find the requested resource' },
      name,
    )
  }
  t.equal(f.store.revision, Number((registry.get(foos, key).metadata as JsonObject).resourceVersion), 'the object is unchanged')
})

t.test('every operation rejects with the error of the store', async (t) => {
  const f = await fixture()
  for (const running of [
    f.registry.create({ ...foos, verbs: [] }, 'default', { object: {}, duplicates: [] }, f.context),
    f.registry.readList({ ...foos, verbs: [] }, {}),
    f.registry.read(foos, key),
  ])
    await t.rejects(running as Promise<unknown>, { name: 'StatusError' })
})

t.test('a POST to a subresource passes admission and is stored unless it is a dry run', async (t) => {
  const seen: unknown[] = []
  const admission: Admission = {
    mutate: ({ object, oldObject, operation, subresource, name, namespace }) => {
      if (subresource !== '') seen.push(['mutate', operation, subresource, namespace, name, object?.kind, oldObject])
      return Promise.resolve(object)
    },
    validate: ({ object, operation, subresource }) => {
      if (subresource !== '') seen.push(['validate', operation, subresource, object?.kind])
      return Promise.resolve()
    },
  }
  const f = await fixture({ admission })
  await f.create('pods', pod('a'))
  const post = (name: string, subresource: string, object: JsonObject) =>
    f.registry.create(f.info('pods'), 'default', { object, duplicates: [] }, f.context, name, subresource)
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } }
  t.match(await post('a', 'binding', binding), { kind: 'Status', status: 'Success' })
  t.match(f.registry.get(f.info('pods'), key), { spec: { nodeName: 'n' } })
  t.match(await refusal(() => post('b', 'binding', { ...binding, metadata: { name: 'b' } })), { code: 404, message: 'pods "b" not found' })
  t.match(await refusal(() => post('a', 'binding', { ...binding, metadata: { name: 'a', namespace: 'other' } })), {
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  })
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
  t.match(await post('a', 'eviction', { ...eviction, deleteOptions: { dryRun: ['All'] } }), { kind: 'Status', status: 'Success' })
  t.ok(f.registry.get(f.info('pods'), key), 'a dry run')
  t.match(await post('a', 'eviction', { ...eviction, deleteOptions: { gracePeriodSeconds: 0 } }), { kind: 'Status', status: 'Success' })
  t.match(await refusal(() => f.registry.get(f.info('pods'), key)), { code: 404 })
  const evicted = [
    ['mutate', 'CREATE', 'eviction', 'default', 'a', 'Eviction', undefined],
    ['validate', 'CREATE', 'eviction', 'Eviction'],
  ]
  t.strictSame(seen, [
    ['mutate', 'CREATE', 'binding', 'default', 'a', 'Binding', undefined],
    ['validate', 'CREATE', 'binding', 'Binding'],
    ...evicted,
    ...evicted,
  ])
})

t.test('a subresource that computes its response receives the stored object', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', { size: 1 }))
  const token = {
    kind: 'Foo',
    verbs: ['create'] as const,
    unstored: {
      applyDefaults: (body: JsonObject) => ({ ...body, defaulted: true }),
      prepare: (stored: JsonObject, asked: JsonObject) => ({ ...asked, prepared: stored.spec }),
      respond: (stored: JsonObject, { spec, defaulted, prepared }: JsonObject) => ({
        stored: stored.spec,
        asked: spec,
        defaulted,
        prepared,
      }),
    },
  }
  const info = { ...foos, subresources: { token } as unknown as ResourceInfo['subresources'] }
  const post = (name: string) =>
    f.registry.create(
      info,
      'default',
      { object: { kind: 'Foo', apiVersion: 'ex.com/v1', spec: { size: 2 } }, duplicates: [] },
      f.context,
      name,
      'token',
    )
  t.strictSame(await post('a'), {
    stored: { size: 1, color: 'red' },
    asked: { size: 2 },
    defaulted: true,
    prepared: { size: 1, color: 'red' },
  })
  t.match(await refusal(() => post('b')), { code: 404, message: 'foos.ex.com "b" not found' })
})

async function waiting(): Promise<{ f: Fixture; clock: FakeClock; abort: AbortController; wait: (revision: number) => Promise<void> }> {
  const clock = new FakeClock()
  const f = await fixture({ clock })
  const abort = new AbortController()
  return { f, clock, abort, wait: (revision) => f.registry.waitFor(String(revision), abort.signal) }
}

t.test('a waiting read ends when its revision is reached, it is cancelled or it times out', async (t) => {
  const { f, clock, abort, wait } = await waiting()
  let waiters = 0
  const { whenReached } = f.store
  f.store.whenReached = (revision, reached) => {
    const leave = whenReached.call(f.store, revision, reached)
    waiters += 1
    return () => {
      waiters -= 1
      leave()
    }
  }
  const isReleased = (): boolean => waiters === 0 && clock.pending === 0 && getEventListeners(abort.signal, 'abort').length === 0
  const next = f.store.revision + 1
  const reached = wait(next)
  t.equal(clock.pending, 1)
  await f.create('configmaps', { metadata: { name: 'a' } })
  await reached
  t.ok(isReleased())
  const late = refusal(() => wait(next + 1))
  await clock.advance(2_999)
  t.equal(clock.pending, 1)
  await clock.advance(1)
  t.match(await late, { code: 504, message: `Timeout: Too large resource version: ${next + 1}, current: ${next}` })
  t.ok(isReleased())
  const left = refusal(() => wait(next + 2))
  abort.abort()
  t.match(await left, { code: 504 })
  t.ok(isReleased())
})

t.test('all watches can be ended, as by a restart', async (t) => {
  const f = await fixture()
  const events = f.registry.watch(foos, {}, f.context.signal)
  f.registry.dropWatches()
  t.equal((await events.next()).done, true)
  t.equal(f.registry.store, f.store)
})

t.test('generateName is retried with up to eight names', async (t) => {
  const suffixes: string[] = []
  let asked = 0
  const f = await fixture({ randomSuffix: () => suffixes[asked++] ?? 'aaaaa' })
  const create = () => f.create('configmaps', { metadata: { generateName: 'x-' } })
  await create()
  suffixes.push('aaaaa', ...Array<string>(7).fill('aaaaa'), 'bbbbb')
  asked = 1
  t.match(await create(), { metadata: { name: 'x-bbbbb', generateName: 'x-' } })
  asked = 100
  t.match(await refusal(create), { code: 409, message: 'configmaps "x-aaaaa" already exists' })
  t.equal(asked, 108)
})

t.test('a generated name ends in five letters or digits that are easy to tell apart', async (t) => {
  const f = await fixture()
  const names = new Set<unknown>()
  for (let count = 0; count < 20; count += 1) {
    const { metadata } = await f.create('configmaps', { metadata: { generateName: 'x-' } })
    const { name } = metadata as { name: string }
    t.match(name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    names.add(name)
  }
  t.equal(names.size, 20)
})

t.test('a Pod that a webhook has changed gets its defaults from LimitRanges and tolerations again', async (t) => {
  const admitted: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: async ({ object, info }) => {
        if (info.kind !== 'Pod') return object
        admitted.push((object!.spec as JsonObject).tolerations)
        return { ...object!, spec: { ...(object!.spec as JsonObject), tolerations: [] } }
      },
      validate: () => Promise.resolve(),
    },
  })
  const created = await f.create('pods', pod('a'))
  t.equal((admitted[0] as unknown[]).length, 2)
  t.strictSame((created.spec as JsonObject).tolerations, admitted[0])
})

t.test('up to sixteen conversions of a request run in parallel', async (t) => {
  let [running, most] = [0, 0]
  const asked: string[] = []
  const converter = {
    convert: async (object: JsonObject, apiVersion: string): Promise<JsonObject> => {
      running += 1
      most = Math.max(most, running)
      asked.push(String((object.metadata as JsonObject).name))
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return { ...object, apiVersion, spec: { size: 7, bogus: 1 } }
    },
  }
  const v2: ResourceInfo = { ...foos, version: 'v2', converter } as never
  const representation = new Representation()
  const stored = Array.from({ length: 40 }, (_, index) => foo(String(index)))
  await representation.prepare(v2, stored)
  t.equal(most, 16)
  t.equal(asked.length, 40)
  const shown = representation.present(v2, stored[0]!)
  t.strictSame(shown.spec, { size: 7 }, 'an unknown field is pruned')
  t.equal(shown.apiVersion, 'ex.com/v2')
  t.ok(Object.isFrozen(shown.spec))
  await representation.prepare(v2, stored)
  t.equal(asked.length, 40, 'a converted object is cached')
  t.equal(representation.present(v2, stored[0]!), shown)
  await representation.prepare(v2, stored.slice(0, 1), { refresh: true })
  t.equal(asked.length, 41)
  t.not(representation.present(v2, stored[0]!), shown)
  await t.rejects(async () => representation.present(v2, foo('new')), {
    message: 'Internal error occurred: the object has not been converted',
  })
  await representation.prepare(v2, [{ ...foo('x'), apiVersion: 'ex.com/v2' }])
  t.equal(asked.length, 41, 'an object in the requested version is not converted')
})

t.test('an object is stored in the storage version and pruned by its schema', async (t) => {
  const representation = new Representation()
  const asked: string[] = []
  const converter = {
    convert: (object: JsonObject, apiVersion: string): Promise<JsonObject> => {
      asked.push(apiVersion)
      return Promise.resolve({ ...object, apiVersion, spec: { size: 7, bogus: 1 } })
    },
  }
  const stores = (version: string): ResourceInfo => ({
    ...foos,
    version: 'v2',
    schemaOf: (name: string) => (name === 'v1' ? foos.schema : undefined),
    storageVersion: version,
  })
  const object = { ...foo('a', { size: 1, bogus: 1 }), apiVersion: 'ex.com/v2' }
  t.strictSame(await representation.toStorage(stores('v2'), object), object)
  t.strictSame(await representation.toStorage(stores('v1'), object), foo('a', { size: 1 }))
  const converting = { ...stores('v1'), converter } as unknown as ResourceInfo
  t.strictSame(await representation.toStorage(converting, object), foo('a', { size: 7 }))
  t.strictSame(asked, ['ex.com/v1'])
  t.strictSame(await representation.toStorage({ ...converting, storageVersion: 'v2' }, object), object)
  t.equal(asked.length, 1)
  t.strictSame(
    representation.present(stores('v1'), foo('a', { size: 1, bogus: 1 })).spec,
    { size: 1, color: 'red' },
    'defaults of the stored version',
  )
})
