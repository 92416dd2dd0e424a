/**
 * Requests that contain Pods or Pod templates. Some of the Pod specs violate rules of `ValidatePodSpec`. The other Pod specs are similar,
 * but valid.
 */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Change, Group } from '../group.ts'
import { each, leavesAt } from '../group.ts'
import { base, c, container, containerRules, device, init, probe, type, volumes } from './container-rules.ts'

const requirement = { key: 'a', operator: 'In', values: ['b'] }
const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preference = 'preferredDuringSchedulingIgnoredDuringExecution'
const terms = (...nodeSelectorTerms: JsonObject[]): Change => leavesAt(`spec.affinity.nodeAffinity.${required}`, { nodeSelectorTerms })
const preferred = (item: JsonObject): Change => leavesAt(`spec.affinity.nodeAffinity.${preference}[0]`, item)
const expression = (change: JsonObject): Change => terms({ matchExpressions: [{ ...requirement, ...change }] })
const nodeField = (change: JsonObject): Change =>
  terms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'], ...change }] })
const labelSelector = { matchLabels: { a: 'b' } }
const term = { topologyKey: 'zone', labelSelector }
const podTerm = (change: JsonObject): Change => leavesAt(`spec.affinity.podAffinity.${required}[0]`, { ...term, ...change })
const weighted = (weight: number, change: JsonObject = {}): Change =>
  leavesAt(`spec.affinity.podAntiAffinity.${preference}[0]`, { weight, podAffinityTerm: { ...term, ...change } })
const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector }
const spread = (...changes: JsonObject[]): Change =>
  leavesAt(
    'spec.topologySpreadConstraints',
    changes.map((change) => ({ ...constraint, ...change })),
  )
const badSelector = {
  matchLabels: { 'a b': 'c d' },
  matchExpressions: [
    { key: 'x y', operator: 'Other' },
    { key: 'x', operator: 'In' },
  ],
}

