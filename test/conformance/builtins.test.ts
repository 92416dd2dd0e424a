/** Tests of built-in types: defaults, validation and immutable fields. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { refusedBuiltins } from '../support/conformance/builtins.ts'
import { conformanceControlPlane, needsQuiet } from '../support/conformance/backends.ts'

const namespace = 'conformance-builtins'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)

const core = `/api/v1/namespaces/${namespace}`
const own = (groupVersion: string, plural: string): string => `/apis/${groupVersion}/namespaces/${namespace}/${plural}`
const jobs = own('batch/v1', 'jobs')

const containers = [{ name: 'main', image: 'nginx' }]
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } }
const selector = { matchLabels: { app: 'a' } }
const once = { spec: { restartPolicy: 'Never', containers } }

/** A Pod spec with empty values. The API server replaces them with the defaults in `filledPodSpec`. */
const emptyPodSpec = {
  restartPolicy: '',
  dnsPolicy: '',
  schedulerName: '',
  containers: [
    {
      ...containers[0],
      imagePullPolicy: '',
      terminationMessagePath: '',
      terminationMessagePolicy: '',
      ports: [{ containerPort: 80, protocol: '' }],
      env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: '', fieldPath: 'metadata.name' } } }],
      livenessProbe: { httpGet: { port: 80, scheme: '', path: '' }, periodSeconds: 0 },
    },
  ],
  initContainers: [{ name: 'init', image: 'nginx:1', imagePullPolicy: '', terminationMessagePolicy: '' }],
}
const filledPodSpec = {
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  containers: [
    {
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      ports: [{ protocol: 'TCP' }],
      env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }],
      livenessProbe: { httpGet: { scheme: 'HTTP', path: '/' }, periodSeconds: 10 },
    },
  ],
  initContainers: [{ imagePullPolicy: 'IfNotPresent', terminationMessagePolicy: 'File' }],
}

function dryRun(path: string, body: JsonObject): Promise<RawAnswer> {
  return api('POST', `${path}?dryRun=All`, { body: { metadata: { name: 'x' }, ...body } })
}

t.test('an object gets the defaults of its type', async (t) => {
  const cases: readonly (readonly [string, JsonObject, object])[] = [
    [
      `${core}/services`,
      { spec: { type: 'NodePort', ports: [{ port: 80 }] } },
      { spec: { externalTrafficPolicy: 'Cluster', ipFamilyPolicy: 'SingleStack', ports: [{ targetPort: 80, protocol: 'TCP' }] } },
    ],
    [
      `${core}/services`,
      { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
      { spec: { allocateLoadBalancerNodePorts: true }, status: { loadBalancer: {} } },
    ],
    [
      `${core}/pods`,
      { spec: { terminationGracePeriodSeconds: -1, containers, volumes: [{ name: 'h', hostPath: { path: '/x' } }] } },
      { spec: { terminationGracePeriodSeconds: 1, volumes: [{ hostPath: { type: '' } }] }, status: { qosClass: 'BestEffort' } },
    ],
    [`${core}/pods`, { spec: emptyPodSpec }, { spec: filledPodSpec }],
    [
      own('apps/v1', 'deployments'),
      { spec: { selector, template: { ...template, spec: emptyPodSpec } } },
      { spec: { template: { spec: filledPodSpec } } },
    ],
    ...['emptyDir', 'hostPath', 'secret', 'configMap', 'projected', 'persistentVolumeClaim', 'csi'].map(
      (source): readonly [string, JsonObject, object] => [
        `${core}/pods`,
        { spec: { containers, volumes: [{ name: 'v', [source]: null }] } },
        { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      ],
    ),
    [jobs, { spec: { template: once } }, { metadata: { labels: { 'job-name': 'x', 'batch.kubernetes.io/job-name': 'x' } } }],
    [
      own('apps/v1', 'daemonsets'),
      { spec: { selector, template } },
      {
        metadata: { annotations: { 'deprecated.daemonset.template.generation': '1' } },
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
        status: { desiredNumberScheduled: 0 },
      },
    ],
    [
      own('rbac.authorization.k8s.io/v1', 'rolebindings'),
      { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
      { roleRef: { apiGroup: 'rbac.authorization.k8s.io' }, subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }] },
    ],
    [
      own('networking.k8s.io/v1', 'networkpolicies'),
      { spec: { podSelector: {}, egress: [{ ports: [{ port: 80 }] }] } },
      { spec: { policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP' }] }] } },
    ],
    [
      own('autoscaling/v2', 'horizontalpodautoscalers'),
      { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, behavior: { scaleUp: {} } } },
      {
        spec: {
          minReplicas: 1,
          metrics: [{ resource: { target: { averageUtilization: 80 } } }],
          behavior: { scaleUp: { selectPolicy: 'Max' } },
        },
      },
    ],
    [
      '/apis/storage.k8s.io/v1/storageclasses',
      { provisioner: 'example.com/x' },
      { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
    ],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 5 }, { preemptionPolicy: 'PreemptLowerPriority', metadata: { generation: 1 } }],
    ['/api/v1/nodes', {}, { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } }],
    [
      `${core}/limitranges`,
      { spec: { limits: [{ type: 'Container', max: { cpu: '4' } }] } },
      { spec: { limits: [{ default: { cpu: '4' }, defaultRequest: { cpu: '4' } }] } },
    ],
  ]
  for (const [path, body, expected] of cases) {
    const { status, body: created } = await dryRun(path, body)
    t.equal(status, 201, path)
    t.match(created, expected, path)
  }
})

