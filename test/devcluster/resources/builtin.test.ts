import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fixture, refusal } from '../../support/devcluster/registry.ts'

const container = { name: 'c', image: 'nginx' }
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
const webhook = {
  name: 'w.ex.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { service: { name: 's', namespace: 'n' } },
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
}

t.test('the common types get their defaults', async (t) => {
  const f = await fixture()
  const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
    [
      'deployments',
      { spec: { selector: { matchLabels: { a: 'b' } }, template } },
      {
        spec: {
          replicas: 1,
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
          revisionHistoryLimit: 10,
          progressDeadlineSeconds: 600,
          template: { spec: { dnsPolicy: 'ClusterFirst' } },
        },
        status: {},
      },
    ],
    [
      'services',
      { spec: { ports: [{ port: 80 }] } },
      {
        spec: {
          type: 'ClusterIP',
          sessionAffinity: 'None',
          clusterIP: /^10\.96\./,
          ports: [{ protocol: 'TCP', targetPort: 80 }],
        } as unknown as JsonObject,
      },
    ],
    ['services', { spec: { clusterIP: 'None' } }, { spec: { clusterIP: 'None', clusterIPs: ['None'] } }],
    ['secrets', { stringData: { a: 'x' } }, { type: 'Opaque', data: { a: 'eA==' } }],
    [
      'jobs',
      { spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } } },
      { spec: { completions: 1, parallelism: 1, backoffLimit: 6, selector: { matchLabels: {} } } },
    ],
    [
      'cronjobs',
      {
        spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } } } },
      },
      { spec: { concurrencyPolicy: 'Allow', successfulJobsHistoryLimit: 3 } },
    ],
    [
      'mutatingwebhookconfigurations',
      { webhooks: [webhook] },
      {
        webhooks: [
          {
            failurePolicy: 'Fail',
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            timeoutSeconds: 10,
            reinvocationPolicy: 'Never',
            rules: [{ scope: '*' }],
            clientConfig: { service: { port: 443 } },
          },
        ],
      },
    ],
    ['nodes', { status: { phase: 'kept' } }, { status: { phase: 'kept' } }],
    ['clusterroles', { rules: [] }, {}],
    ['poddisruptionbudgets', { spec: {} }, {}],
  ]
  for (const [index, [plural, object, expected]] of cases.entries())
    t.match(await f.create(plural, { metadata: { name: `x${index}` }, ...object }), expected, plural)
})