const ofScheduling: readonly Change[] = [
  ...[0, -1, 1].map((maxSkew) => spread({ maxSkew })),
  spread({ topologyKey: '' }),
  spread({ topologyKey: 'a b' }),
  spread({ whenUnsatisfiable: '' }),
  spread({ whenUnsatisfiable: 'Other' }),
  spread({}, {}),
  spread({}, { whenUnsatisfiable: 'ScheduleAnyway' }, { topologyKey: 'host' }),
  spread({ minDomains: 0 }),
  spread({ minDomains: 1, whenUnsatisfiable: 'ScheduleAnyway' }),
  spread({ nodeAffinityPolicy: 'Other', nodeTaintsPolicy: '' }),
  spread({ matchLabelKeys: ['a b'] }),
  spread({ matchLabelKeys: ['a'] }),
  spread({ matchLabelKeys: ['z'], labelSelector: {} }),
  spread({ labelSelector: badSelector }),
  terms(),
  terms({}),
  ...['In', 'NotIn', 'Exists', 'Gt', 'Lt', 'Other', ''].map((operator) => expression({ operator })),
  expression({ values: [] }),
  expression({ operator: 'DoesNotExist', values: [] }),
  expression({ operator: 'Gt', values: ['1', '2'] }),
  expression({ key: 'a b', values: ['x y'] }),
  expression({ key: '' }),
  nodeField({}),
  nodeField({ values: ['A b', 'b'] }),
  nodeField({ key: 'spec.x' }),
  nodeField({ operator: 'Exists', values: [] }),
  ...[0, 1, 100, 101].map((weight) => preferred({ weight, preference: {} })),
  preferred({ weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['x y'] }] } }),
  preferred({ weight: 1, preference: { matchExpressions: [{ key: 'a b', operator: 'Other' }] } }),
  podTerm({}),
  podTerm({ topologyKey: '' }),
  podTerm({ topologyKey: 'a b' }),
  podTerm({ namespaces: ['A', 'a'] }),
  podTerm({ labelSelector: badSelector, namespaceSelector: badSelector }),
  podTerm({ matchLabelKeys: ['a'], mismatchLabelKeys: ['a', 'c d'] }),
  leavesAt(`spec.affinity.podAffinity.${required}[0]`, { topologyKey: 'zone', matchLabelKeys: ['a'] }),
  ...[0, 1, 100, 101].map((weight) => weighted(weight)),
  weighted(0, { topologyKey: '' }),
  { 'spec.affinity': { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
  ...each({
    'spec.tolerations': [
      [{ key: 'a b', operator: 'Exists' }],
      [{ key: 'a', value: 'x y' }],
      [{ key: 'a', operator: 'Equal', value: 'x y', effect: 'Other', tolerationSeconds: 1 }],
      [{ key: 'a', operator: 'Lt', value: '5' }],
      [{ key: 'a', operator: 'Gt', value: '5' }],
      [{ operator: 'Other', value: 'a', effect: 'Other', tolerationSeconds: 1 }],
    ],
    'spec.schedulingGates': [[{ name: '' }], [{ name: 'a b' }], [{ name: 'a' }, { name: 'a' }]],
    'spec.readinessGates': [[{ conditionType: '' }], [{ conditionType: 'a b' }], [{ conditionType: 'a/b' }]],
    'spec.priorityClassName': ['A b'],
    'spec.runtimeClassName': ['none', 'A b'],
    'spec.overhead': [{ cpu: '1' }],
    'spec.preemptionPolicy': ['Other'],
    'spec.resourceClaims': [
      [{ name: '' }],
      [{ name: 'A', resourceClaimName: 'B' }],
      [{ name: 'a', resourceClaimName: 'b', resourceClaimTemplateName: 'C' }],
      [
        { name: 'a', resourceClaimName: 'b' },
        { name: 'a', resourceClaimName: 'b' },
      ],
    ],
  }),
  { 'spec.schedulingGates': [{ name: 'a' }], 'spec.nodeName': 'n' },
]

const file = (path: string): JsonObject => ({ path, fieldRef: { fieldPath: 'metadata.name' } })
const volume = (source: JsonObject): Change => ({ 'spec.volumes': [{ name: 'v', ...source }] })
const projected = (...sources: JsonObject[]): Change => volume({ projected: { sources } })
const claimTemplate = (volumeClaimTemplate: JsonObject): Change => volume({ ephemeral: { volumeClaimTemplate } })
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

const ofVolumes: readonly Change[] = [
  volume({ emptyDir: { sizeLimit: '-1' } }),
  volume({ emptyDir: { sizeLimit: '0' } }),
  volume({ hostPath: { path: '/a/../b' } }),
  volume({ hostPath: { path: 'a', type: 'Other' } }),
  ...[-1, 0, 511, 512].map((defaultMode) => volume({ secret: { secretName: 'a', defaultMode } })),
  volume({ configMap: { name: 'a', defaultMode: 512 } }),
  ...['', '/a', '../a', 'a/..', '..a', 'a/..b'].map((path) => volume({ secret: { secretName: 'a', items: [{ key: 'k', path }] } })),
  volume({ configMap: { items: [{ key: '', path: 'a', mode: 512 }] } }),
  volume({ downwardAPI: { defaultMode: -1, items: [{ path: '' }] } }),
  volume({ downwardAPI: { items: [{ path: '/a', mode: 512, fieldRef: { fieldPath: 'status.podIP' } }] } }),
  volume({ downwardAPI: { items: [{ ...file('a'), resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } }] } }),
  volume({ downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
  volume({ downwardAPI: { items: [{ path: 'a', resourceFieldRef: { containerName: 'main', resource: 'x', divisor: '1' } }] } }),
  volume({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: "metadata.labels['a']" } }] } }),
  volume({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.labels' } }] } }),
  projected({}),
  projected({ secret: {}, configMap: {} }),
  projected({ secret: { name: 'a', items: [{ key: 'k', path: 'p' }] } }, { configMap: { name: 'b', items: [{ key: 'k', path: 'p' }] } }),
  projected({ downwardAPI: { items: [file('p'), file('p')] } }),
  projected({ configMap: { name: 'b', items: [{ key: '', path: '/p', mode: -1 }] } }),
  ...[599, 600, 2 ** 32, 2 ** 32 + 1].map((expirationSeconds) => ({
    'spec.serviceAccountName': 'a',
    ...projected({ serviceAccountToken: { path: 'a', expirationSeconds } }),
  })),
  ...['', '/a', '..a'].map((path) => ({ 'spec.serviceAccountName': 'a', ...projected({ serviceAccountToken: { path } }) })),
  volume({ projected: { defaultMode: 512, sources: [] } }),
  volume({ nfs: {} }),
  volume({ nfs: { server: 's', path: 'a' } }),
  volume({ csi: {} }),
  volume({ csi: { driver: 'A_b', nodePublishSecretRef: {} } }),
  volume({ csi: { driver: 'd'.repeat(64), nodePublishSecretRef: { name: 'A b' } } }),
  volume({ ephemeral: {} }),
  claimTemplate({ spec: {} }),
  claimTemplate({ spec: claimSpec }),
  claimTemplate({ metadata: { labels: { 'a b': 'c' }, name: 'x' }, spec: claimSpec }),
  { ...claimTemplate({ spec: claimSpec }), 'metadata.name': 'a'.repeat(252) },
  {
    'spec.volumes': [
      { name: 'v', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } },
      { name: 'w', persistentVolumeClaim: { claimName: 'x-v' } },
    ],
  },
  volume({ image: {} }),
  volume({ image: { reference: 'x', pullPolicy: 'Other' } }),
  volume({ gitRepo: { repository: '', directory: '/a' } }),
  volume({ awsElasticBlockStore: { partition: 256 } }),
  volume({ gcePersistentDisk: { partition: -1 } }),
  volume({ nfs: {}, hostPath: { path: '/a' } }),
  volume({ downwardAPI: {}, emptyDir: {} }),
  volume({ cephfs: { monitors: ['m'] }, emptyDir: {} }),
  {
    'spec.volumes': [
      { name: '', emptyDir: {} },
      { name: '', emptyDir: {} },
    ],
  },
  {
    'spec.volumes': [
      { name: 'v', secret: {} },
      { name: 'v', emptyDir: {} },
    ],
  },
  {
    'spec.volumes': [
      { name: 'a.b', emptyDir: {} },
      { name: 'a'.repeat(64), emptyDir: {} },
    ],
  },
]

