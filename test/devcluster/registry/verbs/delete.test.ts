import t from 'tap'
import type { JsonObject } from '../../../../src/api/json.ts'
import type { Fixture } from '../../../support/devcluster/registry.ts'
import { fixture, foo, manualClock, pod, refusal } from '../../../support/devcluster/registry.ts'

const key = { namespace: 'default', name: 'a' }

function remove(f: Fixture, plural: string, options: JsonObject = {}, changes = {}) {
  return f.registry.delete(f.info(plural), f.info(plural).namespaced ? key : { name: 'a' }, options, f.as(changes))
}

t.test('a DELETE returns a Status with the uid', async (t) => {
  const f = await fixture()
  const { metadata } = await f.create('foos', foo('a'))
  const before = f.store.revision
  const expected = {
    kind: 'Status',
    status: 'Success',
    details: { name: 'a', group: 'ex.com', kind: 'foos', uid: (metadata as JsonObject).uid },
  }
  t.match(await remove(f, 'foos', {}, { dryRun: true }), { object: expected, accepted: false })
  t.equal(f.store.revision, before, 'a dry run deletes nothing')
  t.match(await remove(f, 'foos'), { object: expected, accepted: false })
  t.match(await refusal(() => remove(f, 'foos')), {
    code: 404,
    message: 'foos.ex.com "a" not found',
    details: { name: 'a', group: 'ex.com', kind: 'foos' },
  })
})

t.test('an object with finalizers is marked for deletion and removed with the last finalizer', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await f.create('foos', foo('a', {}, { finalizers: ['x.io/a', 'x.io/b'] }))
  const { object, accepted } = await remove(f, 'foos')
  t.equal(accepted, true)
  t.match(object, { kind: 'Foo', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 2 } })
  const put = (finalizers: string[]) =>
    f.registry.patch(f.info('foos'), key, { type: 'merge', body: { metadata: { finalizers } }, duplicates: [] }, f.context)
  t.match(await refusal(() => put(['x.io/a', 'x.io/b', 'z.io/w'])), {
    code: 422,
    message:
      /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string{"z.io\/w"}$/,
  })
  await put(['x.io/b'])
  const again = await remove(f, 'foos')
  t.equal(again.accepted, true, 'a second DELETE changes nothing')
  const last = await put([])
  t.match(last.object.metadata, { resourceVersion: (again.object.metadata as JsonObject).resourceVersion })
  t.match(await refusal(() => f.registry.get(f.info('foos'), key)), { code: 404 })
})

t.test('a propagation policy becomes a finalizer', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a'))
  t.match(await remove(f, 'foos', { propagationPolicy: 'Foreground' }), {
    accepted: true,
    object: { metadata: { finalizers: ['foregroundDeletion'] } },
  })
  t.match(await remove(f, 'foos', { propagationPolicy: 'Background' }), { accepted: false })
  await f.create('foos', foo('a'))
  t.match(await remove(f, 'foos', { propagationPolicy: 'Orphan' }), { accepted: true, object: { metadata: { finalizers: ['orphan'] } } })
  t.match(await refusal(() => remove(f, 'foos', { propagationPolicy: 'Bad' })), {
    code: 422,
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bad": supported values: "Foreground", "Background", "Orphan", "nil"',
  })
})

t.test('a failed precondition is refused with 409', async (t) => {
  const f = await fixture()
  const { metadata } = await f.create('foos', foo('a'))
  const { uid, resourceVersion } = metadata as Record<string, string>
  const conflict = 'Operation cannot be fulfilled on Foo.ex.com "a": the'
  t.match(await refusal(() => remove(f, 'foos', { preconditions: { uid: 'x', resourceVersion } })), {
    code: 409,
    message: `${conflict} UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    details: { name: 'a', group: 'ex.com', kind: 'Foo' },
  })
  t.match(await refusal(() => remove(f, 'foos', { preconditions: { uid, resourceVersion: '1' } })), {
    code: 409,
    message: `${conflict} ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    details: { name: 'a', group: 'ex.com', kind: 'Foo' },
  })
  t.match(await remove(f, 'foos', { preconditions: { uid, resourceVersion } }), { accepted: false })
})

