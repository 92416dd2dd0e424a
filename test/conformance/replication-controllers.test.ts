/**
 * Tests of ReplicationControllers: the number of their Pods, the adoption and the release of Pods, and the deletion of a
 * ReplicationController without a propagation policy.
 */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { isNotFound } from '../../src/client/api-error.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { untilPodIsReady } from '../support/conformance/pods.ts'

const labels = { app: 'web' }
const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] }
const template = { metadata: { labels }, spec }

const controlPlane = await conformanceControlPlane(t)
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'replication-controllers')

function untilReady(key: NamespacedKey, count: number): Promise<core.ReplicationController> {
  return until(`${count} Pods are ready`, async () => {
    const found = await client.get(core.replicationController, key)
    return (found.status?.readyReplicas ?? 0) === count && found.status?.replicas === count && found
  })
}

t.test('a ReplicationController has as many Pods as its scale says', async (t) => {
  const key = { namespace: await newNamespace(), name: 'web' }
  await client.create(core.replicationController, { metadata: key, spec: { replicas: 2, template } })
  const ready = await untilReady(key, 2)
  t.strictSame([ready.spec?.selector, ready.metadata.labels], [labels, labels], 'the selector and the labels are those of the template')
  t.match(ready.status, { replicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2, observedGeneration: 1 })
  t.notOk('terminatingReplicas' in ready.status!)
  for (const { metadata } of (await client.list(pod, { namespace: key.namespace })).items) {
    t.match(metadata.name, /^web-[a-z0-9]{5}$/)
    t.match(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'ReplicationController', uid: ready.metadata.uid, controller: true }])
  }
  await client.patch(core.replicationController, key, { spec: { replicas: 3 } }, { subresource: 'scale' })
  await untilReady(key, 3)
  const events = await until('the Events are recorded', async () => {
    const { items } = await client.list(core.event, {
      namespace: key.namespace,
      fieldSelector: 'involvedObject.kind=ReplicationController',
    })
    return items.length === 3 && items
  })
  for (const event of events)
    t.match(event, { type: 'Normal', reason: 'SuccessfulCreate', source: { component: 'replication-controller' } })
})

t.test('a Pod without a controller is adopted, and one whose labels no longer match is released', async (t) => {
  const key = { namespace: await newNamespace(), name: 'web' }
  const orphan = await client.create(pod, { metadata: { namespace: key.namespace, name: 'orphan', labels }, spec })
  // The controller can create a second Pod before it sees the Pod `orphan`. In this case, the controller then deletes one of the two Pods,
  // and a Pod that is not ready is deleted first. The test waits until the Pod `orphan` is ready, so that the controller does not delete
  // this Pod.
  await untilPodIsReady(client, { namespace: key.namespace, name: 'orphan' })
  await client.create(core.replicationController, { metadata: key, spec: { replicas: 1, template } })
  const { metadata } = await untilReady(key, 1)
  t.match((await client.get(pod, orphan.metadata)).metadata.ownerReferences, [{ uid: metadata.uid, controller: true }])
  await client.patch(pod, orphan.metadata, { metadata: { labels: { app: 'other' } } })
  await until('the Pod is released', async () => ((await client.get(pod, orphan.metadata)).metadata.ownerReferences ?? []).length === 0)
  await until('another Pod takes its place', async () => (await client.list(pod, { namespace: key.namespace })).items.length === 2)
})

t.test('a DELETE without a propagation policy leaves the Pods', async (t) => {
  const key = { namespace: await newNamespace(), name: 'web' }
  await client.create(core.replicationController, { metadata: key, spec: { replicas: 1, template } })
  await untilReady(key, 1)
  await client.raw(`/api/v1/namespaces/${key.namespace}/replicationcontrollers/web`, { method: 'DELETE' })
  await until('the object is gone', async () => {
    try {
      await client.get(core.replicationController, key)
      return false
    } catch (error) {
      if (isNotFound(error)) return true
      throw error
    }
  })
  const { items } = await client.list(pod, { namespace: key.namespace })
  t.strictSame([items.length, items[0]?.metadata.ownerReferences, items[0]?.metadata.deletionTimestamp], [1, undefined, undefined])
})
