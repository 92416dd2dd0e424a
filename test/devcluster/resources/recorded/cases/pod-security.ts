/**
 * Requests that create Pods in namespaces with a Pod Security level. For each control of the level, there are requests with allowed and
 * with forbidden values, in the fields of the Pod and of its containers. Some requests violate several controls.
 */
import type { JsonObject, JsonValue } from '../../../../../src/api/json.ts'
import type { Change, Group } from '../group.ts'
import { changed, each } from '../group.ts'

const pod = { kind: 'Pod', plural: 'pods' }
const safe = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const base: JsonObject = {
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'main', image: 'x', securityContext: safe }],
  },
}

const s = (field: string): string => `spec.securityContext.${field}`
const c = (field: string): string => `spec.containers[0].securityContext.${field}`
const container = (name: string, securityContext: JsonObject = {}): JsonObject => ({
  name,
  image: 'x',
  securityContext: { ...safe, ...securityContext },
})
const both = (securityContext: JsonObject): Change => ({
  'spec.containers': [container('a', securityContext), container('b', securityContext)],
  'spec.initContainers': [container('i', securityContext)],
})
const volumeSources: Readonly<Record<string, JsonValue>> = {
  hostPath: { path: '/p' },
  nfs: { server: 's', path: '/p' },
  gcePersistentDisk: { pdName: 'p' },
  awsElasticBlockStore: { volumeID: 'v' },
  gitRepo: { repository: 'r' },
  iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 1 },
  glusterfs: { endpoints: 'e', path: 'p' },
  rbd: { monitors: ['m'], image: 'i' },
  flexVolume: { driver: 'a/b' },
  cinder: { volumeID: 'v' },
  cephfs: { monitors: ['m'] },
  flocker: { datasetName: 'd' },
  fc: { lun: 1, targetWWNs: ['w'] },
  azureFile: { secretName: 's', shareName: 's' },
  vsphereVolume: { volumePath: 'v' },
  quobyte: { registry: 'r:1', volume: 'v' },
  azureDisk: { diskName: 'd', diskURI: 'https://d', cachingMode: 'None' },
  photonPersistentDisk: { pdID: 'p' },
  portworxVolume: { volumeID: 'v' },
  scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'a' }, volumeName: 'v' },
  storageos: { volumeName: 'v' },
  configMap: { name: 'c' },
  csi: { driver: 'd.example.com' },
  downwardAPI: {},
  emptyDir: {},
  ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } },
  image: { reference: 'i' },
  persistentVolumeClaim: { claimName: 'c' },
  projected: { sources: [] },
  secret: { secretName: 's' },
}
const httpGet = (host: string): JsonObject => ({ httpGet: { host, port: 80 } })
const tcpSocket = (host: string): JsonObject => ({ tcpSocket: { host, port: 80 } })
const capabilities = ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID']
const sysctls = [
  ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range'],
  ...['net.ipv4.ip_unprivileged_port_start', 'net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout'],
  ...['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem', 'kernel.msgmax'],
]

