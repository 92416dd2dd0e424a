/** Tests of the simulated nodes in a real control plane. kube-controller-manager expects regular heartbeats from nodes. */
import t from 'tap'
import { node as nodeType } from '../../src/api/builtin.ts'
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
