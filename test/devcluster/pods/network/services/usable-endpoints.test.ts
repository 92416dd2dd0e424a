/** Tests of the endpoints that a client may use. */
import t from 'tap'
import { serviceState } from '../../../../../src/devcluster/pods/network/services/service-state.ts'
import type { PodLocation } from '../../../../../src/devcluster/pods/network/services/usable-endpoints.ts'
import { endpointsOf, usableEndpoints } from '../../../../../src/devcluster/pods/network/services/usable-endpoints.ts'
import type { SliceEndpoint } from '../support/objects.ts'
import { endpoint, service, slice } from '../support/objects.ts'

const terminating = { ready: false, serving: true, terminating: true }
const notReady = { ready: false, serving: false, terminating: false }
const here: PodLocation = { node: 'here', zone: 'east' }
const hints = (zone: string, node?: string) => ({ forZones: [{ name: zone }], ...(node !== undefined && { forNodes: [{ name: node }] }) })

interface Case {
  readonly name: string
  readonly endpoints: readonly [string, Partial<SliceEndpoint>][]
  readonly isLocal?: boolean
  readonly client?: PodLocation
  readonly expected: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'ready endpoints',
    endpoints: [
      ['a', {}],
      ['b', { conditions: notReady }],
      ['c', { conditions: terminating }],
    ],
    expected: ['a'],
  },
  { name: 'absent conditions count as ready', endpoints: [['a', { conditions: {} }]], expected: ['a'] },
  {
    name: 'without ready endpoints, those that terminate and serve',
    endpoints: [
      ['a', { conditions: notReady }],
      ['b', { conditions: terminating }],
      ['c', { conditions: { ...terminating, serving: false } }],
    ],
    expected: ['b'],
  },
  { name: 'no endpoints', endpoints: [['a', { conditions: notReady }]], expected: [] },
  {
    name: 'Local: the endpoints on the node of the client',
    endpoints: [
      ['a', { nodeName: 'here' }],
      ['b', { nodeName: 'there' }],
    ],
    isLocal: true,
    client: here,
    expected: ['a'],
  },
  {
    name: 'Local: an endpoint of the node that terminates, before ready ones elsewhere',
    endpoints: [
      ['a', { nodeName: 'here', conditions: terminating }],
      ['b', { nodeName: 'there' }],
    ],
    isLocal: true,
    client: here,
    expected: ['a'],
  },
  { name: 'Local: none on the node', endpoints: [['b', { nodeName: 'there' }]], isLocal: true, client: here, expected: [] },
  {
    name: 'Local: a client that is no Pod reaches all',
    endpoints: [
      ['a', { nodeName: 'here' }],
      ['b', { nodeName: 'there' }],
    ],
    isLocal: true,
    expected: ['a', 'b'],
  },
  {
    name: 'hints name the zone',
    endpoints: [
      ['a', { hints: hints('east') }],
      ['b', { hints: hints('west') }],
    ],
    client: here,
    expected: ['a'],
  },
  {
    name: 'hints name the node before the zone',
    endpoints: [
      ['a', { hints: hints('east', 'here') }],
      ['b', { hints: hints('east', 'there') }],
    ],
    client: here,
    expected: ['a'],
  },
  { name: 'hints of another zone', endpoints: [['a', { hints: hints('west') }]], client: here, expected: ['a'] },
  {
    name: 'hints that one endpoint lacks',
    endpoints: [
      ['a', { hints: hints('east') }],
      ['b', {}],
    ],
    client: here,
    expected: ['a', 'b'],
  },
]

const addresses = { a: '10.244.0.1', b: '10.244.0.2', c: '10.244.0.3' } as Record<string, string>

for (const { name, endpoints, isLocal = false, client, expected } of cases)
  t.test(name, async (t) => {
    const ports = [{ port: 80 }]
    const state = serviceState(service('web', { clusterIP: '10.96.0.9', ports }), [
      slice(
        'web',
        ports,
        endpoints.map(([id, more]) => endpoint(addresses[id]!, more)),
      ),
    ])
    const usable = usableEndpoints(endpointsOf(state, state.ports[0]!), isLocal, client)
    t.strictSame(
      usable.map(({ address }) => address),
      expected.map((id) => addresses[id]),
    )
  })

t.test('the name and the protocol of a port select the ports of the EndpointSlices', async (t) => {
  const spec = {
    clusterIP: '10.96.0.9',
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
      { name: 'lost', port: 1 },
      { name: 'sctp', port: 2, protocol: 'SCTP' },
    ],
  }
  const slices = [
    slice(
      'dns',
      [
        { name: 'dns', port: 1053, protocol: 'UDP' },
        { name: 'dns-tcp', port: 1054 },
      ],
      [endpoint('10.244.0.5')],
    ),
    slice('dns', [{ name: 'dns', port: 2053, protocol: 'UDP' }], [endpoint('10.244.0.5'), endpoint('10.244.0.6')]),
  ]
  const state = serviceState(service('dns', spec), slices)
  const found = state.ports.map((port) => [port.name, endpointsOf(state, port).map(({ address, port }) => `${address}:${port}`)])
  t.strictSame(found, [
    ['dns', ['10.244.0.5:1053', '10.244.0.5:2053', '10.244.0.6:2053']],
    ['dns-tcp', ['10.244.0.5:1054']],
    ['lost', []],
  ])
})

t.test('an endpoint in two slices is ready when one of them says so', async (t) => {
  const ports = [{ port: 80 }]
  const slices = [slice('web', ports, [endpoint('10.244.0.5')]), slice('web', ports, [endpoint('10.244.0.5', { conditions: notReady })])]
  const state = serviceState(service('web', { clusterIP: '10.96.0.9', ports }), slices)
  t.strictSame(
    endpointsOf(state, state.ports[0]!).map(({ isReady }) => isReady),
    [true],
  )
})