const dns = (dnsConfig: JsonObject, dnsPolicy = 'None'): Change => ({ 'spec.dnsPolicy': dnsPolicy, 'spec.dnsConfig': dnsConfig })
const nameservers = ['10.0.0.1']
const security = (securityContext: JsonObject): Change => ({ 'spec.securityContext': securityContext })
const sysctl = (...names: string[]): JsonObject => ({ sysctls: names.map((name) => ({ name, value: '1' })) })
const windows = { 'spec.os': { name: 'windows' } }

const ofPods: readonly Change[] = [
  { 'spec.dnsPolicy': 'None' },
  dns({}),
  dns({ nameservers }),
  dns({ nameservers: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] }),
  dns({ nameservers: ['x', '010.0.0.1', '::1', '::ffff:1.2.3.4'] }),
  dns({ nameservers, searches: ['A b', 'a_b', '.', 'a.', '..'] }),
  dns({ searches: Array.from({ length: 33 }, (_, index) => `a${index}`) }, 'Default'),
  dns({ searches: Array.from({ length: 10 }, (_, index) => `a${index}${'.b'.repeat(120)}`) }, 'Default'),
  dns({ options: [{ name: '' }, { value: 'x' }] }, 'Default'),
  ...each({
    'spec.hostAliases': [[{ ip: 'x' }], [{ ip: '' }], [{ ip: '10.0.0.1', hostnames: ['A b', 'a.b', ''] }], [{ ip: '::1' }]],
    'spec.imagePullSecrets': [[{}], [{ name: 'A b' }]],
    'spec.hostname': ['a_b', '-a'],
    'spec.hostnameOverride': ['a', 'A b', 'a'.repeat(65)],
    'spec.os': [{}, { name: 'other' }, { name: 'linux' }, { name: 'windows' }],
    'spec.securityContext': [
      { fsGroup: -1, runAsUser: -1, runAsGroup: -1, supplementalGroups: [1, -1, 2 ** 31] },
      { fsGroupChangePolicy: 'Other' },
      { supplementalGroupsPolicy: 'Other' },
      { seLinuxChangePolicy: 'Other' },
      { seLinuxChangePolicy: 'MountOption' },
      { seLinuxChangePolicy: 'Recursive' },
      { seccompProfile: { type: 'Other', localhostProfile: 'a' }, appArmorProfile: { type: 'Localhost' } },
      { windowsOptions: { runAsUserName: '..' } },
      { windowsOptions: { hostProcess: true } },
      sysctl(''),
      sysctl('A b'),
      sysctl('kernel/shm_rmid_forced', 'kernel/shm_rmid_forced'),
      sysctl('a'.repeat(254)),
    ],
    'spec.resources': [
      { requests: { cpu: '1' }, limits: { cpu: '2' } },
      { requests: { cpu: '3' }, limits: { cpu: '2' } },
      { limits: { 'example.com/gpu': '1' } },
      { limits: { 'ephemeral-storage': '1' } },
      { claims: [{ name: 'a' }] },
    ],
  }),
  { 'spec.resources': { requests: { cpu: '1' } }, [c('resources')]: { requests: { cpu: '1500m' } } },
  { 'spec.resources': { limits: { memory: '1Gi' } }, [c('resources')]: { limits: { memory: '2Gi' } } },
  { 'spec.hostPID': true, 'spec.shareProcessNamespace': true },
  { 'spec.hostNetwork': true, ...security(sysctl('net.ipv4.tcp_syncookies', 'kernel.shmmax')) },
  { 'spec.hostIPC': true, ...security(sysctl('kernel.shmmax')) },
  { 'spec.hostUsers': false, 'spec.hostNetwork': true, 'spec.hostPID': true, 'spec.hostIPC': true },
  { 'spec.hostUsers': false, [c('securityContext')]: { procMount: 'Unmasked' } },
  { 'spec.hostUsers': false, 'spec.volumes': volumes, [c('volumeDevices')]: [device] },
  { 'spec.hostnameOverride': 'a', 'spec.hostNetwork': true, 'spec.setHostnameAsFQDN': true },
  { ...windows, ...security({ runAsUser: 1, fsGroup: 1, supplementalGroups: [1] }), 'spec.hostPID': true, 'spec.hostUsers': true },
  { ...windows, [c('securityContext')]: { privileged: true, capabilities: {}, procMount: 'Default', readOnlyRootFilesystem: false } },
  { ...windows, 'spec.resources': { limits: { cpu: '1' } }, 'spec.shareProcessNamespace': false },
  { 'spec.os': { name: 'linux' }, ...security({ windowsOptions: {} }), [c('securityContext')]: { windowsOptions: {} } },
  { 'spec.hostNetwork': true, 'spec.initContainers': [{ ...init, ports: [{ containerPort: 1, hostPort: 2 }] }] },
  {
    ...security({ windowsOptions: { hostProcess: true } }),
    'spec.hostNetwork': true,
    [c('securityContext')]: { windowsOptions: { hostProcess: false } },
  },
  ...each({
    'metadata.annotations': [
      { 'kubernetes.io/config.mirror': 'x' },
      { 'controller.kubernetes.io/pod-deletion-cost': 'x' },
      { 'controller.kubernetes.io/pod-deletion-cost': '+5' },
      { 'controller.kubernetes.io/pod-deletion-cost': '2147483648' },
      { 'container.apparmor.security.beta.kubernetes.io/none': 'x' },
      { 'container.apparmor.security.beta.kubernetes.io/main': 'localhost/a' },
      { 'seccomp.security.alpha.kubernetes.io/pod': 'x' },
      { 'container.seccomp.security.alpha.kubernetes.io/main': 'localhost//a' },
    ],
  }),
]

