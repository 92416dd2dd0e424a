import t from 'tap'
import type { PodAddress, Port } from '../../../../src/devcluster/controllers/endpoints/subsets.ts'
import { isSameSubsets, packSubsets } from '../../../../src/devcluster/controllers/endpoints/subsets.ts'

const [http, metrics]: Port[] = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'metrics', port: 90, protocol: 'TCP' },
]
const pod = (ip: string, ports: readonly (Port | undefined)[], ready = true): PodAddress => ({
  address: { ip, targetRef: { uid: ip } },
  ready,
  ports: ports as readonly Port[],
})
const address = (ip: string): object => ({ ip, targetRef: { uid: ip } })

t.test('ports that the same addresses have are in one subset', async (t) => {
  t.strictSame(packSubsets([pod('10.0.0.2', [http, metrics]), pod('10.0.0.1', [http, metrics])]), [
    { addresses: [address('10.0.0.1'), address('10.0.0.2')], ports: [http, metrics] },
  ])
  t.strictSame(packSubsets([pod('10.0.0.1', [http, metrics]), pod('10.0.0.2', [http])]), [
    { addresses: [address('10.0.0.1'), address('10.0.0.2')], ports: [http] },
    { addresses: [address('10.0.0.1')], ports: [metrics] },
  ])
  t.strictSame(packSubsets([pod('10.0.0.1', [http]), pod('10.0.0.2', [http], false)]), [
    { addresses: [address('10.0.0.1')], notReadyAddresses: [address('10.0.0.2')], ports: [http] },
  ])
  t.strictSame(packSubsets([pod('10.0.0.1', [])]), [{ addresses: [address('10.0.0.1')] }])
  t.strictSame(packSubsets([]), [])
})

t.test('the order of subsets, addresses and ports has no meaning', async (t) => {
  const one = packSubsets([pod('10.0.0.1', [http, metrics]), pod('10.0.0.2', [http])])
  const other = packSubsets([pod('10.0.0.2', [http]), pod('10.0.0.1', [metrics, http])]).toReversed()
  t.ok(isSameSubsets(one, other))
  t.notOk(isSameSubsets(one, packSubsets([pod('10.0.0.1', [http, metrics])])))
  t.notOk(isSameSubsets([{ addresses: [{ ip: '1.1.1.1' }] }], [{ notReadyAddresses: [{ ip: '1.1.1.1' }] }]))
})