t.test('an invalid object is refused', async (t) => {
  for (const { path, body, status, texts } of refusedBuiltins(namespace)) {
    const answer = await dryRun(path, body)
    t.equal(answer.status, status, `${path} ${JSON.stringify(body).slice(0, 120)}`)
    for (const text of texts) t.match(answer.body, { message: text }, path)
  }
})

t.test('a change of an immutable field is refused', async (t) => {
  const create = async (path: string, name: string, body: JsonObject): Promise<void> => {
    t.equal((await api('POST', path, { body: { metadata: { name }, ...body } })).status, 201, path)
  }
  await create(`${core}/services`, 'fixed', { spec: { ports: [{ port: 80 }] } })
  await create(jobs, 'fixed', { spec: { template: once } })
  await create(own('apps/v1', 'statefulsets'), 'fixed', { spec: { serviceName: 'x', selector, template } })
  const cases: readonly (readonly [string, JsonObject, RegExp])[] = [
    [`${core}/services/fixed`, { spec: { clusterIP: '10.96.77.77' } }, /spec.clusterIPs\[0\]: Invalid value: .*: may not change once set/],
    [`${jobs}/fixed`, { spec: { template: { metadata: { labels: { a: 'b' } } } } }, /spec.template: Invalid value: .*: field is immutable/],
    [`${jobs}/fixed`, { spec: { completions: 3 } }, /spec.completions: Invalid value: 3: field is immutable/],
    [
      own('apps/v1', 'statefulsets/fixed'),
      { spec: { serviceName: 'y' } },
      /spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template'/,
    ],
  ]
  for (const [path, body, message] of cases) {
    const answer = await api('PATCH', path, { body, contentType: 'application/merge-patch+json' })
    t.equal(answer.status, 422, path)
    t.match(answer.body, { message }, path)
  }
})

t.test('a Service keeps its allocated values, and loses those that its new type does not use', async (t) => {
  const path = `${core}/services`
  const { body: created } = await api('POST', path, {
    body: { metadata: { name: 'moves' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } },
  })
  const { clusterIP, ports } = created.spec as { clusterIP: string; ports: { nodePort: number }[] }
  t.ok(ports[0]!.nodePort >= 30_000 && ports[0]!.nodePort < 32_768)
  const replaced = await api('PUT', `${path}/moves`, {
    body: { metadata: { name: 'moves' }, spec: { type: 'NodePort', ports: [{ port: 81 }] } },
  })
  t.match(replaced.body, { spec: { clusterIP, ports: [{ port: 81, nodePort: ports[0]!.nodePort }] } })
  const patch = (spec: JsonObject): Promise<RawAnswer> =>
    api('PATCH', `${path}/moves`, { body: { spec }, contentType: 'application/merge-patch+json' })
  const inside = (await patch({ type: 'ClusterIP' })).body.spec as JsonObject
  t.equal(inside.externalTrafficPolicy, undefined)
  t.notMatch(inside, { ports: [{ nodePort: Number }] })
  const outside = (await patch({ type: 'ExternalName', externalName: 'example.com' })).body.spec as JsonObject
  t.equal(outside.clusterIP, undefined)
  t.equal(outside.externalName, 'example.com')
})