t.test('the finalizer of a propagation policy replaces that of another policy and no other finalizer', async (t) => {
  const f = await fixture()
  const finalizersAfter = async (finalizers: string[], options: JsonObject): Promise<unknown> => {
    await f.create('foos', foo('a', {}, { finalizers: ['x.io/a'] }))
    await f.registry.patch(
      f.info('foos'),
      key,
      { type: 'merge', body: { metadata: { finalizers: ['x.io/a', ...finalizers] } }, duplicates: [] },
      f.context,
    )
    const { object: left } = await remove(f, 'foos', options)
    const found = (left.metadata as JsonObject).finalizers
    await f.registry.patch(f.info('foos'), key, { type: 'merge', body: { metadata: { finalizers: null } }, duplicates: [] }, f.context)
    return found
  }
  t.strictSame(await finalizersAfter([], {}), ['x.io/a'])
  t.strictSame(await finalizersAfter(['orphan'], {}), ['x.io/a', 'orphan'], 'a DELETE without a policy keeps them')
  t.strictSame(await finalizersAfter(['orphan'], { propagationPolicy: 'Foreground' }), ['x.io/a', 'foregroundDeletion'])
  t.strictSame(await finalizersAfter(['foregroundDeletion'], { propagationPolicy: 'Orphan' }), ['x.io/a', 'orphan'])
  t.strictSame(await finalizersAfter(['foregroundDeletion'], { propagationPolicy: 'Background' }), ['x.io/a'])
  t.strictSame(await finalizersAfter([], { orphanDependents: true }), ['x.io/a', 'orphan'])
  t.strictSame(await finalizersAfter(['orphan'], { orphanDependents: false }), ['x.io/a'])
})

t.test('a Job orphans its dependents by default', async (t) => {
  const f = await fixture()
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }], restartPolicy: 'Never' } }
  const after = async (options: JsonObject, finalizers: string[] = []): Promise<unknown> => {
    await f.create('jobs', { metadata: { name: 'a', finalizers: ['x.io/a', ...finalizers] }, spec: { template } })
    const { object } = await remove(f, 'jobs', options)
    const found = (object.metadata as JsonObject).finalizers
    await f.registry.patch(f.info('jobs'), key, { type: 'merge', body: { metadata: { finalizers: null } }, duplicates: [] }, f.context)
    return found
  }
  t.strictSame(await after({}), ['x.io/a', 'orphan'])
  t.strictSame(await after({ orphanDependents: false }), ['x.io/a'])
  t.strictSame(await after({ propagationPolicy: 'Background' }), ['x.io/a'])
  t.strictSame(await after({}, ['foregroundDeletion']), ['x.io/a', 'foregroundDeletion'])
})

t.test('a scheduled Pod is deleted with a grace period', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await f.create('pods', pod('a'))
  t.match(await remove(f, 'pods'), { accepted: false, object: { kind: 'Pod' } }, 'an unscheduled Pod is removed immediately')
  await f.create('pods', pod('a', { nodeName: 'n' }))
  t.match(await remove(f, 'pods'), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } },
  })
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 10 }), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } },
  })
  t.match(
    await remove(f, 'pods', { gracePeriodSeconds: 20 }),
    { accepted: true, object: { metadata: { deletionGracePeriodSeconds: 10 } } },
    'the grace period cannot be extended',
  )
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 0 }), { accepted: false, object: { kind: 'Pod' } })
  t.match(await refusal(() => f.registry.get(f.info('pods'), key)), { code: 404 })
})

t.test('a shorter grace period counts from the first DELETE', async (t) => {
  const clock = manualClock()
  const f = await fixture({ clock })
  await f.create('pods', { ...pod('a', { nodeName: 'n' }), metadata: { name: 'a', finalizers: ['x.io/a'] } })
  await remove(f, 'pods', { gracePeriodSeconds: 20 })
  clock.advance(5_000)
  const shorter = { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10, generation: 2 }
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 10 }), { accepted: true, object: { metadata: shorter } })
  t.match(await remove(f, 'pods'), { accepted: true, object: { metadata: shorter } }, 'the default does not extend it')
  t.match(await remove(f, 'pods', { gracePeriodSeconds: -1 }), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:01Z', deletionGracePeriodSeconds: 1, generation: 2 } },
  })
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 0 }), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, finalizers: ['x.io/a'] } },
  })
})

