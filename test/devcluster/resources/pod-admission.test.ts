import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { fixture, manualClock, pod, refusal } from '../../support/devcluster/registry.ts'

const account = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name }, ...more })
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

t.test('a Pod gets a volume with the token of its ServiceAccount', async (t) => {
  const f = await fixture({ hasServiceAccounts: true, randomSuffix: () => 'abcde' })
  await f.create('serviceaccounts', account('default', { imagePullSecrets: [{ name: 'registry' }] }))
  const created = await f.create('pods', pod('p', { initContainers: [{ name: 'init', image: 'x' }] }))
  const mount = { name: 'kube-api-access-abcde', readOnly: true, mountPath }
  t.match(created, {
    spec: {
      serviceAccountName: 'default',
      serviceAccount: 'default',
      imagePullSecrets: [{ name: 'registry' }],
      initContainers: [{ volumeMounts: [mount] }],
      containers: [{ volumeMounts: [mount] }],
      volumes: [{ name: 'kube-api-access-abcde', projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607 } }, {}, {}] } }],
    },
  })
})

t.test('the token volume has token, CA and namespace, and the Pod keeps its own imagePullSecrets', async (t) => {
  const f = await fixture({ hasServiceAccounts: true, randomSuffix: () => 'abcde' })
  await f.create('serviceaccounts', account('default', { imagePullSecrets: [{ name: 'registry' }] }))
  await f.create('serviceaccounts', account('plain'))
  const specOf = async (name: string, spec: JsonObject): Promise<JsonObject> => (await f.create('pods', pod(name, spec))).spec as JsonObject
  t.strictSame((await specOf('a', {})).volumes, [
    {
      name: 'kube-api-access-abcde',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
        ],
        defaultMode: 420,
      },
    },
  ])
  t.strictSame((await specOf('b', { imagePullSecrets: [{ name: 'own' }] })).imagePullSecrets, [{ name: 'own' }])
  t.notOk('imagePullSecrets' in (await specOf('c', { serviceAccountName: 'plain' })))
})

t.test('a Pod gets no token volume when it or its ServiceAccount disables it, or every container mounts its own', async (t) => {
  const f = await fixture({ hasServiceAccounts: true })
  await f.create('serviceaccounts', account('default'))
  await f.create('serviceaccounts', account('shy', { automountServiceAccountToken: false }))
  const volumesOf = async (name: string, spec: JsonObject): Promise<unknown> =>
    ((await f.create('pods', pod(name, spec))).spec as JsonObject).volumes
  t.equal(await volumesOf('a', { automountServiceAccountToken: false }), undefined)
  t.equal(await volumesOf('b', { serviceAccountName: 'shy' }), undefined)
  t.match(await volumesOf('c', { serviceAccountName: 'shy', automountServiceAccountToken: true }), [{ projected: {} }])
  const own = [{ name: 'own', emptyDir: {} }]
  const containers = [{ name: 'main', image: 'x', volumeMounts: [{ name: 'own', mountPath }] }]
  t.strictSame(await volumesOf('d', { volumes: own, containers }), own)
})

t.test('a Pod with a missing ServiceAccount is refused, after a wait in a new namespace', async (t) => {
  const clock = manualClock()
  const f = await fixture({ hasServiceAccounts: true, clock })
  t.match(await refusal(() => f.create('pods', pod('p', { serviceAccountName: 'nobody' }))), {
    code: 403,
    message: 'pods "p" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
  })
  const refused = refusal(() => f.create('pods', pod('p')))
  const tick = async (): Promise<void> => {
    await new Promise(setImmediate)
    clock.advance(100)
    await new Promise(setImmediate)
  }
  for (let attempt = 1; attempt < 10; attempt += 1) await tick()
  t.match(await refused, { message: /serviceaccount "default" not found/ })
  const creating = f.create('pods', pod('p'))
  await tick()
  await f.create('serviceaccounts', account('default'))
  await tick()
  t.match(await creating, { spec: { serviceAccountName: 'default' } })
})

t.test('a LimitRange sets default requests and limits', async (t) => {
  const f = await fixture()
  const limits = [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1', memory: '1Gi' } }, { type: 'Pod' }]
  await f.create('limitranges', { metadata: { name: 'l' }, spec: { limits } })
  const initContainers = [{ name: 'init', image: 'x', resources: { requests: { memory: '2Gi' }, limits: { cpu: '1' } } }]
  const created = await f.create('pods', pod('p', { initContainers }))
  t.match(created, {
    metadata: {
      annotations: {
        'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu, memory request for container main; cpu limit for container main',
      },
    },
    spec: {
      containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } }],
      initContainers: [{ resources: { requests: { memory: '2Gi', cpu: '1' }, limits: { cpu: '1' } } }],
    },
    status: { qosClass: 'Burstable' },
  })
})

t.test('a PriorityClass sets the priority of a Pod', async (t) => {
  const f = await fixture()
  const priorityOf = async (name: string, spec: JsonObject = {}): Promise<unknown> => {
    const created = (await f.create('pods', pod(name, spec))).spec as JsonObject
    return [created.priorityClassName, created.priority, created.preemptionPolicy]
  }
  t.strictSame(await priorityOf('none'), [undefined, 0, 'PreemptLowerPriority'])
  await f.create('priorityclasses', { metadata: { name: 'high' }, value: 100, preemptionPolicy: 'Never' })
  await f.create('priorityclasses', { metadata: { name: 'usual' }, value: 5, globalDefault: true })
  t.strictSame(await priorityOf('named', { priorityClassName: 'high' }), ['high', 100, 'Never'])
  t.strictSame(await priorityOf('unnamed'), ['usual', 5, 'PreemptLowerPriority'])
  t.strictSame(await priorityOf('system', { priorityClassName: 'system-node-critical' }), [
    'system-node-critical',
    2_000_001_000,
    'PreemptLowerPriority',
  ])
  t.match(await refusal(() => priorityOf('odd', { priority: 7 })), { code: 403, message: /integer value of priority \(7\)/ })
  // These names are inherited properties of JavaScript objects. The lookup of PriorityClasses must not find these properties.
  for (const name of ['constructor', '__proto__'])
    t.match(await refusal(() => priorityOf('lost', { priorityClassName: name })), {
      code: 403,
      message: `pods "lost" is forbidden: no PriorityClass with name ${name} was found`,
    })
})

t.test('a container that a webhook adds mounts the token volume', async (t) => {
  const sidecar = { name: 'side', image: 'x' }
  const f = await fixture({
    hasServiceAccounts: true,
    admission: {
      mutate: ({ object, info }, redefault) => {
        if (info.plural !== 'pods') return Promise.resolve(object)
        const spec = object!.spec as { containers: JsonObject[] }
        return Promise.resolve(redefault({ ...object, spec: { ...spec, containers: [...spec.containers, sidecar] } }))
      },
      validate: () => Promise.resolve(),
    },
  })
  await f.create('serviceaccounts', account('default'))
  const { containers, volumes } = (await f.create('pods', pod('p'))).spec as { containers: JsonObject[]; volumes: JsonObject[] }
  t.equal(volumes.length, 1)
  for (const container of containers) t.match(container, { volumeMounts: [{ name: volumes[0]!.name, mountPath }] })
})
