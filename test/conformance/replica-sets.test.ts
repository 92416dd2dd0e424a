/** Tests of ReplicaSets: the number of their Pods, adoption and release. */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { untilPodIsReady } from '../support/conformance/pods.ts'

const labels = { app: 'web' }
const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] }
const template = { metadata: { labels }, spec }
const scaled = { namespace: 'conformance-replica-sets-1', name: 'web' }
const adopting = { namespace: 'conformance-replica-sets-2', name: 'web' }

const controlPlane = await conformanceControlPlane(t, { namespaces: [scaled.namespace, adopting.namespace] })
const { client } = controlPlane

function untilReady(key: typeof scaled, count: number): Promise<apps.ReplicaSet> {
  return until(`${count} Pods are ready`, async () => {
    const found = await client.get(apps.replicaSet, key)
    return (found.status?.readyReplicas ?? 0) === count && found.status?.replicas === count && found
  })
}

t.test('a ReplicaSet has as many Pods as its spec says', async (t) => {
  const { namespace } = scaled
  await client.create(apps.replicaSet, { metadata: scaled, spec: { replicas: 3, selector: { matchLabels: labels }, template } })
  const ready = await untilReady(scaled, 3)
  t.match(ready.status, { replicas: 3, fullyLabeledReplicas: 3, availableReplicas: 3, observedGeneration: 1 })
  const pods = (await client.list(pod, { namespace })).items
  t.equal(pods.length, 3)
  for (const { metadata } of pods) {
    t.match(metadata.name, /^web-[a-z0-9]{5}$/)
    t.match(metadata.ownerReferences, [{ kind: 'ReplicaSet', name: 'web', uid: ready.metadata.uid, controller: true }])
  }
  const stop = new AbortController()
  const counts: number[] = []
  const watched = (async () => {
    for await (const { object } of client.watch(apps.replicaSet, { namespace, signal: stop.signal }))
      if ('spec' in object) counts.push(object.status?.replicas ?? 0)
  })().catch(() => undefined)
  await until('the watch has begun', () => counts.length > 0)
  await client.delete(pod, pods[0]!.metadata)
  await until('the Pod is replaced', async () => {
    const names = (await client.list(pod, { namespace })).items.map(({ metadata }) => metadata.name)
    return names.length === 3 && !names.includes(pods[0]!.metadata.name)
  })
  await until('the missing Pod was counted', () => counts.includes(2) && counts.at(-1) === 3)
  stop.abort()
  await watched
  await client.patch(apps.replicaSet, scaled, { spec: { replicas: 1 } })
  const { status } = await untilReady(scaled, 1)
  t.equal(status?.availableReplicas, 1)
})

t.test('a Pod without a controller is adopted, and one whose labels no longer match is released', async (t) => {
  const { namespace } = adopting
  const orphan = await client.create(pod, { metadata: { namespace, name: 'orphan', labels }, spec })
  // If the cache of the controller does not contain the orphan yet, the controller creates one Pod too many, and later deletes one of the
  // Pods. If one of the Pods is not ready, the controller chooses this Pod. The test waits until the orphan is ready, so that the
  // controller does not choose the orphan.
  await untilPodIsReady(client, { namespace, name: 'orphan' })
  await client.create(apps.replicaSet, { metadata: adopting, spec: { replicas: 2, selector: { matchLabels: labels }, template } })
  const { metadata } = await untilReady(adopting, 2)
  t.match((await client.get(pod, orphan.metadata)).metadata.ownerReferences, [{ uid: metadata.uid, controller: true }])
  await client.patch(pod, orphan.metadata, { metadata: { labels: { app: 'other' } } })
  const released = await until('the Pod is released', async () => {
    const found = await client.get(pod, orphan.metadata)
    return (found.metadata.ownerReferences ?? []).length === 0 && found
  })
  t.equal(released.metadata.deletionTimestamp, undefined)
  await until('another Pod takes its place', async () => (await client.list(pod, { namespace })).items.length === 3)
})
