import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { apps, core, findCondition, keyOf } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { memcached } from './kind.ts'
import { operator } from './operator.ts'

const key = { namespace: 'test', name: 'cache' }

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.startOperator([operator])
})
after(() => controlPlane.stop())

const replicasOf = async () => (await controlPlane.client.get(apps.deployment, key)).spec?.replicas

test('a Memcached has a Deployment of its size', async () => {
  const { client } = controlPlane
  await client.create(memcached, { metadata: key, spec: {} })
  await until('there are 3', async () => (await replicasOf()) === 3)
  await client.patch(memcached, key, { spec: { replicas: 4 } }, { subresource: 'scale' })
  await until('there are 4', async () => (await replicasOf()) === 4)
  await client.patch(apps.deployment, key, { spec: { replicas: 1 } })
  await until('what was changed by hand is changed back', async () => (await replicasOf()) === 4)
})

test('its status names its Pods, and says when all are there', async () => {
  const { client } = controlPlane
  const status = await until('all are available', async () => {
    const { status } = await client.get(memcached, key)
    return findCondition(status?.conditions, 'Available')?.status === 'True' && status?.nodes?.length === 4 ? status : undefined
  })
  const pods = await client.list(core.pod, { namespace: 'test' })
  const alive = pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  assert.deepEqual(status.nodes, alive.map(({ metadata }) => metadata.name).toSorted())
})

test('its status says why Pods do not run', async () => {
  const { client } = controlPlane
  const crash = { metadata: { annotations: { 'simulate.proreus.dev/exit-code': '1' } } }
  const pods = await client.list(core.pod, { namespace: 'test' })
  for (const { metadata } of pods.items) await client.patch(core.pod, keyOf({ metadata }), crash)
  const available = await until('they crash', async () => {
    const condition = findCondition((await client.get(memcached, key)).status?.conditions, 'Available')
    return condition?.reason === 'CrashLoopBackOff' ? condition : undefined
  })
  assert.equal(available.status, 'False')
  assert.match(available.message, /^\d of 4 Pods are available\. back-off 10s restarting failed container/)
  for (const { metadata } of pods.items) await client.delete(core.pod, keyOf({ metadata }))
  const isOld = (name: string) => pods.items.some(({ metadata }) => metadata.name === name)
  await until('new Pods are available', async () => {
    const { status } = await client.get(memcached, key)
    return findCondition(status?.conditions, 'Available')?.status === 'True' && status?.nodes?.some(isOld) === false
  })
})

test('at rest it writes nothing', async () => {
  const { client } = controlPlane
  const written = async () => [
    (await client.get(memcached, key)).metadata.resourceVersion,
    (await client.get(apps.deployment, key)).metadata.generation,
  ]
  const before = await written()
  await client.patch(apps.deployment, key, { metadata: { labels: { seen: 'yes' } } })
  // The change of the Deployment enqueues the existing Memcached. The controller has only one worker, so the reconcile of the existing
  // Memcached ends before the reconcile of the new Memcached begins.
  await client.create(memcached, { metadata: { ...key, name: 'later' }, spec: { size: 1 } })
  await until('the next one has its Deployment', () => client.get(apps.deployment, { ...key, name: 'later' }))
  assert.deepEqual(await written(), before)
})

test('sizes and names that cannot work are refused', async () => {
  const { client } = controlPlane
  await assert.rejects(client.create(memcached, { metadata: { ...key, name: 'b' }, spec: { size: 0 } }), /greater than or equal to 1/)
  await assert.rejects(client.create(memcached, { metadata: { ...key, name: 'b.c' }, spec: {} }), /must be a DNS label/)
})
