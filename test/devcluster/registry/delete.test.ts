import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Fixture } from '../../support/devcluster-registry.ts'
import { fixture, foo, manualClock, pod, refusal } from '../../support/devcluster-registry.ts'

const key = { namespace: 'default', name: 'a' }

function remove(f: Fixture, plural: string, options: JsonObject = {}, changes = {}) {
  return f.registry.delete(f.info(plural), f.info(plural).namespaced ? key : { name: 'a' }, options, f.as(changes))
}

t.test('answers with a Status that has the uid', async (t) => {
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

t.test('finalizers keep the object, marked, until the last is gone', async (t) => {
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

t.test('propagation policies become finalizers', async (t) => {
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

t.test('preconditions must hold', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a'))
  t.match(await refusal(() => remove(f, 'foos', { preconditions: { uid: 'x' } })), {
    code: 409,
    message:
      /the UID in the precondition \(x\) does not match the UID in record \(.*\). The object might have been deleted and then recreated$/,
  })
  t.match(await refusal(() => remove(f, 'foos', { preconditions: { resourceVersion: '1' } })), { code: 409 })
})

t.test('Pods have a grace period once they are on a node', async (t) => {
  const f = await fixture({ clock: manualClock() })
  await f.create('pods', pod('a'))
  t.match(await remove(f, 'pods'), { accepted: false, object: { kind: 'Pod' } }, 'an unscheduled one goes at once')
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
    'it cannot be prolonged',
  )
  t.match(await remove(f, 'pods', { gracePeriodSeconds: 0 }), { accepted: false, object: { kind: 'Pod' } })
  t.match(await refusal(() => f.registry.get(f.info('pods'), key)), { code: 404 })
})

t.test('deletes a collection by its selectors', async (t) => {
  const f = await fixture()
  for (const name of ['a', 'b', 'c']) await f.create('foos', foo(name, {}, { labels: { odd: String(name !== 'b') } }))
  const list = await f.registry.deleteCollection(f.info('foos'), { namespace: 'default', labelSelector: 'odd=true' }, {}, f.context)
  t.match(list, { items: [{ metadata: { name: 'a' } }, { metadata: { name: 'c' } }] })
  t.strictSame(
    f.registry.list(f.info('foos'), {}).items.map(({ metadata }) => (metadata as JsonObject).name),
    ['b'],
  )
})

t.test('a namespace terminates: nothing new, and gone when it is finalized', async (t) => {
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
    'an ordinary update cannot finalize',
  )
  await f.registry.update(f.info('namespaces'), { name: 'a' }, { object, duplicates: [] }, f.context, 'finalize')
  t.match(await refusal(() => f.registry.get(f.info('namespaces'), { name: 'a' })), { code: 404 })
  t.match(await refusal(() => f.registry.delete(f.info('namespaces'), { name: 'default' }, {}, f.context)), {
    code: 403,
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
  })
})
