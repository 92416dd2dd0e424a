import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fixture, pod, refusal } from '../../support/devcluster/registry.ts'

const key = { namespace: 'default', name: 'p' }

t.test('a Pod gets its defaults', async (t) => {
  const f = await fixture()
  const created = await f.create(
    'pods',
    pod('p', { containers: [{ name: 'c', image: 'nginx:1.2', ports: [{ containerPort: 80 }] }], volumes: [{ name: 'v' }] }),
  )
  t.match(created, {
    spec: {
      containers: [
        {
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          ports: [{ protocol: 'TCP' }],
        },
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [{ key: 'node.kubernetes.io/not-ready', tolerationSeconds: 300 }, { key: 'node.kubernetes.io/unreachable' }],
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      enableServiceLinks: true,
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })
  const latest = await f.create(
    'pods',
    pod('q', { containers: [{ name: 'c', image: 'host:5000/nginx', resources: { limits: { cpu: '1', memory: '1Gi' } } }] }),
  )
  t.match(latest, {
    spec: { containers: [{ imagePullPolicy: 'Always', resources: { requests: { cpu: '1', memory: '1Gi' } } }] },
    status: { qosClass: 'Guaranteed' },
  })
})

type Case = readonly [name: string, spec: JsonObject, code: number, message: string]
const one = { name: 'c', image: 'x' }
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const invalidCases: readonly Case[] = [
  ['no containers', { containers: [] }, 422, 'spec.containers: Required value'],
  [
    'a token of nobody',
    { containers: [one], volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    422,
    'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ],
  ['no name', { containers: [{ image: 'x' }] }, 422, 'spec.containers[0].name: Required value'],
  ['a bad name', { containers: [{ name: 'A_B', image: 'x' }] }, 422, `spec.containers[0].name: Invalid value: "A_B": ${labelText}`],
  ['a name twice', { containers: [one, one] }, 422, 'spec.containers[1].name: Duplicate value: "c"'],
  [
    'a name twice with an init container',
    { containers: [one], initContainers: [one] },
    422,
    'spec.initContainers[0].name: Duplicate value: "c"',
  ],
  ['no image', { containers: [{ name: 'c' }] }, 422, 'spec.containers[0].image: Required value'],
  [
    'a bad restart policy',
    { containers: [one], restartPolicy: 'Sometimes' },
    422,
    'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
  ],
  [
    'a bad pull policy',
    { containers: [{ ...one, imagePullPolicy: 'X' }] },
    422,
    'spec.containers[0].imagePullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"',
  ],
  [
    'a port out of range',
    { containers: [{ ...one, ports: [{ containerPort: 70000 }] }] },
    422,
    'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ],
  [
    'a bad protocol',
    { containers: [{ ...one, ports: [{ containerPort: 1, protocol: 'X' }] }] },
    422,
    'spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  ['an env without name', { containers: [{ ...one, env: [{ value: 'x' }] }] }, 422, 'spec.containers[0].env[0].name: Required value'],
  [
    'an unknown volume',
    { containers: [{ ...one, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
    422,
    'spec.containers[0].volumeMounts[0].name: Not found: "v"',
  ],
  [
    'a request above the limit',
    { containers: [{ ...one, resources: { limits: { cpu: '1' }, requests: { cpu: '1500m' } } }] },
    422,
    'spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
  ],
  [
    'a string for a list',
    { containers: 'x' },
    400,
    'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  [
    'a string for an object',
    { containers: ['x'] },
    400,
    'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container',
  ],
  [
    'a number for a string',
    { containers: [{ name: 'c', image: 5 }] },
    400,
    'json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
  ],
  [
    'a string for a number',
    { containers: [{ ...one, ports: [{ containerPort: '80' }] }] },
    400,
    'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  [
    'a number for an env value',
    { containers: [{ ...one, env: [{ name: 'A', value: 1 }] }] },
    400,
    'json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string',
  ],
  [
    'a bad quantity',
    { containers: [{ ...one, resources: { limits: { cpu: 'much' } } }] },
    400,
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
]

for (const [name, spec, code, message] of invalidCases) {
  t.test(`a Pod with ${name} is refused`, async (t) => {
    const f = await fixture()
    const prefix = code === 400 ? 'Pod in version "v1" cannot be handled as a Pod: ' : 'Pod "p" is invalid: '
    const status = await refusal(() => f.create('pods', { ...pod('p'), spec }))
    t.match(status, { code, reason: code === 400 ? 'BadRequest' : 'Invalid' })
    t.equal(status.message, prefix + message)
  })
}

t.test('unknown fields of a Pod are reported', async (t) => {
  const f = await fixture()
  await f.create('pods', pod('p', { replicas: 1, containers: [{ ...one, imgae: 'x' }] }))
  t.strictSame(f.warnings, ['unknown field "spec.containers[0].imgae"', 'unknown field "spec.replicas"'])
  t.match(await refusal(() => f.create('pods', pod('q', { foo: 1 }), { fieldValidation: 'Strict' })), {
    message: 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo"',
  })
})

t.test('an update of a Pod may change few fields only', async (t) => {
  const f = await fixture()
  const created = await f.create('pods', pod('p'))
  const spec = created.spec as { containers: JsonObject[]; tolerations: JsonObject[] } & JsonObject
  const put = (changes: JsonObject) =>
    f.registry.update(
      f.info('pods'),
      key,
      { object: { ...created, metadata: { name: 'p' }, spec: { ...spec, ...changes } }, duplicates: [] },
      f.context,
    )
  await put({
    containers: [{ ...spec.containers[0], image: 'nginx:2' }],
    activeDeadlineSeconds: 10,
    tolerations: [...spec.tolerations, { key: 'x', operator: 'Exists' }],
  })
  const current = { activeDeadlineSeconds: 10, tolerations: [...spec.tolerations, { key: 'x', operator: 'Exists' }] }
  t.match(await refusal(() => put({ ...current, nodeName: 'elsewhere' })), {
    code: 422,
    message:
      /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`,`spec.initContainers\[\*\].image`,/,
  })
  t.match(await refusal(() => put({ ...current, containers: [...spec.containers, { ...one }] })), {
    message: /spec.containers: Forbidden: pod updates may not add or remove containers/,
  })
  t.match(await refusal(() => put({ ...current, activeDeadlineSeconds: 20 })), {
    message: /spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value/,
  })
  t.match(await refusal(() => put({ ...current, tolerations: [] })), {
    message: /existing toleration can not be modified except its tolerationSeconds/,
  })
})

t.test('a Pod can be bound to a node once', async (t) => {
  const f = await fixture()
  await f.create('pods', pod('p'))
  const bind = (node: string) =>
    f.registry.create(
      f.info('pods'),
      'default',
      { object: { metadata: { name: 'p' }, target: { kind: 'Node', name: node } }, duplicates: [] },
      f.context,
      'p',
      'binding',
    )
  t.match(await bind('n1'), { kind: 'Status', status: 'Success' })
  t.match(f.registry.get(f.info('pods'), key), {
    spec: { nodeName: 'n1' },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  })
  t.match(await refusal(() => bind('n2')), {
    code: 409,
    message: 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
  })
})

t.test('a binding sets only the node and the condition PodScheduled, and refuses another or deleted Pod', async (t) => {
  const f = await fixture()
  const { metadata, spec } = await f.create('pods', pod('p'))
  const { uid } = metadata as { uid: string }
  const bind = (more: JsonObject) => {
    const object = { metadata: { name: 'p', ...more }, target: { name: 'n1' } }
    return f.registry.create(f.info('pods'), 'default', { object, duplicates: [] }, f.context, 'p', 'binding')
  }
  t.strictSame(
    (await refusal(() => bind({ uid: 'other' }))).message,
    `Operation cannot be fulfilled on pods "p": Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
  )
  t.strictSame(await bind({ uid }), { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 })
  const bound = f.registry.get(f.info('pods'), key)
  t.strictSame(bound.spec, { ...(spec as JsonObject), nodeName: 'n1' })
  const { conditions, ...status } = bound.status as { conditions: JsonObject[] } & JsonObject
  t.strictSame(status, { phase: 'Pending', qosClass: 'BestEffort' })
  t.match(conditions[0]!.lastTransitionTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.strictSame(conditions, [
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: conditions[0]!.lastTransitionTime! },
  ])
  await f.create('pods', { ...pod('q'), metadata: { name: 'q', finalizers: ['a.b/c'] } })
  await f.registry.delete(f.info('pods'), { namespace: 'default', name: 'q' }, {}, f.context)
  const late = { object: { metadata: { name: 'q' }, target: { name: 'n1' } }, duplicates: [] }
  t.equal(
    (await refusal(() => f.registry.create(f.info('pods'), 'default', late, f.context, 'q', 'binding'))).message,
    'Operation cannot be fulfilled on pods/binding "q": pod q is being deleted, cannot be assigned to a host',
  )
})

t.test('a Pod has the table columns of kubectl get', async (t) => {
  const { columns } = (await fixture()).info('pods')
  const now = Date.parse('2026-01-01T01:00:00Z')
  const cells = (object: JsonObject): unknown[] => columns.map((column) => column.cell(object, now))
  t.strictSame(
    columns.map(({ name }) => name),
    ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates'],
  )
  const base = { ...pod('p', { nodeName: 'n' }), metadata: { name: 'p', creationTimestamp: '2026-01-01T00:55:27Z' } }
  t.strictSame(cells({ ...base, status: { phase: 'Pending' } }), ['p', '0/1', 'Pending', '0', '4m33s', '<none>', 'n', '<none>', '<none>'])
  const running = {
    ready: true,
    restartCount: 2,
    state: { running: {} },
    lastState: { terminated: { finishedAt: '2026-01-01T00:59:00Z' } },
  }
  t.strictSame(cells({ ...base, status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [running] } }).slice(1, 6), [
    '1/1',
    'Running',
    '2 (60s ago)',
    '4m33s',
    '10.0.0.1',
  ])
  t.equal(
    cells({ ...base, status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] } })[2],
    'ImagePullBackOff',
  )
  t.equal(
    cells({ ...base, metadata: { ...base.metadata, deletionTimestamp: '2026-01-01T00:59:00Z' }, status: { phase: 'Running' } })[2],
    'Terminating',
  )
  t.equal(
    cells({ ...base, status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'Error' } } }] } })[2],
    'Error',
  )
})
