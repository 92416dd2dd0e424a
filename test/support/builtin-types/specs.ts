/**
 * Specs of workloads, services and policies. Nearly every field outside of the Pod template is set, to a value that the API server accepts.
 */
import type { BuiltinTypeName } from '../../../src/api/builtin-types.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { fullPodSpecs } from './pods.ts'

export interface FullSpec {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly type: BuiltinTypeName
  readonly spec: JsonObject
}

const labelSelector = { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] }
const template = { metadata: { labels: { app: 'a' }, annotations: { b: 'c' } }, spec: { containers: [{ name: 'main', image: 'x' }] } }

function spec(apiVersion: string, kind: string, plural: string, value: JsonObject): FullSpec {
  return { apiVersion, kind, plural, type: `${kind}Spec` as BuiltinTypeName, spec: value }
}

const jobSpec = {
  activeDeadlineSeconds: 60,
  backoffLimit: 1,
  backoffLimitPerIndex: 1,
  completionMode: 'Indexed',
  completions: 2,
  maxFailedIndexes: 1,
  parallelism: 1,
  podFailurePolicy: {
    rules: [
      { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [1, 2] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    ],
  },
  podReplacementPolicy: 'Failed',
  suspend: true,
  template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
  ttlSecondsAfterFinished: 1,
}

export const fullSpecs: readonly FullSpec[] = [
  ...Object.values(fullPodSpecs).map((podSpec) => spec('v1', 'Pod', 'pods', podSpec)),
  spec('apps/v1', 'Deployment', 'deployments', {
    minReadySeconds: 1,
    paused: true,
    progressDeadlineSeconds: 10,
    replicas: 1,
    revisionHistoryLimit: 1,
    selector: labelSelector,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    template,
  }),
  spec('apps/v1', 'StatefulSet', 'statefulsets', {
    minReadySeconds: 1,
    ordinals: { start: 1 },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    podManagementPolicy: 'Parallel',
    replicas: 1,
    revisionHistoryLimit: 1,
    selector: labelSelector,
    serviceName: 's',
    template,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    volumeClaimTemplates: [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
  }),
  spec('apps/v1', 'DaemonSet', 'daemonsets', {
    minReadySeconds: 1,
    revisionHistoryLimit: 1,
    selector: labelSelector,
    template,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  }),
  spec('batch/v1', 'Job', 'jobs', jobSpec),
  spec('batch/v1', 'CronJob', 'cronjobs', {
    concurrencyPolicy: 'Forbid',
    failedJobsHistoryLimit: 1,
    jobTemplate: { metadata: { labels: { a: 'b' } }, spec: { template: jobSpec.template } },
    schedule: '* * * * *',
    startingDeadlineSeconds: 1,
    successfulJobsHistoryLimit: 1,
    suspend: true,
    timeZone: 'Etc/UTC',
  }),
  spec('v1', 'Service', 'services', {
    allocateLoadBalancerNodePorts: true,
    externalIPs: ['10.1.0.1'],
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30_000,
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    loadBalancerClass: 'example.com/lb',
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http', nodePort: 30_001, appProtocol: 'http' }],
    publishNotReadyAddresses: true,
    selector: { a: 'b' },
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
    trafficDistribution: 'PreferClose',
    type: 'LoadBalancer',
  }),
  spec('networking.k8s.io/v1', 'Ingress', 'ingresses', {
    defaultBackend: { service: { name: 's', port: { number: 80 } } },
    ingressClassName: 'c',
    rules: [
      {
        host: 'a.example.com',
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } },
            { path: '/r', pathType: 'Exact', backend: { resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } } },
          ],
        },
      },
    ],
    tls: [{ hosts: ['a.example.com'], secretName: 's' }],
  }),
  spec('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', {
    podSelector: labelSelector,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [
          { podSelector: labelSelector, namespaceSelector: labelSelector },
          { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
        ],
        ports: [{ port: 80, endPort: 90, protocol: 'TCP' }],
      },
    ],
    egress: [{ to: [{ podSelector: labelSelector }], ports: [{ port: 'http', protocol: 'UDP' }] }],
  }),
  spec('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    minReplicas: 1,
    maxReplicas: 2,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      {
        type: 'ContainerResource',
        containerResource: { container: 'main', name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } },
      },
      {
        type: 'Pods',
        pods: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: 1 } },
      },
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
          metric: { name: 'm' },
          target: { type: 'Value', value: '1k' },
        },
      },
      { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: 1 } } },
    ],
    behavior: {
      scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 10 }], selectPolicy: 'Max', stabilizationWindowSeconds: 1 },
      scaleDown: { policies: [{ type: 'Percent', value: 1, periodSeconds: 10 }], selectPolicy: 'Min' },
    },
  }),
  spec('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    minAvailable: '50%',
    selector: labelSelector,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  }),
]
