/** Tests of writes to claims and volumes that have changed since they were read. */
import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { changeClaim, changeVolume, reserve } from '../../../../src/devcluster/controllers/volumes/writes.ts'
import { reconcileContext } from '../../../../src/testing/reconcile-context.ts'
import { inProcessClient } from '../../../support/devcluster/in-process-client.ts'
import { fixture } from '../../../support/devcluster/registry.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const accessModes = ['ReadWriteOnce']
const conflict = { status: { code: 409, reason: 'Conflict' } }

t.test('a claim or volume that has changed since it was read is not written', async (t) => {
  const client = inProcessClient(await fixture())
  const context = reconcileContext({ client })
  const annotate = (value: string): object => ({ metadata: { annotations: { a: value } } })
  const claim = await client.create(core.persistentVolumeClaim, {
    metadata: { namespace: 'default', name: 'a' },
    spec: { accessModes, resources: { requests: { storage: '1Gi' } } },
  })
  const volume = await client.create(core.persistentVolume, {
    metadata: { name: 'a' },
    spec: { accessModes, capacity: { storage: '1Gi' }, hostPath: { path: '/a' } },
  })
  t.match(await changeClaim(claim, annotate('1'), context), annotate('1'))
  t.match(await rejectionOf(changeClaim(claim, annotate('2'), context)), conflict)
  t.match(await client.get(core.persistentVolumeClaim, claim.metadata), annotate('1'))

  t.match(await changeVolume(volume, annotate('1'), context), annotate('1'))
  t.match(await rejectionOf(reserve(volume, claim, context)), conflict, 'another claim may have got the volume')
  t.equal((await client.get(core.persistentVolume, volume.metadata)).spec?.claimRef, undefined)
})
