import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { core, findCondition, isNotFound, versionOf } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { database, operator, service } from './database.ts'

const key = { namespace: 'test', name: 'orders' }
const beta = versionOf(database, 'v1beta1')

let controlPlane: ControlPlane
before(async () => {
  // With the backend `binaries`, a real kube-apiserver and etcd are started.
  const backend = process.env.PROREUS_BACKEND === 'binaries' ? 'binaries' : 'embedded'
  controlPlane = await startControlPlane({ backend, controllers: false, namespaces: ['test'] })
  await controlPlane.startOperator([operator])
})
after(() => controlPlane.stop())

test('a Database of the old version is created in the service, and becomes ready', async () => {
  const { client } = controlPlane
  await until('conversion and webhook work', () => client.create(beta, { metadata: key, spec: { size: 'large' } }))
  const ready = async () => findCondition((await client.get(database, key)).status?.conditions, 'Ready')?.status === 'True'
  await until('it is ready', ready)
  assert.equal(service.get('orders'), 10)
  assert.deepEqual((await client.get(core.configMap, key)).data, { address: 'orders.example.com' })
  assert.deepEqual((await client.get(database, key)).metadata.finalizers, ['example.com/database'])
})

test('a Database grows, and does not shrink', async () => {
  const { client } = controlPlane
  await assert.rejects(client.patch(database, key, { spec: { gibibytes: 5 } }), /spec\.gibibytes: Invalid value: 5: must not shrink/)
  await client.patch(database, key, { spec: { gibibytes: 20 } })
  await until('it has grown', async () => service.get('orders') === 20)
})

test('a deleted Database is deleted in the service before it is gone', async () => {
  const { client } = controlPlane
  await client.delete(beta, key)
  await until('it is gone', () => client.get(database, key).then(() => false, isNotFound))
  assert.equal(service.has('orders'), false)
})