t.test('the response to a DELETE is the object or a Status, depending on the type', async (t) => {
  await api('POST', jobs, { body: { metadata: { name: 'leaves' }, spec: { template: once } } })
  const deleted = await api('DELETE', `${jobs}/leaves`)
  t.match(deleted.warnings, [/^child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them/])
  t.match(deleted.body, { kind: 'Job', metadata: { finalizers: ['orphan'], deletionTimestamp: String } })
  await api('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'gone' } } })
  const { body } = await api('DELETE', `${core}/serviceaccounts/gone`)
  t.match(body, { kind: 'ServiceAccount', metadata: { name: 'gone' } })
  t.equal((body.metadata as JsonObject).deletionTimestamp, undefined, 'an object that is removed immediately has no deletionTimestamp')
})

t.test('a Pod is evicted by name', needsQuiet, async (t) => {
  const pod = `${core}/pods/leaves`
  await api('POST', `${core}/pods`, { body: { metadata: { name: 'leaves' }, spec: { containers } } })
  t.equal((await api('GET', `${pod}/log`)).status, 204, 'the Pod is not scheduled yet')
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction' }
  t.match(await api('POST', `${pod}/eviction`, { body: { ...eviction, metadata: { name: 'other' } } }), {
    status: 400,
    body: { message: 'name in URL does not match name in Eviction object' },
  })
  const dry = await api('POST', `${pod}/eviction?dryRun=All`, { body: { ...eviction, metadata: { name: 'leaves' } } })
  t.equal(dry.status, 201)
  t.equal((await api('GET', pod)).status, 200)
  t.match(await api('POST', `${pod}/eviction`, { body: { ...eviction, metadata: { name: 'leaves' } } }), {
    status: 201,
    body: { kind: 'Status', status: 'Success' },
  })
  t.equal((await api('GET', pod)).status, 404)
})

t.test('deprecated and suspicious fields cause warnings', async (t) => {
  const endpoints = await dryRun(`${core}/endpoints`, { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] })
  t.strictSame(endpoints.warnings, ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'])
  const secret = await dryRun(`${core}/secrets`, { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'a', 'tls.key': 'b' } })
  t.equal(secret.status, 201)
  t.strictSame(secret.warnings, ['tls: failed to find any PEM data in certificate input'])
})

t.test('an Event is served in both of its groups', async (t) => {
  const events = own('events.k8s.io/v1', 'events')
  const time = '2026-01-01T00:00:00.000000Z'
  const fields = { reason: 'R', type: 'Normal', eventTime: time, action: 'A', reportingController: 'example.com/c', reportingInstance: 'i' }
  const body = { metadata: { name: 'new' }, regarding: { kind: 'ConfigMap', name: 'a', namespace }, note: 'm', ...fields }
  t.equal((await api('POST', events, { body })).status, 201)
  const { body: inCore } = await api('GET', `${core}/events/new`)
  t.match(inCore, {
    apiVersion: 'v1',
    involvedObject: { kind: 'ConfigMap', name: 'a' },
    message: 'm',
    reportingComponent: 'example.com/c',
  })
  t.equal(inCore.firstTimestamp, null)
  const old = { involvedObject: { kind: 'ConfigMap', name: 'b', namespace }, message: 'n', source: { component: 'c' }, count: 2 }
  t.equal((await api('POST', `${core}/events`, { body: { metadata: { name: 'old' }, ...old } })).status, 201)
  t.match((await api('GET', `${events}/old`)).body, {
    apiVersion: 'events.k8s.io/v1',
    regarding: { kind: 'ConfigMap', name: 'b' },
    note: 'n',
    deprecatedSource: { component: 'c' },
    deprecatedCount: 2,
  })
  const selected = await api('GET', `${events}?fieldSelector=regarding.name%3Db`)
  t.match(selected.body, { items: [{ metadata: { name: 'old' } }] })
  t.match(await api('POST', events, { body: { ...body, metadata: { name: 'x' }, type: 'Odd', deprecatedCount: 1 } }), {
    status: 422,
    body: {
      message: /^Event "x" is invalid: .*count: Invalid value: "": needs to be unset/,
    },
  })
  t.equal((await api('DELETE', `${events}/old`)).status, 200)
  t.equal((await api('GET', `${core}/events/old`)).status, 404)
})
