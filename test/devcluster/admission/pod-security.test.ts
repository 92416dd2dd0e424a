import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Admission } from '../../../src/devcluster/admission/admission.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import type { PodSecurityState } from '../../../src/devcluster/admission/pod-security.ts'
import { withPodSecurity } from '../../../src/devcluster/admission/pod-security.ts'
import { fixture, refusal } from '../../support/devcluster/registry.ts'
import type { Fixture } from '../../support/devcluster/registry.ts'

const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const container = (name: string, context: JsonObject = securityContext): JsonObject => ({ name, image: 'x', securityContext: context })
const podWith = (more: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec: { securityContext: restricted, containers: [container('main')], ...more },
})
const label = (name: string): string => `pod-security.kubernetes.io/${name}`
const labelled = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [label(name), value]))

interface Question {
  readonly plural?: string
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly subresource?: string
  readonly object?: JsonObject
  readonly oldObject?: JsonObject
}

/** Runs the admission plugin PodSecurity for a Pod, and returns its warnings. */
async function admitPod(
  f: Fixture,
  state: Partial<PodSecurityState>,
  question: Question,
  next: Admission = admitAll,
): Promise<readonly string[]> {
  const { plural = 'pods', operation = 'CREATE', subresource = '', object, oldObject } = question
  const warnings: string[] = []
  const admission = withPodSecurity(next, { namespaceLabels: () => ({}), podsIn: () => [], ...state })
  await admission.validate({
    info: f.info(plural),
    subresource,
    operation,
    namespace: 'default',
    name: 'a',
    ...(object === undefined ? {} : { object }),
    ...(oldObject === undefined ? {} : { oldObject }),
    context: f.as({ warn: (text) => warnings.push(text) }),
  })
  return warnings
}

const enforcing = (level: string, more: Readonly<Record<string, string>> = {}): Partial<PodSecurityState> => ({
  namespaceLabels: () => labelled({ enforce: level, ...more }),
})

t.test('an update that adds or changes a container must meet the level of the namespace', async (t) => {
  const f = await fixture()
  const update = (object: JsonObject, oldObject = podWith({})) =>
    admitPod(f, enforcing('restricted'), { operation: 'UPDATE', object, oldObject })
  for (const field of ['ephemeralContainers', 'initContainers']) {
    const bad = podWith({ [field]: [container('b', {})] })
    const message = /violates PodSecurity "restricted:latest": .*container "b" must set/
    t.match(await refusal(() => update(bad)), { code: 403, message }, field)
    await t.resolves(update(podWith({ [field]: [container('b')] })), `${field} that meet the level`)
    await t.resolves(update({ ...bad, metadata: { ...(bad.metadata as JsonObject), labels: { a: 'b' } } }, bad), `existing ${field}`)
    const other = podWith({ [field]: [{ ...container('b', {}), image: 'y' }] })
    t.match(await refusal(() => update(other, bad)), { code: 403 }, `${field} with another image`)
  }
})

t.test('only requests that can change checked fields are evaluated', async (t) => {
  const f = await fixture()
  const bad = podWith({ hostNetwork: true })
  const message = 'pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
  const refused: readonly Question[] = [
    { object: bad },
    { object: bad, subresource: 'ephemeralcontainers' },
    { object: bad, operation: 'UPDATE', oldObject: podWith({ containers: [] }) },
  ]
  for (const question of refused)
    t.strictSame(
      await refusal(() => admitPod(f, enforcing('baseline'), question)),
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message,
        reason: 'Forbidden',
        details: { name: 'a', kind: 'pods' },
        code: 403,
      },
      JSON.stringify(question).slice(0, 60),
    )
  const harmless: readonly Question[] = [
    ...['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'].map((subresource) => ({
      object: bad,
      subresource,
    })),
    { object: bad, operation: 'DELETE' },
    { object: bad, operation: 'CONNECT' },
    { operation: 'CREATE' },
    { object: bad, operation: 'UPDATE', oldObject: bad },
    { object: { metadata: { name: 'a' } }, plural: 'deployments' },
    { object: { spec: { template: bad } }, plural: 'deployments', subresource: 'status' },
    { object: { spec: { template: bad } }, plural: 'services' },
  ]
  for (const question of harmless)
    t.strictSame(await admitPod(f, enforcing('baseline'), question), [], JSON.stringify(question).slice(0, 60))
  t.strictSame(await admitPod(f, { namespaceLabels: () => undefined }, { object: bad }), [], 'a missing namespace has no level')
})

