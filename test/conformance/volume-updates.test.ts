/** Tests which fields an update of a PersistentVolumeClaim or a PersistentVolume may change, and under which conditions. */
import t from 'tap'
import { core } from '../../src/api/kubernetes/core.ts'
import { storage } from '../../src/api/kubernetes/storage.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import type { NamespacedKey } from '../support/conformance/new-namespaces.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { refusal } from '../support/conformance/refusal.ts'

const { client } = await conformanceControlPlane(t)
const newNamespace = newNamespaces(client, 'volume-updates')
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/**
 * Creates a namespace, and returns the namespace and the name of a PersistentVolumeClaim that does not exist yet. The tests use the name of
 * the namespace also as the name of the claim's StorageClass and as the name of the claim's PersistentVolume.
 */
async function newKey(): Promise<NamespacedKey> {
  return { namespace: await newNamespace(), name: 'data' }
}

interface ClaimFields {
  readonly spec?: object
  readonly annotations?: Readonly<Record<string, string>>
}

function createClaim(key: NamespacedKey, { spec = {}, annotations = {} }: ClaimFields = {}): Promise<core.PersistentVolumeClaim> {
  const defaults = { storageClassName: key.namespace, accessModes: ['ReadWriteOnce'], resources: size('1Gi') }
  return client.create(core.persistentVolumeClaim, { metadata: { ...key, annotations }, spec: { ...defaults, ...spec } })
}

/** Creates a claim with a volume, and waits until they are bound. */
async function createBound(key: NamespacedKey, capacity = '1Gi'): Promise<void> {
  await createVolume(key, { capacity: { storage: capacity } })
  await createClaim(key)
  await until('the claim is bound', async () => (await client.get(core.persistentVolumeClaim, key)).status?.phase === 'Bound')
}

function createVolume({ namespace }: NamespacedKey, spec: object = {}): Promise<core.PersistentVolume> {
  const defaults = { storageClassName: namespace, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } }
  return client.create(core.persistentVolume, {
    metadata: { name: namespace },
    spec: { ...defaults, capacity: { storage: '1Gi' }, ...spec },
  })
}

function size(storage: string): { readonly requests: { readonly storage: string } } {
  return { requests: { storage } }
}

function changeClaim(key: NamespacedKey, change: object): Promise<unknown> {
  return client.patch(core.persistentVolumeClaim, key, change)
}

function changeVolume({ namespace: name }: NamespacedKey, spec: object): Promise<unknown> {
  return client.patch(core.persistentVolume, { name }, { spec })
}

const specIsImmutable =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
const immutableSource = [422, 'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation']
const tooSmall = 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'

t.test('the spec of a claim without a volume is immutable', async (t) => {
  const key = await newKey()
  await createClaim(key)
  for (const spec of [
    { resources: size('2Gi') },
    { resources: size('500Mi') },
    { resources: { limits: { storage: '5Gi' } } },
    { accessModes: ['ReadOnlyMany'] },
    { storageClassName: 'other' },
    { storageClassName: null },
    { selector: { matchLabels: { a: 'b' } } },
    { volumeAttributesClassName: 'fast' },
  ])
    t.strictSame(await refusal(changeClaim(key, { spec })), [422, specIsImmutable], JSON.stringify(spec))
  const block = [422, specIsImmutable, 'volumeMode: Invalid value: "Block": field is immutable']
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeMode: 'Block' } })), block)
  t.strictSame(await refusal(changeClaim(key, { metadata: { labels: { a: 'b' } }, spec: { resources: size('1024Mi') } })), [])
})

t.test('the volume of a claim can be set once', async (t) => {
  const key = await newKey()
  await createClaim(key)
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeName: `${key.namespace}-missing` } })), [])
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeName: 'other' } })), [422, specIsImmutable])
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeName: null } })), [422, specIsImmutable])
})

