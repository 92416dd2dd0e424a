/** Requests for Pods, some of them with LimitRanges or PriorityClasses. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { fullPodSpecs } from '../../../../support/builtin-types/pods.ts'
import type { Change, Group, RecordedType, State } from '../group.ts'
import { each, mistakesIn } from '../group.ts'
import { podRows } from './pod-rows.ts'

const type: RecordedType = { kind: 'Pod', plural: 'pods' }
const container = { name: 'main', image: 'x' }
const base: JsonObject = { spec: { containers: [container] } }
const c = (field: string): string => `spec.containers[0].${field}`

const handlers: readonly JsonObject[] = [
  {},
  { exec: {} },
  { exec: { command: ['a'] } },
  { httpGet: {} },
  { httpGet: { port: 80 } },
  { httpGet: { port: 0 } },
  { httpGet: { port: 65536 } },
  { httpGet: { port: 'http' } },
  { httpGet: { port: 'Http' } },
  { httpGet: { port: 80, scheme: 'HTTPS', path: '/a' } },
  { httpGet: { port: 80, scheme: 'FTP' } },
  { tcpSocket: {} },
  { tcpSocket: { port: 80 } },
  { exec: { command: ['a'] }, tcpSocket: { port: 80 } },
  { httpGet: { port: 80 }, tcpSocket: { port: 80 }, exec: { command: ['a'] } },
]
const probes: readonly JsonObject[] = [
  ...handlers,
  { grpc: {} },
  { grpc: { port: 80 } },
  { grpc: { port: 65536 } },
  ...['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'].flatMap((field) =>
    [-1, 0, 2].map((value) => ({ tcpSocket: { port: 80 }, [field]: value })),
  ),
  ...[-1, 0, 1].map((value) => ({ tcpSocket: { port: 80 }, terminationGracePeriodSeconds: value })),
]

const ofContainers: readonly Change[] = each({
  [c('name')]: [undefined, '', 'A', 'a.b', 'a'.repeat(63), 'a'.repeat(64)],
  [c('image')]: [undefined, '', ' ', ' x', 'x ', 'x:1', 'x:latest', 'x@sha256:aaaa', 'h:5000/x', 'h:5000/x:1', 'h:5000/x:latest'],
  [c('imagePullPolicy')]: ['', 'Always', 'Never', 'Sometimes'],
  [c('terminationMessagePolicy')]: ['', 'FallbackToLogsOnError', 'Other'],
  [c('terminationMessagePath')]: ['', '/a'],
  [c('ports')]: [
    ...[0, 1, 65535, 65536, -1].map((containerPort) => [{ containerPort }]),
    ...[0, 1, 65535, 65536, -1].map((hostPort) => [{ containerPort: 80, hostPort }]),
    [{}],
    ...['', 'UDP', 'SCTP', 'HTTP'].map((protocol) => [{ containerPort: 80, protocol }]),
    ...['http', 'Http', '1', 'a--b', '-a', 'a-', 'a'.repeat(15), 'a'.repeat(16), 'a_b', ''].map((name) => [{ name, containerPort: 80 }]),
    [
      { name: 'a', containerPort: 80 },
      { name: 'a', containerPort: 81 },
    ],
    [
      { name: 'a', containerPort: 80 },
      { name: 'b', containerPort: 81 },
    ],
  ],
  [c('env')]: [
    [{}],
    [{ name: '' }],
    [{ name: 'a b.c-d' }],
    [{ name: 'a=b' }],
    [{ name: 'ä' }],
    [{ name: '~!' }],
    [{ name: 'A', valueFrom: {} }],
    [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    [{ name: 'A', valueFrom: { fieldRef: { fieldPath: '' } } }],
    [{ name: 'A', valueFrom: { fieldRef: {} } }],
    [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }],
    [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'a' } } }],
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: '' } } }],
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b' }, configMapKeyRef: { name: 'a', key: 'b' } } }],
    [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
  ],
  [c('volumeMounts')]: [[{ name: 'v', mountPath: '/a' }], [{ mountPath: '/a' }]],
  [c('resources')]: [
    { limits: { cpu: '1' } },
    { limits: { cpu: '1', memory: '1Gi' } },
    { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } },
    { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
    { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } },
    { requests: { cpu: '1' } },
    { requests: { cpu: '2' }, limits: { cpu: '1' } },
    { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } },
    { requests: { cpu: '1' }, limits: { cpu: '1' } },
    { limits: { cpu: '-1' } },
    { limits: { cpu: '0' } },
    { limits: { foo: '1' } },
    { requests: { foo: '1' } },
    { limits: { 'example.com/foo': '1' } },
    { limits: { 'a b': '1' } },
    { limits: { 'ephemeral-storage': '1Gi' } },
    { limits: { cpu: 'x' } },
    { requests: { cpu: 1 } },
  ],
  [c('securityContext')]: [
    {},
    ...[-1, 0, 2 ** 31 - 1, 2 ** 31].flatMap((id) => [{ runAsUser: id }, { runAsGroup: id }]),
    { allowPrivilegeEscalation: false },
    { allowPrivilegeEscalation: false, privileged: true },
    { allowPrivilegeEscalation: true, privileged: true },
    { allowPrivilegeEscalation: false, privileged: false },
    { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
    { allowPrivilegeEscalation: false, capabilities: { add: ['NET_ADMIN'] } },
    { allowPrivilegeEscalation: false, privileged: true, capabilities: { add: ['CAP_SYS_ADMIN'] } },
    { allowPrivilegeEscalation: true, capabilities: { add: ['CAP_SYS_ADMIN'] } },
  ],
  [c('livenessProbe')]: probes,
  [c('readinessProbe')]: probes.slice(-14),
  [c('startupProbe')]: probes.slice(-8),
  [c('lifecycle')]: [
    ...handlers.map((postStart) => ({ postStart })),
    ...handlers.slice(0, 4).map((preStop) => ({ preStop })),
    { preStop: { sleep: { seconds: 1 } } },
  ],
})

const volume = (source: JsonObject): JsonObject[] => [{ name: 'v', ...source }]
const toleration = { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }
const ofSpecs: readonly Change[] = each({
  spec: [undefined, {}],
  'spec.containers': [[], [container, container], [container, { ...container, name: 'b' }]],
  'spec.initContainers': [[], [container], [{ name: 'i', image: 'x' }], [{}], [{ name: 'i', image: 'x:1', ports: [{ containerPort: 1 }] }]],
  'spec.ephemeralContainers': [[{ name: 'e', image: 'x' }]],
  'spec.restartPolicy': ['', 'Never', 'OnFailure', 'Sometimes'],
  'spec.dnsPolicy': ['', 'Default', 'ClusterFirstWithHostNet', 'Other'],
  'spec.terminationGracePeriodSeconds': [-1, 0, 1],
  'spec.activeDeadlineSeconds': [-1, 0, 1, 2 ** 31 - 1, 2 ** 31],
  'spec.nodeSelector': [{ a: 'b' }, { 'a b': 'c' }, { a: 'b c' }],
  'spec.serviceAccountName': ['', 'a', 'A b'],
  'spec.serviceAccount': ['a'],
  'spec.nodeName': ['a', 'A'],
  'spec.hostname': ['a', 'a.b', 'A', 'a'.repeat(63), 'a'.repeat(64)],
  'spec.subdomain': ['a', 'a.b', 'A'],
  'spec.hostNetwork': [true],
  'spec.schedulerName': ['other', ''],
  'spec.enableServiceLinks': [false],
  'spec.priority': [0, 5],
  'spec.priorityClassName': ['system-node-critical', 'system-cluster-critical', 'none'],
  'spec.preemptionPolicy': ['Never', 'PreemptLowerPriority'],
  'spec.tolerations': [
    [toleration],
    [{}],
    [{ operator: 'Exists' }],
    [{ operator: 'Exists', value: 'a' }],
    [{ operator: 'Exists', effect: 'NoSchedule' }],
    [{ operator: 'Exists', effect: 'NoExecute' }],
    [{ key: 'a', operator: 'Other' }],
    [{ key: 'a', effect: 'Other' }],
    [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 }],
    [{ key: 'a', effect: 'PreferNoSchedule' }],
    [{ key: 'a', tolerationSeconds: 5 }],
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists' }],
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }],
  ],
  'spec.volumes': [
    [{}],
    [{ name: 'v' }],
    [{ name: 'V', emptyDir: {} }],
    [...volume({ emptyDir: {} }), ...volume({ emptyDir: {} })],
    volume({ emptyDir: {}, hostPath: { path: '/a' } }),
    volume({ secret: { secretName: 'a' }, configMap: { name: 'a' }, emptyDir: {} }),
    volume({ secret: {} }),
    volume({ secret: { secretName: 'a' } }),
    volume({ configMap: {} }),
    volume({ configMap: { name: 'a' } }),
    volume({ hostPath: {} }),
    volume({ hostPath: { path: '/a' } }),
    volume({ hostPath: { path: '/a', type: 'Directory' } }),
    volume({ persistentVolumeClaim: {} }),
    volume({ persistentVolumeClaim: { claimName: 'a' } }),
    volume({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } }),
    volume({ projected: { sources: [{ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } }] } }),
    volume({ projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } }),
    volume({ projected: { sources: [{ configMap: { name: 'a' } }, { serviceAccountToken: { path: 'a' } }] } }),
  ],
  'spec.schedulingGates': [[{ name: 'a/b' }]],
  status: [{ phase: 'Running' }],
  'metadata.name': ['A', 'a.b', 'a'.repeat(253), 'a'.repeat(254)],
})

const mounts = (...list: JsonObject[]): Change => ({ 'spec.volumes': volume({ emptyDir: {} }), [c('volumeMounts')]: list })
const pods: Group = {
  name: 'pods',
  type,
  base,
  create: [
    ...ofSpecs,
    { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
    mounts({ name: 'v', mountPath: '/a' }),
    mounts({ name: 'v' }),
    mounts({ name: 'w', mountPath: '/a' }),
    mounts({ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/a' }),
    mounts({ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/b' }),
    { 'spec.hostNetwork': true, [c('ports')]: [{ containerPort: 80 }] },
    { 'spec.hostNetwork': true, [c('ports')]: [{ containerPort: 80, hostPort: 81 }] },
    { 'spec.serviceAccountName': 'a', 'spec.serviceAccount': 'b' },
    { 'spec.serviceAccountName': 'a', 'spec.volumes': volume({ projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } }) },
    { 'spec.priorityClassName': 'system-node-critical', 'spec.priority': 2_000_001_000 },
    { 'spec.priorityClassName': 'system-node-critical', 'spec.priority': 5 },
    ...['Guaranteed', 'Burstable'].map((kind) => ({
      [c('resources')]: { limits: { cpu: '1', memory: '1Gi' } },
      'spec.initContainers': [
        { name: 'i', image: 'x', ...(kind === 'Burstable' ? {} : { resources: { limits: { cpu: '1', memory: '1Gi' } } }) },
      ],
    })),
  ],
  states: [
    {
      from: { 'spec.tolerations': [toleration], 'spec.activeDeadlineSeconds': 10, 'spec.initContainers': [{ name: 'i', image: 'x' }] },
      update: [
        {},
        ...each({
          'metadata.labels': [{ a: 'b' }],
          [c('image')]: ['y', '', ' y'],
          [c('command')]: [['a']],
          'spec.initContainers[0].image': ['y'],
          'spec.initContainers[0].command': [['a']],
          'spec.initContainers': [[]],
          'spec.containers': [[], [container, { ...container, name: 'b' }]],
          'spec.activeDeadlineSeconds': [9, 10, 11, undefined, 0],
          'spec.terminationGracePeriodSeconds': [1, 5, -1],
          'spec.nodeName': ['a'],
          'spec.priority': [undefined, 5],
          'spec.preemptionPolicy': [undefined],
          'spec.hostNetwork': [true],
          'spec.schedulingGates': [[{ name: 'a/b' }]],
          'spec.tolerations': [undefined, [], [toleration], [{ ...toleration, tolerationSeconds: 6 }], [{ ...toleration, value: 'c' }]],
          status: [{ phase: 'Running' }],
          'spec.restartPolicy': ['Never'],
        }),
        { 'spec.tolerations': [toleration, { key: 'new', operator: 'Exists' }] },
      ],
      updateStatus: [{ 'status.phase': 'Running' }, { 'spec.activeDeadlineSeconds': 5 }, { 'status.podIP': '1.2.3.4' }],
      subresources: [
        { target: { kind: 'Node', name: 'n' } },
        { target: { name: 'n' } },
        { target: { kind: 'Other', name: 'n' } },
        { target: { kind: 'Other' } },
        { target: {} },
        { target: { name: 'n' }, metadata: { name: 'other' } },
      ].map((body) => ({ method: 'POST' as const, subresource: 'binding', body: { apiVersion: 'v1', kind: 'Binding', ...body } })),
      remove: [{}],
    },
    {
      from: { 'spec.nodeName': 'n' },
      update: [{ 'spec.activeDeadlineSeconds': 9 }, { 'spec.nodeName': undefined }, { 'spec.nodeName': 'm' }],
      subresources: [
        { method: 'POST', subresource: 'binding', body: { apiVersion: 'v1', kind: 'Binding', target: { name: 'm' } } },
        ...[
          {},
          { deleteOptions: { gracePeriodSeconds: 3 } },
          { deleteOptions: { dryRun: ['All'] } },
          { deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } },
          { metadata: { name: 'other' } },
          { apiVersion: 'policy/v1beta1' },
        ].map((body) => ({
          method: 'POST' as const,
          subresource: 'eviction',
          body: { apiVersion: 'policy/v1', kind: 'Eviction', ...body },
        })),
      ],
      remove: [{}, { gracePeriodSeconds: 5 }, { gracePeriodSeconds: 0 }],
    },
    { from: { 'spec.nodeName': 'n', 'spec.terminationGracePeriodSeconds': 7 }, status: { 'status.phase': 'Succeeded' }, remove: [{}] },
    { from: { 'spec.nodeName': 'n', 'spec.terminationGracePeriodSeconds': 7 }, status: { 'status.phase': 'Failed' }, remove: [{}] },
    { from: { 'spec.nodeName': 'n', 'spec.terminationGracePeriodSeconds': 7 }, status: { 'status.phase': 'Running' }, remove: [{}] },
    { from: { 'spec.nodeName': 'n', 'spec.terminationGracePeriodSeconds': -7 }, remove: [{}, { gracePeriodSeconds: -1 }] },
    {
      from: { 'spec.schedulingGates': [{ name: 'a/b' }, { name: 'a/c' }] },
      update: each({ 'spec.schedulingGates': [[], [{ name: 'a/b' }], [{ name: 'a/d' }]], 'spec.nodeSelector': [{ a: 'b' }] }),
      subresources: [{ method: 'POST', subresource: 'binding', body: { apiVersion: 'v1', kind: 'Binding', target: { name: 'm' } } }],
    },
  ],
}

const limits = (item: JsonObject): readonly [RecordedType, JsonObject] => [
  { kind: 'LimitRange', plural: 'limitranges' },
  { metadata: { generateName: 'a-' }, spec: { limits: [item] } },
]
const limited: Group = {
  name: 'limited-pods',
  type,
  given: [limits({ type: 'Container', default: { cpu: '2', memory: '2Gi' }, defaultRequest: { cpu: '1' } })],
  base,
  create: each({
    [c('resources')]: [
      undefined,
      {},
      { limits: { cpu: '3' } },
      { requests: { cpu: '500m' } },
      { limits: { cpu: '3', memory: '3Gi' }, requests: { cpu: '3', memory: '3Gi' } },
      { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
    ],
    'spec.initContainers': [[{ name: 'i', image: 'x' }]],
    'metadata.annotations': [{ a: 'b' }],
  }),
}

const classes: RecordedType = { group: 'scheduling.k8s.io', kind: 'PriorityClass', plural: 'priorityclasses', namespaced: false }
const ranked: Group = {
  name: 'ranked-pods',
  type,
  given: [
    [classes, { metadata: { name: 'urgent' }, value: 7, preemptionPolicy: 'Never' }],
    [classes, { metadata: { name: 'usual' }, value: 3, globalDefault: true }],
  ],
  base,
  create: [
    ...each({ 'spec.priorityClassName': ['urgent', 'usual', 'none'], 'spec.priority': [3, 0], 'spec.preemptionPolicy': ['Never'] }),
    { 'spec.priorityClassName': 'urgent', 'spec.priority': 7 },
    { 'spec.priorityClassName': 'urgent', 'spec.priority': 3 },
    { 'spec.priorityClassName': 'urgent', 'spec.preemptionPolicy': 'PreemptLowerPriority' },
  ],
}

const full = Object.entries(fullPodSpecs).map(([name, { schedulingGates: _gates, ...spec }]): Group => {
  const object = { metadata: { name: 'x' }, spec }
  return {
    name: `full-pods-${name.replaceAll(' ', '-')}`,
    type,
    base: object,
    create: mistakesIn({ spec }).filter((change) => Object.values(change)[0] === undefined),
  }
})

/** Returns a PUT request with these ephemeral containers. */
const putEphemeral = (...ephemeralContainers: JsonObject[]): NonNullable<State['subresources']>[number] => ({
  method: 'PUT',
  subresource: 'ephemeralcontainers',
  body: { metadata: { labels: { a: 'b' } }, spec: { containers: [], nodeName: 'other', ephemeralContainers }, status: { phase: 'Failed' } },
})
const debug = { name: 'debug', image: 'busybox' }
const ephemeral: Group = {
  name: 'ephemeral-containers',
  type,
  base: { spec: { containers: [container], initContainers: [{ name: 'init', image: 'x' }], volumes: volume({ emptyDir: {} }) } },
  create: [{ 'spec.ephemeralContainers': [debug] }],
  states: [
    {
      update: [{ 'spec.ephemeralContainers': [debug] }],
      subresources: [
        { method: 'GET', subresource: 'ephemeralcontainers' },
        putEphemeral(),
        putEphemeral(debug),
        putEphemeral({ ...debug, targetContainerName: 'main', stdin: true, tty: true, command: ['sh'], imagePullPolicy: 'Never' }),
        putEphemeral({ ...debug, targetContainerName: 'init' }),
        putEphemeral({ ...debug, targetContainerName: 'other' }),
        putEphemeral(debug, { ...debug, image: 'other' }),
        putEphemeral({ ...debug, name: 'main' }, { ...debug, name: 'init' }),
        putEphemeral({ name: 'A b' }),
        putEphemeral({ image: 'x' }),
        putEphemeral({ ...debug, image: ' x' }),
        putEphemeral({ ...debug, ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }),
        putEphemeral({ ...debug, livenessProbe: { exec: { command: ['a'] } }, readinessProbe: { exec: {} }, startupProbe: {} }),
        putEphemeral({ ...debug, lifecycle: { preStop: { exec: { command: ['a'] } } } }),
        putEphemeral({ ...debug, restartPolicy: 'Always' }),
        putEphemeral({ ...debug, volumeMounts: [{ name: 'v', mountPath: '/a' }] }),
        putEphemeral({ ...debug, volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b' }] }),
        putEphemeral({ ...debug, volumeMounts: [{ name: 'w', mountPath: '/a', subPathExpr: 'b' }] }),
        putEphemeral({ ...debug, env: [{ name: 'A', value: 'b' }], securityContext: { runAsUser: 5 } }),
      ],
    },
  ],
}

export const podGroups: readonly Group[] = [
  pods,
  { name: 'containers', type, base, create: ofContainers },
  podRows,
  ephemeral,
  ...full,
  limited,
  // This group is the last one, because it creates a PriorityClass with `globalDefault`, which would change the Pods of later groups.
  ranked,
]
