/** Tests of the simulated kubelets of several Pods and nodes. */
import t from 'tap'
import type { Pod } from '../../../../src/api/builtin.ts'
import { node, pod } from '../../../../src/api/builtin.ts'
import type { Client } from '../../../../src/client/client.ts'
import { PodAddresses } from '../../../../src/devcluster/controllers/kubelet/pod-addresses.ts'
import { namespace, simulatedCluster } from '../../../support/workloads/simulated-cluster.ts'

const now = '2026-01-01T00:00:00Z'
const start = Date.parse(now)

const create = (client: Client, name: string, nodeName = 'one'): Promise<Pod> =>
  client.create(pod, { metadata: { namespace, name }, spec: { nodeName, containers: [{ name: 'main', image: 'x:1' }] } } as never)
const addressOf = async (client: Client, name: string): Promise<string | undefined> =>
  (await client.get(pod, { namespace, name })).status?.podIP

t.test('a Pod for which no address is free does not start until another Pod ends', async (t) => {
  const addresses = new PodAddresses()
  // All addresses but the last one are taken.
  for (let number = 2; number < 0xfffe; number += 1) addresses.addressOf(String(number))
  const { client, events, advanceTo } = await simulatedCluster(t, { now, addresses })
  await create(client, 'first')
  await advanceTo(start)
  t.equal(await addressOf(client, 'first'), '10.244.255.254')
  await create(client, 'second')
  await create(client, 'deleted')
  await advanceTo(start + 25_000)
  t.equal(await addressOf(client, 'second'), undefined)
  t.equal(events.get('second FailedCreatePodSandBox'), 3)
  await client.delete(pod, { namespace, name: 'deleted' })
  await client.delete(pod, { namespace, name: 'first' })
  await advanceTo(start + 40_000)
  t.strictSame(
    (await client.list(pod, { namespace })).items.map(({ metadata }) => metadata.name),
    ['second'],
  )
  t.equal(await addressOf(client, 'second'), '10.244.255.254')
})

t.test('a new Pod gets no address of a Pod that ran before the restart of the cluster', async (t) => {
  const { client, settle } = await simulatedCluster(t, {
    now,
    async prepare(client) {
      await client.create(node, { metadata: { name: 'away', annotations: { 'simulate.proreus.dev/kubelet': 'stopped' } } } as never)
      const { metadata } = await create(client, 'old', 'away')
      await client.patchStatus(pod, metadata, { status: { phase: 'Running', podIP: '10.244.0.2' } })
    },
  })
  await create(client, 'new')
  await settle()
  t.equal(await addressOf(client, 'new'), '10.244.0.3')
})

t.test('a Pod that has ended gives its address back', async (t) => {
  const { client, advanceTo } = await simulatedCluster(t, { now })
  const ending = { namespace, name: 'ending', annotations: { 'simulate.proreus.dev/run-for': '1s' } }
  const spec = { nodeName: 'one', restartPolicy: 'Never', containers: [{ name: 'main', image: 'x:1' }] }
  await client.create(pod, { metadata: ending, spec } as never)
  await advanceTo(start + 1000)
  await create(client, 'next')
  await advanceTo(start + 2000)
  t.match(await client.get(pod, ending), { status: { phase: 'Succeeded', podIP: '10.244.0.2' } })
  t.equal(await addressOf(client, 'next'), '10.244.0.2')
})

t.test('a node that is created again has no images', async (t) => {
  const { client, events, settle } = await simulatedCluster(t, { now })
  const pulls = async (name: string): Promise<number | undefined> => {
    await create(client, name)
    await settle()
    return events.get(`${name} Pulling`)
  }
  t.equal(await pulls('first'), 1)
  t.equal(await pulls('second'), undefined)
  const { metadata, status } = await client.get(node, { name: 'one' })
  await client.delete(node, { name: 'one' })
  await settle()
  await client.create(node, { metadata: { name: 'one', labels: metadata.labels }, status } as never)
  await settle()
  t.equal(await pulls('third'), 1)
})
