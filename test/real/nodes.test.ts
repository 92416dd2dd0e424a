/** Tests of the simulated nodes in a real control plane. kube-controller-manager expects regular heartbeats from nodes. */
import t from 'tap'
import { node as nodeType, pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { until } from '../../src/testing/until.ts'

const name = 'heard-of'

t.test('a node whose status became Unknown is ready again with its address and its capacity', async (t) => {
  const { client, stop } = await startControlPlane({ backend: 'binaries', nodes: [{ name, capacity: { pods: '500' } }] })
  t.teardown(stop)
  const keptOf = async () => {
    const { addresses, capacity, allocatable } = (await client.get(nodeType, { name })).status ?? {}
    return { addresses, capacity, allocatable }
  }
  const kept = await keptOf()
  t.match(kept, {
    addresses: [{ type: 'InternalIP', address: /^10\.0\./ }],
    capacity: { cpu: '8', pods: '500' },
    allocatable: { pods: '500' },
  })
  const lost = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
  await client.patchStatus(nodeType, { name }, { status: { conditions: [lost] } })
  await until('it is ready again', async () => {
    const { status } = await client.get(nodeType, { name })
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  })
  t.strictSame(await keptOf(), kept)
})

t.test('a node has regular heartbeats, which change nothing else', async (t) => {
  const { client, stop } = await startControlPlane({ backend: 'binaries', nodes: [{ name }] })
  t.teardown(stop)
  const readyOf = async () => findCondition((await client.get(nodeType, { name })).status?.conditions, 'Ready')!
  const { lastHeartbeatTime: first, ...kept } = await readyOf()
  for (let heartbeat = first, count = 0; count < 2; count += 1) {
    // kube-controller-manager considers a node unreachable after 50 s without a heartbeat.
    const { lastHeartbeatTime, ...rest } = await until(
      'there is a heartbeat',
      async () => {
        const ready = await readyOf()
        return ready.lastHeartbeatTime !== heartbeat && ready
      },
      40_000,
    )
    t.strictSame(rest, kept)
    heartbeat = lastHeartbeatTime
  }
})

t.test('a running Pod that became not ready with its node is ready again', async (t) => {
  const { client, stop } = await startControlPlane({ backend: 'binaries', nodes: [{ name }], namespaces: ['test'] })
  t.teardown(stop)
  const key = { namespace: 'test', name: 'running' }
  const conditionsOf = async () => (await client.get(podType, key)).status?.conditions ?? []
  const isReady = async () => findCondition(await conditionsOf(), 'Ready')?.status === 'True'
  await client.create(podType, { metadata: key, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } })
  await until('it is ready', isReady)
  // When a node becomes unreachable, kube-controller-manager sets the condition Ready of the node's Pods to False, and does not change
  // their other conditions. This test does the same to one Pod.
  const conditions = (await conditionsOf()).map((condition) => (condition.type === 'Ready' ? { ...condition, status: 'False' } : condition))
  await client.patchStatus(podType, key, { status: { conditions } })
  await until('it is ready again', isReady)
})
