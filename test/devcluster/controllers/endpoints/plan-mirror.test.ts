/** Tests of the plan for the EndpointSlices that mirror Endpoints. */
import t from 'tap'
import type { core } from '../../../../src/api/kubernetes/core.ts'
import { planMirror } from '../../../../src/devcluster/controllers/endpoints/plan-mirror.ts'
import type { Slice, SliceInput } from '../../../../src/devcluster/controllers/endpoints/plan-slices.ts'

const http = { name: 'http', port: 80, protocol: 'TCP' }
const endpointsWith = (subsets: core.Endpoints['subsets'], metadata: object = {}): core.Endpoints =>
  ({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'db', namespace: 'ns', uid: 'own', ...metadata }, subsets }) as core.Endpoints
const one = endpointsWith([{ addresses: [{ ip: '192.0.2.1' }], ports: [http] }])

/** Returns the EndpointSlice that the API server would store. */
const stored = ({ metadata, ...rest }: SliceInput, name = 'db-1'): Slice =>
  ({ ...rest, metadata: { ...metadata, name, resourceVersion: '1' } }) as unknown as Slice
const only = (list: readonly SliceInput[]): SliceInput => {
  if (list.length !== 1) throw new Error(`expected one, found ${list.length}`)
  return list[0]!
}
const sizes = (list: readonly SliceInput[]): string[] =>
  list.map(({ addressType, endpoints }) => `${addressType} ${endpoints.length}`).sort()

t.test('there is an EndpointSlice for each address type and list of ports', (t) => {
  const subsets = [
    { addresses: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }], ports: [http] },
    { notReadyAddresses: [{ ip: '192.0.2.2' }], ports: [{ ...http, port: 81 }] },
  ]
  const { create, update, remove, skipped } = planMirror(endpointsWith(subsets), [])
  t.strictSame(sizes(create), ['IPv4 1', 'IPv4 1', 'IPv6 1'])
  t.strictSame([update, remove, skipped], [[], [], 0])
  t.end()
})

t.test('an EndpointSlice changes with addresses, labels, annotations and the uid of its owner only', (t) => {
  const existing = stored(only(planMirror(one, []).create))
  const updates = (endpoints: core.Endpoints): number => planMirror(endpoints, [existing]).update.length
  t.equal(updates(one), 0)
  t.equal(updates(endpointsWith(one.subsets, { annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': 'x' } })), 0)
  t.equal(updates(endpointsWith(one.subsets, { annotations: { note: 'x' } })), 1)
  t.equal(updates(endpointsWith(one.subsets, { labels: { tier: 'x' } })), 1)
  t.equal(updates(endpointsWith(one.subsets, { uid: 'other' })), 1)
  t.equal(updates(endpointsWith([{ notReadyAddresses: [{ ip: '192.0.2.1' }], ports: [http] }])), 1)
  t.end()
})

t.test('an EndpointSlice with other ports is reused, one of another address type is not', (t) => {
  const existing = stored(only(planMirror(one, []).create))
  const moved = planMirror(endpointsWith([{ addresses: [{ ip: '192.0.2.1' }], ports: [{ ...http, port: 81 }] }]), [existing])
  t.equal(only(moved.update).metadata.name, 'db-1')
  t.strictSame([moved.create, moved.remove], [[], []])
  const other = planMirror(endpointsWith([{ addresses: [{ ip: '2001:db8::1' }], ports: [http] }]), [existing])
  t.strictSame(sizes(other.create), ['IPv6 1'])
  t.strictSame(other.remove, [existing])
  t.strictSame(planMirror(endpointsWith([]), [existing]).remove, [existing])
  t.end()
})

t.test('at most 1000 addresses of a subset are mirrored', (t) => {
  const addresses = Array.from({ length: 1003 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }))
  const { create, skipped, limit } = planMirror(endpointsWith([{ addresses, ports: [http] }]), [])
  t.strictSame([sizes(create), skipped, limit], [['IPv4 1000'], 3, 1000])
  t.end()
})
