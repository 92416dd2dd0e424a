import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startControlPlane } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { cache, operator } from './cache.ts'

const key = { namespace: 'test', name: 'sessions' }

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'], controllers: false })
  await controlPlane.startOperator([operator])
})
after(() => controlPlane.stop())

test('defaults are filled in, and null is kept', async () => {
  const { spec } = await controlPlane.client.create(cache, { metadata: key, spec: { engine: 'redis', owner: null } })
  assert.deepEqual(spec, { engine: 'redis', owner: null, replicas: 1, zones: [], settings: {} })
})

test('rules are evaluated', async () => {
  const { client } = controlPlane
  await assert.rejects(
    client.patch(cache, key, { spec: { replicas: 3, maxReplicas: 2 } }),
    /spec\.replicas: Invalid value: must not exceed maxReplicas/,
  )
  await assert.rejects(client.patch(cache, key, { spec: { engine: 'memcached' } }), /spec\.engine: Forbidden: must stay redis/)
})

test('the items of a set and of a map are unique', async () => {
  const { client } = controlPlane
  await assert.rejects(client.patch(cache, key, { spec: { zones: ['a', 'a'] } }), /spec\.zones\[1\]: Duplicate value: "a"/)
  const port = { name: 'http', port: 80 }
  await assert.rejects(client.patch(cache, key, { spec: { ports: [port, { ...port, port: 81 }] } }), /spec\.ports\[1\]: Duplicate value/)
})

test('a Cache can be scaled', async () => {
  const { client } = controlPlane
  await client.patch(cache, key, { spec: { replicas: 4 } }, { subresource: 'scale' })
  assert.equal((await client.get(cache, key)).spec.replicas, 4)
})
