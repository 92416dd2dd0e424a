/** Requests for Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { fullSpecs } from '../../../../support/builtin-types/specs.ts'
import type { Change, Group, State } from '../group.ts'
import { each } from '../group.ts'

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'x' }] } }
const selector = { matchLabels: { app: 'a' } }

function fullOf(kind: string): JsonObject {
  return { metadata: { name: 'x' }, spec: fullSpecs.find((full) => full.kind === kind)!.spec }
}

/**
 * Changes for the create requests of workloads, one change for each request. The requests for Deployments use all of these changes. The
 * requests for ReplicaSets, StatefulSets and DaemonSets use some of these changes.
 */
const common: readonly Change[] = [
  ...each({
    'spec.selector': [undefined, {}, { matchLabels: {} }, { matchLabels: { app: 'b' } }, { matchLabels: { 'a b': 'c' } }],
    'spec.selector.matchLabels': [{ app: 'b c' }],
    'spec.selector.matchExpressions': [
      [{ key: 'app', operator: 'In', values: ['a', 'b'] }],
      [{ key: 'app', operator: 'In', values: [] }],
      [{ key: 'app', operator: 'In', values: ['a b'] }],
      [{ key: 'app', operator: 'NotIn', values: ['a'] }],
      [{ key: 'app', operator: 'NotIn' }],
      [{ key: 'app', operator: 'Exists' }],
      [{ key: 'app', operator: 'Exists', values: ['a'] }],
      [{ key: 'app', operator: 'DoesNotExist' }],
      [{ key: 'b', operator: 'DoesNotExist' }],
      [{ key: 'b', operator: 'DoesNotExist', values: ['a'] }],
      [{ key: 'app', operator: 'Gt', values: ['1'] }],
      [{ key: 'a b', operator: 'Exists' }],
      [{ operator: 'Exists' }],
    ],
    'spec.template': [undefined, {}],
    'spec.template.metadata': [undefined, { labels: { app: 'a', 'b c': 'd' } }],
    'spec.template.spec': [undefined, {}],
    'spec.template.spec.restartPolicy': ['', 'Never', 'OnFailure', 'Always', 'Sometimes'],
    'spec.template.spec.ephemeralContainers': [[{ name: 'e', image: 'x' }]],
    'spec.template.spec.containers[0].image': ['x:latest', 'x:1', 'host:5000/x', 'x@sha256:aaaa', ''],
    'spec.template.spec.containers[0].name': ['A', undefined],
    'spec.template.spec.volumes': [[{ name: 'v' }]],
    'spec.template.spec.activeDeadlineSeconds': [5],
    'spec.template.spec.serviceAccountName': ['a', 'a b'],
    'spec.template.spec.serviceAccount': ['a'],
    'spec.minReadySeconds': [-1, 0, 1],
    'spec.revisionHistoryLimit': [-1, 0],
    'metadata.name': ['A', 'a'.repeat(253), 'a'.repeat(254), undefined],
  }),
  { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
]
const replicas = each({ 'spec.replicas': [-1, 0, 2] })

const unselecting: Change = { 'spec.template.metadata.labels': { app: 'a', b: 'c' } }
const updatesOfAll: readonly Change[] = [
  {},
  { 'metadata.labels': { a: 'b' } },
  unselecting,
  { 'spec.selector': { matchLabels: { b: 'c' } } },
  { 'spec.selector': { matchLabels: { app: 'a', b: 'c' } }, ...unselecting },
  { 'spec.template.spec.containers[0].image': 'y' },
  { 'status.replicas': 9 },
]
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale' }
const scales: NonNullable<State['subresources']> = [
  { method: 'GET', subresource: 'scale' },
  ...[{ spec: { replicas: 5 } }, { spec: { replicas: 0 } }, { spec: { replicas: -1 } }, {}].map((body) => ({
    method: 'PUT' as const,
    subresource: 'scale',
    body: { ...scale, ...body },
  })),
]

const apps = { group: 'apps' }
const deployment: Group = {
  name: 'deployments',
  type: { ...apps, kind: 'Deployment', plural: 'deployments' },
  base: { spec: { selector, template } },
  full: fullOf('Deployment'),
  create: [
    ...common,
    ...replicas,
    ...each({
      'spec.progressDeadlineSeconds': [-1, 0, 1],
      'spec.strategy': [{}, { type: '' }, { type: 'Other' }, { type: 'Recreate' }, { type: 'RollingUpdate' }],
      'spec.strategy.rollingUpdate': [
        {},
        { maxSurge: 0 },
        { maxUnavailable: 0 },
        { maxUnavailable: '0%' },
        { maxUnavailable: 0, maxSurge: 0 },
        { maxUnavailable: '0%', maxSurge: '0%' },
        { maxUnavailable: 0, maxSurge: '0%' },
        { maxUnavailable: '0%', maxSurge: 0 },
        { maxUnavailable: '1%', maxSurge: 0 },
        { maxUnavailable: 1, maxSurge: 0 },
      ],
    }),
    { 'spec.strategy': { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    { 'spec.minReadySeconds': 5, 'spec.progressDeadlineSeconds': 5 },
    { 'spec.minReadySeconds': 5, 'spec.progressDeadlineSeconds': 6 },
  ],
  states: [
    {
      status: {
        'status.replicas': 3,
        'status.updatedReplicas': 2,
        'status.readyReplicas': 1,
        'status.availableReplicas': 1,
        'status.observedGeneration': 1,
        'spec.replicas': 7,
      },
      update: [...updatesOfAll, ...replicas, { 'spec.paused': true }, { 'spec.strategy': { type: 'Recreate' } }],
      updateStatus: [{ 'status.replicas': -1 }, { 'status.replicas': 1, 'status.readyReplicas': 1, 'spec.replicas': 4 }],
      subresources: scales,
      remove: [{}, { propagationPolicy: 'Other' }],
    },
    {
      from: {
        'spec.replicas': 0,
        'spec.selector': { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'b', operator: 'NotIn', values: ['d', 'c'] }] },
        'spec.template.spec.containers': [
          { name: 'one', image: 'x' },
          { name: 'two', image: 'y:1' },
        ],
      },
      subresources: [{ method: 'GET', subresource: 'scale' }],
    },
  ],
}

const replicaSet: Group = {
  name: 'replicasets',
  type: { ...apps, kind: 'ReplicaSet', plural: 'replicasets' },
  base: { spec: { selector, template } },
  create: [...common.filter((_, index) => index % 2 === 0), ...replicas],
  states: [
    {
      from: { 'spec.replicas': 4 },
      status: { 'status.replicas': 3, 'status.readyReplicas': 2, 'status.availableReplicas': 1 },
      update: [...updatesOfAll, ...replicas],
      subresources: scales,
      remove: [{}],
    },
  ],
}

const replicationController: Group = {
  name: 'replicationcontrollers',
  type: { kind: 'ReplicationController', plural: 'replicationcontrollers' },
  base: { spec: { selector: { app: 'a' }, template } },
  create: [
    ...replicas,
    ...each({
      'spec.selector': [undefined, {}, { app: 'b' }, { b: 'c' }, { app: 'a', b: 'c' }, { 'a b': 'c' }],
      'spec.template': [undefined, {}],
      'spec.template.metadata': [undefined, { labels: {} }, { labels: { app: 'a', 'b c': 'd' } }],
      'spec.template.spec.restartPolicy': ['', 'Never', 'Always'],
      'spec.template.spec.activeDeadlineSeconds': [5],
      'spec.minReadySeconds': [-1, 5],
      'metadata.labels': [{ own: 'x' }, {}],
      spec: [undefined, {}],
    }),
    { 'spec.selector': undefined, 'spec.template.metadata': undefined },
  ],
  states: [
    {
      from: { 'spec.replicas': 4 },
      status: { 'status.replicas': 3, 'status.readyReplicas': 2, 'status.availableReplicas': 1, 'spec.replicas': 7 },
      update: [
        ...replicas,
        {},
        { 'spec.selector': { app: 'b' } },
        { 'spec.selector': undefined },
        { 'spec.template.spec.containers[0].image': 'y' },
        { 'status.replicas': 9 },
      ],
      subresources: scales,
      remove: [{}, { propagationPolicy: 'Background' }],
    },
    {
      from: { 'spec.selector': { app: 'a', b: 'c' }, 'spec.template.metadata.labels': { b: 'c', app: 'a' } },
      subresources: [{ method: 'GET', subresource: 'scale' }],
    },
  ],
}

const podTemplate: Group = {
  name: 'podtemplates',
  type: { kind: 'PodTemplate', plural: 'podtemplates' },
  base: { template },
  create: each({
    template: [undefined, {}],
    'template.metadata': [undefined, { labels: { 'b c': 'd' } }],
    'template.spec': [undefined, {}],
    'template.spec.restartPolicy': ['Never', 'Sometimes'],
    'metadata.name': ['A', undefined],
  }),
  states: [
    {
      update: [{}, { 'metadata.labels': { a: 'b' } }, { 'template.spec.containers[0].image': 'y' }, { 'template.spec.containers': [] }],
      remove: [{}],
    },
    {
      from: {
        'template.spec.containers': [
          { name: 'one', image: 'x' },
          { name: 'two', image: 'y:1' },
        ],
      },
    },
  ],
}

const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
const statefulSet: Group = {
  name: 'statefulsets',
  type: { ...apps, kind: 'StatefulSet', plural: 'statefulsets' },
  base: { spec: { selector, template, serviceName: 's' } },
  full: fullOf('StatefulSet'),
  create: [
    ...common.filter((_, index) => index % 2 === 1),
    ...replicas,
    ...each({
      'spec.podManagementPolicy': ['', 'Parallel', 'Other'],
      'spec.updateStrategy': [{}, { type: 'OnDelete' }, { type: 'RollingUpdate' }, { type: 'Other' }],
      'spec.updateStrategy.rollingUpdate': [{}, { partition: 2 }, { partition: -1 }],
      'spec.persistentVolumeClaimRetentionPolicy': [{}, { whenDeleted: 'Delete' }, { whenScaled: 'Delete' }, { whenScaled: 'Other' }],
      'spec.serviceName': [undefined, ''],
      'spec.ordinals': [{}, { start: -1 }],
      'spec.volumeClaimTemplates': [[], [claim], [claim, { metadata: { name: 'b' }, spec: { ...claim.spec, accessModes: ['Other'] } }]],
    }),
    { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 2 } } },
    { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    { 'spec.volumeClaimTemplates': [claim], 'spec.template.spec.containers[0].volumeMounts': [{ name: 'data', mountPath: '/data' }] },
  ],
  states: [
    {
      status: { 'status.replicas': 3, 'status.readyReplicas': 2, 'status.currentReplicas': 1 },
      update: [
        ...updatesOfAll,
        ...replicas,
        { 'spec.serviceName': 'other' },
        { 'spec.podManagementPolicy': 'Parallel' },
        { 'spec.volumeClaimTemplates': [] },
        { 'spec.ordinals': { start: 1 } },
        { 'spec.updateStrategy': { type: 'OnDelete' } },
        { 'spec.revisionHistoryLimit': 3 },
        { 'spec.minReadySeconds': 3 },
        { 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Delete' } },
        { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
      ],
      subresources: scales,
      remove: [{}],
    },
  ],
}

const daemonSet: Group = {
  name: 'daemonsets',
  type: { ...apps, kind: 'DaemonSet', plural: 'daemonsets' },
  base: { spec: { selector, template } },
  full: fullOf('DaemonSet'),
  create: [
    ...common.filter((_, index) => index % 3 === 0),
    ...each({
      'spec.updateStrategy': [{}, { type: 'OnDelete' }, { type: 'RollingUpdate' }, { type: 'Other' }],
      'spec.updateStrategy.rollingUpdate': [{}, { maxUnavailable: 2 }, { maxSurge: 1 }, { maxUnavailable: 0, maxSurge: 1 }],
      'metadata.annotations': [{ 'deprecated.daemonset.template.generation': '7' }, { a: 'b' }],
    }),
  ],
  states: [
    {
      from: { 'spec.template.spec.nodeSelector': { b: 'c', a: 'd' } },
      status: {
        'status.desiredNumberScheduled': 6,
        'status.currentNumberScheduled': 5,
        'status.numberReady': 4,
        'status.updatedNumberScheduled': 3,
        'status.numberAvailable': 2,
        'status.numberMisscheduled': 1,
      },
      update: [...updatesOfAll, { 'metadata.annotations': undefined }, { 'metadata.annotations': { a: 'b' } }],
      remove: [{}],
    },
    { from: { 'metadata.annotations': { 'deprecated.daemonset.template.generation': '7' } }, update: updatesOfAll.slice(0, 3) },
  ],
}

const revisionOwner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'a', uid: 'b' }
const controllerRevision: Group = {
  name: 'controllerrevisions',
  type: { ...apps, kind: 'ControllerRevision', plural: 'controllerrevisions' },
  base: { revision: 1, data: { spec: { b: 1, a: [] } } },
  create: [
    ...each({
      revision: [undefined, null, -1, 0, 'one', 3_000_000_000],
      data: [undefined, null, {}, [], 'text', 7, false, { 'a b': { c: null } }],
      'metadata.name': ['A', 'a'.repeat(253), 'a'.repeat(254), undefined],
      other: [1],
    }),
    { revision: -1, data: undefined },
  ],
  states: [
    {
      update: [{}, { revision: 2 }, { revision: -1 }, { data: {} }, { data: undefined }, { data: [] }, { 'metadata.labels': { a: 'b' } }],
      remove: [{}],
    },
    { from: { 'metadata.ownerReferences': [{ ...revisionOwner, controller: true }] } },
    { from: { 'metadata.ownerReferences': [revisionOwner, { ...revisionOwner, apiVersion: 'v1', uid: 'c', controller: true }] } },
  ],
}

const jobTemplate = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x' }] } }
const policy = { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }] }
const indexed = { 'spec.completionMode': 'Indexed', 'spec.completions': 5 }
/**
 * The usual value of the field `onExitCodes` in the tested Pod failure policies. The function `onExitCodes` returns a policy with one rule.
 * In this rule, the field `onExitCodes` is a copy of the usual value, and `changes` adds or replaces fields of the copy.
 */
