/** Tests of the PersistentVolumeClaims that StatefulSets create, and of their deletion. */
import t from 'tap'
import { pod as podType } from '../../src/api/builtin.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { controllerOf } from '../../src/api/owner-reference.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const labels = { app: 'web' }
const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'stateful-set-claims')

/** Creates a namespace, and returns the key of the StatefulSet `web` in this namespace. The StatefulSet does not exist yet. */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'web' }
}

type Retention = NonNullable<apps.StatefulSetSpec['persistentVolumeClaimRetentionPolicy']>

/**
 * Creates a StatefulSet whose Pods are never scheduled. The tests therefore do not depend on whether the control plane binds the claims of
 * the Pods.
 */
function create(key: NamespacedKey, spec: Partial<apps.StatefulSetSpec> = {}): Promise<apps.StatefulSet> {
  const container = { name: 'main', image: 'example.com/app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } }
  return client.create(apps.statefulSet, {
    metadata: key,
    spec: {
      replicas: 2,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeSelector: { never: 'there' }, containers: [container] } },
      volumeClaimTemplates: [{ metadata: { name: 'data', labels: { disk: 'fast' }, annotations: { a: 'b' } }, spec: claim }],
      ...spec,
    },
  })
}

async function claimsOf({ namespace }: NamespacedKey): Promise<core.PersistentVolumeClaim[]> {
  return (await client.list(core.persistentVolumeClaim, { namespace })).items
}

function untilClaims(key: NamespacedKey, ...names: string[]): Promise<unknown> {
  return until(
    `the claims are ${names.join()}`,
    async () => (await claimsOf(key)).map(({ metadata }) => metadata.name).join() === names.join(),
  )
}

function untilPods({ namespace }: NamespacedKey, count: number) {
  return until(`there are ${count} Pods`, async () => {
    const { items } = await client.list(podType, { namespace })
    return items.length === count && items
  })
}

/** Resolves when the controlling owners of the claims have these kinds. */
function untilOwners(key: NamespacedKey, ...kinds: (string | undefined)[]): Promise<unknown> {
  return until(`the owners are ${kinds.join()}`, async () => {
    const claims = await claimsOf(key)
    return claims.map((claim) => controllerOf(claim)?.kind).join() === kinds.join() && claims.length === kinds.length
  })
}

t.test('each Pod has the claims of the templates, which outlive it', async (t) => {
  const key = await newKey()
  await create(key)
  const pods = await untilPods(key, 2)
  await untilClaims(key, 'data-web-0', 'data-web-1')
  t.strictSame(
    pods.map(({ spec }) => spec?.volumes?.find(({ name }) => name === 'data')),
    ['data-web-0', 'data-web-1'].map((claimName) => ({ name: 'data', persistentVolumeClaim: { claimName } })),
  )
  for (const { metadata, spec } of await claimsOf(key)) {
    t.strictSame([metadata.labels, metadata.annotations?.a, metadata.ownerReferences], [{ ...labels, disk: 'fast' }, 'b', undefined])
    t.match(spec, { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' })
  }
  await until('there are Events', async () => {
    const { items } = await client.list(core.event, { namespace: key.namespace, fieldSelector: 'involvedObject.kind=StatefulSet' })
    const texts = items.map(({ reason, message }) => `${reason}: ${message}`)
    return [0, 1].every((index) =>
      texts.includes(`SuccessfulCreate: Create Claim data-web-${index} Pod web-${index} in StatefulSet web success`),
    )
  })
  const before = (await claimsOf(key)).map(({ metadata }) => metadata.uid)
  await client.patch(apps.statefulSet, key, { spec: { replicas: 1 } })
  await untilPods(key, 1)
  await client.patch(apps.statefulSet, key, { spec: { replicas: 2 } })
  await untilPods(key, 2)
  await client.delete(apps.statefulSet, key)
  await untilPods(key, 0)
  t.strictSame(
    (await claimsOf(key)).map(({ metadata }) => metadata.uid),
    before,
  )
})

t.test('a claim that is missing while its Pod waits is created again', async () => {
  const key = await newKey()
  await create(key, { replicas: 1 })
  await untilPods(key, 1)
  await untilClaims(key, 'data-web-0')
  const [claim] = await claimsOf(key)
  await client.delete(core.persistentVolumeClaim, claim!.metadata)
  // The controller does not watch claims, so a change of the StatefulSet must trigger the reconcile.
  await client.patch(apps.statefulSet, key, { metadata: { annotations: { touched: 'yes' } } })
  await until('there is another claim', async () => (await claimsOf(key)).some(({ metadata }) => metadata.uid !== claim!.metadata.uid))
})

t.test('claims may be deleted with the StatefulSet', async () => {
  const key = await newKey()
  await create(key, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } })
  await untilOwners(key, 'StatefulSet', 'StatefulSet')
  await client.patch(apps.statefulSet, key, { spec: { replicas: 1 } })
  await untilPods(key, 1)
  await untilOwners(key, 'StatefulSet', 'StatefulSet')
  await client.delete(apps.statefulSet, key)
  await untilClaims(key)
})

t.test('claims may be deleted when the StatefulSet is scaled down', async () => {
  const key = await newKey()
  await create(key, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } })
  await untilPods(key, 2)
  await untilOwners(key, undefined, undefined)
  await client.patch(apps.statefulSet, key, { spec: { replicas: 1 } })
  await untilPods(key, 1)
  await untilClaims(key, 'data-web-0')
  await client.delete(apps.statefulSet, key)
  await untilPods(key, 0)
  await untilOwners(key, undefined)
})

t.test('the owners of claims follow a change of the policy', async () => {
  const key = await newKey()
  await create(key)
  await untilOwners(key, undefined, undefined)
  const policies: readonly (readonly [Retention, string | undefined])[] = [
    [{ whenDeleted: 'Delete', whenScaled: 'Delete' }, 'StatefulSet'],
    [{ whenDeleted: 'Retain', whenScaled: 'Delete' }, undefined],
    [{ whenDeleted: 'Delete', whenScaled: 'Retain' }, 'StatefulSet'],
    [{ whenDeleted: 'Retain', whenScaled: 'Retain' }, undefined],
  ]
  for (const [persistentVolumeClaimRetentionPolicy, kind] of policies) {
    await client.patch(apps.statefulSet, key, { spec: { persistentVolumeClaimRetentionPolicy } })
    await untilOwners(key, kind, kind)
  }
})

t.test('a claim with another controller is not deleted, which is reported', async () => {
  const key = await newKey()
  const owner = await client.create(core.configMap, { metadata: { ...key, name: 'owner' } })
  const { uid } = owner.metadata
  await client.create(core.persistentVolumeClaim, {
    metadata: {
      ...key,
      name: 'data-web-0',
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true }],
    },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
  })
  await create(key, { replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } })
  await untilPods(key, 1)
  await until('there is an Event', async () => {
    const { items } = await client.list(core.event, { namespace: key.namespace, fieldSelector: 'reason=ConflictingController' })
    return items[0]?.message?.startsWith('PersistentVolumeClaim data-web-0 has a conflicting OwnerReference')
  })
  await untilOwners(key, 'ConfigMap')
})
