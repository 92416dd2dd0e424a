/**
 * Requests for LimitRanges, ResourceQuotas, PodDisruptionBudgets, HorizontalPodAutoscalers, PriorityClasses, RBAC objects and webhook
 * configurations.
 */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { fullSpecs } from '../../../../support/builtin-types/specs.ts'
import type { Change, Group } from '../group.ts'
import { each } from '../group.ts'

function fullOf(kind: string): JsonObject {
  return { metadata: { name: 'x' }, spec: fullSpecs.find((full) => full.kind === kind)!.spec }
}

const limitRange: Group = {
  name: 'limitranges',
  type: { kind: 'LimitRange', plural: 'limitranges' },
  base: { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } },
  full: {
    metadata: { name: 'x' },
    spec: {
      limits: [
        {
          type: 'Container',
          max: { cpu: '4' },
          min: { cpu: '1' },
          default: { cpu: '3' },
          defaultRequest: { cpu: '2' },
          maxLimitRequestRatio: { cpu: '4' },
        },
      ],
    },
  },
  create: each({
    'spec.limits': [
      [],
      [{ type: 'Pod', max: { cpu: '1' } }],
      [{ type: 'Container', max: { cpu: '1' } }],
      [{ type: 'Container', min: { cpu: '1' } }],
      [{ type: 'Container', max: { cpu: '2', memory: '1Gi' }, min: { cpu: '1' } }],
      [{ type: 'Container', max: { cpu: '2' }, default: { memory: '1Gi' } }],
      [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1' } }],
      [{ type: 'Container', defaultRequest: { cpu: '1' } }],
      [{ type: 'Container' }],
      [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' }, min: { storage: '1' } }],
    ],
  }),
  states: [{ update: [{ 'spec.limits[0].default.cpu': '2' }] }],
}

const quota: Group = {
  name: 'resourcequotas',
  type: { kind: 'ResourceQuota', plural: 'resourcequotas' },
  base: { spec: { hard: { pods: '5' } } },
  create: each({ spec: [undefined, {}], 'spec.hard': [{ pods: 3 }, { cpu: '1000m' }] }),
  states: [
    {
      status: {
        'status.hard': { pods: '5', 'limits.cpu': '2', cpu: '1', 'limits.memory': '1Gi' },
        'status.used': { pods: '1', cpu: '500m', 'limits.memory': '1Mi' },
      },
      update: [{ 'spec.hard': { pods: '6' } }, { status: {} }],
      updateStatus: [{ 'status.used': { pods: '2' } }],
      remove: [{}],
    },
    {},
  ],
}

const percents = ['0%', '1%', '100%', '101%', '1', 'x', '-1%', '1.5%', '']
const budget: Group = {
  name: 'poddisruptionbudgets',
  type: { group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
  base: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
  full: fullOf('PodDisruptionBudget'),
  create: [
    ...each({
      spec: [undefined, {}],
      'spec.minAvailable': [undefined, -1, 0, 5, ...percents],
      'spec.maxUnavailable': [0, 1, '10%'],
      'spec.selector': [undefined, {}, { matchLabels: { 'a b': 'c' } }],
      'spec.unhealthyPodEvictionPolicy': ['IfHealthyBudget', 'AlwaysAllow'],
    }),
    ...each({ 'spec.maxUnavailable': [-1, 0, 5, ...percents] }).map((change) => ({ 'spec.minAvailable': undefined, ...change })),
  ],
  states: [
    {
      status: {
        'status.disruptionsAllowed': 2,
        'status.currentHealthy': 3,
        'status.desiredHealthy': 1,
        'status.expectedPods': 3,
      },
      update: [
        {},
        ...each({
          'spec.minAvailable': [2, '200%'],
          'spec.selector': [{ matchLabels: { a: 'c' } }],
          'metadata.resourceVersion': [undefined],
        }),
      ],
      updateStatus: [{ 'status.disruptionsAllowed': 0 }],
    },
    { from: { 'spec.minAvailable': undefined, 'spec.maxUnavailable': '50%' } },
    { from: { 'spec.minAvailable': undefined } },
  ],
}

const policies = (type: string, value: number): JsonObject[] => [{ type, value, periodSeconds: 15 }]
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }
const autoscaler: Group = {
  name: 'autoscalers',
  type: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' },
  base: { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 } },
  full: fullOf('HorizontalPodAutoscaler'),
  create: [
    ...each({
      'spec.minReplicas': [-1, 0, 1, 3, 4],
      'spec.maxReplicas': [undefined, -1, 0, 1],
      'spec.metrics': [[], [cpu]],
      'spec.scaleTargetRef': [undefined, {}],
      'spec.scaleTargetRef.kind': ['', 'a/b', 'a%b', '.', '..', 'ReplicationController'],
      'spec.scaleTargetRef.name': ['', 'a/b', '..'],
      'spec.scaleTargetRef.apiVersion': ['', 'v1', 'a/b/c', 'a/'],
      'spec.behavior': [
        {},
        { scaleUp: {} },
        { scaleDown: {} },
        { scaleUp: { selectPolicy: 'Min' } },
        { scaleUp: { selectPolicy: 'Disabled' } },
        { scaleUp: { selectPolicy: 'Other' } },
        { scaleDown: { selectPolicy: 'Other' } },
        { scaleUp: { stabilizationWindowSeconds: 10 } },
        { scaleDown: { stabilizationWindowSeconds: 10 } },
        { scaleUp: { policies: policies('Pods', 2) } },
        { scaleDown: { policies: policies('Percent', 10) } },
      ],
    }),
    { 'spec.scaleTargetRef': { kind: 'ReplicationController', name: 'd' } },
    { 'spec.scaleTargetRef': { kind: 'ReplicationController', name: 'd', apiVersion: 'v1' } },
  ],
  states: [
    {
      update: [{}, { 'spec.minReplicas': 5 }, { 'spec.maxReplicas': 5 }, { 'spec.metrics': [] }],
      updateStatus: [{ 'status.desiredReplicas': 2 }],
    },
    {
      from: { 'spec.minReplicas': 2, 'spec.metrics': (fullOf('HorizontalPodAutoscaler').spec as JsonObject).metrics },
      status: {
        'status.currentReplicas': 2,
        'status.desiredReplicas': 2,
        'status.currentMetrics': [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '10m' } } },
          { type: 'ContainerResource', containerResource: { container: 'main', name: 'cpu', current: { averageValue: '500m' } } },
        ],
      },
    },
    { from: { 'spec.metrics': [cpu] } },
    ...[
      { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
      { type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
      { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } },
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
          metric: { name: 'm' },
          target: { type: 'Value', value: '1k' },
        },
      },
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
          metric: { name: 'm' },
          target: { type: 'AverageValue', averageValue: '1k' },
        },
      },
      {
        type: 'ContainerResource',
        containerResource: { container: 'main', name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } },
      },
    ].map((metric) => ({ from: { 'spec.metrics': [metric] } })),
    {
      from: { 'spec.metrics': [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } }] },
      status: {
        'status.desiredReplicas': 1,
        'status.currentMetrics': [{ type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '7' } } }],
      },
    },
    {
      from: { 'spec.metrics': [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }] },
      status: {
        'status.desiredReplicas': 1,
        'status.currentMetrics': [{ type: 'External', external: { metric: { name: 'm' }, current: { value: '7' } } }],
      },
    },
  ],
}

