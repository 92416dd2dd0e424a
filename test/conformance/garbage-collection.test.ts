/** Tests of the garbage collection of objects whose owners are deleted or missing. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { itemsOf, mergePatch, metadataOf } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const [namespace, other] = ['conformance-gc', 'conformance-gc-other']
const controlPlane = await conformanceControlPlane(t, { nodes: [], namespaces: [namespace, other] })
const api = apiOf(t, controlPlane.connection)
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

type Owner = JsonObject & { readonly name: string }
const ownedBy = (object: JsonObject, more: JsonObject = {}): Owner => {
  const { name, uid } = metadataOf(object)
  return { apiVersion: 'v1', kind: 'ConfigMap', name: String(name), uid: uid!, ...more }
}
const blocking = { blockOwnerDeletion: true }

async function created(name: string, owners: readonly Owner[] = [], more: JsonObject = {}, path = configMaps): Promise<JsonObject> {
  const answer = await api('POST', path, { body: { metadata: { name, ownerReferences: [...owners], ...more } } })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
const deleted = (name: string, propagationPolicy: string): Promise<unknown> =>
  api('DELETE', `${configMaps}/${name}`, { body: { propagationPolicy } })
const patched = (name: string, metadata: JsonObject): Promise<unknown> =>
  api('PATCH', `${configMaps}/${name}`, { body: { metadata }, contentType: mergePatch })
const found = async (name: string): Promise<JsonObject | undefined> => {
  const { status, body } = await api('GET', `${configMaps}/${name}`)
  return status === 404 ? undefined : metadataOf(body)
}
const gone = (...names: string[]): Promise<unknown> =>
  until(`${names.join()} are gone`, async () => (await Promise.all(names.map(found))).every((metadata) => metadata === undefined))
const becomes = (name: string, what: (metadata: JsonObject) => boolean): Promise<JsonObject> =>
  until(`${name} changes`, async () => {
    const metadata = await found(name)
    return metadata !== undefined && what(metadata) && metadata
  })
const isMarked = ({ deletionTimestamp }: JsonObject): boolean => deletionTimestamp !== undefined
const ownersOf = ({ ownerReferences = [] }: JsonObject): unknown[] => (ownerReferences as JsonObject[]).map(({ name }) => name)
/**
 * Creates an object whose owner does not exist, and waits until the garbage collector deletes the object. The garbage collector processes
 * changes in order, so it has then also processed all earlier changes.
 */
async function seen(name: string): Promise<void> {
  await created(name, [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' }])
  await gone(name)
}

t.test('dependents are deleted after their owner, recursively', async () => {
  const owner = await created('bg')
  const child = await created('bg-child', [ownedBy(owner)])
  await created('bg-grandchild', [ownedBy(child)])
  await deleted('bg', 'Background')
  await gone('bg', 'bg-child', 'bg-grandchild')
})

t.test('background deletion keeps the dependents of an owner with finalizers', async (t) => {
  const owner = await created('held', [], { finalizers: ['example.com/x'] })
  await created('held-child', [ownedBy(owner)])
  await deleted('held', 'Background')
  await seen('held-marker')
  t.notOk(isMarked((await found('held-child'))!))
  await patched('held', { finalizers: null })
  await gone('held', 'held-child')
})

t.test('foreground deletion of an owner waits for blocking dependents only', async (t) => {
  const owner = await created('fg')
  await created('fg-blocks', [ownedBy(owner, blocking)], { finalizers: ['example.com/x'] })
  await created('fg-not', [ownedBy(owner)], { finalizers: ['example.com/x'] })
  await deleted('fg', 'Foreground')
  for (const name of ['fg-blocks', 'fg-not']) await becomes(name, isMarked)
  t.match(await found('fg'), { finalizers: ['foregroundDeletion'], deletionTimestamp: /Z$/ })
  await patched('fg-blocks', { finalizers: null })
  await gone('fg', 'fg-blocks')
  t.ok(await found('fg-not'))
  await patched('fg-not', { finalizers: null })
  await gone('fg-not')
})

t.test('foreground deletion waits recursively', async (t) => {
  const first = await created('chain-1')
  const second = await created('chain-2', [ownedBy(first, blocking)])
  await created('chain-3', [ownedBy(second, blocking)], { finalizers: ['example.com/x'] })
  await deleted('chain-1', 'Foreground')
  await becomes('chain-3', isMarked)
  for (const name of ['chain-1', 'chain-2'])
    t.match(await found(name), { finalizers: ['foregroundDeletion'], deletionTimestamp: /Z$/ }, name)
  await patched('chain-3', { finalizers: null })
  await gone('chain-1', 'chain-2', 'chain-3')
})

t.test('orphaned dependents are kept without the owner reference', async (t) => {
  const owner = await created('orphaning')
  await created('orphan', [ownedBy(owner)])
  await deleted('orphaning', 'Orphan')
  await gone('orphaning')
  const left = await becomes('orphan', (metadata) => ownersOf(metadata).length === 0)
  t.notOk(isMarked(left))
})

t.test('an object is kept while one of its owners exists, and loses the references to missing ones', async (t) => {
  const [one, two] = [await created('one'), await created('two')]
  await created('shared', [ownedBy(one), ownedBy(two)])
  await deleted('one', 'Background')
  t.strictSame(ownersOf(await becomes('shared', (metadata) => ownersOf(metadata).length === 1)), ['two'])
  const waiting = await created('waiting')
  await created('waited', [ownedBy(waiting, blocking), ownedBy(two)])
  await deleted('waiting', 'Foreground')
  await gone('waiting')
  t.strictSame(ownersOf(await becomes('waited', (metadata) => ownersOf(metadata).length === 1)), ['two'])
  await deleted('two', 'Background')
  await gone('shared', 'waited')
})

t.test('an owner that is missing or has another uid does not count', async () => {
  await created('reborn')
  await created('of-nobody', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' }])
  await created('of-the-former', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'reborn', uid: 'former' }])
  await gone('of-nobody', 'of-the-former')
})

t.test('an object is deleted when a change gives it missing owners only', async (t) => {
  const owner = await created('changing-owner')
  const missing = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'missing' }
  await created('changing', [ownedBy(owner)])
  await created('extended', [ownedBy(owner)])
  await seen('changing-marker')
  await patched('changing', { labels: { a: 'b' } })
  await patched('extended', { ownerReferences: [ownedBy(owner), missing] })
  t.strictSame(ownersOf(await becomes('extended', (metadata) => ownersOf(metadata).length === 1)), ['changing-owner'])
  await patched('changing', { ownerReferences: [missing] })
  await gone('changing')
  t.ok(await found('changing-owner'))
})

