/**
 * Requests that write workloads, PodDisruptionBudgets and autoscalers. Some of the objects violate rules of their types, and others are
 * valid.
 */
import type { JsonObject, JsonValue } from '../../../../../src/api/json.ts'
import type { Change, Group } from '../group.ts'
import { each, leavesAt } from '../group.ts'

const selector = { matchLabels: { a: 'b' } }
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'x' }] } }
const apps = (kind: string): Group['type'] => ({ group: 'apps', kind, plural: `${kind.toLowerCase()}s` })
const amounts: readonly JsonValue[] = [-1, 0, 2, '5', 'x%', '-5%', '0%', '50%', '101%', '', '1.5%', 2.5, 2_147_483_647, 2_147_483_648]
const pairs: readonly [JsonValue, JsonValue][] = [
  [0, 0],
  ['0%', '0%'],
  [2, 1],
  [0, 1],
  [1, '0%'],
  ['x', 'x'],
  ['150%', 0],
  [0, '150%'],
]
const both = (path: string): Change[] =>
  pairs.map(([maxUnavailable, maxSurge]) => leavesAt(`${path}.rollingUpdate`, { maxUnavailable, maxSurge }))

const claim = (name: string): JsonObject => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

const target = { type: 'AverageValue', averageValue: '1' }
const metric = { name: 'm' }
const object = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const metrics: readonly JsonObject[] = [
  {},
  { type: 'Other' },
  { type: 'Pods' },
  { type: 'Pods', resource: { name: 'cpu', target } },
  { type: 'Pods', pods: { metric, target }, resource: { name: 'cpu', target } },
  { type: 'Pods', pods: { metric: {}, target: {} } },
  { type: 'Pods', pods: { metric: { name: 'a/b' }, target: { type: 'Value', value: '1' } } },
  { type: 'Pods', pods: { metric, target: { type: 'Other', averageValue: '0' } } },
  { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '-1', value: '-1', averageUtilization: 0 } } },
  { type: 'Resource', resource: { target } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } } },
  { type: 'Resource', resource: { name: 'cpu', target: { ...target, averageUtilization: 1 } } },
  { type: 'Resource', resource: { name: 'anything', target } },
  { type: 'ContainerResource', containerResource: { target } },
  { type: 'ContainerResource', containerResource: { name: 'foo', container: 'A', target: {} } },
  { type: 'ContainerResource', containerResource: { name: 'a/b', container: 'main', target: { ...target, averageUtilization: 1 } } },
  { type: 'ContainerResource', containerResource: { name: 'kubernetes.io/b', container: 'main', target } },
  { type: 'Object', object: { describedObject: {}, metric, target: {} } },
  { type: 'Object', object: { describedObject: object, metric, target: { type: 'Value', value: '1', averageValue: '1' } } },
  { type: 'Object', object: { describedObject: { kind: 'Service', name: 'a/b', apiVersion: 'a/b/c' }, metric, target } },
  { type: 'Object', object: { describedObject: { kind: 'Service', name: 's' }, metric, target } },
  { type: 'External', external: { metric, target: { type: 'Value' } } },
  { type: 'External', external: { metric, target: { type: 'Value', value: '1', averageValue: '1' } } },
]
const rules: readonly JsonObject[] = [
  { stabilizationWindowSeconds: -1 },
  { stabilizationWindowSeconds: 3600 },
  { stabilizationWindowSeconds: 3601 },
  { policies: [] },
  { policies: [{}] },
  { policies: [{ type: 'Other', value: -1, periodSeconds: 1801 }] },
  { policies: [{ type: 'Pods', value: 1, periodSeconds: 1800 }] },
  { tolerance: '-1' },
  { tolerance: '0' },
  { selectPolicy: '', stabilizationWindowSeconds: -1, policies: [{ type: 'Pods' }], tolerance: '-1m' },
]