const ofBaseline: readonly Change[] = [
  ...each({
    'spec.hostNetwork': [true, false],
    'spec.hostPID': [true],
    'spec.hostIPC': [true],
    [c('privileged')]: [false],
    [c('capabilities.add')]: [...capabilities, 'SETPCAP', 'SETUID', 'SYS_CHROOT', 'NET_RAW', 'ALL'].map((name) => [name]),
    [c('procMount')]: ['Default'],
    [s('appArmorProfile')]: [{ type: 'RuntimeDefault' }, { type: 'Localhost', localhostProfile: 'p' }, { type: 'Unconfined' }],
    [c('appArmorProfile')]: [{ type: 'RuntimeDefault' }, { type: 'Unconfined' }],
    [s('seLinuxOptions')]: [
      { type: 'container_t' },
      { type: 'container_engine_t' },
      { type: 'x' },
      { user: 'u' },
      { role: 'r' },
      { level: 'l' },
      {},
    ],
    [c('seLinuxOptions')]: [{ type: 'container_init_t' }, { type: 'container_kvm_t' }, { type: 'x', user: 'u' }, { type: '' }],
    [s('seccompProfile')]: [{ type: 'Unconfined' }, { type: 'Localhost', localhostProfile: 'p' }, undefined],
    [c('seccompProfile')]: [{ type: 'Unconfined' }, { type: 'RuntimeDefault' }],
    [s('sysctls')]: sysctls.map((name) => [{ name, value: '1' }]),
    [s('windowsOptions')]: [{ hostProcess: false }],
    'spec.containers[0].ports': [
      [{ containerPort: 80, hostPort: 0 }],
      [{ containerPort: 80, hostPort: 80 }],
      [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 9, hostPort: 9 },
      ],
    ],
    'spec.containers[0].livenessProbe': [httpGet(''), httpGet('h'), tcpSocket('h')],
    'spec.containers[0].readinessProbe': [httpGet('h'), tcpSocket('h')],
    'spec.containers[0].startupProbe': [httpGet('h'), tcpSocket('h')],
    'spec.containers[0].lifecycle': [
      { postStart: httpGet('h') },
      { preStop: tcpSocket('h') },
      { postStart: httpGet('i'), preStop: httpGet('h') },
    ],
    'spec.volumes': [
      [
        { name: 'v', hostPath: { path: '/p' } },
        { name: 'w', hostPath: { path: '/p' } },
      ],
    ],
  }),
  { 'spec.hostNetwork': true, 'spec.hostPID': true, 'spec.hostIPC': true },
  { [s('sysctls')]: ['kernel.msgmax', 'kernel.sem'].map((name) => ({ name, value: '1' })) },
  { 'spec.hostUsers': false, [c('procMount')]: 'Unmasked' },
  ...[{ hostProcess: true }, { hostProcess: false }].map((windowsOptions) => ({
    'spec.hostNetwork': true,
    'spec.os': { name: 'windows' },
    'spec.securityContext': { runAsNonRoot: true, windowsOptions },
    'spec.containers[0].securityContext': undefined,
  })),
  both({ privileged: true, allowPrivilegeEscalation: true }),
  both({ capabilities: { add: ['NET_RAW', 'NET_ADMIN'] } }),
  both({ appArmorProfile: { type: 'Unconfined' } }),
  both({ seLinuxOptions: { type: 'x', user: 'u', role: 'r' } }),
  both({ seccompProfile: { type: 'Unconfined' } }),
  { ...both({ seccompProfile: { type: 'Unconfined' } }), [s('seccompProfile')]: { type: 'Unconfined' } },
  { ...both({ appArmorProfile: { type: 'Unconfined' } }), [s('appArmorProfile')]: { type: 'Unconfined' } },
  {
    'spec.containers': ['b', 'a'].map((name) => ({
      ...container(name),
      livenessProbe: httpGet(`h${name}`),
      ports: [{ containerPort: 8, hostPort: name === 'a' ? 8 : 9 }],
    })),
  },
]

