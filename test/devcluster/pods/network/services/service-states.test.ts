/** Tests of the state that the network derives from Services and EndpointSlices. */
import t from 'tap'
import { serviceState } from '../../../../../src/devcluster/pods/network/services/service-state.ts'
import { ServiceStates } from '../../../../../src/devcluster/pods/network/services/service-states.ts'
import { endpoint, service, slice } from '../support/objects.ts'

const web = service('web', { clusterIP: '10.96.0.9', ports: [{ port: 80 }] })
const webSlice = slice('web', [{ port: 8080 }], [endpoint('10.244.0.5')])

t.test('only Services whose state changes are returned', async (t) => {
  const states = new ServiceStates()
  states.setEndpointSlice(webSlice)
  t.strictSame(states.changes(), { changed: [], removed: [] }, 'a slice without its Service')
  states.setService(web)
  states.setService(service('other', { clusterIP: '10.96.0.8' }))
  const { changed } = states.changes()
  t.strictSame(
    changed.map(({ name, slices }) => [name, slices.length]),
    [
      ['web', 1],
      ['other', 0],
    ],
  )
  states.setService({ ...web, metadata: { ...web.metadata, annotations: { a: 'b' } } })
  t.strictSame(states.changes(), { changed: [], removed: [] }, 'an annotation')
  states.removeEndpointSlice(webSlice.metadata)
  t.strictSame(
    states.changes().changed.map(({ name, slices }) => [name, slices.length]),
    [['web', 0]],
  )
  states.removeService(web.metadata)
  states.removeService({ namespace: 'default', name: 'absent' })
  t.strictSame(states.changes(), { changed: [], removed: ['default/web'] })
  t.strictSame(
    states.current.map(({ name }) => name),
    ['other'],
  )
})

t.test('a slice whose label changes moves to another Service', async (t) => {
  const states = new ServiceStates()
  states.setService(web)
  states.setService(service('other', { clusterIP: '10.96.0.8' }))
  states.setEndpointSlice(webSlice)
  states.changes()
  states.setEndpointSlice({ ...webSlice, metadata: { ...webSlice.metadata, labels: { 'kubernetes.io/service-name': 'other' } } })
  const counts = Object.fromEntries(states.changes().changed.map(({ name, slices }) => [name, slices.length]))
  t.strictSame(counts, { web: 0, other: 1 })
})

t.test('invalid addresses, ports and host names are left out', async (t) => {
  const spec = {
    clusterIP: 'not an address',
    clusterIPs: ['10.96.0.9', '__proto__'],
    ports: [{ port: 0 }, { port: 65_536 }, { port: 1.5 }, { name: 'a', port: 80 }, { name: 'a', port: 81 }],
  }
  const endpoints = [endpoint('10.244.0.5', { hostname: 'a.b' }), endpoint('../etc'), endpoint('10.244.0.6', { hostname: 'x'.repeat(64) })]
  const state = serviceState(service('odd', spec), [slice('odd', [{ name: 'a', port: 99_999 }], endpoints)])
  t.strictSame(state.addresses, ['10.96.0.9'])
  t.strictSame(state.ports, [{ name: 'a', protocol: 'TCP', port: 80 }])
  t.strictSame(state.slices[0]!.ports, [])
  t.strictSame(
    state.slices[0]!.endpoints.map(({ address, hostname }) => [address, hostname]),
    [
      ['10.244.0.5', undefined],
      ['10.244.0.6', undefined],
    ],
  )
})
