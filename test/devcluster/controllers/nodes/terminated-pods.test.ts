/** Tests of the deletion of terminated Pods: which Pods are deleted, and when. */
import t from 'tap'
import { pod } from '../../../../src/api/builtin.ts'
import { terminatedPodCollector } from '../../../../src/devcluster/controllers/nodes/terminated-pods.ts'
import { namespace, simulatedCluster } from '../../../support/workloads/simulated-cluster.ts'

const now = '2026-01-01T00:00:00Z'
const start = Date.parse(now)

t.test('surplus terminated Pods are deleted every 20 seconds, evicted ones and old ones first', async (t) => {
  const { client, advanceTo } = await simulatedCluster(t, { now, controllers: [terminatedPodCollector(3)] })
  const create = async (name: string, status: object): Promise<void> => {
    const spec = { schedulerName: 'none', containers: [{ name: 'main', image: 'x' }] }
    await client.create(pod, { metadata: { namespace, name }, spec } as never)
    await client.patchStatus(pod, { namespace, name }, { status })
  }
  const names = async (): Promise<string[]> => (await client.list(pod, { namespace })).items.map(({ metadata }) => metadata.name)
  await create('pending', { phase: 'Pending' })
  await create('running', { phase: 'Running' })
  await create('z-old', { phase: 'Failed' })
  await create('y-old', { phase: 'Succeeded', reason: 'Evicted' })
  await advanceTo(start + 1000)
  await create('evicted', { phase: 'Failed', reason: 'Evicted' })
  await advanceTo(start + 2000)
  t.strictSame(await names(), ['evicted', 'pending', 'running', 'y-old', 'z-old'])
  await create('a', { phase: 'Failed' })
  await advanceTo(start + 3000)
  t.strictSame(await names(), ['a', 'pending', 'running', 'y-old', 'z-old'], 'a younger Pod that was evicted goes first')
  await create('b', { phase: 'Failed' })
  await create('c', { phase: 'Succeeded' })
  await advanceTo(start + 21_000)
  t.strictSame(await names(), ['a', 'b', 'c', 'pending', 'running', 'y-old', 'z-old'])
  await advanceTo(start + 23_000)
  t.strictSame(await names(), ['a', 'b', 'c', 'pending', 'running'])
})