t.test('invalid objects are refused as by kube-apiserver', async (t) => {
  const f = await fixture()
  const cases: readonly (readonly [string, JsonObject, string | RegExp])[] = [
    [
      'deployments',
      { spec: { selector: { matchLabels: { a: 'c' } }, template } },
      'Deployment.apps "x" is invalid: spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
    [
      'deployments',
      { spec: { selector: { matchLabels: { a: 'b' } }, template: { ...template, spec: { containers: [] } } } },
      /spec.template.spec.containers: Required value/,
    ],
    ['services', { spec: {} }, 'Service "x" is invalid: spec.ports: Required value'],
    [
      'configmaps',
      { data: { 'a b': '' } },
      /^ConfigMap "x" is invalid: data\[a b\]: Invalid value: "a b": a valid config key must consist of/,
    ],
    ['secrets', { type: 'kubernetes.io/tls' }, 'Secret "x" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]'],
    [
      'validatingwebhookconfigurations',
      { webhooks: [{ ...webhook, name: 'w' }] },
      /webhooks\[0\].name: Invalid value: "w": should be a domain with at least three segments separated by dots/,
    ],
    [
      'validatingwebhookconfigurations',
      { webhooks: [{ name: 'w.ex.com' }] },
      /admissionReviewVersions: Required value: must specify one of v1, v1beta1, .*clientConfig: Required value: exactly one of url or service is required, .*sideEffects: Required value: must specify one of None, NoneOnDryRun/,
    ],
    [
      'jobs',
      { spec: { template: { spec: { containers: [container] } } } },
      /spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"/,
    ],
    [
      'events',
      { involvedObject: { namespace: 'other' } },
      'Event "x" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ],
    ['roles', { rules: [{ resources: ['pods'] }] }, /rules\[0\].verbs: Required value: verbs must contain at least one value/],
  ]
  for (const [plural, object, message] of cases) {
    const status = await refusal(() => f.create(plural, { metadata: { name: 'x' }, ...object }))
    t.match(status.message, message, plural)
  }
})

t.test('maxReplicas of an autoscaler must not be less than minReplicas', async (t) => {
  const f = await fixture()
  const scaling = (name: string, minReplicas: number, maxReplicas: number): JsonObject => ({
    metadata: { name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, minReplicas, maxReplicas },
  })
  t.match(await f.create('horizontalpodautoscalers', scaling('x', 3, 3)), { spec: { minReplicas: 3, maxReplicas: 3 } })
  const { message } = await refusal(() => f.create('horizontalpodautoscalers', scaling('y', 3, 2)))
  t.equal(
    message,
    'HorizontalPodAutoscaler.autoscaling "y" is invalid: spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`',
  )
})

t.test('scaleTargetRef of an autoscaler needs an apiVersion with a group, except for ReplicationControllers', async (t) => {
  const f = await fixture()
  const scaling = (scaleTargetRef: JsonObject): JsonObject => ({ metadata: { name: 'x' }, spec: { maxReplicas: 3, scaleTargetRef } })
  const { message } = await refusal(() => f.create('horizontalpodautoscalers', scaling({ kind: 'Deployment', name: 'd' })))
  t.match(message, /spec\.scaleTargetRef\.apiVersion: Invalid value: "": apiVersion must specify API group$/)
  const target = { kind: 'ReplicationController', name: 'd' }
  t.match(await f.create('horizontalpodautoscalers', scaling(target)), { spec: { scaleTargetRef: target } })
})

t.test('a change of an immutable field is refused', async (t) => {
  const f = await fixture()
  const put = async (plural: string, object: JsonObject, change: JsonObject) => {
    const created = await f.create(plural, { metadata: { name: plural }, ...object })
    return refusal(() =>
      f.registry.update(
        f.info(plural),
        { namespace: 'default', name: plural },
        { object: { ...created, ...change }, duplicates: [] },
        f.context,
      ),
    )
  }
  t.match(
    await put(
      'deployments',
      { spec: { selector: { matchLabels: { a: 'b' } }, template } },
      { spec: { selector: { matchLabels: {} }, template } },
    ),
    { message: /spec.selector: Invalid value: .*: field is immutable/ },
  )
  t.match(await put('configmaps', { immutable: true, data: { a: '1' } }, { data: { a: '2' } }), {
    message: /data: Forbidden: field is immutable when `immutable` is set/,
  })
  t.match(await put('rolebindings', { roleRef: { kind: 'Role', name: 'r' } }, { roleRef: { kind: 'Role', name: 's' } }), {
    message: /roleRef: Invalid value: .*: cannot change roleRef/,
  })
})

t.test('common types have the table columns of kubectl get', async (t) => {
  const f = await fixture()
  const now = Date.parse('2026-01-01T00:10:00Z')
  const metadata = { name: 'x', creationTimestamp: '2026-01-01T00:05:27Z' }
  const cells = (plural: string, object: JsonObject): unknown[] =>
    f.info(plural).columns.map((column) => column.cell({ metadata, ...object }, now))
  t.strictSame(
    cells('deployments', { spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [container] } } } }),
    ['x', '0/1', 0, 0, '4m33s', 'c', 'nginx', 'a=b'],
  )
  t.strictSame(cells('configmaps', { data: { a: '1' }, binaryData: { b: '' } }), ['x', 2, '4m33s'])
  t.strictSame(cells('namespaces', { status: { phase: 'Active' } }), ['x', 'Active', '4m33s'])
  t.strictSame(
    cells('services', { spec: { type: 'NodePort', clusterIP: '10.96.0.1', ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }] } }),
    ['x', 'NodePort', '10.96.0.1', '<none>', '80:30080/TCP', '4m33s', '<none>'],
  )
  t.strictSame(
    cells('nodes', {
      metadata: { ...metadata, labels: { 'node-role.kubernetes.io/control-plane': '' } },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1' } },
    }).slice(0, 5),
    ['x', 'Ready', 'control-plane', '4m33s', 'v1'],
  )
  t.strictSame(
    cells('events', {
      type: 'Normal',
      reason: 'R',
      message: 'm',
      involvedObject: { kind: 'Pod', name: 'p' },
      count: 3,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:09:00Z',
    }),
    ['60s', 'Normal', 'R', 'pod/p', '', '', 'm', '10m', 3, 'x'],
  )
  t.strictSame(cells('leases', { spec: { holderIdentity: 'me' } }), ['x', 'me', '4m33s'])
  t.strictSame(cells('jobs', { spec: { completions: 2 }, status: { succeeded: 1, startTime: '2026-01-01T00:09:00Z' } }).slice(0, 5), [
    'x',
    'Running',
    '1/2',
    '60s',
    '4m33s',
  ])
})

