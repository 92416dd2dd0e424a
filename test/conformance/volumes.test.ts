/** Tests of PersistentVolumeClaims: they are bound and protected, and Pods wait for them. */
import t from 'tap'
import { findCondition } from '../../src/api/conditions.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { storage } from '../../src/api/kubernetes/storage.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'volumes')

/**
 * Creates a namespace, and returns the key of a claim in it. The claim does not exist yet. Tests use the name of the namespace as the name
 * of the storage class.
 */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'data' }
}

function createClaim(key: NamespacedKey, spec: Partial<core.PersistentVolumeClaimSpec> = {}): Promise<core.PersistentVolumeClaim> {
  const defaults = { storageClassName: key.namespace, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  return client.create(core.persistentVolumeClaim, { metadata: key, spec: { ...defaults, ...spec } })
}

type VolumeSpec = NonNullable<core.PersistentVolume['spec']>

function createVolume(key: NamespacedKey, name: string, spec: Partial<VolumeSpec> = {}): Promise<core.PersistentVolume> {
  const base = { storageClassName: key.namespace, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } }
  const defaults = { ...base, capacity: { storage: '2Gi' } }
  return client.create(core.persistentVolume, { metadata: { name: `${key.namespace}-${name}` }, spec: { ...defaults, ...spec } })
}

function untilClaim(key: NamespacedKey, phase: string): Promise<core.PersistentVolumeClaim> {
  return until(`the claim is ${phase}`, async () => {
    const found = await client.get(core.persistentVolumeClaim, key)
    return found.status?.phase === phase && found
  })
}

function untilVolume({ metadata: { name } }: core.PersistentVolume, phase: string): Promise<core.PersistentVolume> {
  return until(`the volume is ${phase}`, async () => {
    const found = await client.get(core.persistentVolume, { name })
    return found.status?.phase === phase && found
  })
}

/**
 * Waits until the namespace of the claim has an Event with the given reason, and resolves with the message of this Event. Rejects after the
 * default time limit of `until`.
 */
function untilEvent({ namespace }: NamespacedKey, reason: string): Promise<string> {
  return until(`there is an Event with the reason ${reason}`, async () => {
    const { items } = await client.list(core.event, { namespace })
    return items.find((event) => event.reason === reason)?.message
  })
}

function podSpec(claimName: string): core.PodSpec {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
  return { containers: [{ name: 'main', image: 'example.com/app:1' }], volumes }
}

function untilReady(key: NamespacedKey): Promise<core.Pod> {
  return until('the Pod is ready', async () => {
    const pod = await client.get(core.pod, key)
    return findCondition(pod.status?.conditions, 'Ready')?.status === 'True' && pod
  })
}

function untilUnschedulable(key: NamespacedKey, message: string): Promise<unknown> {
  return until(`the Pod is unschedulable: ${message}`, async () => {
    const condition = findCondition((await client.get(core.pod, key)).status?.conditions, 'PodScheduled')
    return condition?.reason === 'Unschedulable' && condition.message?.startsWith(message)
  })
}

t.test('a claim is bound to the smallest volume that satisfies it', async (t) => {
  const key = await newKey()
  await createVolume(key, 'large', { capacity: { storage: '9Gi' } })
  const created = await createVolume(key, 'fitting')
  await createVolume(key, 'small', { capacity: { storage: '500Mi' } })
  await createVolume(key, 'read-only', { accessModes: ['ReadOnlyMany'] })
  await createVolume(key, 'block', { volumeMode: 'Block' })
  await createVolume(key, 'other', { storageClassName: 'other' })
  t.strictSame(created.metadata.finalizers, ['kubernetes.io/pv-protection'])
  await untilVolume(created, 'Available')
  const claim = await createClaim(key)
  t.strictSame([claim.status, claim.metadata.finalizers], [{ phase: 'Pending' }, ['kubernetes.io/pvc-protection']])
  const bound = await untilClaim(key, 'Bound')
  t.equal(bound.spec?.volumeName, created.metadata.name)
  t.strictSame(bound.metadata.annotations, { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' })
  t.strictSame(bound.status, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } })
  const volume = await untilVolume(created, 'Bound')
  t.strictSame(volume.metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' })
  const { resourceVersion, ...reference } = volume.spec?.claimRef ?? {}
  t.strictSame(reference, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...key, uid: claim.metadata.uid })
  t.ok(resourceVersion)
  t.ok(volume.status?.lastPhaseTransitionTime)

  await client.delete(core.persistentVolumeClaim, key)
  const released = await untilVolume(created, 'Released')
  t.equal(released.spec?.claimRef?.uid, claim.metadata.uid)
  await createClaim(key, { resources: { requests: { storage: '2Gi' } } })
  const other = await untilClaim(key, 'Bound')
  t.equal(other.spec?.volumeName, `${key.namespace}-large`, 'a released volume is not bound again')
})

t.test('a claim waits for a volume', async (t) => {
  const key = await newKey()
  await createClaim(key)
  t.equal(await untilEvent(key, 'ProvisioningFailed'), `storageclass.storage.k8s.io "${key.namespace}" not found`)
  await createVolume(key, 'later')
  await untilClaim(key, 'Bound')

  const classless = { ...key, name: 'classless' }
  await createClaim(classless, { storageClassName: '' })
  const none = 'no persistent volumes available for this claim and no storage class is set'
  t.equal(await untilEvent(key, 'FailedBinding'), none)
  t.strictSame((await client.get(core.persistentVolumeClaim, classless)).status, { phase: 'Pending' })
})