t.test('a negative grace period is one second, and only Pods have a grace period', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await f.create('pods', pod('a', { nodeName: 'n' }))
  t.match(await remove(f, 'pods', { gracePeriodSeconds: -7 }), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:01Z', deletionGracePeriodSeconds: 1 } },
  })
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 1 }), { accepted: true }, 'the same grace period changes nothing')
  await f.create('foos', foo('a', {}, { finalizers: ['x.io/a'] }))
  t.match(await remove(f, 'foos', { gracePeriodSeconds: 10 }), {
    accepted: true,
    object: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 } },
  })
})

t.test('a DELETE of a Pod returns its last state', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await f.create('pods', pod('a'))
  const { object } = await remove(f, 'pods')
  t.match(object, {
    kind: 'Pod',
    metadata: {
      resourceVersion: String(f.store.revision),
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      generation: 2,
    },
  })
  await f.create('configmaps', { metadata: { name: 'a' } })
  const { uid } = f.registry.get(f.info('configmaps'), key).metadata as JsonObject
  t.strictSame(await remove(f, 'configmaps'), {
    object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a', kind: 'configmaps', uid } },
    accepted: false,
  })
  await f.create('persistentvolumeclaims', {
    metadata: { name: 'a' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  await f.create('foos', foo('a', {}, { finalizers: ['x.io/a'] }))
  const dry = await remove(f, 'foos', {}, { dryRun: true })
  t.match(dry, { accepted: true, object: { kind: 'Foo', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } } })
  t.notOk((f.registry.get(f.info('foos'), key).metadata as JsonObject).deletionTimestamp, 'a dry run does not mark it')
})

t.test('webhooks receive the old object of a DELETE', async (t) => {
  const seen: unknown[] = []
  const f = await fixture({
    admission: {
      mutate: ({ object, operation, subresource, namespace, name, oldObject, info }) => {
        if (operation === 'DELETE')
          seen.push(['mutate', info.plural, subresource, namespace, name, (oldObject!.metadata as JsonObject).name, object])
        return Promise.resolve(object)
      },
      validate: ({ operation, namespace, name, oldObject }) => {
        if (operation === 'DELETE') seen.push(['validate', namespace, name, (oldObject!.metadata as JsonObject).name])
        return Promise.resolve()
      },
    },
  })
  for (const name of ['a', 'b']) await f.create('foos', foo(name))
  await f.create('nodes', { metadata: { name: 'a' } })
  await remove(f, 'foos')
  await f.registry.deleteCollection(f.info('foos'), {}, {}, f.context)
  await remove(f, 'nodes')
  t.strictSame(seen, [
    ['mutate', 'foos', '', 'default', 'a', 'a', undefined],
    ['validate', 'default', 'a', 'a'],
    ['mutate', 'foos', '', 'default', '', 'b', undefined],
    ['validate', 'default', '', 'b'],
    ['mutate', 'nodes', '', undefined, 'a', 'a', undefined],
    ['validate', undefined, 'a', 'a'],
  ])
})

t.test('a DELETE is retried five times after concurrent updates', async (t) => {
  let overtake = 0
  let size = 0
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ operation }) => {
        if (operation !== 'DELETE' || overtake === 0) return
        overtake -= 1
        size += 1
        await f.registry.patch(f.info('foos'), key, { type: 'merge', body: { spec: { size } }, duplicates: [] }, f.context)
      },
    },
  })
  await f.create('foos', foo('a'))
  overtake = 4
  t.match(await remove(f, 'foos'), { accepted: false })
  await f.create('foos', foo('a', {}, { finalizers: ['x.io/a'] }))
  overtake = 5
  t.match(await refusal(() => remove(f, 'foos')), {
    code: 409,
    message: /^Operation cannot be fulfilled on foos.ex.com "a": the object has been modified/,
  })
  t.equal(overtake, 0)
  t.match(await remove(f, 'foos'), { accepted: true, object: { spec: { size: 9 } } })
  overtake = 1
  t.match(await remove(f, 'foos'), { accepted: true, object: { spec: { size: 10 } } }, 'the retry also happens without a change to store')
})

