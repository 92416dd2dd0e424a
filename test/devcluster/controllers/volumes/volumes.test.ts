/** Tests of the phases of volumes. */
import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { volumeController } from '../../../../src/devcluster/controllers/volumes/volumes.ts'
import { simulatedCluster } from '../../../support/workloads/simulated-cluster.ts'

t.test('a volume is released when its claim was deleted and created again', async (t) => {
  const accessModes = ['ReadWriteOnce']
  const key = { namespace: 'default', name: 'a' }
  const { client, settle } = await simulatedCluster(t, {
    now: '2026-01-01T00:00:00Z',
    controllers: [volumeController()],
    async prepare(client) {
      const spec = { accessModes, resources: { requests: { storage: '1Gi' } }, volumeName: 'v' }
      await client.create(core.persistentVolumeClaim, { metadata: key, spec })
      await client.create(core.persistentVolume, {
        metadata: { name: 'v' },
        spec: { accessModes, capacity: { storage: '1Gi' }, hostPath: { path: '/v' }, claimRef: { ...key, uid: 'of-the-deleted-claim' } },
      })
    },
  })
  await settle()
  t.equal((await client.get(core.persistentVolume, { name: 'v' })).status?.phase, 'Released')
})
