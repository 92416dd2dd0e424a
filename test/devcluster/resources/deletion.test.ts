import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fixture, pod, refusal } from '../../support/devcluster/registry.ts'

t.test('an eviction is a dry run by its query or its body, and contradicting ones are refused', async (t) => {
  const f = await fixture()
  await f.registry.create(f.info('pods'), 'default', { object: pod('a'), duplicates: [] }, f.context)
  const evict = (request: readonly string[], deleteOptions?: JsonObject): Promise<JsonObject> =>
    f.registry.create(
      f.info('pods'),
      'default',
      {
        object: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'a' },
          ...(deleteOptions === undefined ? {} : { deleteOptions }),
        },
        duplicates: [],
      },
      f.as({ dryRun: request.length > 0, ...(request.length > 0 ? { options: { dryRun: [...request] } } : {}) }),
      'a',
      'eviction',
    )
  const isThere = (): boolean => f.store.get('/pods', { namespace: 'default', name: 'a' }) !== undefined
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
  t.strictSame(await evict([], { dryRun: ['All'] }), done)
  t.strictSame(await evict(['All'], { dryRun: ['All'] }), done)
  t.strictSame(await evict(['All'], {}), done)
  t.strictSame(await evict(['All']), done)
  const { message } = await refusal(() => evict(['All'], { dryRun: ['Other'] }))
  t.equal(message, 'Non-matching dry-run options in request and content: [All] and [Other]')
  t.equal(isThere(), true)
  t.strictSame(await evict([]), done)
  t.equal(isThere(), false)
})

t.test('the deletion of a system namespace is refused', async (t) => {
  const f = await fixture({ namespaces: ['default', 'kube-system', 'kube-public', 'other'] })
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const status = await refusal(() => f.registry.delete(f.info('namespaces'), { name }, {}, f.context))
    t.strictSame(status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      reason: 'Forbidden',
      details: { name, kind: 'namespaces' },
      code: 403,
    })
  }
  const { object } = await f.registry.delete(f.info('namespaces'), { name: 'other' }, {}, f.context)
  t.match(object, { metadata: { deletionTimestamp: /Z$/ }, status: { phase: 'Terminating' } })
})

t.test('a Namespace is removed with its last finalizer, and answers with itself', async (t) => {
  const f = await fixture({ namespaces: ['default', 'a', 'b'] })
  const info = f.info('namespaces')
  const finalize = async (name: string, finalizers: readonly string[]): Promise<JsonObject> => {
    const object = { metadata: { name }, spec: { finalizers: [...finalizers] } }
    return (await f.registry.put(info, { name }, { object, duplicates: [] }, f.context, 'finalize')).object
  }
  t.strictSame((await finalize('a', ['x.io/y', 'kubernetes'])).spec, { finalizers: ['x.io/y', 'kubernetes'] })
  t.strictSame((await finalize('a', [])).spec, {})
  const gone = await f.registry.delete(info, { name: 'a' }, {}, f.context)
  t.match(gone, { object: { kind: 'Namespace', metadata: { name: 'a' } }, accepted: false })
  t.equal(f.store.get('/namespaces', { name: 'a' }), undefined)
  const marked = await f.registry.delete(info, { name: 'b' }, {}, f.context)
  t.equal(marked.accepted, true)
  t.notOk('deletionGracePeriodSeconds' in (marked.object.metadata as JsonObject))
  t.strictSame(await f.registry.delete(info, { name: 'b' }, {}, f.context), marked, 'a second deletion changes nothing')
  await finalize('b', [])
  t.equal(f.store.get('/namespaces', { name: 'b' }), undefined)
})

t.test('a Namespace keeps the label with its name, its finalizers and its phase', async (t) => {
  const f = await fixture({ namespaces: [] })
  const info = f.info('namespaces')
  const named = { 'kubernetes.io/metadata.name': 'a' }
  const created = await f.create('namespaces', { metadata: { name: 'a' }, spec: { finalizers: ['x.io/y'] }, status: { phase: 'Odd' } })
  t.match(created, { spec: { finalizers: ['x.io/y', 'kubernetes'] }, status: { phase: 'Active' } })
  const labels = async (given: JsonObject | undefined, subresource = ''): Promise<unknown> => {
    const object = { metadata: { name: 'a', ...(given && { labels: given }) }, spec: { finalizers: ['kubernetes'] } }
    const { object: updated } = await f.registry.put(info, { name: 'a' }, { object, duplicates: [] }, f.context, subresource)
    const finalizers = subresource === '' ? ['x.io/y', 'kubernetes'] : ['kubernetes']
    t.strictSame([updated.spec, updated.status], [{ finalizers }, { phase: 'Active' }])
    return (updated.metadata as JsonObject).labels
  }
  t.strictSame(await labels(undefined), named)
  t.strictSame(await labels({ 'kubernetes.io/metadata.name': 'other', b: 'c' }), { ...named, b: 'c' })
  t.strictSame(await labels({ d: 'e' }, 'finalize'), { ...named, d: 'e' })
})
