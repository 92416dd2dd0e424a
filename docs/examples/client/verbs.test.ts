import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { core } from 'proreus'
import { startControlPlane } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { evict, lifeOfADeployment, lock, namesOfConfigMaps, tokenFor } from './verbs.ts'

const namespace = 'test'
let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: [namespace] })
})
after(() => controlPlane.stop())

test('a Deployment is created, changed and deleted', async () => {
  assert.deepEqual(await lifeOfADeployment(controlPlane.client, namespace), ['5 replicas', 'web:2', 'deleted'])
})

test('names are listed without the data', async () => {
  const { client } = controlPlane
  for (const name of ['a', 'b']) await client.create(core.configMap, { metadata: { namespace, name, labels: { app: 'x' } } })
  assert.deepEqual(await namesOfConfigMaps(client, namespace, { app: 'x' }), ['a', 'b'])
})

test('a Pod is evicted', async () => {
  const { client } = controlPlane
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const pod = await client.create(core.pod, { metadata: { namespace, name: 'p' }, spec })
  assert.ok(Array.isArray(await evict(client, pod)))
})

test('a ServiceAccount gets a token', async () => {
  const { client } = controlPlane
  const account = await client.create(core.serviceAccount, { metadata: { namespace, name: 'robot' } })
  assert.equal((await tokenFor(client, account, 'https://example.com')).split('.').length, 3)
})

test('a lock has one holder', async () => {
  const { client } = controlPlane
  assert.deepEqual([await lock(client, namespace, 'a'), await lock(client, namespace, 'b')], [true, false])
})
