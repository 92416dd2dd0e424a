/** Tests of the finalizers that protect claims. */
import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { claimProtectionController } from '../../../../src/devcluster/controllers/volumes/protection.ts'
import { simulatedCluster } from '../../../support/workloads/simulated-cluster.ts'

const namespace = 'default'

t.test('a deleted claim stays as long as a Pod that has a node uses it, even if the Pod has ended', async (t) => {
  const { client, settle } = await simulatedCluster(t, { now: '2026-01-01T00:00:00Z', controllers: [claimProtectionController()] })
  const createPod = (name: string, claimName: string, spec: object) =>
    client.create(core.pod, {
      metadata: { namespace, name },
      spec: { containers: [{ name: 'main', image: 'a' }], volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }], ...spec },
    })
  for (const name of ['running', 'ended', 'unscheduled', 'unused'])
    await client.create(core.persistentVolumeClaim, {
      metadata: { namespace, name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
  await createPod('running', 'running', { nodeName: 'one' })
  await createPod('ended', 'ended', { nodeName: 'one' })
  await client.patchStatus(core.pod, { namespace, name: 'ended' }, { status: { phase: 'Succeeded' } })
  await createPod('unscheduled', 'unscheduled', { nodeSelector: { no: 'node' } })
  await settle()
  const claims = async () => (await client.list(core.persistentVolumeClaim)).items
  for (const { metadata } of await claims()) {
    t.strictSame(metadata.finalizers, ['kubernetes.io/pvc-protection'])
    await client.delete(core.persistentVolumeClaim, metadata)
  }
  await settle()
  t.strictSame(
    (await claims()).map(({ metadata }) => metadata.name),
    ['ended', 'running'],
  )
  await client.delete(core.pod, { namespace, name: 'ended' }, { gracePeriodSeconds: 0 })
  await client.delete(core.pod, { namespace, name: 'running' }, { gracePeriodSeconds: 0 })
  await settle()
  t.strictSame(await claims(), [])
})
