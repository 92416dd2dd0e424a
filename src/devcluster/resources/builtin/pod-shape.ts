/** The JSON types of a Pod's fields. What operators seldom write by hand is not looked into. */
import type { ObjectShape, Shape } from '../resource-info.ts'
import { kindShape } from '../shape.ts'

const string = 'string'
const selector = (type: string, ...fields: readonly string[]): ObjectShape => ({
  type,
  fields: Object.fromEntries(fields.map((field) => [field, string])),
})
const keySelector = (type: string): ObjectShape => ({ type, fields: { name: string, key: string, optional: 'bool' } })
const handler = {
  exec: { type: 'ExecAction', fields: { command: [string] } },
  httpGet: {
    type: 'HTTPGetAction',
    fields: { path: string, port: 'intOrString', host: string, scheme: string, httpHeaders: [selector('HTTPHeader', 'name', 'value')] },
  },
  tcpSocket: { type: 'TCPSocketAction', fields: { port: 'intOrString', host: string } },
  sleep: { type: 'SleepAction', fields: { seconds: 'int64' } },
} as const satisfies Record<string, Shape>

const probe: ObjectShape = {
  type: 'Probe',
  fields: {
    ...handler,
    grpc: { type: 'GRPCAction', fields: { port: 'int32', service: string } },
    initialDelaySeconds: 'int32',
    timeoutSeconds: 'int32',
    periodSeconds: 'int32',
    successThreshold: 'int32',
    failureThreshold: 'int32',
    terminationGracePeriodSeconds: 'int64',
  },
}

const resources: ObjectShape = {
  type: 'ResourceRequirements',
  fields: { limits: { mapOf: 'quantity' }, requests: { mapOf: 'quantity' }, claims: [selector('ResourceClaim', 'name', 'request')] },
}

const env: ObjectShape = {
  type: 'EnvVar',
  fields: {
    name: string,
    value: string,
    valueFrom: {
      type: 'EnvVarSource',
      fields: {
        fieldRef: selector('ObjectFieldSelector', 'apiVersion', 'fieldPath'),
        resourceFieldRef: { type: 'ResourceFieldSelector', fields: { containerName: string, resource: string, divisor: 'quantity' } },
        configMapKeyRef: keySelector('ConfigMapKeySelector'),
        secretKeyRef: keySelector('SecretKeySelector'),
        fileKeyRef: { type: 'FileKeySelector', fields: { volumeName: string, path: string, key: string, optional: 'bool' } },
      },
    },
  },
}

const seLinuxOptions = selector('SELinuxOptions', 'user', 'role', 'type', 'level')
const windowsOptions: ObjectShape = {
  type: 'WindowsSecurityContextOptions',
  fields: { gmsaCredentialSpecName: string, gmsaCredentialSpec: string, runAsUserName: string, hostProcess: 'bool' },
}
const seccompProfile = selector('SeccompProfile', 'type', 'localhostProfile')
const appArmorProfile = selector('AppArmorProfile', 'type', 'localhostProfile')

const container: ObjectShape = {
  type: 'Container',
  fields: {
    name: string,
    image: string,
    command: [string],
    args: [string],
    workingDir: string,
    ports: [
      { type: 'ContainerPort', fields: { name: string, hostPort: 'int32', containerPort: 'int32', protocol: string, hostIP: string } },
    ],
    envFrom: [
      {
        type: 'EnvFromSource',
        fields: {
          prefix: string,
          configMapRef: { type: 'ConfigMapEnvSource', fields: { name: string, optional: 'bool' } },
          secretRef: { type: 'SecretEnvSource', fields: { name: string, optional: 'bool' } },
        },
      },
    ],
    env: [env],
    resources,
    resizePolicy: [selector('ContainerResizePolicy', 'resourceName', 'restartPolicy')],
    restartPolicy: string,
    restartPolicyRules: 'any',
    volumeMounts: [
      {
        type: 'VolumeMount',
        fields: {
          name: string,
          readOnly: 'bool',
          recursiveReadOnly: string,
          mountPath: string,
          subPath: string,
          mountPropagation: string,
          subPathExpr: string,
        },
      },
    ],
    volumeDevices: [selector('VolumeDevice', 'name', 'devicePath')],
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: {
      type: 'Lifecycle',
      fields: {
        postStart: { type: 'LifecycleHandler', fields: handler },
        preStop: { type: 'LifecycleHandler', fields: handler },
        stopSignal: string,
      },
    },
    terminationMessagePath: string,
    terminationMessagePolicy: string,
    imagePullPolicy: string,
    securityContext: {
      type: 'SecurityContext',
      fields: {
        capabilities: { type: 'Capabilities', fields: { add: [string], drop: [string] } },
        privileged: 'bool',
        seLinuxOptions,
        windowsOptions,
        runAsUser: 'int64',
        runAsGroup: 'int64',
        runAsNonRoot: 'bool',
        readOnlyRootFilesystem: 'bool',
        allowPrivilegeEscalation: 'bool',
        procMount: string,
        seccompProfile,
        appArmorProfile,
      },
    },
    stdin: 'bool',
    stdinOnce: 'bool',
    tty: 'bool',
  },
}