t.test('a DELETE of a collection skips objects that are gone and stops at the first refusal', async (t) => {
  let before: ((name: string) => Promise<unknown>) | undefined
  const f = await fixture({
    admission: {
      mutate: ({ object }) => Promise.resolve(object),
      validate: async ({ operation, oldObject, name }) => {
        if (operation === 'DELETE' && name === '') await before?.(String((oldObject!.metadata as JsonObject).name))
      },
    },
  })
  for (const name of ['a', 'b', 'c']) await f.create('foos', foo(name))
  before = (name) =>
    name === 'a' ? f.registry.delete(f.info('foos'), { namespace: 'default', name: 'b' }, {}, f.context) : Promise.resolve()
  const all = await f.registry.deleteCollection(f.info('foos'), { namespace: 'default' }, {}, f.context)
  t.equal(all.items.length, 3)
  t.strictSame(f.registry.list(f.info('foos'), {}).items, [])
  for (const name of ['a', 'b', 'c']) await f.create('foos', foo(name))
  before = (name) => (name === 'b' ? Promise.reject(new Error('no')) : Promise.resolve())
  await t.rejects(f.registry.deleteCollection(f.info('foos'), {}, {}, f.context), { message: 'no' })
  t.strictSame(
    f.registry.list(f.info('foos'), {}).items.map(({ metadata }) => (metadata as JsonObject).name),
    ['b', 'c'],
  )
})

t.test('a DELETE of a collection is limited by selectors', async (t) => {
  const f = await fixture()
  for (const name of ['a', 'b', 'c']) await f.create('foos', foo(name, {}, { labels: { odd: String(name !== 'b') } }))
  const list = await f.registry.deleteCollection(f.info('foos'), { namespace: 'default', labelSelector: 'odd=true' }, {}, f.context)
  t.match(list, { items: [{ metadata: { name: 'a' } }, { metadata: { name: 'c' } }] })
  t.strictSame(
    f.registry.list(f.info('foos'), {}).items.map(({ metadata }) => (metadata as JsonObject).name),
    ['b'],
  )
})

t.test('a terminating namespace refuses new objects and is removed when it is finalized', async (t) => {
  const f = await fixture({ namespaces: ['default', 'a'] })
  const created = f.registry.get(f.info('namespaces'), { name: 'a' })
  t.match(created, {
    metadata: { labels: { 'kubernetes.io/metadata.name': 'a' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  t.match(await remove(f, 'namespaces'), {
    accepted: true,
    object: { kind: 'Namespace', metadata: { deletionTimestamp: /./ }, status: { phase: 'Terminating' } },
  })
  t.match(await refusal(() => f.create('configmaps', { metadata: { name: 'd', namespace: 'a' } })), {
    code: 403,
    reason: 'Forbidden',
    message: 'configmaps "d" is forbidden: unable to create new content in namespace a because it is being terminated',
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  })
  const object = { ...f.registry.get(f.info('namespaces'), { name: 'a' }), spec: {} }
  await f.registry.update(f.info('namespaces'), { name: 'a' }, { object, duplicates: [] }, f.context)
  t.match(
    f.registry.get(f.info('namespaces'), { name: 'a' }),
    { spec: { finalizers: ['kubernetes'] } },
    'an update without the finalize subresource cannot finalize',
  )
  await f.registry.update(f.info('namespaces'), { name: 'a' }, { object, duplicates: [] }, f.context, 'finalize')
  t.match(await refusal(() => f.registry.get(f.info('namespaces'), { name: 'a' })), { code: 404 })
  t.match(await refusal(() => f.registry.delete(f.info('namespaces'), { name: 'default' }, {}, f.context)), {
    code: 403,
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
  })
})