export const workloadRules: readonly Group[] = [
  {
    name: 'deployment-rules',
    type: apps('Deployment'),
    base: { spec: { selector, template } },
    create: [
      ...each({
        'spec.strategy.rollingUpdate.maxSurge': amounts,
        'spec.strategy.rollingUpdate.maxUnavailable': amounts,
        'spec.progressDeadlineSeconds': [0, -1],
        'spec.revisionHistoryLimit': [-1],
      }),
      ...both('spec.strategy'),
    ],
    states: [{ update: [...each({ 'spec.strategy.rollingUpdate.maxSurge': [-1, '5'] }), ...both('spec.strategy')] }],
  },
  {
    name: 'daemonset-rules',
    type: apps('DaemonSet'),
    base: { spec: { selector, template } },
    create: [
      ...each({
        'spec.updateStrategy.rollingUpdate.maxSurge': amounts,
        'spec.updateStrategy.rollingUpdate.maxUnavailable': amounts,
        'spec.revisionHistoryLimit': [-1],
      }),
      ...both('spec.updateStrategy'),
    ],
    states: [{ update: [...each({ 'spec.updateStrategy.rollingUpdate.maxSurge': [1, -1] }), ...both('spec.updateStrategy')] }],
  },
  {
    name: 'statefulset-rules',
    type: apps('StatefulSet'),
    base: { spec: { selector, template, serviceName: 's' } },
    create: [
      ...each({
        'spec.serviceName': ['A_B', 'a.b', '', undefined, 'a'.repeat(64)],
        'spec.revisionHistoryLimit': [-2, -1, 0],
        'spec.volumeClaimTemplates': [[claim('c'), claim('c')], [claim('A b')], [claim('')], [{}]],
        'spec.podManagementPolicy': ['', 'Other'],
        'spec.updateStrategy.type': ['', 'Other'],
        'spec.updateStrategy.rollingUpdate': [{ partition: -1 }, { maxUnavailable: 0 }, { maxUnavailable: '101%' }],
        'spec.persistentVolumeClaimRetentionPolicy': [{ whenDeleted: 'Other', whenScaled: '' }],
        'spec.ordinals': [{ start: -1 }],
      }),
    ],
    states: [
      {
        from: { 'spec.volumeClaimTemplates': [claim('c')] },
        update: each({
          'spec.revisionHistoryLimit': [-2],
          'spec.serviceName': ['A_B', 'other'],
          'spec.ordinals': [{ start: -1 }],
          'spec.volumeClaimTemplates': [[claim('c'), claim('c')]],
        }),
      },
    ],
  },
  {
    name: 'cronjob-rules',
    type: { group: 'batch', kind: 'CronJob', plural: 'cronjobs' },
    base: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } } } },
    create: each({
      'spec.timeZone': ['Factory', 'posixrules', 'Etc/Unknown', 'Etc/GMT+5', 'EST5EDT', 'Zulu', 'GMT0'],
      'spec.schedule': ['0 0 30 2 *', '0 0 31 2 *', '@every 1h', '@never'],
    }),
    states: [{ update: each({ 'spec.timeZone': ['Factory', 'factory'], 'spec.schedule': ['0 0 30 2 *'] }) }],
  },
  {
    name: 'budget-rules',
    type: { group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
    base: { spec: { selector } },
    create: each({
      'spec.unhealthyPodEvictionPolicy': ['X', '', 'AlwaysAllow', 'IfHealthyBudget'],
      'spec.minAvailable': amounts,
      'spec.maxUnavailable': amounts,
      'spec.selector': [undefined, {}, { matchLabels: { 'a b': 'c d' } }],
    }),
    states: [
      {
        update: each({ 'spec.unhealthyPodEvictionPolicy': ['X'], 'spec.minAvailable': [-1, '5'] }),
        updateStatus: each({ 'status.disruptionsAllowed': [-1], 'status.expectedPods': [-1] }),
      },
    ],
  },
  {
    name: 'autoscaler-rules',
    type: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' },
    base: { spec: { scaleTargetRef: object, maxReplicas: 3 } },
    create: [
      ...metrics.map((one) => ({ 'spec.metrics': [one] })),
      ...each({ 'spec.behavior.scaleUp': rules, 'spec.behavior.scaleDown': rules }),
      { 'spec.minReplicas': 0, 'spec.metrics': [{ type: 'External', external: { metric, target } }] },
    ],
    states: [
      {
        update: each({
          'spec.metrics': [[{ type: 'Pods' }]],
          'spec.behavior': [{ scaleUp: { policies: [] } }],
          'spec.minReplicas': [0, 4],
          'spec.maxReplicas': [0],
        }),
        updateStatus: each({ 'status.desiredReplicas': [-1], 'status.currentReplicas': [-1] }),
      },
    ],
  },
  {
    name: 'old-autoscaler-rules',
    type: { group: 'autoscaling', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' },
    base: { spec: { scaleTargetRef: object, maxReplicas: 3 } },
    create: each({ 'spec.targetCPUUtilizationPercentage': [-1, 0, 1], 'spec.minReplicas': [0, -1, 4] }),
  },
]
