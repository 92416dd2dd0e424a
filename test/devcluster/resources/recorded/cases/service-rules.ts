/** Requests for Services that violate rules of `validateService`, or whose addresses cannot be allocated. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Change, Group } from '../group.ts'
import { each } from '../group.ts'

const affinity = (timeoutSeconds: number): Change => ({
  'spec.sessionAffinity': 'ClientIP',
  'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds } },
})
const balanced = { 'spec.type': 'LoadBalancer' }
const external = { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b' }
const headless = { 'spec.clusterIP': 'None' }
const annotated = (annotations: JsonObject): Change => ({ 'metadata.annotations': annotations })
const twoPorts = (change: JsonObject): JsonObject[] => [
  { name: 'a', port: 80, ...change },
  { name: 'b', port: 81, ...change },
]

export const serviceRules: Group = {
  name: 'service-rules',
  type: { kind: 'Service', plural: 'services' },
  base: { spec: { ports: [{ port: 80 }] } },
  create: [
    ...[-1, 0, 1, 86_400, 86_401].map(affinity),
    ...each({
      'spec.clusterIP': [
        '1.2.3.4',
        '10.95.255.255',
        '10.97.0.0',
        '10.96.0.0',
        '10.96.255.255',
        '10.96.0.1',
        '::1',
        '2001:db8::1',
        '010.96.0.5',
      ],
      'spec.ipFamilies': [[], ['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv4', 'IPv4'], ['Other'], ['IPv6', 'Other']],
      'spec.ipFamilyPolicy': ['SingleStack', 'PreferDualStack', 'RequireDualStack', 'Other', ''],
      'spec.externalIPs': [
        ['127.0.0.1'],
        ['0.0.0.0'],
        ['::'],
        ['::1'],
        ['169.254.1.1'],
        ['224.0.0.1'],
        ['fe80::1'],
        ['ff02::1'],
        ['::ffff:127.0.0.1'],
        ['010.0.0.1'],
        ['1.2.3.4', 'x'],
      ],
      'spec.trafficDistribution': ['X', '', 'PreferClose', 'PreferSameZone', 'PreferSameNode'],
      'spec.loadBalancerSourceRanges': [['x']],
      'spec.loadBalancerClass': ['a/b'],
      'spec.externalName': ['a b'],
      'spec.sessionAffinityConfig': [{}, { clientIP: { timeoutSeconds: 0 } }],
      'spec.healthCheckNodePort': [30_000],
      'spec.ports[0].nodePort': [80],
      'spec.ports[0].appProtocol': ['a b', 'http', 'a/b', ''],
      'spec.ports': [
        [{ port: 80 }, { port: 80 }],
        twoPorts({ port: 80 }),
        twoPorts({ name: 'a' }),
        twoPorts({ name: 'A' }),
        twoPorts({ protocol: 'HTTP' }),
        [{ port: 80, targetPort: 80.5 }],
      ],
    }),
    { 'spec.clusterIP': '10.96.77.77', 'spec.clusterIPs': ['10.96.77.78'] },
    { 'spec.clusterIP': '10.96.77.77', 'spec.clusterIPs': ['10.96.77.77', '10.96.77.78'] },
    { 'spec.clusterIP': '10.96.77.77', 'spec.clusterIPs': ['10.96.77.77', '2001:db8::1'] },
    { 'spec.clusterIP': '10.96.77.77', 'spec.clusterIPs': ['10.96.77.77', '2001:db8::1', '10.96.77.78'] },
    { 'spec.clusterIP': 'None', 'spec.clusterIPs': ['None', '10.96.77.78'] },
    { 'spec.clusterIP': '10.96.77.77', 'spec.ipFamilies': ['IPv6'] },
    { 'spec.ipFamilies': ['IPv4', 'IPv6'], 'spec.ipFamilyPolicy': 'PreferDualStack' },
    { 'spec.ipFamilies': ['IPv4', 'IPv6'], 'spec.ipFamilyPolicy': 'SingleStack' },
    { 'spec.ipFamilies': ['IPv6'], 'spec.ipFamilyPolicy': 'PreferDualStack' },
    { ...headless, 'spec.ipFamilies': ['IPv6'] },
    { ...headless, 'spec.ipFamilyPolicy': 'RequireDualStack' },
    { ...headless, 'spec.selector': { a: 'b' }, 'spec.ipFamilyPolicy': 'RequireDualStack' },
    { ...headless, 'spec.selector': { a: 'b' }, 'spec.ipFamilies': ['IPv6'] },
    { ...headless, 'spec.type': 'NodePort' },
    {
      ...balanced,
      'spec.loadBalancerSourceRanges': ['x', '10.0.0.0/8', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0', ' 10.0.0.0/8 ', '::/0', '010.0.0.0/8'],
    },
    { ...balanced, 'spec.loadBalancerClass': 'a b' },
    { ...balanced, 'spec.loadBalancerClass': '' },
    { ...balanced, 'spec.externalTrafficPolicy': 'Local', 'spec.healthCheckNodePort': 70_000 },
    { ...balanced, 'spec.externalTrafficPolicy': 'Local', 'spec.healthCheckNodePort': 80 },
    { ...balanced, 'spec.externalTrafficPolicy': 'Other', 'spec.internalTrafficPolicy': 'Other', 'spec.trafficDistribution': 'X' },
    { ...balanced, ...annotated({ 'service.beta.kubernetes.io/load-balancer-source-ranges': 'x, 10.0.0.0/8' }) },
    annotated({ 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8' }),
    annotated({ 'service.kubernetes.io/topology-aware-hints': 'auto', 'service.kubernetes.io/topology-mode': 'disabled' }),
    { 'spec.type': 'NodePort', 'spec.ports': twoPorts({ nodePort: 30_130 }) },
    { ...external, 'spec.externalName': 'a.b.' },
    { ...external, 'spec.externalName': '.' },
    { ...external, 'spec.externalName': '' },
    { ...external, 'spec.internalTrafficPolicy': 'Local' },
    { ...external, 'spec.ports': twoPorts({ name: '' }) },
  ],
  states: [
    {
      from: { 'spec.internalTrafficPolicy': 'Local' },
      update: [
        external,
        { ...external, 'spec.internalTrafficPolicy': undefined },
        { ...external, 'spec.internalTrafficPolicy': 'Cluster' },
        affinity(0),
        ...each({
          'spec.clusterIP': ['1.2.3.4', 'x', 'None'],
          'spec.ipFamilies': [['IPv4', 'IPv6'], []],
          'spec.ipFamilyPolicy': ['RequireDualStack', 'PreferDualStack', 'Other'],
          'spec.externalIPs': [['127.0.0.1']],
          'spec.trafficDistribution': ['X'],
          'spec.loadBalancerSourceRanges': [['x']],
          'spec.ports': [twoPorts({ port: 80 }), twoPorts({ protocol: 'HTTP' })],
        }),
        { 'spec.clusterIP': '1.2.3.4', 'spec.clusterIPs': ['1.2.3.4'] },
      ],
    },
    {
      from: { ...headless, 'spec.selector': { a: 'b' } },
      update: [{ 'spec.clusterIP': '10.96.77.70' }, { 'spec.clusterIP': undefined, 'spec.clusterIPs': undefined }, external],
    },
    {
      from: { ...external, 'spec.internalTrafficPolicy': 'Local' },
      update: [{ 'spec.type': 'ClusterIP' }, { 'spec.externalName': 'x y' }],
    },
    {
      from: { ...balanced, 'spec.externalTrafficPolicy': 'Local' },
      update: [
        { 'spec.healthCheckNodePort': 30_131 },
        { 'spec.loadBalancerClass': 'a/b' },
        { 'spec.allocateLoadBalancerNodePorts': undefined },
      ],
    },
  ],
}