t.test('limits, volumes and ingresses have the table columns of kubectl get', async (t) => {
  const f = await fixture()
  const cells = (plural: string, object: JsonObject): unknown[] =>
    f.info(plural).columns.map((column) => column.cell({ metadata: { name: 'x' }, ...object }, 0))
  const age = '<unknown>'
  const cases: readonly (readonly [string, JsonObject, readonly unknown[]])[] = [
    [
      'resourcequotas',
      { status: { hard: { pods: '9', 'limits.cpu': '2' }, used: { pods: '1' } } },
      ['x', 'pods: 1/9', 'limits.cpu: 0/2', age],
    ],
    ['poddisruptionbudgets', { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } }, ['x', '50%', 'N/A', 1, age]],
    [
      'horizontalpodautoscalers',
      {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          maxReplicas: 3,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Pods', pods: { target: { averageValue: '1k' } } },
            { type: 'External', external: { target: { value: '5' } } },
          ],
        },
        status: { currentMetrics: [{ type: 'Resource', resource: { current: { averageUtilization: 40 } } }] },
      },
      ['x', 'Deployment/d', 'cpu: 40%/80%, <unknown>/1k + 1 more...', '<unset>', 3, 0, age],
    ],
    [
      'persistentvolumeclaims',
      {
        spec: { volumeName: 'v', storageClassName: 's', volumeMode: 'Filesystem' },
        status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
      },
      ['x', 'Bound', 'v', '1Gi', 'RWO,RWX', 's', '<unset>', age, 'Filesystem'],
    ],
    [
      'persistentvolumes',
      { spec: { capacity: { storage: '1Gi' }, claimRef: { namespace: 'n', name: 'c' }, persistentVolumeReclaimPolicy: 'Retain' } },
      ['x', '1Gi', '', 'Retain', '', 'n/c', '', '<unset>', '', age, '<unset>'],
    ],
    [
      'storageclasses',
      { metadata: { name: 'x', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }, provisioner: 'p' },
      ['x (default)', 'p', '', '', false, age],
    ],
    [
      'ingresses',
      {
        spec: { ingressClassName: 'c', tls: [{}], rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, {}] },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { hostname: 'h' }] } },
      },
      ['x', 'c', 'a,b,c + 2 more...', '1.1.1.1,h', '80, 443', age],
    ],
    [
      'endpointslices',
      { addressType: 'IPv4', ports: [{ port: 80 }, { name: 'n' }], endpoints: [{ addresses: ['1.1.1.1'] }] },
      ['x', 'IPv4', '80,n', '1.1.1.1', age],
    ],
    [
      'endpoints',
      { subsets: [{ addresses: [{ ip: 'fd::1' }, { ip: '1.1.1.1' }], ports: [{ port: 80 }] }] },
      ['x', '[fd::1]:80,1.1.1.1:80', age],
    ],
    [
      'rolebindings',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'User', name: 'v' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        ],
      },
      ['x', 'Role/r', age, 'u, v', '', 'n/s'],
    ],
  ]
  for (const [plural, object, expected] of cases) t.strictSame(cells(plural, object), expected, plural)
})

