/** Requests for Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { fullSpecs } from '../../../../support/builtin-types/specs.ts'
import type { Group } from '../group.ts'
import { each } from '../group.ts'

function fullOf(kind: string): JsonObject {
  return { metadata: { name: 'x' }, spec: fullSpecs.find((full) => full.kind === kind)!.spec }
}

const twoPorts = [
  { name: 'a', port: 80 },
  { name: 'b', port: 81 },
]
const service: Group = {
  name: 'services',
  type: { kind: 'Service', plural: 'services' },
  base: { spec: { ports: [{ port: 80 }] } },
  full: {
    metadata: { name: 'x' },
    spec: {
      ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP', appProtocol: 'http', nodePort: 30123 }],
      selector: { a: 'b' },
      type: 'LoadBalancer',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      healthCheckNodePort: 30124,
      publishNotReadyAddresses: true,
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'example.com/c',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalIPs: ['1.2.3.4'],
      ipFamilyPolicy: 'SingleStack',
      ipFamilies: ['IPv4'],
    },
  },
  create: [
    ...each({
      spec: [undefined, {}, { clusterIP: 'None' }],
      'metadata.name': ['a.b', 'A', '1a', 'a1', 'a'.repeat(63), 'a'.repeat(64)],
      'spec.type': ['', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'Other'],
      'spec.clusterIP': ['None', '', '10.96.77.77', 'x', '1.2.3.4.5'],
      'spec.clusterIPs': [['None'], ['10.96.77.78'], ['x'], ['10.96.77.77', 'None']],
      'spec.externalName': ['a.b'],
      'spec.sessionAffinity': ['', 'None', 'ClientIP', 'Other'],
      'spec.sessionAffinityConfig': [{ clientIP: { timeoutSeconds: 5 } }],
      'spec.externalTrafficPolicy': ['Cluster', 'Local', 'Other'],
      'spec.internalTrafficPolicy': ['', 'Cluster', 'Local', 'Other'],
      'spec.allocateLoadBalancerNodePorts': [true, false],
      'spec.selector': [{ 'a b': 'c' }, { a: 'b c' }, {}],
      'spec.externalIPs': [['1.2.3.4'], ['x']],
      'spec.ports': [
        undefined,
        [],
        twoPorts,
        [{ port: 80 }, { port: 81 }],
        [{ name: 'a', port: 80 }, { port: 81 }],
        [...twoPorts, { name: 'a', port: 82 }],
        [...twoPorts, { name: 'c', port: 80 }],
        [...twoPorts, { name: 'c', port: 80, protocol: 'UDP' }],
      ],
      'spec.ports[0].port': [undefined, 0, 1, 65535, 65536, -1],
      'spec.ports[0].targetPort': [0, 1, 65535, 65536, '', 'http', 'a--b', '-a', '1', 'a'.repeat(15), 'a'.repeat(16), 'A'],
      'spec.ports[0].protocol': ['', 'UDP', 'SCTP', 'HTTP'],
      'spec.ports[0].nodePort': [0, 30123],
      'spec.ports[0].name': ['http', 'A', 'a.b', 'a'.repeat(63), 'a'.repeat(64)],
    }),
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.ports': undefined },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b' },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a b' },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.clusterIP': '10.96.77.79' },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.clusterIPs': ['10.96.77.79'] },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.ipFamilies': ['IPv4'] },
    { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.ipFamilyPolicy': 'SingleStack' },
    { 'spec.clusterIP': 'None', 'spec.ports': undefined },
    { 'spec.clusterIP': 'None', 'spec.selector': { a: 'b' } },
    { 'spec.type': 'NodePort', 'spec.ports[0].nodePort': 30125 },
    { 'spec.type': 'NodePort', 'spec.externalTrafficPolicy': 'Local' },
    { 'spec.type': 'NodePort', 'spec.externalTrafficPolicy': 'Other' },
    { 'spec.type': 'NodePort', 'spec.allocateLoadBalancerNodePorts': true },
    { 'spec.type': 'NodePort', 'spec.ports': twoPorts },
    { 'spec.type': 'LoadBalancer', 'spec.externalTrafficPolicy': 'Local' },
    { 'spec.type': 'LoadBalancer', 'spec.allocateLoadBalancerNodePorts': false },
    { 'spec.externalIPs': ['1.2.3.4'], 'spec.externalTrafficPolicy': 'Local' },
    { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
  ],
  states: [
    {
      from: { 'spec.selector': { b: 'c', a: 'd' } },
      update: [
        {},
        ...each({
          'spec.type': ['NodePort', 'LoadBalancer', 'ExternalName'],
          'spec.clusterIP': [undefined, '', '10.96.88.88', 'None'],
          'spec.clusterIPs': [undefined, ['10.96.88.88']],
          'spec.ports[0].port': [81],
          'spec.ports[0].nodePort': [30126],
          'spec.ports': [[]],
          'spec.selector': [undefined, { e: 'f' }],
          'spec.internalTrafficPolicy': [undefined, 'Local'],
          'status.loadBalancer': [{ ingress: [{ ip: '1.2.3.4' }] }],
        }),
        { 'spec.clusterIP': undefined, 'spec.clusterIPs': undefined },
        { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b' },
        { 'spec.ipFamilies': undefined, 'spec.ipFamilyPolicy': undefined },
      ],
      updateStatus: [{ 'status.loadBalancer': { ingress: [{ ip: '1.2.3.4' }] } }, { 'spec.selector': { x: 'y' } }],
      remove: [{}],
    },
    {
      from: { 'spec.type': 'NodePort', 'spec.ports': twoPorts },
      update: [
        {},
        { 'spec.type': 'ClusterIP' },
        { 'spec.type': 'LoadBalancer' },
        { 'spec.ports[0].nodePort': undefined },
        { 'spec.ports': [{ name: 'a', port: 80 }] },
        { 'spec.ports': [{ name: 'c', port: 80 }] },
        { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b' },
        { 'spec.type': 'ClusterIP', 'spec.externalTrafficPolicy': undefined },
        { 'spec.externalTrafficPolicy': 'Local' },
      ],
    },
    {
      from: { 'spec.type': 'LoadBalancer', 'spec.externalTrafficPolicy': 'Local', 'spec.loadBalancerClass': 'a/b' },
      update: [
        {},
        { 'spec.type': 'ClusterIP' },
        { 'spec.type': 'NodePort' },
        { 'spec.loadBalancerClass': 'a/c' },
        { 'spec.externalTrafficPolicy': 'Cluster' },
      ],
    },
    {
      from: { 'spec.type': 'LoadBalancer', 'spec.externalIPs': ['5.6.7.8'] },
      status: { 'status.loadBalancer': { ingress: [{ ip: '1.2.3.4' }, { hostname: 'host' }] } },
      update: [{ 'spec.type': 'ClusterIP' }],
    },
    {
      from: { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.ports': undefined },
      update: [{}, { 'spec.type': 'ClusterIP' }, { 'spec.type': 'ClusterIP', 'spec.ports': [{ port: 80 }] }, { 'spec.externalName': 'c' }],
    },
    {
      from: { 'spec.clusterIP': 'None' },
      update: [{}, { 'spec.clusterIP': '' }, { 'spec.clusterIP': '10.96.88.89' }, { 'spec.type': 'NodePort' }],
    },
    {
      from: {
        'spec.externalIPs': ['5.6.7.8'],
        'spec.ports': [{ port: 80 }, { port: 81 }].map((port, at) => ({ ...port, name: `p${at}` })),
      },
    },
  ],
}

const subset = {
  addresses: [{ ip: '1.1.1.1' }, { ip: 'fd00::1' }],
  ports: [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ],
}
const endpoints: Group = {
  name: 'endpoints',
  type: { kind: 'Endpoints', plural: 'endpoints' },
  base: { subsets: [{ addresses: [{ ip: '1.1.1.1' }], ports: [{ port: 80 }] }] },
  create: each({ subsets: [undefined, [], [subset], [{ addresses: [{ ip: '1.1.1.1' }], ports: [{ port: 80, protocol: 'UDP' }] }]] }),
  states: [
    { from: { subsets: [subset] } },
    { from: { subsets: undefined } },
    { from: { subsets: [{ addresses: [{ ip: '1.1.1.1' }] }] } },
    {
      from: {
        subsets: [
          { ...subset, addresses: [{ ip: '1.1.1.1' }], ports: [{ port: 80 }] },
          { addresses: [{ ip: '2.2.2.2' }, { ip: '3.3.3.3' }] },
        ],
      },
    },
  ],
}

const slice: Group = {
  name: 'endpointslices',
  type: { group: 'discovery.k8s.io', kind: 'EndpointSlice', plural: 'endpointslices' },
  base: { addressType: 'IPv4', endpoints: [{ addresses: ['1.1.1.1'] }] },
  create: each({
    addressType: [undefined, '', 'IPv6', 'FQDN', 'Other'],
    endpoints: [
      undefined,
      [],
      [{}],
      [{ addresses: [] }],
      [{ addresses: ['1.1.1.1'], conditions: { ready: true } }],
      [{ addresses: ['x'] }],
    ],
    ports: [[{ port: 80 }], [{}], [{ name: 'a', port: 80, protocol: 'UDP' }], [{ port: 80, protocol: 'Other' }]],
  }),
  states: [
    {
      from: { ports: [{ port: 80 }], endpoints: [{ addresses: ['1.1.1.1', '2.2.2.2'] }, { addresses: ['3.3.3.3'] }] },
      update: each({ addressType: ['IPv6', 'FQDN'], endpoints: [[{ addresses: ['1.1.1.2'] }], []] }),
    },
    {
      from: {
        ports: ['a', 'b', 'c', 'd'].map((name) => ({ name })),
        endpoints: [{ addresses: ['1.1.1.1', '2.2.2.2'] }, { addresses: ['3.3.3.3', '4.4.4.4'] }],
      },
    },
    { from: { ports: [{ name: 'a' }, { port: 81, name: 'b' }], endpoints: [] } },
    { from: { ports: [{}] } },
  ],
}

const backend = { service: { name: 's', port: { number: 80 } } }
const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] }
const ingress: Group = {
  name: 'ingresses',
  type: { group: 'networking.k8s.io', kind: 'Ingress', plural: 'ingresses' },
  base: { spec: { rules: [{ host: 'a.b', http }] } },
  full: fullOf('Ingress'),
  create: [
    ...each({
      spec: [undefined, {}, { defaultBackend: backend }, { rules: [] }],
      'spec.ingressClassName': ['', 'a', 'A b'],
      'spec.rules[0].host': ['', undefined, '1.2.3.4', 'fd::1', '*.a.b', '*a.b', '*', 'A', 'a b'],
      'spec.rules[0].http': [undefined, {}, { paths: [] }],
      'spec.rules[0].http.paths[0].path': [
        ...['', 'a', '/a', '/a//b', '/a/./b', '/a/../b', '/a%2fb', '/a%2Fb', '/a/..', '/a/.', '/..', '/.a', '/a..', undefined],
      ],
      'spec.rules[0].http.paths[0].pathType': [undefined, '', 'Exact', 'ImplementationSpecific', 'Other'],
      'spec.rules[0].http.paths[0].backend': [
        undefined,
        {},
        { ...backend, resource: { kind: 'A', name: 'b' } },
        { resource: { kind: 'A', name: 'b' } },
      ],
      'spec.rules[0].http.paths[0].backend.service': [
        {},
        { name: 's' },
        { name: 'S', port: { number: 80 } },
        { name: 's', port: {} },
        { name: 's', port: { name: 'http' } },
        { name: 's', port: { name: 'Http' } },
        { name: 's', port: { name: 'http', number: 80 } },
        { name: 's', port: { number: 65535 } },
        { name: 's', port: { number: 65536 } },
        { name: 's', port: { number: -1 } },
        { port: { number: 80 } },
      ],
      'spec.defaultBackend': [{}, backend, { service: { name: 's' } }],
      'spec.tls': [[{ hosts: ['a.b'] }]],
    }),
    ...['', '/a//b', '/..', 'a', 'a//'].map((path) => ({
      'spec.rules[0].http.paths[0].pathType': 'ImplementationSpecific',
      'spec.rules[0].http.paths[0].path': path,
    })),
  ],
  states: [
    {
      from: { 'spec.tls': [{ hosts: ['a.b'] }], 'spec.ingressClassName': 'class' },
      status: { 'status.loadBalancer': { ingress: [{ ip: '2.2.2.2' }, { ip: '1.1.1.1' }, { hostname: 'h' }, { ip: '1.1.1.1' }] } },
      update: each({ 'spec.ingressClassName': ['b', undefined], 'spec.rules[0].host': ['c', '1.2.3.4'], status: [{}], spec: [{}] }),
      updateStatus: [{ 'status.loadBalancer': {} }],
    },
    { from: { spec: { defaultBackend: backend } } },
    { from: { 'spec.rules': ['a', 'b', 'c'].map((host) => ({ host, http })) } },
    { from: { 'spec.rules': ['a', '', 'b', 'c', 'd'].map((host) => ({ host, http })) } },
    { from: { 'spec.rules': ['', 'a', 'b', 'c'].map((host) => ({ host, http })) } },
  ],
}

const policy: Group = {
  name: 'networkpolicies',
  type: { group: 'networking.k8s.io', kind: 'NetworkPolicy', plural: 'networkpolicies' },
  base: { spec: { podSelector: {} } },
  full: fullOf('NetworkPolicy'),
  create: each({
    spec: [undefined],
    'spec.podSelector': [undefined, { matchLabels: { a: 'b c' } }, { matchExpressions: [{ key: 'a', operator: 'Other' }] }],
    'spec.policyTypes': [[], ['Ingress'], ['Egress'], ['Ingress', 'Egress'], ['Other'], ['Ingress', 'Ingress', 'Egress']],
    'spec.egress': [[], [{}], [{ ports: [{ port: 80 }] }], [{ ports: [{ port: 80, protocol: 'Other' }] }], [{ to: [{}] }]],
    'spec.ingress': [
      [],
      [{}],
      [{ ports: [{}] }],
      ...[0, 1, 65535, 65536, 'http', 'Http', ''].map((port) => [{ ports: [{ port }] }]),
      ...['', 'UDP', 'SCTP', 'Other'].map((protocol) => [{ ports: [{ port: 80, protocol }] }]),
      [{ from: [{}] }],
      [{ from: [{ podSelector: {} }] }],
      [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'a b': 'c' } } }] }],
      [{ from: [{ namespaceSelector: { matchLabels: { a: 'b c' } } }] }],
      [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
      [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] }],
      [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, namespaceSelector: {} }] }],
    ],
  }),
  states: [
    { update: [{}, { 'spec.podSelector': { matchLabels: { a: 'b' } } }, { 'spec.policyTypes': ['Other'] }] },
    { from: { 'spec.podSelector': { matchLabels: { b: 'c', a: 'd' }, matchExpressions: [{ key: 'e', operator: 'Exists' }] } } },
  ],
}

export const network: readonly Group[] = [service, endpoints, slice, ingress, policy]
