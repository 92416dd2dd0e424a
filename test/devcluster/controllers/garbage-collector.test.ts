import t from 'tap'
import type { Test } from 'tap'
import { configMap, customResourceDefinition, deployment, namespace, node, pod, secret } from '../../../src/api/builtin.ts'
import { apps } from '../../../src/api/kubernetes/apps.ts'
import type { KubernetesObject, OwnerReference } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { clientFor, createWidgetDefinition, find, untilGone, widgetType } from '../../support/devcluster/client.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { startTestCluster } from '../../support/devcluster/kubectl.ts'
import { until } from '../../../src/testing/until.ts'

const inDefault = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })

function ownedBy({ apiVersion, kind, metadata }: KubernetesObject, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more }
}

async function start(t: Test): Promise<Client> {
  const cluster = await startTestCluster(t)
  return clientFor(t, cluster.connection)
}

/**
 * Creates an object whose owner does not exist, and waits until the garbage collector deletes the object. The garbage collector processes
 * changes in order. When the object is deleted, the garbage collector has therefore processed all earlier changes.
 */
async function marker(client: Client, name: string): Promise<void> {
  await client.create(secret, {
    metadata: { ...inDefault(name), ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' }] },
  })
  await untilGone(client, secret, inDefault(name))
}

t.test('dependents are deleted with their owner, recursively', async (t) => {
  const client = await start(t)
  await createWidgetDefinition(client)
  const owner = await client.create(widgetType, { metadata: inDefault('owner'), spec: { size: 1 } })
  const child = await client.create(configMap, { metadata: { ...inDefault('child'), ownerReferences: [ownedBy(owner)] } })
  await client.create(secret, { metadata: { ...inDefault('grandchild'), ownerReferences: [ownedBy(child)] } })
  await client.create(secret, { metadata: inDefault('stranger') })
  await client.delete(widgetType, inDefault('owner'), { propagationPolicy: 'Background' })
  await untilGone(client, configMap, inDefault('child'))
  await untilGone(client, secret, inDefault('grandchild'))
  t.ok(await find(client, secret, inDefault('stranger')))
})

t.test('the Pods of a Deployment cost no requests for their owners', async (t) => {
  const cluster = await startTestCluster(t)
  const client = clientFor(t, cluster.connection)
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web' }] } }
  const replicas = 20
  await client.create(deployment, { metadata: inDefault('web'), spec: { replicas, selector: { matchLabels: labels }, template } })
  await until('all Pods are ready', async () => (await client.get(deployment, inDefault('web'))).status?.readyReplicas === replicas)
  const reads = cluster.requests.filter(
    ({ verb, user, path }) => verb === 'get' && user.startsWith('system:') && path.includes('/replicasets/'),
  )
  // If the graph observes a Pod before its ReplicaSet, the garbage collector reads the ReplicaSet. This happens for only a few Pods.
  t.ok(reads.length < replicas / 4, `${reads.length} reads of the ReplicaSet`)
})

t.test('the deletion of a Deployment with far too many replicas stops the creation of Pods', async (t) => {
  const cluster = await startTestCluster(t)
  const client = clientFor(t, cluster.connection)
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web' }] } }
  const spec = { replicas: 2_147_483_647, selector: { matchLabels: labels }, template }
  await client.create(deployment, { metadata: inDefault('web'), spec })
  const creations = (): number => cluster.requests.filter(({ verb, path }) => verb === 'create' && path.endsWith('/pods')).length
  await until('there are many Pods', () => creations() > 100)
  const before = creations()
  await client.delete(deployment, inDefault('web'))
  await until('the ReplicaSet is deleted', async () => (await client.list(apps.replicaSet)).items.length === 0)
  await until('all Pods are deleted', async () => (await client.list(pod)).items.length === 0, 60_000)
  // A reconcile of the ReplicaSet creates up to 500 Pods, as in kube-controller-manager. One reconcile may be running when the Deployment
  // is deleted, and a second reconcile may begin before the ReplicaSet is deleted.
  t.ok(creations() - before <= 1000, `${creations() - before} Pods were created after the deletion`)
})

t.test('an object is kept while one of its owners exists, and loses the references to missing ones', async (t) => {
  const client = await start(t)
  const [first, second] = [
    await client.create(configMap, { metadata: inDefault('first') }),
    await client.create(configMap, { metadata: inDefault('second') }),
  ]
  await client.create(secret, { metadata: { ...inDefault('shared'), ownerReferences: [ownedBy(first), ownedBy(second)] } })
  await client.delete(configMap, inDefault('first'))
  const shared = await until('one reference is left', async () => {
    const object = await client.get(secret, inDefault('shared'))
    return object.metadata.ownerReferences?.length === 1 && object
  })
  t.equal(shared.metadata.ownerReferences?.[0]?.name, 'second')
  await client.delete(configMap, inDefault('second'))
  await untilGone(client, secret, inDefault('shared'))
})

t.test('an owner with another uid or in another namespace does not count', async (t) => {
  const client = await start(t)
  const owner = await client.create(configMap, { metadata: inDefault('owner') })
  await client.create(secret, { metadata: { ...inDefault('other-uid'), ownerReferences: [ownedBy(owner, { uid: 'another' })] } })
  await client.create(secret, { metadata: { name: 'elsewhere', namespace: 'kube-public', ownerReferences: [ownedBy(owner)] } })
  await untilGone(client, secret, inDefault('other-uid'))
  await untilGone(client, secret, { name: 'elsewhere', namespace: 'kube-public' })
  t.ok(await find(client, configMap, inDefault('owner')))
})

t.test('a cluster-scoped owner can have dependents in every namespace', async (t) => {
  const client = await start(t)
  const owner = await client.create(node, { metadata: { name: 'owner' } })
  await client.create(secret, { metadata: { ...inDefault('owned'), ownerReferences: [ownedBy(owner)] } })
  await marker(client, 'marker')
  t.ok(await find(client, secret, inDefault('owned')))
  await client.delete(node, { name: 'owner' })
  await untilGone(client, secret, inDefault('owned'))
})

t.test('an owner of a type that is not served keeps its dependents', async (t) => {
  const client = await start(t)
  await client.create(secret, {
    metadata: { ...inDefault('kept'), ownerReferences: [{ apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', name: 'x', uid: 'x' }] },
  })
  await marker(client, 'marker')
  t.ok(await find(client, secret, inDefault('kept')))
})

t.test('foreground deletion waits for the dependents that block it', async (t) => {
  const client = await start(t)
  const owner = await client.create(configMap, { metadata: inDefault('owner') })
  const held = { ...inDefault('held'), finalizers: ['example.com/wait'], ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })] }
  await client.create(secret, { metadata: held })
  await client.create(secret, { metadata: { ...inDefault('quick'), ownerReferences: [ownedBy(owner)] } })
  await client.delete(configMap, inDefault('owner'), { propagationPolicy: 'Foreground' })
  await untilGone(client, secret, inDefault('quick'))
  await until('the other one is being deleted', async () => (await client.get(secret, inDefault('held'))).metadata.deletionTimestamp)
  t.match(await client.get(configMap, inDefault('owner')), { metadata: { finalizers: ['foregroundDeletion'] } })
  await client.patch(secret, inDefault('held'), { metadata: { finalizers: null } })
  await untilGone(client, secret, inDefault('held'))
  await untilGone(client, configMap, inDefault('owner'))
})

t.test('orphaning deletion keeps the dependents without the owner reference', async (t) => {
  const client = await start(t)
  const owner = await client.create(configMap, { metadata: inDefault('owner') })
  await client.create(secret, { metadata: { ...inDefault('orphan'), ownerReferences: [ownedBy(owner)] } })
  await client.delete(configMap, inDefault('owner'), { propagationPolicy: 'Orphan' })
  await untilGone(client, configMap, inDefault('owner'))
  t.equal((await client.get(secret, inDefault('orphan'))).metadata.ownerReferences, undefined)
})

t.test('objects of a type that is defined later are collected', async (t) => {
  const client = await start(t)
  const owner = await client.create(configMap, { metadata: inDefault('owner') })
  await createWidgetDefinition(client)
  await client.create(widgetType, { metadata: { ...inDefault('late'), ownerReferences: [ownedBy(owner)] }, spec: { size: 1 } })
  await client.delete(configMap, inDefault('owner'))
  await t.resolves(untilGone(client, widgetType, inDefault('late')))
})

t.test('dependents of custom resources are deleted when the definition is deleted', async (t) => {
  const client = await start(t)
  await createWidgetDefinition(client)
  const owners = await Promise.all(
    [1, 2, 3].map((size) => client.create(widgetType, { metadata: inDefault(`owner-${size}`), spec: { size } })),
  )
  for (const owner of owners)
    await client.create(secret, { metadata: { ...inDefault(owner.metadata.name), ownerReferences: [ownedBy(owner)] } })
  await client.delete(customResourceDefinition, { name: 'widgets.example.com' })
  for (const { metadata } of owners) await untilGone(client, secret, inDefault(metadata.name))
  t.equal(await find(client, customResourceDefinition, { name: 'widgets.example.com' }), undefined)
})

t.test('an object can still be deleted right after its namespace', async (t) => {
  const client = await start(t)
  await client.create(namespace, { metadata: { name: 'both' } })
  await client.create(configMap, { metadata: { name: 'a', namespace: 'both' } })
  await client.delete(namespace, { name: 'both' })
  await until('all who watch namespaces know', async () => (await client.get(namespace, { name: 'both' })).status?.phase === 'Terminating')
  await marker(client, 'marker')
  t.match(await client.delete(configMap, { name: 'a', namespace: 'both' }), { status: 'Success' })
})

t.test('a namespace is emptied before it is removed', async (t) => {
  const client = await start(t)
  await createWidgetDefinition(client)
  await client.create(namespace, { metadata: { name: 'full' } })
  await client.create(configMap, { metadata: { name: 'a', namespace: 'full' } })
  await client.create(widgetType, { metadata: { name: 'held', namespace: 'full', finalizers: ['example.com/wait'] }, spec: { size: 1 } })
  await client.delete(namespace, { name: 'full' })
  await untilGone(client, configMap, { name: 'a', namespace: 'full' })
  t.match(await client.get(namespace, { name: 'full' }), { status: { phase: 'Terminating' } })
  t.match(await rejectionOf(client.create(configMap, { metadata: { name: 'late', namespace: 'full' } })), {
    statusCode: 403,
    causes: [{ reason: 'NamespaceTerminating' }],
  })
  await client.patch(widgetType, { name: 'held', namespace: 'full' }, { metadata: { finalizers: null } })
  await untilGone(client, namespace, { name: 'full' })
})
