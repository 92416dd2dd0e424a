import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { core } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { hello, operator } from '../hello.ts'

const key = { namespace: 'test', name: 'world' }

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.startOperator([operator])
})
after(() => controlPlane.stop())

test('a Hello is said as often as it asks', async () => {
  const { client } = controlPlane
  await client.create(hello, { metadata: key, spec: { message: 'hi' } })
  const said = await until('it has been said', async () => (await client.get(hello, key)).status?.said)
  assert.equal(said, 'hi hi')
})

test('what it owns comes back', async () => {
  const { client } = controlPlane
  await client.delete(core.configMap, key)
  const { data } = await until('the ConfigMap is back', () => client.get(core.configMap, key))
  assert.deepEqual(data, { said: 'hi hi' })
})

test('nobody says bye', async () => {
  const bye = controlPlane.client.create(hello, { metadata: { ...key, name: 'bye' }, spec: { message: 'goodbye' } })
  await assert.rejects(bye, /spec\.message: Invalid value: "goodbye": must greet/)
})
