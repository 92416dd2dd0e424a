/** Tests of the built-in storage class, whose volumes are simulated. */
import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { storage } from '../../../../src/api/kubernetes/storage.ts'
import { createClient } from '../../../../src/client/client.ts'
import { until } from '../../../../src/testing/until.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'

const cluster = await startTestCluster(t)
const client = createClient(cluster.connection)
t.teardown(() => client.close())

const namespace = 'default'
const simulated = 'proreus.dev/simulated'

function createClaim(name: string, spec: object = {}): Promise<core.PersistentVolumeClaim> {
  const defaults = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  return client.create(core.persistentVolumeClaim, { metadata: { namespace, name }, spec: { ...defaults, ...spec } })
}

function untilBound(name: string): Promise<core.PersistentVolumeClaim> {
  return until(`the claim ${name} is bound`, async () => {
    const claim = await client.get(core.persistentVolumeClaim, { namespace, name })
    return claim.status?.phase === 'Bound' && claim
  })
}

async function createPod(name: string, claimName: string): Promise<void> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
  await client.create(core.pod, { metadata: { namespace, name }, spec: { containers: [{ name: 'main', image: 'a' }], volumes } })
  await until(`the Pod ${name} runs`, async () => (await client.get(core.pod, { namespace, name })).status?.phase === 'Running')
}

t.test('a claim without a class is bound to a simulated volume, which is deleted with it', async (t) => {
  const created = await createClaim('a')
  t.equal(created.spec?.storageClassName, 'standard')
  const claim = await untilBound('a')
  const name = `pvc-${claim.metadata.uid}`
  t.equal(claim.spec?.volumeName, name)
  t.strictSame(claim.status?.capacity, { storage: '1Gi' })
  const volume = await client.get(core.persistentVolume, { name })
  t.match(volume, {
    metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': simulated } },
    spec: { storageClassName: 'standard', persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace, name: 'a' } },
    status: { phase: 'Bound' },
  })
  await createPod('user', 'a')
  const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.name=a' })
  t.ok(items.some(({ reason, message }) => reason === 'ProvisioningSucceeded' && message === `Successfully provisioned volume ${name}`))
  await client.delete(core.persistentVolumeClaim, claim.metadata)
  t.ok((await client.get(core.persistentVolumeClaim, claim.metadata)).metadata.deletionTimestamp, 'a Pod uses the claim')
  await client.delete(core.pod, { namespace, name: 'user' })
  await until('the volume is deleted', async () => (await client.list(core.persistentVolume)).items.length === 0)
})

t.test('a class with the simulated provisioner waits for a Pod, and retains its volumes', async (t) => {
  const options = { volumeBindingMode: 'WaitForFirstConsumer', reclaimPolicy: 'Retain' }
  await client.create(storage.storageClass, { metadata: { name: 'late' }, provisioner: simulated, ...options })
  await createClaim('b', { storageClassName: 'late' })
  await until('the claim waits', async () => {
    const { items } = await client.list(core.event, { namespace, fieldSelector: 'involvedObject.name=b' })
    return items.some(({ reason }) => reason === 'WaitForFirstConsumer')
  })
  await createPod('second', 'b')
  const claim = await untilBound('b')
  t.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'proreus-node')
  await client.delete(core.pod, { namespace, name: 'second' })
  await client.delete(core.persistentVolumeClaim, claim.metadata)
  await until('the volume is released', async () => {
    const volume = await client.get(core.persistentVolume, { name: claim.spec!.volumeName! })
    return volume.status?.phase === 'Released'
  })
})

t.test('a claim gets the class that becomes the default later', async (t) => {
  await client.delete(storage.storageClass, { name: 'standard' })
  t.equal((await createClaim('c')).spec?.storageClassName, undefined)
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  await client.create(storage.storageClass, { metadata: { name: 'other', annotations }, provisioner: simulated })
  t.equal((await untilBound('c')).spec?.storageClassName, 'other')
})