t.test('the message for a Pod without a name names the resource only', async (t) => {
  const f = await fixture()
  const admission = withPodSecurity(admitAll, { namespaceLabels: () => labelled({ enforce: 'baseline' }), podsIn: () => [] })
  const object = podWith({ hostPID: true })
  const { message, details } = await refusal(() =>
    admission.validate({
      info: f.info('pods'),
      subresource: '',
      operation: 'CREATE',
      namespace: 'default',
      name: '',
      object,
      context: f.context,
    }),
  )
  t.equal(message, 'pods is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)')
  t.strictSame(details, { kind: 'pods' })
})

t.test('the next admission plugin runs for allowed requests only', async (t) => {
  const f = await fixture()
  const asked: string[] = []
  const next: Admission = {
    mutate: ({ name }) => Promise.resolve({ metadata: { name: `${name}-changed` } }),
    validate({ operation }) {
      asked.push(operation)
      return Promise.reject(new Error('no'))
    },
  }
  await t.rejects(admitPod(f, enforcing('baseline'), { object: podWith({}) }, next), { message: 'no' })
  await t.rejects(admitPod(f, enforcing('baseline'), { object: podWith({}), operation: 'DELETE' }, next), { message: 'no' })
  t.match(await refusal(() => admitPod(f, enforcing('baseline'), { object: podWith({ hostIPC: true }) }, next)), { code: 403 })
  t.strictSame(asked, ['CREATE', 'DELETE'])
  const admission = withPodSecurity(next, { namespaceLabels: () => ({}), podsIn: () => [] })
  const attributes = { info: f.info('pods'), subresource: '', operation: 'CREATE' as const, name: 'a', object: {}, context: f.context }
  t.strictSame(await admission.mutate(attributes, (object) => object), { metadata: { name: 'a-changed' } })
})