t.test('the deletion of a Job without a propagation policy warns that its Pods are orphaned', async (t) => {
  const f = await fixture()
  const warning =
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or ' +
    'set propagationPolicy=Orphan to suppress this warning'
  const cases: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{}, [warning]],
    [{ gracePeriodSeconds: 0 }, [warning]],
    [{ propagationPolicy: 'Orphan' }, []],
    [{ propagationPolicy: 'Background' }, []],
    [{ orphanDependents: true }, []],
    [{ orphanDependents: false }, []],
  ]
  const pods = { metadata: { labels: { a: 'b' } }, spec: { containers: [container], restartPolicy: 'Never' } }
  for (const [index, [options, warnings]] of cases.entries()) {
    const name = `job-${index}`
    await f.create('jobs', { metadata: { name }, spec: { template: pods } })
    f.warnings.length = 0
    await f.registry.delete(f.info('jobs'), { namespace: 'default', name }, options, f.context)
    t.strictSame(f.warnings, warnings, JSON.stringify(options))
  }
})

t.test('a Job selects its Pods by its uid, unless manualSelector is true', async (t) => {
  const f = await fixture()
  const spec = { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container], restartPolicy: 'Never' } } }
  const created = async (name: string, more: JsonObject, labels?: JsonObject): Promise<unknown[]> => {
    const job = await f.create('jobs', { metadata: { name, ...(labels && { labels }) }, spec: { ...spec, ...more } })
    const { uid, labels: own } = job.metadata as JsonObject
    const { selector, template } = job.spec as { selector: unknown; template: { metadata: JsonObject } }
    return JSON.parse(JSON.stringify([own, selector, template.metadata.labels]).replaceAll(String(uid), 'UID')) as unknown[]
  }
  const own = { 'batch.kubernetes.io/controller-uid': 'UID', 'batch.kubernetes.io/job-name': 'x', 'controller-uid': 'UID', 'job-name': 'x' }
  const byUid = { matchLabels: { 'batch.kubernetes.io/controller-uid': 'UID' } }
  t.strictSame(await created('x', {}), [{ a: 'b', ...own }, byUid, { a: 'b', ...own }])
  t.strictSame((await created('y', {}, { c: 'd' }))[0], { c: 'd' }, 'a Job keeps its own labels')
  const selector = { matchLabels: { a: 'b' } }
  t.strictSame(await created('z', { manualSelector: true, selector }), [{ a: 'b' }, selector, { a: 'b' }])
  const problem = async (more: JsonObject): Promise<string> => {
    const { message } = await refusal(() => f.create('jobs', { metadata: { name: 'none' }, spec: { ...spec, ...more } }))
    return message!.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
  }
  t.equal(
    await problem({ selector }),
    'Job.batch "none" is invalid: spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"UID"}}: `selector` not auto-generated',
  )
  t.equal(
    await problem({ manualSelector: true }),
    'Job.batch "none" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`]',
  )
})

t.test('an update of a Service that changes clusterIP and clusterIPs in different ways is refused', async (t) => {
  const f = await fixture()
  const created = await f.create('services', { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  const put = async (change: JsonObject): Promise<string[]> => {
    const object = { ...created, spec: { ...(created.spec as JsonObject), ...change } }
    const { details } = await refusal(() =>
      f.registry.update(f.info('services'), { namespace: 'default', name: 's' }, { object, duplicates: [] }, f.context),
    )
    return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)
  }
  t.strictSame(await put({ clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.8'] }), [
    'spec.clusterIPs: Invalid value: ["10.96.0.8"]: first value must match `clusterIP`',
  ])
  t.strictSame(await put({ clusterIP: '10.96.0.7' }), ['spec.clusterIPs[0]: Invalid value: ["10.96.0.7"]: may not change once set'])
})

t.test('a TLS Secret with an invalid certificate or key causes a warning', async (t) => {
  const f = await fixture()
  const pem = (what: string): string => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`
  const warningsOf = async (certificate: string, key: string, type = 'kubernetes.io/tls'): Promise<string[]> => {
    f.warnings.length = 0
    await f.create('secrets', { metadata: { generateName: 'x-' }, type, stringData: { 'tls.crt': certificate, 'tls.key': key } })
    return [...f.warnings]
  }
  t.strictSame(await warningsOf(pem('CERTIFICATE'), pem('PRIVATE KEY')), [])
  t.strictSame(await warningsOf('x', pem('PRIVATE KEY')), ['tls: failed to find any PEM data in certificate input'])
  t.strictSame(await warningsOf(pem('CERTIFICATE'), 'x'), ['tls: failed to find any PEM data in key input'])
  t.strictSame(await warningsOf('x', 'x', 'Opaque'), [])
})