const exitCodes = { operator: 'In', values: [1, 2] }
const onExitCodes = (changes: JsonObject): JsonObject => ({ rules: [{ action: 'FailJob', onExitCodes: { ...exitCodes, ...changes } }] })
const onPodConditions = (...patterns: JsonObject[]): JsonObject => ({ rules: [{ action: 'Ignore', onPodConditions: patterns }] })
const jobPolicies: readonly Change[] = [
  ...each({
    'spec.podFailurePolicy': [
      { rules: [{ action: 'FailIndex', onExitCodes: exitCodes }] },
      { rules: [{ action: 'Other', onExitCodes: exitCodes }] },
      { rules: [{ onExitCodes: exitCodes }] },
      { rules: [{ action: 'Count' }] },
      { rules: [{ action: 'Count', onExitCodes: exitCodes, onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      { rules: Array.from({ length: 21 }, () => ({ action: 'Count', onExitCodes: exitCodes })) },
      ...[{ operator: 'Exists' }, { operator: '' }, { containerName: 'main' }, { containerName: 'other' }].map(onExitCodes),
      ...[[], [0], [2, 1, 2], [-1], Array.from({ length: 256 }, (_, index) => index + 1)].map((values) => onExitCodes({ values })),
      onExitCodes({ operator: 'NotIn', values: [0, 1] }),
      onPodConditions({ type: 'DisruptionTarget' }, { type: 'example.com/Own', status: 'Unknown' }),
      onPodConditions({ type: 'no name' }, { type: 'A', status: 'Maybe' }, { status: 'False' }),
      onPodConditions(...Array.from({ length: 21 }, () => ({ type: 'A' }))),
    ],
    'spec.successPolicy': [
      {},
      { rules: [] },
      { rules: [{}] },
      { rules: Array.from({ length: 21 }, () => ({ succeededCount: 1 })) },
      ...[-1, 0, 5, 6].map((succeededCount) => ({ rules: [{ succeededCount }] })),
      ...['', '0', '0-2,4', '5', '0-5', '2-1', '1-1', '1,0', '0-2,2', '0-1-2', 'a', '1-', '-1', '0,,1', ' 1'].map((succeededIndexes) => ({
        rules: [{ succeededIndexes }],
      })),
      { rules: [{ succeededIndexes: '0-2', succeededCount: 4 }] },
      { rules: [{ succeededIndexes: '0-2', succeededCount: 3 }] },
    ],
    'spec.maxFailedIndexes': [5, 6, 100_001],
    'spec.parallelism': [100_000, 100_001],
    'spec.completions': [100_001],
  }).map((change) => ({ ...indexed, 'spec.backoffLimitPerIndex': 1, ...change })),
  { ...indexed, 'spec.completions': 100_001, 'spec.parallelism': 10_001, 'spec.maxFailedIndexes': 10_001, 'spec.backoffLimitPerIndex': 1 },
  { 'spec.podFailurePolicy': { rules: [{ action: 'FailIndex', onExitCodes: exitCodes }] } },
  { 'spec.podFailurePolicy': policy, 'spec.template.spec.restartPolicy': 'OnFailure' },
  { 'spec.successPolicy': { rules: [{ succeededCount: 1 }] } },
  { 'spec.backoffLimitPerIndex': 1 },
  { ...indexed, 'spec.maxFailedIndexes': 1 },
  ...each({ 'spec.managedBy': ['', 'a', 'a/', '/a', 'example.com/jobs', 'A/b', 'a/ ', `a/${'b'.repeat(62)}`] }),
]
const jobChanges: readonly Change[] = each({
  'spec.parallelism': [-1, 0, 2],
  'spec.completions': [-1, 0, 3],
  'spec.activeDeadlineSeconds': [-1, 0, 5],
  'spec.backoffLimit': [-1, 0],
  'spec.ttlSecondsAfterFinished': [-1, 0],
  'spec.completionMode': ['', 'NonIndexed', 'Indexed', 'Other'],
  'spec.podReplacementPolicy': ['', 'Failed', 'TerminatingOrFailed', 'Other'],
  'spec.podFailurePolicy': [policy, {}],
  'spec.suspend': [true],
  'spec.template.spec.restartPolicy': [undefined, '', 'OnFailure', 'Always', 'Other'],
  'spec.template': [undefined],
  'spec.template.metadata': [{ labels: { a: 'b' } }, { labels: { 'job-name': 'other' } }],
  'spec.selector': [selector],
})

const job: Group = {
  name: 'jobs',
  type: { group: 'batch', kind: 'Job', plural: 'jobs' },
  base: { spec: { template: jobTemplate } },
  full: fullOf('Job'),
  create: [
    ...jobChanges,
    ...jobPolicies,
    { 'spec.completionMode': 'Indexed', 'spec.completions': 2, 'spec.backoffLimitPerIndex': -1 },
    { 'spec.completionMode': 'Indexed', 'spec.completions': 2, 'spec.backoffLimitPerIndex': 1 },
    { 'spec.completionMode': 'Indexed', 'spec.completions': 2, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': -1 },
    { 'spec.completionMode': 'Indexed', 'spec.completions': 2, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 1 },
    { 'spec.parallelism': 2, 'spec.completions': 3 },
    { 'spec.manualSelector': true },
    { 'spec.manualSelector': true, 'spec.selector': selector, 'spec.template.metadata': { labels: { app: 'a' } } },
    { 'spec.manualSelector': false, 'spec.selector': selector, 'spec.template.metadata': { labels: { app: 'a' } } },
    { 'spec.podFailurePolicy': policy, 'spec.podReplacementPolicy': 'TerminatingOrFailed' },
    { 'metadata.labels': { a: 'b' } },
    { 'metadata.name': 'a'.repeat(63) },
    { 'metadata.name': 'a'.repeat(64) },
    { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
  ],
  states: [
    {
      status: { 'status.startTime': '2020-01-01T00:00:00Z', 'status.succeeded': 0, 'status.active': 1 },
      update: [
        {},
        { 'spec.parallelism': 3 },
        { 'spec.completions': 3 },
        { 'spec.suspend': true },
        { 'spec.completionMode': 'Indexed' },
        { 'spec.podFailurePolicy': policy },
        { 'spec.backoffLimitPerIndex': 1 },
        { 'spec.selector': selector },
        { 'spec.selector': undefined },
        { 'spec.template.spec.containers[0].image': 'y' },
        { 'spec.template.metadata.labels': undefined },
        { 'spec.backoffLimit': 3 },
        { 'spec.ttlSecondsAfterFinished': 3 },
        { 'spec.activeDeadlineSeconds': 3 },
        { 'spec.managedBy': 'a/b' },
        { 'spec.successPolicy': { rules: [{ succeededCount: 1 }] } },
        { 'spec.manualSelector': true },
      ],
      updateStatus: [{ 'status.active': 2 }, { 'status.active': -1 }, { 'spec.parallelism': 3 }],
      remove: [{ propagationPolicy: 'Background' }],
    },
    {
      from: { 'spec.completions': undefined, 'spec.parallelism': 3, 'spec.suspend': true },
      update: [
        { 'spec.template.spec.containers[0].image': 'y' },
        { 'spec.template.spec.nodeSelector': { a: 'b' } },
        { 'spec.completions': 3 },
      ],
    },
    { from: { 'spec.completions': 5, 'spec.parallelism': 2 } },
    { from: { 'spec.parallelism': 1, 'spec.completions': undefined } },
    {
      from: { 'spec.completionMode': 'Indexed', 'spec.completions': 2, 'spec.parallelism': 2 },
      update: [{ 'spec.completions': 3 }, { 'spec.completions': 3, 'spec.parallelism': 3 }, { 'spec.completions': undefined }],
    },
    {
      status: {
        'status.startTime': '2020-01-01T00:00:00Z',
        'status.completionTime': '2020-01-01T00:05:00Z',
        'status.succeeded': 1,
        'status.uncountedTerminatedPods': {},
        'status.conditions': ['SuccessCriteriaMet', 'Complete'].map((type) => ({
          type,
          status: 'True',
          lastTransitionTime: '2020-01-01T00:05:00Z',
        })),
      },
    },
    {
      status: {
        'status.startTime': '2020-01-01T00:00:00Z',
        'status.failed': 1,
        'status.uncountedTerminatedPods': {},
        'status.conditions': ['FailureTarget', 'Failed'].map((type) => ({
          type,
          status: 'True',
          lastTransitionTime: '2020-01-01T00:05:00Z',
        })),
      },
    },
    {
      from: { 'spec.suspend': true },
      status: { 'status.conditions': [{ type: 'Suspended', status: 'True', lastTransitionTime: '2020-01-01T00:05:00Z' }] },
    },
    { status: { 'status.conditions': [{ type: 'Suspended', status: 'False', lastTransitionTime: '2020-01-01T00:05:00Z' }] } },
  ],
}

const cronJob: Group = {
  name: 'cronjobs',
  type: { group: 'batch', kind: 'CronJob', plural: 'cronjobs' },
  base: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
  full: fullOf('CronJob'),
  create: [
    ...each({
      'spec.schedule': [
        undefined,
        ...['', '* * * *', '* * * * * *', '60 * * * *', '59 * * * *', '-1 * * * *', '* 24 * * *', '* 23 * * *', '* * 0 * *', '* * 32 * *'],
        ...['* * 31 * *', '* * * 0 *', '* * * 13 *', '* * * 12 *', '* * * * 7', '* * * * 6', '* * * jan-DEC sun-sat', '* * * foo *'],
        ...[
          '*/5 * * * *',
          '*/0 * * * *',
          '5/15 * * * *',
          '1-5/2 * * * *',
          '5-1 * * * *',
          '1-2-3 * * * *',
          '1/2/3 * * * *',
          '1,2,, * * * *',
        ],
        ...[
          '? * ? * ?',
          '@hourly',
          '@daily',
          '@midnight',
          '@weekly',
          '@monthly',
          '@yearly',
          '@annually',
          '@every 5m',
          '@every x',
          '@never',
        ],
        ...[
          'TZ=UTC * * * * *',
          'CRON_TZ=UTC * * * * *',
          'TZ=Nowhere/City * * * * *',
          '+5 * * * *',
          '*x * * * *',
          '1-x * * * *',
          '1/x * * * *',
        ],
        ...['  * * * * *  ', '@every 1h30m', '@every -1h', '@ daily', '1- * * * *', '60-61 * * * *', '0-60 * * * *'],
      ],
      'spec.timeZone': ['', 'UTC', 'Europe/Berlin', 'Local', 'local', 'Nowhere/City', ' UTC'],
      'spec.startingDeadlineSeconds': [-1, 0],
      'spec.concurrencyPolicy': ['', 'Forbid', 'Replace', 'Other'],
      'spec.successfulJobsHistoryLimit': [-1, 0],
      'spec.failedJobsHistoryLimit': [-1, 0],
      'spec.suspend': [true],
      'spec.jobTemplate': [undefined, {}],
      'spec.jobTemplate.metadata': [{ labels: { a: 'b' } }],
      'spec.jobTemplate.spec.selector': [selector],
      'spec.jobTemplate.spec.manualSelector': [true],
      'spec.jobTemplate.spec.parallelism': [-1, 2],
      'spec.jobTemplate.spec.completionMode': ['Indexed', 'Other'],
      'spec.jobTemplate.spec.template.spec.restartPolicy': [undefined, 'Always', 'Other'],
      'metadata.name': ['a'.repeat(52), 'a'.repeat(53)],
    }),
  ],
  states: [
    {
      update: [
        {},
        { 'spec.schedule': '1 * * * *' },
        { 'spec.schedule': 'TZ=UTC * * * * *' },
        { 'spec.timeZone': 'UTC' },
        { 'spec.timeZone': 'Nowhere/City' },
        { 'spec.suspend': true },
        { 'spec.jobTemplate.spec.template.spec.containers[0].image': 'y' },
        { 'spec.concurrencyPolicy': 'Other' },
      ],
      updateStatus: [{ 'status.lastScheduleTime': '2020-01-01T00:00:00Z', 'spec.suspend': true }],
      remove: [{}],
    },
    {
      from: { 'spec.timeZone': 'Europe/Berlin', 'spec.suspend': true },
      status: {
        'status.lastScheduleTime': '2020-01-01T00:00:00Z',
        'status.active': [
          { kind: 'Job', name: 'a' },
          { kind: 'Job', name: 'b' },
        ],
      },
    },
  ],
}

export const workloads: readonly Group[] = [
  deployment,
  replicaSet,
  replicationController,
  podTemplate,
  statefulSet,
  daemonSet,
  controllerRevision,
  job,
  cronJob,
]