t.test('violations by annotations and Windows options, which the API server refuses earlier, are reported', async (t) => {
  const f = await fixture()
  const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
  const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
  const ofContainer = 'container.seccomp.security.alpha.kubernetes.io/'
  const annotated = (annotations: JsonObject): JsonObject => podWith({}, { annotations })
  const windows = { windowsOptions: { hostProcess: true } }
  const cases: readonly (readonly [string, string, JsonObject, string | undefined])[] = [
    [
      'baseline',
      'latest',
      annotated({ [`${appArmor}b`]: 'unconfined', [`${appArmor}a`]: 'x' }),
      `forbidden AppArmor profiles (annotations must not set AppArmor profile type to "${appArmor}a="x"", "${appArmor}b="unconfined"")`,
    ],
    [
      'baseline',
      'latest',
      annotated({ [`${appArmor}a`]: 'unconfined' }),
      `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${appArmor}a="unconfined"")`,
    ],
    [
      'baseline',
      'latest',
      podWith(
        { containers: [container('c', { appArmorProfile: { type: 'Unconfined' } })], securityContext: { appArmorProfile: {} } },
        { annotations: { [`${appArmor}a`]: 'x' } },
      ),
      `forbidden AppArmor profiles (pod and container "c" and annotation must not set AppArmor profile type to "", "Unconfined", "${appArmor}a="x"")`,
    ],
    [
      'baseline',
      'latest',
      annotated({ [`${appArmor}a`]: 'runtime/default', [`${appArmor}b`]: 'localhost/p', [`${appArmor}c`]: '' }),
      undefined,
    ],
    ['baseline', 'v1.18', annotated({ [seccomp]: 'x' }), `seccompProfile (forbidden annotation ${seccomp}="x")`],
    [
      'baseline',
      'v1.18',
      annotated({ [seccomp]: 'x', [`${ofContainer}main`]: 'y', [`${ofContainer}other`]: 'z' }),
      `seccompProfile (forbidden annotations ${ofContainer}main="y", ${seccomp}="x")`,
    ],
    ['baseline', 'v1.18', annotated({ [seccomp]: 'runtime/default', [`${ofContainer}main`]: 'docker/default' }), undefined],
    ['baseline', 'v1.18', annotated({ [seccomp]: 'localhost/p' }), undefined],
    ['baseline', 'v1.19', annotated({ [seccomp]: 'x' }), undefined],
    [
      'baseline',
      'latest',
      podWith({ securityContext: windows, containers: [container('c', windows)] }),
      'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    ['baseline', 'latest', podWith({ securityContext: { windowsOptions: { hostProcess: false } } }), undefined],
    [
      'baseline',
      'v1.34',
      podWith({ hostUsers: false, containers: ['b', 'a'].map((name) => container(name, { procMount: name })) }),
      'procMount (containers "b", "a" must not set securityContext.procMount to "a", "b")',
    ],
    ['baseline', 'v1.35', podWith({ hostUsers: false, containers: [container('b', { procMount: 'x' })] }), undefined],
    [
      'restricted',
      'latest',
      podWith({ volumes: [{ name: 'v' }, { name: 'w', other: {} }] }),
      'restricted volume types (volumes "v", "w" use restricted volume type "unknown")',
    ],
    ['baseline', 'latest', {}, undefined],
  ]
  for (const [level, version, object, violation] of cases) {
    const state = enforcing(level, { 'enforce-version': version, warn: 'privileged' })
    if (violation === undefined) await t.resolves(admitPod(f, state, { object }), JSON.stringify(object))
    else {
      const { message } = await refusal(() => admitPod(f, state, { object }))
      t.equal(message, `pods "a" is forbidden: violates PodSecurity "${level}:${version}": ${violation}`)
    }
  }
})

t.test('a stricter level of a namespace warns about the existing Pods that violate it', async (t) => {
  const f = await fixture()
  const bad = (name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => podWith(spec, { name, ...metadata })
  const pods = [
    bad('z', { hostPID: true }),
    bad('y', { hostNetwork: true }),
    bad('x', { hostPID: true }),
    bad('w', {}),
    bad('a', { hostPID: true }),
  ]
  const change = (
    before: Readonly<Record<string, string>>,
    after: Readonly<Record<string, string>>,
    existing: readonly JsonObject[] = pods,
  ) =>
    admitPod(
      f,
      { podsIn: (namespace) => (namespace === 'a' ? existing : []) },
      {
        plural: 'namespaces',
        operation: 'UPDATE',
        object: { metadata: { name: 'a', labels: labelled(after) } },
        oldObject: { metadata: { name: 'a', labels: labelled(before) } },
      },
    )
  const expectedWarnings = (level: string, ...lines: string[]): string[] => [
    `existing pods in namespace "a" violate the new PodSecurity enforce level "${level}"`,
    ...lines,
  ]
  t.strictSame(await change({}, { enforce: 'baseline' }), expectedWarnings('baseline:latest', 'a (and 3 other pods): host namespaces'))
  t.strictSame(
    await change({}, { enforce: 'baseline' }, [bad('b', { hostPID: true }), bad('a', { volumes: [{ name: 'v', hostPath: {} }] })]),
    expectedWarnings('baseline:latest', 'a: hostPath volumes', 'b: host namespaces'),
  )
  t.strictSame(
    await change({}, { enforce: 'baseline' }, [bad('b', { hostPID: true }), bad('a', { hostPID: true })]),
    expectedWarnings('baseline:latest', 'a (and 1 other pod): host namespaces'),
  )
  t.strictSame(await change({}, { enforce: 'baseline' }, [bad('w', {})]), [], 'no Pod violates the level')
  t.strictSame(await change({ enforce: 'restricted' }, { enforce: 'baseline' }), [], 'the new level is less strict')
  t.strictSame(await change({ enforce: 'baseline' }, { enforce: 'baseline', warn: 'restricted' }), [], 'the enforced level is unchanged')
  t.strictSame(await change({ enforce: 'baseline' }, { enforce: 'privileged' }), [], 'privileged allows every Pod')
  t.strictSame(
    await change({ enforce: 'restricted' }, { enforce: 'baseline', 'enforce-version': 'v1.30' }),
    expectedWarnings('baseline:v1.30', 'a (and 3 other pods): host namespaces'),
    'levels of different versions cannot be compared',
  )
})

t.test('in a namespace with thousands of Pods a limited number is checked, further Pods of one controller last', async (t) => {
  const f = await fixture()
  const owned = (index: number): JsonObject =>
    podWith(
      { hostPID: true },
      { name: `p${index}`, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }] },
    )
  const podsIn = (count: number): JsonObject[] => [
    ...Array.from({ length: count - 1 }, (_, index) => owned(index)),
    podWith({ hostNetwork: true, hostPID: true }, { name: 'alone' }),
  ]
  const warningsWith = (count: number) =>
    admitPod(
      f,
      { podsIn: () => podsIn(count) },
      {
        plural: 'namespaces',
        operation: 'UPDATE',
        object: { metadata: { name: 'a', labels: labelled({ enforce: 'baseline' }) } },
        oldObject: { metadata: { name: 'a' } },
      },
    )
  const existing = 'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"'
  t.strictSame(await warningsWith(3000), [existing, 'alone (and 2999 other pods): host namespaces'])
  t.strictSame(await warningsWith(3002), [
    'new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods',
    existing,
    'alone (and 2999 other pods): host namespaces',
  ])
})