t.test('an owner in another namespace does not count and causes an Event', async (t) => {
  const foreign = await created('foreign', [], {}, `/api/v1/namespaces/${other}/configmaps`)
  await created('far', [ownedBy(foreign)])
  await gone('far')
  const event = await until('the event', async () =>
    itemsOf(await api('GET', `/api/v1/namespaces/${namespace}/events`)).find(({ reason }) => reason === 'OwnerRefInvalidNamespace'),
  )
  const { uid } = metadataOf(foreign)
  t.match(event, {
    type: 'Warning',
    message: `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: foreign, uid: ${String(uid)}] does not exist in namespace "${namespace}"`,
    involvedObject: { kind: 'ConfigMap', name: 'far', namespace },
    source: { component: 'garbage-collector-controller' },
  })
})

t.test('a cluster-scoped object can own namespaced ones; the reverse has no effect', async (t) => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const of = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
  const owner = (await api('POST', roles, { body: { metadata: { name: 'conformance-gc-owner' }, rules: [] } })).body
  t.teardown(() => Promise.all(['owner', 'owned'].map((name) => api('DELETE', `${roles}/conformance-gc-${name}`).catch(() => undefined))))
  await created('of-role', [ownedBy(owner, of)])
  await api('POST', roles, {
    body: { metadata: { name: 'conformance-gc-owned', ownerReferences: [ownedBy(await created('of-none'))] }, rules: [] },
  })
  await api('DELETE', `${roles}/conformance-gc-owner`)
  await gone('of-role')
  await seen('role-marker')
  t.match(await api('GET', `${roles}/conformance-gc-owned`), { status: 200 })
})

t.test('an owner of a kind that is not served keeps its dependents', async (t) => {
  await created('of-unknown', [{ apiVersion: 'nothing.example.com/v1', kind: 'Nothing', name: 'x', uid: 'x' }])
  await seen('unknown-marker')
  t.notOk(isMarked((await found('of-unknown'))!))
})

t.test('circular dependents are deleted', async () => {
  for (const policy of ['Background', 'Foreground']) {
    const [first, second] = [`${policy.toLowerCase()}-1`, `${policy.toLowerCase()}-2`]
    const one = await created(first)
    const two = await created(second, [ownedBy(one, blocking)])
    await patched(first, { ownerReferences: [ownedBy(two, blocking)] })
    await seen(`${first}-marker`)
    await deleted(first, policy)
    await gone(first, second)
  }
})
