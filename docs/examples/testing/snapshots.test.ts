import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { core } from 'proreus'
import { startControlPlane } from 'proreus/testing'
import type { ClusterSnapshot, ControlPlane } from 'proreus/testing'

const key = { namespace: 'test', name: 'settings' }

let controlPlane: ControlPlane
let clean: ClusterSnapshot
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.client.create(core.configMap, { metadata: key, data: { size: '1' } })
  clean = await controlPlane.snapshot()
})
afterEach(() => controlPlane.restore(clean))
after(() => controlPlane.stop())

test('settings can be changed', async () => {
  const { data } = await controlPlane.client.patch(core.configMap, key, { data: { size: '2' } })
  assert.deepEqual(data, { size: '2' })
})

test('each test begins with the same settings', async () => {
  const { data } = await controlPlane.client.get(core.configMap, key)
  assert.deepEqual(data, { size: '1' })
})