t.test('an invalid label is refused when it is added or changed, and allowed when it is unchanged', async (t) => {
  const f = await fixture()
  const write = (after: Readonly<Record<string, string>>, before?: Readonly<Record<string, string>>, subresource = '') =>
    admitPod(
      f,
      {},
      {
        plural: 'namespaces',
        subresource,
        operation: before === undefined ? 'CREATE' : 'UPDATE',
        object: { metadata: { name: 'a', labels: labelled(after) } },
        ...(before === undefined ? {} : { oldObject: { metadata: { name: 'a', labels: labelled(before) } } }),
      },
    )
  const cause = (name: string, value: string, message: string) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: "${value}": ${message}`,
    field: `metadata.labels[${label(name)}]`,
  })
  const levels = 'must be one of privileged, baseline, restricted'
  const versions = 'must be "latest" or "v1.x"'
  const { details, code } = await refusal(() =>
    write({ warn: 'x', 'enforce-version': 'v1.01', audit: 'y', 'audit-version': 'v2.1', enforce: 'z' }),
  )
  t.equal(code, 422)
  t.strictSame(details?.causes, [
    cause('enforce', 'z', levels),
    cause('enforce-version', 'v1.01', versions),
    cause('audit', 'y', levels),
    cause('audit-version', 'v2.1', versions),
    cause('warn', 'x', levels),
  ])
  t.match(await refusal(() => write({ warn: 'x' }, {})), { code: 422 }, 'an added label')
  t.match(await refusal(() => write({ warn: 'x' }, { warn: 'y' })), { code: 422 }, 'a changed label')
  t.match(await refusal(() => write({ warn: 'x', audit: 'x' }, { warn: 'x' })), { code: 422 }, 'a second label')
  t.strictSame(await write({ warn: 'x' }, { warn: 'x' }), [])
  t.strictSame(await write({ warn: 'x' }, {}, 'status'), [], 'a subresource is not checked')
  for (const version of ['latest', 'v1.0', 'v1.9', 'v1.10']) t.strictSame(await write({ 'enforce-version': version }), [], version)
})

t.test('an unknown level is enforced as restricted, and ignored in the modes warn and audit', async (t) => {
  const f = await fixture()
  const object = podWith({ containers: [container('main', {})] })
  const first = 'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), '
  const second = 'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])'
  const { message } = await refusal(() => admitPod(f, enforcing('x', { 'enforce-version': 'y' }), { object }))
  t.equal(message, `pods "a" is forbidden: violates PodSecurity "restricted:latest": ${first}${second}`)
  const warned = (labels: Readonly<Record<string, string>>) => admitPod(f, { namespaceLabels: () => labelled(labels) }, { object })
  t.strictSame(await warned({ warn: 'x' }), [])
  t.strictSame(await warned({ warn: 'restricted', 'warn-version': 'v1.8' }), [
    `would violate PodSecurity "restricted:v1.8": ${first.replace(/, $/, '')}`,
  ])
  t.strictSame(await warned({ warn: 'restricted', 'warn-version': 'x' }), [
    `would violate PodSecurity "restricted:latest": ${first}${second}`,
  ])
})

t.test('a template is warned about by the enforced level in a namespace without a warn level', async (t) => {
  const f = await fixture()
  const template = podWith({ hostNetwork: true })
  const where: readonly (readonly [string, JsonObject])[] = [
    ['deployments', { spec: { template } }],
    ['replicasets', { spec: { template } }],
    ['statefulsets', { spec: { template } }],
    ['daemonsets', { spec: { template } }],
    ['jobs', { spec: { template } }],
    ['cronjobs', { spec: { jobTemplate: { spec: { template } } } }],
  ]
  const warning = (version: string): string => `would violate PodSecurity "baseline:${version}": host namespaces (hostNetwork=true)`
  for (const [plural, object] of where)
    t.strictSame(await admitPod(f, enforcing('baseline'), { plural, object }), [warning('latest')], plural)
  const [plural, object] = where[0]!
  const warned = (labels: Readonly<Record<string, string>>) => admitPod(f, { namespaceLabels: () => labelled(labels) }, { plural, object })
  t.strictSame(await warned({ enforce: 'baseline', 'enforce-version': 'v1.20' }), [warning('v1.20')])
  t.strictSame(await warned({ enforce: 'baseline', 'enforce-version': 'v1.20', 'warn-version': 'v1.21' }), [warning('v1.21')])
  t.strictSame(await warned({ enforce: 'baseline', warn: 'privileged' }), [])
  t.strictSame(await warned({ enforce: 'privileged' }), [])
  t.strictSame(await warned({ enforce: 'x' }), [], 'an unknown enforced level causes no warnings')
})

t.test('restricted allows a few kinds of volumes and names the others', async (t) => {
  const f = await fixture()
  const volume = (kind: string): JsonObject => ({ name: 'v', [kind]: {} })
  const allowed = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret']
  t.strictSame(await admitPod(f, enforcing('restricted'), { object: podWith({ volumes: allowed.map(volume) }) }), [])
  const others = [
    ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd', 'flexVolume', 'cinder'],
    ...['cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk', 'portworxVolume'],
    ...['scaleIO', 'storageos'],
  ]
  for (const kind of others) {
    const { message } = await refusal(() => admitPod(f, enforcing('restricted'), { object: podWith({ volumes: [volume(kind)] }) }))
    const violation = `restricted volume types (volume "v" uses restricted volume type "${kind}")`
    t.equal(message, `pods "a" is forbidden: violates PodSecurity "restricted:latest": ${violation}`)
  }
})
