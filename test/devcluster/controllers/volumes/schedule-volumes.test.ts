/** Tests of the volumes to which the claims of a Pod are bound during scheduling. */
import t from 'tap'
import type { Node } from '../../../../src/api/builtin.ts'
import type { Client } from '../../../../src/client/client.ts'
import { bindDelayed, volumeMisfit } from '../../../../src/devcluster/controllers/volumes/schedule-volumes.ts'
import type { Claim } from '../../../../src/devcluster/controllers/volumes/volume-match.ts'
import { reconcileContext } from '../../../../src/testing/reconcile-context.ts'

const node = { metadata: { name: 'n' } } as Node
const size = { storage: '1Gi' }
const shared = { storageClassName: 'local', accessModes: ['ReadWriteOnce'] }

const claim = (name: string): Claim =>
  ({ metadata: { namespace: 'default', name, uid: name }, spec: { ...shared, resources: { requests: size } } }) as unknown as Claim
const volume = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
  ...{ spec: { ...shared, capacity: size }, status: { phase: 'Available' } },
})
const localClass = {
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'local' } },
  ...{ provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' },
}

t.test('the claims of a Pod get different volumes', async (t) => {
  const delayed = [claim('a'), claim('b')]
  const reserved: string[] = []
  const patch = (_type: unknown, { name }: { name: string }, { spec }: { spec: { claimRef: { name: string } } }) => {
    reserved.push(`${spec.claimRef.name} ${name}`)
    return Promise.resolve({})
  }
  const contextWith = (...names: string[]) =>
    reconcileContext({ client: { patch } as unknown as Client, cached: [localClass, ...names.map(volume)] })
  const missing = "node(s) didn't find available persistent volumes to bind"
  t.equal(volumeMisfit({ bound: [], delayed }, node, contextWith('one')), missing)
  t.equal(volumeMisfit({ bound: [], delayed }, node, contextWith('one', 'two')), undefined)
  await bindDelayed(delayed, node, contextWith('one', 'two'))
  t.strictSame(reserved, ['a one', 'b two'])
})