t.test('a bound claim keeps its size unless its class can expand volumes', async (t) => {
  const key = await newKey()
  await createBound(key)
  const cannotExpand =
    'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the ' +
    'pvc must support resize'
  const expand = (): Promise<unknown> => changeClaim(key, { spec: { resources: size('2Gi') } })
  t.strictSame(await refusal(expand()), [403, cannotExpand], 'the class does not exist')
  t.strictSame(await refusal(changeClaim(key, { spec: { resources: size('500Mi') } })), [422, tooSmall])
  t.strictSame(await refusal(changeClaim(key, { spec: { accessModes: ['ReadOnlyMany'] } })), [422, specIsImmutable])
  const both = { accessModes: ['ReadOnlyMany'], resources: size('2Gi') }
  t.strictSame(await refusal(changeClaim(key, { spec: both })), [422, specIsImmutable])
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeName: 'other' } })), [422, specIsImmutable])

  const provisioner = 'example.com/disk'
  await client.create(storage.storageClass, { metadata: { name: key.namespace }, provisioner })
  t.strictSame(await refusal(expand()), [403, cannotExpand], 'the class does not allow it')
  await client.patch(storage.storageClass, { name: key.namespace }, { allowVolumeExpansion: true })
  await until('kube-apiserver has seen the class', async () => (await refusal(expand())).length === 0)
  t.strictSame(await refusal(changeClaim(key, { spec: { resources: size('1536Mi') } })), [], 'a size above the capacity can shrink')
  t.strictSame(await refusal(changeClaim(key, { spec: { resources: size('1Gi') } })), [422, tooSmall])
  t.strictSame(await refusal(changeClaim(key, { spec: { volumeAttributesClassName: 'fast' } })), [])
})

t.test('the class of a claim can move from the annotation to the field', async (t) => {
  const key = await newKey()
  const fields = { spec: { storageClassName: undefined }, annotations: { [classAnnotation]: key.namespace } }
  await createClaim(key, fields)
  const annotation = `metadata.annotations.${classAnnotation}`
  const change = (storageClass: string | null): Promise<unknown> =>
    changeClaim(key, { metadata: { annotations: { [classAnnotation]: storageClass } } })
  t.strictSame(await refusal(change('other')), [422, `${annotation}: Invalid value: "other": field is immutable`])
  t.strictSame(await refusal(change(null)), [422, `${annotation}: Invalid value: "": field is immutable`])
  t.strictSame(await refusal(changeClaim(key, { spec: { storageClassName: 'other' } })), [422, specIsImmutable])
  const moved = { metadata: { annotations: { [classAnnotation]: null } }, spec: { storageClassName: key.namespace } }
  t.strictSame(await refusal(changeClaim(key, moved)), [])
  t.strictSame(await refusal(changeClaim(key, { spec: { storageClassName: null } })), [422, specIsImmutable])
})

t.test('the source of a volume is immutable', async (t) => {
  const key = await newKey()
  await createVolume(key)
  for (const spec of [{ hostPath: { path: '/other' } }, { hostPath: null, nfs: { server: 'example.com', path: '/data' } }])
    t.strictSame(await refusal(changeVolume(key, spec)), immutableSource, JSON.stringify(spec))
  const block = [422, 'volumeMode: Invalid value: "Block": field is immutable']
  t.strictSame(await refusal(changeVolume(key, { volumeMode: 'Block' })), block)
  for (const spec of [
    { capacity: { storage: '2Gi' } },
    { accessModes: ['ReadOnlyMany'] },
    { persistentVolumeReclaimPolicy: 'Delete' },
    { storageClassName: 'other' },
    { mountOptions: ['hard'] },
  ])
    t.strictSame(await refusal(changeVolume(key, spec)), [], JSON.stringify(spec))
})

t.test('the node affinity of a volume can be set once', async (t) => {
  const key = await newKey()
  await createVolume(key)
  const affinity = (label: string, zone: string): object => ({
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: label, operator: 'In', values: [zone] }] }] } },
  })
  const beta = 'failure-domain.beta.kubernetes.io/zone'
  t.strictSame(await refusal(changeVolume(key, affinity(beta, 'a'))), [])
  const [code, cause] = await refusal(changeVolume(key, affinity(beta, 'b')))
  t.equal(code, 422)
  t.match(cause, /^nodeAffinity: Invalid value: .*: field is immutable, except for updating from beta label to GA$/)
  t.strictSame(await refusal(changeVolume(key, affinity('topology.kubernetes.io/zone', 'a'))), [])
  t.strictSame((await refusal(changeVolume(key, { nodeAffinity: null })))[0], 422)
})

t.test('a CSI volume gets a secret for its expansion once, and keeps a class of attributes', async (t) => {
  const key = await newKey()
  const csi = { driver: 'disk.example.com', volumeHandle: key.namespace }
  await createVolume(key, { hostPath: undefined, csi })
  const change = (name: string): Promise<unknown> =>
    changeVolume(key, { csi: { ...csi, controllerExpandSecretRef: { name, namespace: key.namespace } } })
  t.strictSame(await refusal(change('one')), [])
  t.strictSame(await refusal(change('other')), immutableSource)
  t.strictSame(await refusal(changeVolume(key, { volumeAttributesClassName: 'fast' })), [])
  const kept = 'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden'
  t.strictSame(await refusal(changeVolume(key, { volumeAttributesClassName: null })), [422, kept])
})