const ofRestricted: readonly Change[] = [
  ...each({
    [c('allowPrivilegeEscalation')]: [undefined, true],
    [c('capabilities')]: [
      undefined,
      { drop: ['NET_RAW'] },
      { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      { drop: ['ALL'], add: ['CHOWN', 'A'] },
    ],
    [s('runAsNonRoot')]: [undefined, false],
    [c('runAsNonRoot')]: [true, false],
    [s('runAsUser')]: [0, 1],
    [c('runAsUser')]: [0, 1],
    'spec.containers[0].securityContext': [undefined],
    'spec.securityContext': [undefined],
    'spec.volumes': [
      ...Object.entries(volumeSources).map(([kind, source]) => [{ name: 'v', [kind]: source }]),
      [
        { name: 'v', nfs: { server: 's', path: '/p' } },
        { name: 'w', hostPath: { path: '/p' } },
        { name: 'e', emptyDir: {} },
      ],
    ],
  }),
  { [s('runAsNonRoot')]: undefined, [c('runAsNonRoot')]: true },
  { [s('runAsNonRoot')]: false, [c('runAsNonRoot')]: false },
  { [s('runAsNonRoot')]: undefined, 'spec.containers': [container('a', { runAsNonRoot: true }), container('b')] },
  { [s('seccompProfile')]: undefined, [c('seccompProfile')]: { type: 'RuntimeDefault' } },
  { [s('seccompProfile')]: undefined, 'spec.containers': [container('a', { seccompProfile: { type: 'RuntimeDefault' } }), container('b')] },
  { 'spec.hostUsers': false, [s('runAsNonRoot')]: false },
  { 'spec.hostUsers': false, [s('runAsUser')]: 0 },
  { 'spec.os': { name: 'windows' }, 'spec.securityContext': { runAsNonRoot: true }, 'spec.containers[0].securityContext': undefined },
  { 'spec.os': { name: 'linux' }, 'spec.containers[0].securityContext': undefined },
  { ...both({ allowPrivilegeEscalation: true }), [s('runAsUser')]: 0 },
  { ...both({ runAsUser: 0, runAsNonRoot: false }), [s('runAsUser')]: 0 },
  both({ capabilities: { add: ['CHOWN'] } }),
]

const label = (mode: string): string => `pod-security.kubernetes.io/${mode}`
const inVersion = (level: string, version: string): Group => ({
  name: `${level}-${version.replace('.', '-')}`,
  type: pod,
  namespaceLabels: { [label('enforce')]: level, [label('enforce-version')]: version },
  base,
  create: [
    ...each({
      'spec.volumes': [[{ name: 'v', nfs: { server: 's', path: '/p' } }]],
      [s('seLinuxOptions')]: [{ type: 'container_engine_t' }],
      [s('sysctls')]: sysctls.slice(4, -1).map((name) => [{ name, value: '1' }]),
      [c('allowPrivilegeEscalation')]: [undefined],
      [c('capabilities')]: [undefined, { add: ['NET_RAW'] }],
      [s('runAsNonRoot')]: [undefined],
      [s('runAsUser')]: [0],
      [s('seccompProfile')]: [undefined, { type: 'Unconfined' }],
      'spec.containers[0].livenessProbe': [httpGet('h')],
    }),
    { 'spec.hostUsers': false, [c('procMount')]: 'Unmasked' },
    { 'spec.hostUsers': false, [s('runAsNonRoot')]: undefined },
    { 'spec.hostUsers': false, [s('runAsUser')]: 0 },
    { 'spec.os': { name: 'windows' }, 'spec.securityContext': { runAsNonRoot: true }, 'spec.containers[0].securityContext': undefined },
  ],
})

const bad: JsonObject = { spec: { containers: [{ name: 'main', image: 'x', securityContext: { privileged: true } }] } }
const standards = (mode: string, level: string): Group => ({
  name: `${mode}-${level}`,
  type: pod,
  namespaceLabels: { [label(mode)]: level },
  base,
  create: [...ofBaseline, ...(level === 'restricted' ? ofRestricted : [])],
})

/** The requests of `ofBaseline` in a namespace that enforces the first version of the level `baseline`, v1.0. */
const always: Group = {
  name: 'baseline-v1-0',
  type: pod,
  namespaceLabels: { [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.0' },
  base,
  create: ofBaseline,
}

/**
 * Groups of requests that create a privileged Pod. Each group has its own namespace. The labels of each namespace set a different
 * combination of Pod Security modes, levels and versions.
 */
const labelled: readonly Group[] = (
  [
    { warn: 'restricted' },
    { warn: 'baseline', 'warn-version': 'v1.8' },
    { enforce: 'baseline', warn: 'privileged' },
    { enforce: 'baseline', warn: 'restricted' },
    { enforce: 'baseline', 'warn-version': 'v1.20' },
    { enforce: 'restricted', 'enforce-version': 'v1.19' },
    { enforce: 'privileged' },
    { audit: 'restricted' },
    { 'enforce-version': 'v1.20' },
  ] as readonly Readonly<Record<string, string>>[]
).map((labels, index) => ({
  name: `labelled-${index}`,
  type: pod,
  namespaceLabels: Object.fromEntries(Object.entries(labels).map(([mode, value]) => [label(mode), value])),
  base,
  create: [{ spec: bad.spec }, { 'metadata.name': undefined, 'metadata.generateName': 'gen-', spec: bad.spec }],
}))

const template = (more: Change = {}): JsonObject => changed({ metadata: { labels: { app: 'a' } }, spec: bad.spec }, more)
const templates: readonly Group[] = (
  [
    ['apps', 'Deployment', 'deployments', { spec: { selector: { matchLabels: { app: 'a' } }, template: template() } }],
    ['apps', 'ReplicaSet', 'replicasets', { spec: { selector: { matchLabels: { app: 'a' } }, template: template() } }],
    ['apps', 'StatefulSet', 'statefulsets', { spec: { selector: { matchLabels: { app: 'a' } }, template: template() } }],
    ['apps', 'DaemonSet', 'daemonsets', { spec: { selector: { matchLabels: { app: 'a' } }, template: template() } }],
    ['batch', 'Job', 'jobs', { spec: { template: template({ 'spec.restartPolicy': 'Never' }) } }],
    [
      'batch',
      'CronJob',
      'cronjobs',
      { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template({ 'spec.restartPolicy': 'Never' }) } } } },
    ],
  ] as readonly (readonly [string, string, string, JsonObject])[]
).map(([group, kind, plural, object]) => ({
  name: `secure-${plural}`,
  type: { group, kind, plural },
  namespaceLabels: { [label('enforce')]: 'baseline' },
  base: object,
  states: [{ update: [{}, { 'metadata.labels': { a: 'b' } }], updateStatus: [{}] }],
}))

export const podSecurity: readonly Group[] = [
  standards('enforce', 'baseline'),
  standards('enforce', 'restricted'),
  ...['v1.0', 'v1.7', 'v1.8', 'v1.18', 'v1.19', 'v1.21', 'v1.22', 'v1.23', 'v1.24', 'v1.25', 'v1.34', 'v1.35'].map((version) =>
    inVersion('restricted', version),
  ),
  ...['v1.18', 'v1.26', 'v1.27', 'v1.28', 'v1.29', 'v1.30', 'v1.31', 'v1.32', 'v1.33', 'v1.34', 'v1.35'].map((version) =>
    inVersion('baseline', version),
  ),
  always,
  ...labelled,
  ...templates,
]