/** Returns the changes of a Pod as changes of a Pod template. */
function ofTemplates(changes: readonly Change[]): Change[] {
  const moved = (path: string): string => `spec.template.${path}`
  return changes.map((change) => Object.fromEntries(Object.entries(change).map(([path, value]) => [moved(path), value])))
}

const selector = { matchExpressions: [{ key: 'a', operator: 'Exists' }] }
const template: JsonObject = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }

const affinityOf = (...nodeSelectorTerms: JsonObject[]): JsonObject => ({ nodeAffinity: { [required]: { nodeSelectorTerms } } })
const affinity = affinityOf({ matchExpressions: [requirement] })
const gated: Change = { 'spec.schedulingGates': [{ name: 'a/b' }] }

export const podRules: readonly Group[] = [
  containerRules,
  { name: 'pod-rules-scheduling', type, base, create: ofScheduling },
  { name: 'pod-rules-volumes', type, base, create: ofVolumes },
  { name: 'pod-rules-specs', type, base, create: ofPods },
  {
    name: 'pod-template-rules',
    type: { group: 'apps', kind: 'Deployment', plural: 'deployments' },
    base: { spec: { selector, template } },
    create: [
      ...ofTemplates([
        { [c('image')]: ' x' },
        spread({ maxSkew: 0 }),
        { 'spec.dnsPolicy': 'None' },
        { 'spec.runtimeClassName': 'none' },
        { 'spec.hostNetwork': true, [c('ports')]: [{ containerPort: 80 }] },
        { 'spec.hostNetwork': true, [c('ports')]: [{ containerPort: 80, hostPort: 81 }] },
        { ...gated, 'spec.nodeName': 'n' },
        volume({ image: {} }),
        projected({ serviceAccountToken: { path: 'a' } }),
        { 'spec.terminationGracePeriodSeconds': -1 },
        { 'metadata.annotations': { 'A b': 'c', 'controller.kubernetes.io/pod-deletion-cost': 'x' } },
        { 'spec.initContainers': [{ ...init, livenessProbe: probe, image: ' ' }] },
      ]),
    ],
    states: [{ update: ofTemplates([{ [c('image')]: ' x' }, { [c('envFrom')]: [{}] }, spread({ maxSkew: 0 })]) }],
  },
  {
    name: 'pod-rules-updates',
    type,
    base,
    states: [
      {
        from: { ...gated, 'spec.nodeSelector': { a: 'b' }, 'spec.affinity': affinity },
        update: [
          ...each({
            'spec.nodeSelector': [undefined, { a: 'c' }, { a: 'b', c: 'd' }],
            'spec.affinity': [
              undefined,
              {},
              affinityOf({ matchExpressions: [requirement, { key: 'c', operator: 'Exists' }] }),
              affinityOf({ matchExpressions: [{ ...requirement, values: ['c'] }] }),
              affinityOf({ matchExpressions: [requirement] }, { matchExpressions: [requirement] }),
              { ...affinity, podAffinity: {} },
            ],
            'spec.tolerations[0].tolerationSeconds': [7],
            'spec.schedulingGates': [[], [{ name: 'c' }]],
            'metadata.annotations': [{ 'kubernetes.io/config.mirror': 'x' }, { 'container.apparmor.security.beta.kubernetes.io/main': '' }],
          }),
        ],
      },
      { from: gated, update: each({ 'spec.nodeSelector': [{ a: 'b' }], 'spec.affinity': [affinity, {}] }) },
      {
        from: { 'spec.activeDeadlineSeconds': 5 },
        update: each({ 'spec.activeDeadlineSeconds': [-1, 6, undefined], 'spec.nodeSelector': [{ a: 'b' }], [c('image')]: ['', ' y'] }),
      },
      {
        from: { 'metadata.annotations': { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' } },
        update: [{ 'metadata.annotations': {} }],
      },
    ],
  },
]
