/** Requests for Pods whose containers violate rules of `ValidatePodSpec`, and requests for similar Pods that are valid. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Change, Group, RecordedType } from '../group.ts'
import { each, leavesAt } from '../group.ts'

export const type: RecordedType = { kind: 'Pod', plural: 'pods' }
export const container = { name: 'main', image: 'x' }
export const init = { name: 'init', image: 'x' }
export const base: JsonObject = { spec: { containers: [container] } }
export const c = (field: string): string => `spec.containers[0].${field}`
const httpGet = { port: 80 }
export const probe = { httpGet }

const claim = { claimName: 'a' }
export const volumes = [
  { name: 'v', emptyDir: {} },
  { name: 'claim', persistentVolumeClaim: claim },
  { name: 'other', persistentVolumeClaim: claim },
]
/**
 * Returns a change to a Pod. The change sets the volumes of the Pod to `volumes`, and sets the fields of `change` in the main container.
 */
const mounting = (change: JsonObject): Change => ({ 'spec.volumes': volumes, ...leavesAt('spec.containers[0]', change) })
const mounts = (...volumeMounts: JsonObject[]): Change => mounting({ volumeMounts })
const devices = (...volumeDevices: JsonObject[]): Change => mounting({ volumeDevices })
const mount = { name: 'v', mountPath: '/a' }
export const device = { name: 'claim', devicePath: '/dev/a' }

const withRules = (...restartPolicyRules: JsonObject[]): JsonObject => ({ restartPolicy: 'Never', restartPolicyRules })
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } }
const sleepFor = (seconds: number): JsonObject => ({ preStop: { sleep: { seconds } } })

