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