/** Kinds of volumes; of the common ones the fields are known. */
const volumeItems: readonly [Shape] = [{ type: 'KeyToPath', fields: { key: string, path: string, mode: 'int32' } }]
const otherVolumeSources = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'csi',
  'ephemeral',
  'projected',
  'image',
  'downwardAPI',
] as const
const volume: ObjectShape = {
  type: 'Volume',
  fields: {
    name: string,
    hostPath: selector('HostPathVolumeSource', 'path', 'type'),
    emptyDir: { type: 'EmptyDirVolumeSource', fields: { medium: string, sizeLimit: 'quantity' } },
    secret: { type: 'SecretVolumeSource', fields: { secretName: string, items: volumeItems, defaultMode: 'int32', optional: 'bool' } },
    configMap: { type: 'ConfigMapVolumeSource', fields: { name: string, items: volumeItems, defaultMode: 'int32', optional: 'bool' } },
    persistentVolumeClaim: { type: 'PersistentVolumeClaimVolumeSource', fields: { claimName: string, readOnly: 'bool' } },
    ...Object.fromEntries(otherVolumeSources.map((source) => [source, 'any' as const])),
  },
}

/** The names of all kinds of volumes. */
export const volumeSources: readonly string[] = Object.keys(volume.fields).filter((field) => field !== 'name')

export const podSpecShape: ObjectShape = {
  type: 'PodSpec',
  fields: {
    volumes: [volume],
    initContainers: [container],
    containers: [container],
    ephemeralContainers: ['any'],
    restartPolicy: string,
    terminationGracePeriodSeconds: 'int64',
    activeDeadlineSeconds: 'int64',
    dnsPolicy: string,
    nodeSelector: { mapOf: string },
    serviceAccountName: string,
    serviceAccount: string,
    automountServiceAccountToken: 'bool',
    nodeName: string,
    hostNetwork: 'bool',
    hostPID: 'bool',
    hostIPC: 'bool',
    shareProcessNamespace: 'bool',
    securityContext: {
      type: 'PodSecurityContext',
      fields: {
        seLinuxOptions,
        windowsOptions,
        runAsUser: 'int64',
        runAsGroup: 'int64',
        runAsNonRoot: 'bool',
        supplementalGroups: ['int64'],
        supplementalGroupsPolicy: string,
        fsGroup: 'int64',
        sysctls: [selector('Sysctl', 'name', 'value')],
        fsGroupChangePolicy: string,
        seccompProfile,
        appArmorProfile,
        seLinuxChangePolicy: string,
      },
    },
    imagePullSecrets: [selector('LocalObjectReference', 'name')],
    hostname: string,
    hostnameOverride: string,
    subdomain: string,
    affinity: { type: 'Affinity', fields: { nodeAffinity: 'any', podAffinity: 'any', podAntiAffinity: 'any' } },
    schedulerName: string,
    tolerations: [
      { type: 'Toleration', fields: { key: string, operator: string, value: string, effect: string, tolerationSeconds: 'int64' } },
    ],
    hostAliases: [{ type: 'HostAlias', fields: { ip: string, hostnames: [string] } }],
    priorityClassName: string,
    priority: 'int32',
    dnsConfig: {
      type: 'PodDNSConfig',
      fields: { nameservers: [string], searches: [string], options: [selector('PodDNSConfigOption', 'name', 'value')] },
    },
    readinessGates: [selector('PodReadinessGate', 'conditionType')],
    runtimeClassName: string,
    enableServiceLinks: 'bool',
    preemptionPolicy: string,
    overhead: { mapOf: 'quantity' },
    topologySpreadConstraints: ['any'],
    setHostnameAsFQDN: 'bool',
    os: selector('PodOS', 'name'),
    hostUsers: 'bool',
    schedulingGates: [selector('PodSchedulingGate', 'name')],
    resourceClaims: ['any'],
    resources,
    schedulingGroup: 'any',
    workloadRef: 'any',
  },
}

export const podShape: ObjectShape = kindShape('Pod', { spec: podSpecShape, status: 'any' })
