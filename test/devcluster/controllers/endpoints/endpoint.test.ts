import t from 'tap'
import type { Node } from '../../../../src/api/builtin.ts'
import type { ReadonlyPod, ReadonlyService } from '../../../../src/devcluster/controllers/api-types.ts'
import { addressesOfType, endpointOf, portsOf } from '../../../../src/devcluster/controllers/endpoints/endpoint.ts'

const node = { metadata: { name: 'node', labels: { 'topology.kubernetes.io/zone': 'z' } } } as unknown as Node
const serviceWith = (spec: object): ReadonlyService => ({ metadata: { name: 'web', namespace: 'a' }, spec }) as unknown as ReadonlyService
const podWith = (spec: object, ready = true): ReadonlyPod =>
  ({
    metadata: { name: 'p', namespace: 'a', uid: 'p' },
    spec: { nodeName: 'node', ...spec },
    status: {
      podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  }) as unknown as ReadonlyPod

t.test('an endpoint has the addresses of one address type, and the zone of the node', async (t) => {
  t.strictSame(addressesOfType(podWith({}), 'IPv6'), ['fd00::1'])
  const { addresses, zone, nodeName, hints } = endpointOf(podWith({}), node, serviceWith({}), 'IPv4')
  t.strictSame([addresses, zone, nodeName, hints], [['10.0.0.1'], 'z', 'node', undefined])
  t.equal(endpointOf(podWith({}), undefined, serviceWith({}), 'IPv4').zone, undefined)
})

t.test('the host name is published within the domain of the Service', async (t) => {
  const hostnameOf = (spec: object): string | undefined => endpointOf(podWith(spec), node, serviceWith({}), 'IPv4').hostname
  t.equal(hostnameOf({ hostname: 'h', subdomain: 'web' }), 'h')
  t.equal(hostnameOf({ hostname: 'h', subdomain: 'other' }), undefined)
  t.equal(hostnameOf({ subdomain: 'web' }), undefined)
})

t.test('ready endpoints have the hints of trafficDistribution', async (t) => {
  const hintsFor = (trafficDistribution: string, ready = true): unknown =>
    endpointOf(podWith({}, ready), node, serviceWith({ trafficDistribution }), 'IPv4').hints
  const forZones = [{ name: 'z' }]
  t.strictSame(hintsFor('PreferClose'), { forZones })
  t.strictSame(hintsFor('PreferSameZone'), { forZones })
  t.strictSame(hintsFor('PreferSameNode'), { forZones, forNodes: [{ name: 'node' }] })
  t.equal(hintsFor('PreferSameNode', false), undefined)
  t.equal(hintsFor('Other'), undefined)
})

t.test('a named port is looked up in containers and sidecars, by name and protocol', async (t) => {
  const container = {
    ports: [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'web', containerPort: 80 },
    ],
  }
  const sidecar = { restartPolicy: 'Always', ports: [{ name: 'proxy', containerPort: 15 }] }
  const init = { ports: [{ name: 'init', containerPort: 16 }] }
  const pod = podWith({ containers: [container], initContainers: [init, sidecar] })
  const ports = [
    { name: 'a', port: 1, targetPort: 'web' },
    { name: 'b', port: 2, targetPort: 'dns' },
    { name: 'c', port: 3, targetPort: 'dns', protocol: 'UDP' },
    { name: 'd', port: 4, targetPort: 'proxy' },
    { name: 'e', port: 5, targetPort: 'init' },
    { name: 'f', port: 6, targetPort: 7, appProtocol: 'http' },
    { port: 8 },
  ]
  t.strictSame(portsOf(serviceWith({ ports }), pod), [
    { name: 'a', port: 80, protocol: 'TCP' },
    { name: 'c', port: 53, protocol: 'UDP' },
    { name: 'd', port: 15, protocol: 'TCP' },
    { name: 'f', port: 7, protocol: 'TCP', appProtocol: 'http' },
    { name: '', port: 8, protocol: 'TCP' },
  ])
})