const ofContainers: readonly Change[] = [
  ...each({
    [c('env')]: [
      ...['metadata.name', 'metadata.uid', 'spec.foo', 'status.podIPs', 'status.phase', 'metadata.labels', 'spec.schedulerName', 'x'].map(
        (fieldPath) => [{ name: 'A', valueFrom: { fieldRef: { fieldPath } } }],
      ),
      ...[
        "metadata.labels['a']",
        "metadata.labels['a b']",
        "metadata.annotations['A/b']",
        "metadata.annotations['']",
        "spec.nodeName['a']",
      ].map((fieldPath) => [{ name: 'A', valueFrom: { fieldRef: { fieldPath } } }]),
      [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } } }],
      ...['limits.cpu', 'limits.gpu', 'requests.hugepages-2Mi', ''].map((resource) => [
        { name: 'A', valueFrom: { resourceFieldRef: { resource } } },
      ]),
      ...['1', '1m', '1k', '0', '1000m'].map((divisor) => [
        { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor } } },
      ]),
      ...['1Mi', '1m', '2'].map((divisor) => [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor } } }]),
      [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.ephemeral-storage', divisor: '3' } } }],
      [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi', divisor: '3' } } }],
      [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'A b', key: 'a b' } } }],
      [{ name: 'A', valueFrom: { configMapKeyRef: { key: '..' } } }],
      [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: '..a' } } }],
      [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: '.' } } }],
      [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'k'.repeat(254) } } }],
      [{ name: 'A', valueFrom: { fileKeyRef: { key: 'A', volumeName: 'v', path: 'a' } } }],
      [{ name: 'A', valueFrom: { fileKeyRef: { key: 'a=b', volumeName: 'V', path: '../a' } } }],
      [{ name: 'A', valueFrom: { fileKeyRef: {} } }],
      [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.foo' }, secretKeyRef: {} } }],
    ],
    [c('envFrom')]: [
      [{}],
      [{ prefix: 'A' }],
      [{ configMapRef: {} }],
      [{ configMapRef: { name: 'A b' } }],
      [{ configMapRef: { name: 'a-' } }],
      [{ secretRef: { name: '' } }],
      [{ secretRef: { name: 'A' } }],
      [{ prefix: 'a=', configMapRef: { name: 'a' }, secretRef: { name: 'b' } }],
      [{ secretRef: { name: 'a' } }, {}],
    ],
    [c('livenessProbe')]: [
      { httpGet: { port: 80, httpHeaders: [{ name: '', value: 'a' }] } },
      { httpGet: { port: 80, httpHeaders: [{ name: 'a b', value: 'a' }] } },
      { httpGet: { port: 80, path: '' } },
    ],
    [c('readinessProbe')]: [{ httpGet, terminationGracePeriodSeconds: 0 }],
    [c('lifecycle')]: [
      sleepFor(-1),
      sleepFor(0),
      sleepFor(30),
      sleepFor(31),
      { postStart: { exec: { command: ['a'] }, sleep: { seconds: 99 } } },
    ],
    [c('resizePolicy')]: [
      [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
      [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
      [{ resourceName: 'gpu', restartPolicy: 'Other' }],
      [{ resourceName: '', restartPolicy: '' }],
      [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    ],
    [c('restartPolicy')]: ['Always', 'Never', 'OnFailure', 'Other', ''],
    [c('restartPolicyRules')]: [[], [rule]],
    [c('securityContext')]: [
      { procMount: 'Other' },
      { procMount: 'Unmasked' },
      { procMount: 'Default' },
      ...[{}, { type: 'Other' }, { type: 'RuntimeDefault', localhostProfile: 'a' }, { type: 'Localhost' }].map((seccompProfile) => ({
        seccompProfile,
      })),
      ...['/a', '../a', 'a/../b', '/../a', ''].map((localhostProfile) => ({ seccompProfile: { type: 'Localhost', localhostProfile } })),
      ...[{}, { type: 'Other' }, { type: 'Unconfined', localhostProfile: 'a' }, { type: 'Localhost' }].map((appArmorProfile) => ({
        appArmorProfile,
      })),
      ...[' a', '', ' ', 'a'.repeat(4096)].map((localhostProfile) => ({ appArmorProfile: { type: 'Localhost', localhostProfile } })),
      { windowsOptions: { runAsUserName: '' } },
      { windowsOptions: { runAsUserName: 'a\\b\\c' } },
      { windowsOptions: { runAsUserName: 'a@b' } },
      { windowsOptions: { gmsaCredentialSpecName: 'A b', gmsaCredentialSpec: '' } },
      { windowsOptions: { hostProcess: true } },
      { runAsUser: -1, procMount: 'Other', seccompProfile: {}, allowPrivilegeEscalation: false, privileged: true, appArmorProfile: {} },
    ],
    [c('resources')]: [
      { requests: { 'example.com/gpu': '1' } },
      { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } },
      { limits: { 'example.com/gpu': '1500m' } },
      { limits: { 'example.com/gpu': '-1' } },
      { limits: { 'kubernetes.io/foo': '1' } },
      { limits: { 'requests.example.com/foo': '1' } },
      { limits: { 'a/b/c': '1' } },
      { limits: { '': '1' } },
      { limits: { 'hugepages-2Mi': '2Mi' } },
      { limits: { 'hugepages-2Mi': '2Mi', cpu: '1' } },
      { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } },
      { limits: { 'hugepages-2Mi': '4Mi', cpu: '1' }, requests: { 'hugepages-2Mi': '2Mi' } },
      { requests: { 'hugepages-2Mi': '2Mi', cpu: '1' } },
      { requests: { 'hugepages-0': '2Mi', cpu: '1' } },
      { requests: { storage: '1' } },
      { requests: { pods: '1' } },
      { requests: { cpu: '1500m' }, limits: { cpu: '1' } },
      { requests: { cpu: '1.5' }, limits: { cpu: '1000m' } },
      { requests: { memory: '2048Mi' }, limits: { memory: '1024Mi' } },
      { requests: { memory: '1e10' }, limits: { memory: '1000000000' } },
      { requests: { memory: '2147483648' }, limits: { memory: '1073741824' } },
      { claims: [{ name: 'a' }] },
      { claims: [{ name: '' }] },
    ],
    'spec.initContainers': [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((field) => [{ ...init, [field]: probe }]),
      [{ ...init, lifecycle: { preStop: { httpGet } } }],
      [{ ...init, restartPolicy: 'Always', livenessProbe: probe, readinessProbe: probe, startupProbe: probe, lifecycle: sleepFor(1) }],
      [{ ...init, restartPolicy: 'Always', livenessProbe: {}, lifecycle: sleepFor(31) }],
      [{ ...init, restartPolicy: 'Never' }],
      [{ ...init, restartPolicy: 'OnFailure', livenessProbe: {} }],
      [{ ...init, restartPolicy: 'Other' }],
      [{ ...init, restartPolicyRules: [rule] }],
      [{ ...init, restartPolicy: 'Always', restartPolicyRules: [{}] }],
      [{ ...init, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
      [{ ...init, restartPolicy: 'Always', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
      [init, init],
      [{ ...init, name: 'main', image: ' x' }],
      [
        { ...init, ports: [{ containerPort: 1, hostPort: 1 }] },
        { ...init, name: 'other', ports: [{ containerPort: 1, hostPort: 1 }] },
      ],
      [
        {
          ...init,
          ports: [
            { containerPort: 1, hostPort: 1 },
            { containerPort: 2, hostPort: 1 },
          ],
        },
      ],
    ],
    'spec.containers': [
      [container, { ...container, image: '' }],
      [
        { ...container, ports: [{ containerPort: 1, hostPort: 1 }] },
        { name: 'b', image: 'x', ports: [{ containerPort: 2, hostPort: 1 }] },
      ],
      [
        { ...container, ports: [{ containerPort: 1, hostPort: 1 }] },
        {
          name: 'b',
          image: 'x',
          ports: [
            { containerPort: 2, hostPort: 1, protocol: 'UDP' },
            { containerPort: 2, hostPort: 1, hostIP: '10.0.0.1' },
            { containerPort: 2, hostPort: 1 },
          ],
        },
      ],
      [
        {
          ...container,
          ports: [
            { name: 'A', containerPort: 1 },
            { name: 'A', containerPort: 2 },
          ],
        },
      ],
      [{ ...container, ...withRules() }],
      [{ ...container, ...withRules(rule, { ...rule, action: 'RestartAllContainers' }) }],
      [{ ...container, ...withRules({}) }],
      [{ ...container, ...withRules({ action: 'Other', exitCodes: { operator: 'Other' } }) }],
      [{ ...container, ...withRules(...Array.from({ length: 21 }, () => rule)) }],
      [
        {
          ...container,
          ...withRules({ ...rule, exitCodes: { operator: 'NotIn', values: Array.from({ length: 256 }, (_, index) => index) } }),
        },
      ],
    ],
  }),
  { 'spec.restartPolicy': 'Never', [c('resizePolicy')]: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
  { 'spec.terminationGracePeriodSeconds': 0, [c('lifecycle')]: sleepFor(1) },
  { 'spec.resourceClaims': [{ name: 'a', resourceClaimName: 'b' }], [c('resources')]: { claims: [{ name: 'a' }, { name: 'a' }] } },
  {
    'spec.resourceClaims': [{ name: 'a', resourceClaimName: 'b' }],
    [c('resources')]: { claims: [{ name: 'a', request: 'x' }, { name: 'a' }, { name: 'b', request: 'X' }] },
  },
  mounts(mount, { ...mount, mountPath: '/b' }, { ...mount, mountPath: '/b' }),
  mounts({ name: 'v', mountPath: '' }, { name: 'v', mountPath: '' }),
  mounts({ ...mount, subPath: '/a' }),
  mounts({ ...mount, subPath: '../a' }),
  mounts({ ...mount, subPath: 'a', subPathExpr: 'b' }),
  mounts({ ...mount, subPathExpr: '/$(A)/..' }),
  mounts({ ...mount, mountPropagation: 'Bidirectional' }),
  mounts({ ...mount, mountPropagation: 'Other' }),
  mounting({ securityContext: { privileged: true }, volumeMounts: [{ ...mount, mountPropagation: 'Bidirectional' }] }),
  mounts({ ...mount, recursiveReadOnly: 'Enabled' }),
  mounts({ ...mount, readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }),
  mounts({ ...mount, readOnly: true, recursiveReadOnly: 'IfPossible' }),
  mounts({ ...mount, recursiveReadOnly: 'Other' }),
  devices(device),
  devices(device, device),
  devices({ ...device, name: 'v' }),
  devices({ ...device, name: 'w' }),
  devices({ name: '', devicePath: '' }),
  devices({ ...device, devicePath: '/dev/../a' }),
  devices(device, { name: 'other', devicePath: '/dev/a' }),
  mounting({ volumeMounts: [{ name: 'claim', mountPath: '/dev/a' }], volumeDevices: [device] }),
  { 'spec.volumes': volumes, [c('env')]: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'A', volumeName: 'v', path: 'a' } } }] },
  { 'spec.volumes': volumes, [c('env')]: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'A', volumeName: 'claim', path: 'a' } } }] },
  { 'spec.volumes': [{ name: 'v' }, { name: 'bad', secret: {} }], [c('volumeMounts')]: [{ name: 'bad', mountPath: '/a' }] },
]

export const containerRules: Group = { name: 'pod-rules-containers', type, base, create: ofContainers }
