/** Requests for ConfigMaps, Secrets, ServiceAccounts, Namespaces, Nodes, Leases and Events. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Group } from '../group.ts'
import { each } from '../group.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const configMap: Group = {
  name: 'configmaps',
  type: { kind: 'ConfigMap', plural: 'configmaps' },
  base: { data: { a: '1' } },
  full: { metadata: { name: 'x' }, data: { a: '1' }, binaryData: { b: 'eA==' }, immutable: true },
  create: [
    ...each({
      data: [{ '.': '' }, { '..': '' }, { '...': '' }, { 'a b': '' }, { '': '' }, { 'A-b_c.1': '' }, { '.a': '' }, { a: null }, {}],
      binaryData: [{ b: 'eA==' }, { a: 'eA==' }, { b: '!' }, { 'a b': 'eA==' }, { b: 'eA' }, { b: 'e\nA==' }, { b: '' }, { b: 'eA==eA==' }],
      immutable: [true, false, 'true'],
      extra: [1],
      'metadata.name': ['a.b', 'a_b', '-a', 'a-', 'a'.repeat(253), 'a'.repeat(254)],
      'metadata.generateName': ['gen-', 'Gen'],
      'metadata.namespace': ['other'],
      'metadata.labels': [{ a: 'b' }, { 'a b': 'c' }, { a: 'b c' }, { [`${'a'.repeat(254)}/b`]: '' }, { a: 'b'.repeat(64) }],
      'metadata.annotations': [{ a: 'b c' }, { 'a b': 'c' }],
      'metadata.finalizers': [['a/b'], ['a'], ['']],
      'metadata.ownerReferences': [[{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }], [{ apiVersion: 'v1', kind: 'Pod' }]],
    }),
    { data: { a: 'x'.repeat(1024 * 1024) } },
    { data: { a: 'x'.repeat(1024 * 1024 + 1) } },
    { data: { a: 'é'.repeat(512 * 1024 + 1) } },
    { data: { a: 'x' }, binaryData: { b: base64('x'.repeat(1024 * 1024 - 1)) } },
    { data: { a: 'x' }, binaryData: { b: base64('x'.repeat(1024 * 1024)) } },
    { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
    { 'metadata.name': undefined, 'metadata.generateName': 'a'.repeat(70) },
    { 'metadata.name': undefined },
  ],
  states: [
    { from: { binaryData: { b: 'eA==', c: 'eA==' } }, update: each({ data: [{ a: '2' }, undefined], immutable: [true] }), remove: [{}] },
    {
      from: { immutable: true },
      update: each({
        data: [{ a: '2' }, undefined],
        binaryData: [{ b: 'eA==' }],
        immutable: [false, undefined],
        'metadata.labels': [{ a: 'b' }],
      }),
    },
    {
      from: { immutable: true },
      update: [
        { immutable: false, data: { a: '2' } },
        { data: { a: '2' }, binaryData: { b: '' } },
      ],
    },
  ],
}

const pem = '-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n'
const tls = { 'tls.crt': base64('no'), 'tls.key': base64('no') }
const secret: Group = {
  name: 'secrets',
  type: { kind: 'Secret', plural: 'secrets' },
  base: { data: { a: 'eA==' } },
  full: { metadata: { name: 'x' }, data: { a: 'eA==' }, stringData: { b: 'c' }, type: 'Opaque', immutable: true },
  create: [
    ...each({
      data: [undefined, { a: 'x' }, { 'a b': '' }, { '..': '' }, { a: null }],
      stringData: [{ a: 'y' }, { b: 'é' }, { b: '' }, {}, { 'a b': 'x' }, { b: null }],
      type: ['', 'any', 'kubernetes.io/tls', 'kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth', 'kubernetes.io/service-account-token'],
    }),
    { type: 'kubernetes.io/dockercfg' },
    { type: 'kubernetes.io/dockerconfigjson' },
    ...['{}', '{"auths":{}}', '', '{', 'x', '{x', '[]', '"a"', '1', 'true', 'null', ' {"a":1} '].flatMap((text) => [
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64(text) } },
    ]),
    { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('{}') } },
    { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('[') } },
    { type: 'kubernetes.io/tls', data: tls },
    { type: 'kubernetes.io/tls', data: { 'tls.crt': tls['tls.crt'] } },
    { type: 'kubernetes.io/tls', data: { 'tls.key': tls['tls.key'] } },
    { type: 'kubernetes.io/tls', data: { ...tls, 'tls.crt': base64(pem) } },
    { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'a', 'tls.key': 'b' } },
    { type: 'kubernetes.io/basic-auth', data: { username: 'eA==' } },
    { type: 'kubernetes.io/basic-auth', data: { password: 'eA==' } },
    { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': 'eA==' } },
    { type: 'kubernetes.io/service-account-token', 'metadata.annotations': { 'kubernetes.io/service-account.name': 'a' } },
    { data: { a: base64('x'.repeat(1024 * 1024)) } },
    { data: { a: base64('x'.repeat(1024 * 1024 + 1)) } },
  ],
  states: [
    {
      from: { type: 'any' },
      update: each({ type: ['other', undefined], data: [{ a: 'eQ==' }], stringData: [{ a: 'z', b: 'y' }], immutable: [true] }),
      remove: [{}],
    },
    {
      from: { immutable: true },
      update: each({ data: [{ a: 'eQ==' }], immutable: [false], type: ['x'], stringData: [{ a: 'x' }, { a: 'y' }] }),
    },
  ],
}

const serviceAccount: Group = {
  name: 'serviceaccounts',
  type: { kind: 'ServiceAccount', plural: 'serviceaccounts' },
  base: {},
  full: { metadata: { name: 'x' }, secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }], automountServiceAccountToken: true },
  create: each({ 'metadata.name': ['A', 'a.b'] }),
  states: [{ update: each({ automountServiceAccountToken: [false], secrets: [[{ name: 's' }]] }), remove: [{}] }],
}

const enforce = 'pod-security.kubernetes.io/enforce'
const namespace: Group = {
  name: 'namespaces',
  type: { kind: 'Namespace', plural: 'namespaces', namespaced: false },
  base: {},
  create: [
    ...each({
      spec: [
        {},
        { finalizers: [] },
        { finalizers: ['kubernetes'] },
        { finalizers: ['a/b'] },
        { finalizers: ['a'] },
        { finalizers: ['A b/c'] },
      ],
      status: [{ phase: 'Terminating' }],
      'metadata.name': ['A', 'a.b', 'a'.repeat(63), 'a'.repeat(64), undefined],
      'metadata.labels': [
        { a: 'b' },
        { 'kubernetes.io/metadata.name': 'other' },
        { [enforce]: 'baseline' },
        { [enforce]: 'Baseline' },
        { [enforce]: '' },
        { [`${enforce}-version`]: 'v1.20' },
        { [`${enforce}-version`]: 'v1.020' },
        { [`${enforce}-version`]: 'v2.0' },
        { [`${enforce}-version`]: 'v1.0' },
        { [`${enforce}-version`]: 'newest' },
        { 'pod-security.kubernetes.io/warn': 'none', 'pod-security.kubernetes.io/audit': 'none' },
        { 'pod-security.kubernetes.io/warn-version': 'x', 'pod-security.kubernetes.io/audit-version': 'x' },
        { [enforce]: 'x', [`${enforce}-version`]: 'x', 'pod-security.kubernetes.io/warn': 'x' },
      ],
    }),
    { 'metadata.name': undefined, 'metadata.generateName': 'gen-' },
  ],
  states: [
    {
      update: each({
        'metadata.labels': [{}, { a: 'b' }, { 'kubernetes.io/metadata.name': 'other' }, { [enforce]: 'restricted' }, { [enforce]: 'x' }],
        spec: [{}, { finalizers: ['kubernetes', 'a/b'] }],
        status: [{ phase: 'Terminating' }],
        'metadata.finalizers': [['a/b'], ['a']],
      }),
      updateStatus: each({ 'status.phase': ['Active', 'Terminating'], 'spec.finalizers': [[]] }),
      subresources: [[], ['kubernetes', 'a/b'], ['a']].map((finalizers) => ({
        method: 'PUT' as const,
        subresource: 'finalize',
        body: { apiVersion: 'v1', kind: 'Namespace', spec: { finalizers } },
      })),
      remove: [{}, { gracePeriodSeconds: 5 }],
    },
    { from: { 'spec.finalizers': ['a/b'] }, remove: [{}] },
  ],
}

const condition = (status: string): JsonObject => ({ type: 'Ready', status })
const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
const node: Group = {
  name: 'nodes',
  type: { kind: 'Node', plural: 'nodes', namespaced: false },
  base: {},
  create: [
    ...each({
      'spec.taints': [[{ key: 'a', effect: 'NoSchedule' }], [taint], [{ ...taint, effect: 'NoExecute' }], [{ ...taint, key: 'b' }]],
      'spec.unschedulable': [true],
      'status.conditions': [[condition('False')]],
      'status.capacity': [{ cpu: '1' }],
      'metadata.name': ['A', 'a.b'],
    }),
  ],
  states: [
    {
      from: {
        'metadata.labels': {
          'node-role.kubernetes.io/worker': '',
          'node-role.kubernetes.io/control-plane': '',
          'kubernetes.io/role': 'old',
        },
      },
      status: {
        'status.conditions': [{ type: 'DiskPressure', status: 'False' }, condition('True')],
        'status.addresses': [
          { type: 'Hostname', address: 'host' },
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'ExternalIP', address: '1.2.3.4' },
        ],
        'status.nodeInfo': {
          kubeletVersion: 'v1.36.0',
          osImage: 'An OS',
          kernelVersion: '6.1',
          containerRuntimeVersion: 'containerd://2',
          architecture: 'amd64',
        },
      },
      update: each({ 'spec.unschedulable': [true], 'spec.taints': [[]], 'metadata.labels': [{}] }),
      updateStatus: [{ 'status.conditions': [condition('False')] }, { 'spec.unschedulable': true }],
      remove: [{}],
    },
    { from: { 'spec.unschedulable': true }, status: { 'status.conditions': [condition('False')] } },
    { status: { 'status.conditions': [condition('Unknown')] } },
    { from: { 'spec.unschedulable': true }, status: { 'status.conditions': [condition('True')] } },
    {},
  ],
}

const lease: Group = {
  name: 'leases',
  type: { group: 'coordination.k8s.io', kind: 'Lease', plural: 'leases' },
  base: { spec: {} },
  full: {
    metadata: { name: 'x' },
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2020-01-01T00:00:00.000000Z',
      renewTime: '2020-01-01T00:00:00.123456Z',
      leaseTransitions: 1,
    },
  },
  create: each({
    spec: [undefined],
    'spec.leaseDurationSeconds': [-1, 0, 1, 2 ** 31, 2 ** 31 - 1, 1.5],
    'spec.leaseTransitions': [-1, 0],
    'spec.renewTime': [
      ...['', 'yesterday', '2020-01-01', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.1Z', '2020-01-01T00:00:00.12345Z'],
      ...['2020-01-01T00:00:00.1234567Z', '2020-01-01T00:00:00.123456+01:00', '2020-13-01T00:00:00.000000Z', '2020-01-01T00:00:00.123456'],
    ],
  }),
  states: [
    {
      from: { 'spec.holderIdentity': 'me' },
      update: each({
        'metadata.resourceVersion': [undefined, '1'],
        'spec.leaseDurationSeconds': [0, 5],
        'spec.holderIdentity': ['you', undefined],
        'spec.leaseTransitions': [-1],
      }),
      remove: [{}],
    },
    {},
  ],
}

const involvedObject = (namespace: string): JsonObject => ({ kind: 'Pod', name: 'p', namespace })
const coreEvent: Group = {
  name: 'events',
  type: { kind: 'Event', plural: 'events' },
  base: { involvedObject: involvedObject('recorded-events'), reason: 'R', message: 'm', type: 'Normal' },
  full: {
    metadata: { name: 'x' },
    involvedObject: { ...involvedObject('recorded-events'), uid: 'u', apiVersion: 'v1', resourceVersion: '1', fieldPath: 'f' },
    reason: 'R',
    message: 'm',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2020-01-01T00:00:00Z',
    lastTimestamp: '2020-01-01T01:00:00Z',
    count: 2,
    type: 'Normal',
    eventTime: '2020-01-01T00:00:00.000000Z',
    series: { count: 2, lastObservedTime: '2020-01-01T00:00:00.000000Z' },
    action: 'A',
    related: { kind: 'Pod', name: 'q' },
    reportingComponent: 'c',
    reportingInstance: 'i',
  },
  create: [
    ...each({
      'involvedObject.namespace': ['other', '', undefined],
      type: ['Other', undefined],
      reason: [undefined, 'r'.repeat(200)],
      message: ['m'.repeat(2000)],
    }),
    ...[
      {},
      { action: 'a'.repeat(128) },
      { action: 'a'.repeat(129) },
      { action: '' },
      { reason: 'a'.repeat(128) },
      { reason: 'a'.repeat(129) },
      { reason: '' },
      { reportingInstance: 'a'.repeat(128) },
      { reportingInstance: 'a'.repeat(129) },
      { reportingInstance: '' },
      { message: 'm'.repeat(1024) },
      { message: 'm'.repeat(1025) },
      { reportingComponent: '' },
      { reportingComponent: 'a b' },
      { 'involvedObject.namespace': '' },
      { 'involvedObject.namespace': 'other' },
    ].map((change) => ({
      eventTime: '2020-01-01T00:00:00.000000Z',
      action: 'A',
      reportingComponent: 'example.com/c',
      reportingInstance: 'i',
      ...change,
    })),
  ],
  states: [
    {
      from: {
        firstTimestamp: '2019-01-01T00:00:00Z',
        lastTimestamp: '2020-01-01T00:00:00Z',
        count: 3,
        source: { component: 'c', host: 'h' },
      },
      update: each({ count: [4], message: ['n'], 'involvedObject.namespace': ['other'], reason: ['S'] }),
      remove: [{}],
    },
    { from: { firstTimestamp: '2019-01-01T00:00:00Z', message: ' m\n', 'involvedObject.fieldPath': 'spec.containers{a}' } },
    {
      from: {
        eventTime: '2018-01-01T00:00:00.000000Z',
        action: 'A',
        reportingComponent: 'example.com/c',
        reportingInstance: 'i',
        series: { count: 5, lastObservedTime: '2020-06-01T00:00:00.000000Z' },
      },
    },
    { from: { source: { component: 'c' }, 'involvedObject.kind': '' } },
    { from: { 'involvedObject.name': '' } },
    {},
  ],
}

const newEvent: Group = {
  name: 'new-events',
  type: { group: 'events.k8s.io', kind: 'Event', plural: 'events' },
  base: {
    regarding: { kind: 'Pod', name: 'p', namespace: 'recorded-new-events' },
    reason: 'R',
    note: 'm',
    type: 'Normal',
    eventTime: '2020-01-01T00:00:00.000000Z',
    action: 'A',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
  },
  create: each({
    eventTime: [undefined],
    type: ['', 'Warning', 'Other', undefined],
    reason: ['', undefined, 'a'.repeat(128), 'a'.repeat(129)],
    note: ['m'.repeat(1024), 'm'.repeat(1025), ''],
    action: ['', 'a'.repeat(128), 'a'.repeat(129)],
    reportingController: ['', 'a b'],
    reportingInstance: ['', 'a'.repeat(128), 'a'.repeat(129)],
    deprecatedCount: [0, 1],
    deprecatedFirstTimestamp: ['2020-01-01T00:00:00Z'],
    deprecatedLastTimestamp: ['2020-01-01T00:00:00Z'],
    deprecatedSource: [{}, { component: 'c' }, { host: 'h' }],
    series: [
      {},
      { count: 1, lastObservedTime: '2020-01-01T00:00:00.000000Z' },
      { count: 2, lastObservedTime: '2020-01-01T00:00:00.000000Z' },
      { count: 2 },
    ],
    'regarding.namespace': ['other', '', undefined],
    message: ['m'],
  }),
  states: [
    {
      from: { related: { kind: 'Pod', name: 'q' } },
      update: [
        {},
        ...each({
          note: ['n'],
          reason: ['S'],
          type: ['Warning'],
          action: ['B'],
          eventTime: ['2020-01-02T00:00:00.000000Z'],
          related: [undefined],
          'regarding.name': ['q'],
          reportingController: ['other'],
          reportingInstance: ['j'],
          deprecatedCount: [1],
          deprecatedSource: [{ component: 'c' }],
          deprecatedFirstTimestamp: ['2020-01-01T00:00:00Z'],
          deprecatedLastTimestamp: ['2020-01-01T00:00:00Z'],
          series: [{ count: 1 }, { count: 2, lastObservedTime: '2020-01-01T00:00:00.000000Z' }],
          'metadata.labels': [{ a: 'b' }],
        }),
      ],
    },
  ],
}

export const config: readonly Group[] = [configMap, secret, serviceAccount, namespace, node, lease, coreEvent, newEvent]