t.test('a claim with the class of another provisioner waits for that one', async (t) => {
  const key = await newKey()
  await client.create(storage.storageClass, { metadata: { name: key.namespace }, provisioner: 'example.com/disk' })
  await createClaim(key)
  const message =
    "Waiting for a volume to be created either by the external provisioner 'example.com/disk' or manually by the system administrator. If " +
    'volume creation is delayed, please verify that the provisioner is running and correctly registered.'
  t.equal(await untilEvent(key, 'ExternalProvisioning'), message)
  const claim = await client.get(core.persistentVolumeClaim, key)
  t.strictSame(claim.metadata.annotations, {
    'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disk',
    'volume.kubernetes.io/storage-provisioner': 'example.com/disk',
  })
  t.strictSame(claim.status, { phase: 'Pending' })
})

t.test('a claim may name its volume, and a volume its claim', async (t) => {
  const key = await newKey()
  const wanted = await createVolume(key, 'wanted', { capacity: { storage: '9Gi' } })
  await createVolume(key, 'smaller')
  await createClaim(key, { volumeName: wanted.metadata.name })
  const bound = await untilClaim(key, 'Bound')
  t.strictSame(bound.metadata.annotations, { 'pv.kubernetes.io/bind-completed': 'yes' })
  const taken = { ...key, name: 'taken' }
  await createClaim(taken, { volumeName: wanted.metadata.name })
  t.equal(await untilEvent(key, 'FailedBinding'), `volume "${wanted.metadata.name}" already bound to a different claim.`)

  const reserved = { ...key, name: 'reserved' }
  const claimRef = { namespace: key.namespace, name: reserved.name }
  const volume = await createVolume(key, 'reserved', { claimRef, capacity: { storage: '20Gi' } })
  await untilVolume(volume, 'Available')
  await createClaim(reserved)
  t.equal((await untilClaim(reserved, 'Bound')).spec?.volumeName, volume.metadata.name)
  t.equal((await untilVolume(volume, 'Bound')).metadata.annotations, undefined)

  const unfit = { ...key, name: 'unfit' }
  const small = await createVolume(key, 'small', { capacity: { storage: '1Mi' } })
  await createClaim(unfit, { volumeName: small.metadata.name })
  t.equal(await untilEvent(key, 'VolumeMismatch'), `Cannot bind to requested volume "${small.metadata.name}": requested PV is too small`)
})

t.test('a claim in use and a bound volume are protected from deletion', async (t) => {
  const key = await newKey()
  const volume = await createVolume(key, 'one')
  await createClaim(key)
  await untilClaim(key, 'Bound')
  const pod = { ...key, name: 'user' }
  await client.create(core.pod, { metadata: pod, spec: podSpec(key.name) })
  await untilReady(pod)
  await client.delete(core.persistentVolume, volume.metadata)
  await client.delete(core.persistentVolumeClaim, key)
  const claim = await client.get(core.persistentVolumeClaim, key)
  t.ok(claim.metadata.deletionTimestamp)
  t.strictSame(claim.metadata.finalizers, ['kubernetes.io/pvc-protection'])
  t.strictSame((await untilVolume(volume, 'Bound')).metadata.finalizers, ['kubernetes.io/pv-protection'])
  await client.delete(core.pod, pod)
  await until(
    'the claim is gone',
    async () => (await client.list(core.persistentVolumeClaim, { namespace: key.namespace })).items.length === 0,
  )
  await until('the volume is gone', async () => {
    const { items } = await client.list(core.persistentVolume)
    return !items.some(({ metadata }) => metadata.name === volume.metadata.name)
  })
})

t.test('a claim whose volume is gone is lost', async (t) => {
  const key = await newKey()
  const volume = await createVolume(key, 'one')
  await createClaim(key)
  await untilClaim(key, 'Bound')
  await client.delete(core.persistentVolume, volume.metadata)
  await client.patch(core.persistentVolume, volume.metadata, { metadata: { finalizers: null } })
  const lost = await untilClaim(key, 'Lost')
  t.strictSame(lost.status, { phase: 'Lost' })
  t.equal(await untilEvent(key, 'ClaimLost'), 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
})

t.test('a Pod waits for its claim', async () => {
  const key = await newKey()
  const pod = { ...key, name: 'user' }
  await client.create(core.pod, { metadata: pod, spec: podSpec(key.name) })
  await untilUnschedulable(pod, '0/1 nodes are available: persistentvolumeclaim "data" not found. not found')
  await createClaim(key)
  await untilUnschedulable(pod, '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found')
  await createVolume(key, 'one')
  await untilReady(pod)
})

t.test('a claim with the mode WaitForFirstConsumer is bound when a Pod needs it', async (t) => {
  const key = await newKey()
  const volumeBindingMode = 'WaitForFirstConsumer'
  await client.create(storage.storageClass, {
    metadata: { name: key.namespace },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode,
  })
  await createClaim(key)
  t.equal(await untilEvent(key, 'WaitForFirstConsumer'), 'waiting for first consumer to be created before binding')
  const pod = { ...key, name: 'user' }
  await client.create(core.pod, { metadata: pod, spec: podSpec(key.name) })
  await untilUnschedulable(pod, "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. ")
  await createVolume(key, 'one')
  await untilReady(pod)
  const claim = await untilClaim(key, 'Bound')
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' }
  t.strictSame(claim.metadata.annotations, annotations)
  t.equal(claim.spec?.volumeName, `${key.namespace}-one`)
})