const priorityClass: Group = {
  name: 'priorityclasses',
  type: { group: 'scheduling.k8s.io', kind: 'PriorityClass', plural: 'priorityclasses', namespaced: false },
  base: { value: 5 },
  full: { metadata: { name: 'x' }, value: 5, preemptionPolicy: 'Never', description: 'd', globalDefault: false },
  create: [
    ...each({
      value: [undefined, 0, -5, 1_000_000_000, 1_000_000_001, -2_147_483_648],
      preemptionPolicy: ['', 'Never', 'PreemptLowerPriority', 'Other'],
      globalDefault: [true],
      'metadata.name': ['system-x', 'system-node-critical'],
    }),
    { 'metadata.name': 'system-x', value: 1_000_000_001 },
  ],
  states: [
    {
      update: each({ value: [6, undefined], preemptionPolicy: ['Never', undefined], globalDefault: [true], description: ['d'] }),
      remove: [{}],
    },
    { from: { preemptionPolicy: 'Never', value: -3 } },
  ],
}

const rbac = { group: 'rbac.authorization.k8s.io' }
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const ruleChanges: readonly Change[] = each({
  rules: [
    undefined,
    [],
    [{}],
    [{ ...rule, verbs: [] }],
    [{ ...rule, apiGroups: [] }],
    [{ ...rule, resources: [] }],
    [{ verbs: ['get'] }],
    [{ ...rule, resourceNames: ['a'] }],
    [{ nonResourceURLs: ['/a'], verbs: ['get'] }],
    [{ nonResourceURLs: ['/a'] }],
    [{ ...rule, nonResourceURLs: ['/a'] }],
    [{ nonResourceURLs: ['/a'], verbs: ['get'], resources: ['pods'] }],
    [{ nonResourceURLs: ['/a'], verbs: ['get'], apiGroups: [''] }],
    [{ nonResourceURLs: ['/a'], verbs: ['get'], resourceNames: ['a'] }],
    [rule, { resources: ['pods'] }],
  ],
  'metadata.name': ['system:x', 'A b', 'a/b', 'a%b', '.', '..', '...'],
})
const role: Group = {
  name: 'roles',
  type: { ...rbac, kind: 'Role', plural: 'roles' },
  base: { rules: [rule] },
  full: { metadata: { name: 'x' }, rules: [{ ...rule, resourceNames: ['a'] }] },
  create: ruleChanges,
  states: [{ update: each({ rules: [[], [{}]] }), remove: [{}] }],
}
const clusterRole: Group = {
  name: 'clusterroles',
  type: { ...rbac, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  base: { rules: [rule] },
  create: ruleChanges,
  states: [{}],
}

const subjects = [
  { kind: 'User', name: 'u' },
  { kind: 'Group', name: 'g' },
  { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  { kind: 'User', name: 'v' },
  { kind: 'ServiceAccount', name: 't', namespace: 'm' },
]
const subjectChanges: readonly Change[] = each({
  subjects: [
    undefined,
    subjects,
    [{}],
    [{ kind: 'Other', name: 'a' }],
    [{ kind: 'User', name: 'u', apiGroup: 'x' }],
    [{ kind: 'Group', name: 'g', apiGroup: '' }],
    [{ kind: 'User' }],
    [{ kind: 'Group', name: 'a b' }],
    [{ kind: 'ServiceAccount', name: 's' }],
    [{ kind: 'ServiceAccount', namespace: 'n' }],
    [{ kind: 'ServiceAccount', name: 'S b', namespace: 'n' }],
    [{ kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: 'x' }],
  ],
  'roleRef.name': ['', undefined, 'a/b', 'a:b', '..'],
  'roleRef.kind': ['', 'Role', 'ClusterRole', 'Other'],
  'roleRef.apiGroup': ['', 'x', 'rbac.authorization.k8s.io'],
  roleRef: [undefined],
  'metadata.name': ['system:x', 'a/b'],
})
const bindingUpdates: readonly Change[] = [
  {},
  ...each({ 'roleRef.name': ['other'], 'roleRef.kind': ['Role'], 'roleRef.apiGroup': ['', 'x'], subjects: [subjects, [{}]] }),
]
const roleBinding: Group = {
  name: 'rolebindings',
  type: { ...rbac, kind: 'RoleBinding', plural: 'rolebindings' },
  base: { roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [{ kind: 'User', name: 'u' }] },
  create: subjectChanges,
  states: [{ from: { subjects }, update: bindingUpdates, remove: [{}] }, { from: { subjects: undefined } }],
}
const clusterRoleBinding: Group = {
  name: 'clusterrolebindings',
  type: { ...rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
  base: { roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [{ kind: 'User', name: 'u' }] },
  create: subjectChanges,
  states: [{ from: { subjects }, update: bindingUpdates }],
}

const hookRule = { operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['foos'] }
const hook = {
  name: 'w.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { service: { name: 's', namespace: 'n' } },
  rules: [hookRule],
}
const w = (field: string): string => `webhooks[0].${field}`
const hookChanges: readonly Change[] = [
  ...each({
    webhooks: [undefined, [], [hook, hook], [{ ...hook, name: 'v.example.com' }, hook]],
    [w('name')]: [undefined, '', 'a.b', 'a.b.c', 'A.b.c', 'a..b'],
    [w('sideEffects')]: [undefined, '', 'NoneOnDryRun', 'Some', 'Unknown'],
    [w('failurePolicy')]: ['Ignore', 'Fail', '', 'Other'],
    [w('matchPolicy')]: ['Exact', 'Equivalent', 'Other'],
    [w('timeoutSeconds')]: [0, 1, 30, 31, -1],
    [w('reinvocationPolicy')]: ['IfNeeded', 'Never', 'Other'],
    [w('namespaceSelector')]: [{ matchLabels: { 'a b': 'c' } }, { matchExpressions: [{ key: 'a', operator: 'In' }] }],
    [w('objectSelector')]: [{ matchLabels: { a: 'b c' } }, { matchExpressions: [{ key: 'a', operator: 'Other' }] }],
    [w('admissionReviewVersions')]: [undefined, [], ['v1beta1'], ['v2'], ['v2', 'v1'], ['v1', 'v1'], ['V1'], ['', 'v1'], ['v1', '1v']],
    [w('rules')]: [undefined, []],
    [w('rules[0].operations')]: [undefined, [], ['*'], ['*', 'CREATE'], ['CONNECT', 'DELETE', 'UPDATE'], ['READ'], ['create']],
    [w('rules[0].apiGroups')]: [undefined, [], ['*'], ['*', 'a'], ['']],
    [w('rules[0].apiVersions')]: [undefined, [], ['*'], ['*', 'v1'], ['']],
    [w('rules[0].scope')]: ['*', 'Cluster', 'Namespaced', 'Other'],
    [w('rules[0].resources')]: [
      ...[
        undefined,
        [],
        ['*'],
        ['*/*'],
        ['*', 'foos'],
        ['foos', '*'],
        ['*/*', 'foos'],
        ['*/*', '*'],
        ['foos/*', 'foos/a'],
        ['foos/*', 'bars/a'],
      ],
      ...[['*/a', 'foos/a'], ['*/a', 'foos/b'], [''], ['foos', ''], ['foos/status', 'foos'], ['foos/a', 'foos/*'], ['*', '*/a']],
    ],
    [w('clientConfig')]: [undefined, {}, { url: 'https://a', service: { name: 's', namespace: 'n' } }],
    [w('clientConfig.service')]: [{}, { name: 's' }, { namespace: 'n' }],
    [w('clientConfig.service.port')]: [0, 1, 65535, 65536, -1],
    [w('clientConfig.service.path')]: ['', '/', '//', '/a', '/a/', 'a', 'ab', '/a/b', '/a//b', '/A', '/a_b', '/a/b//', '/a.b/c-d'],
    [w('matchConditions')]: [
      [],
      [{ name: 'a', expression: 'true' }],
      [{ name: 'a', expression: '' }],
      [{ name: 'a', expression: ' ' }],
      [{ name: '', expression: 'true' }],
      [{ name: 'a b', expression: 'true' }],
      [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'false' },
      ],
      [
        { name: '', expression: 'true' },
        { name: '', expression: 'true' },
      ],
      [{ name: 'a', expression: '1' }],
      [{ name: 'a', expression: 'nothing' }],
      Array.from({ length: 64 }, (_, index) => ({ name: `c${index}`, expression: 'true' })),
      Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })),
    ],
  }),
  ...[
    ...[
      'https://a',
      'https://a/b',
      'http://a',
      'a',
      '',
      'https://',
      'https:///b',
      'https://u@a',
      'https://u:p@a',
      'https://a#f',
      'https://a?q',
    ],
    ...['https://a b', 'https://a:80/b', 'ftp://u@a?q#f', 'https://<a>', 'HTTPS://a', 'https://a?', 'https://a#'],
  ].map((url) => ({ [w('clientConfig')]: { url } })),
]
const hooks = (kind: string, plural: string, changes: readonly Change[]): Group => ({
  name: plural,
  type: { group: 'admissionregistration.k8s.io', kind, plural, namespaced: false },
  base: { webhooks: [hook] },
  create: changes,
  states: [
    {
      from: { [w('matchConditions')]: [{ name: 'a', expression: 'true' }] },
      update: [
        {},
        ...each({
          [w('timeoutSeconds')]: [31],
          [w('name')]: ['x.y.z'],
          [w('matchConditions')]: [[{ name: 'a', expression: '1' }]],
          'metadata.resourceVersion': [undefined],
        }),
      ],
      remove: [{}],
    },
  ],
})

export const policy: readonly Group[] = [
  limitRange,
  quota,
  budget,
  autoscaler,
  priorityClass,
  role,
  clusterRole,
  roleBinding,
  clusterRoleBinding,
  hooks('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', hookChanges),
  hooks('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', hookChanges.slice(0, 12)),
]
