import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { AdmissionAttributes } from '../../../src/devcluster/admission/admission.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { policyOf } from '../../../src/devcluster/admission/pod-security-policy.ts'
import { withPodSecurity } from '../../../src/devcluster/admission/pod-security.ts'
import { attributesOf, contextOf, infoOf, namespaces, nodes, pods } from '../../support/devcluster-admission.ts'
import { fixture, refusal } from '../../support/devcluster-registry.ts'

const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const container = (name: string, context: JsonObject = securityContext): JsonObject => ({ name, image: 'x', securityContext: context })
const podWith = (more: JsonObject): JsonObject => ({
  metadata: { name: 'a', namespace: 'default' },
  spec: { securityContext: restricted, containers: [container('main')], ...more },
})

t.test('an update may bring no container that the namespace does not want', async (t) => {
  const f = await fixture()
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const admission = withPodSecurity(admitAll, { namespaceLabels: () => labels, podsIn: () => [] })
  const update = (object: JsonObject, oldObject = podWith({})): Promise<void> =>
    admission.validate({
      info: f.info('pods'),
      subresource: '',
      operation: 'UPDATE',
      namespace: 'default',
      name: 'a',
      object,
      oldObject,
      context: f.context,
    })
  for (const field of ['ephemeralContainers', 'initContainers']) {
    const bad = podWith({ [field]: [container('b', {})] })
    const message = /violates PodSecurity "restricted:latest": .*container "b" must set/
    t.match(await refusal(() => update(bad)), { code: 403, message }, field)
    await t.resolves(update(podWith({ [field]: [container('b')] })), `${field} that are restricted`)
    await t.resolves(update({ ...bad, metadata: { ...(bad.metadata as JsonObject), labels: { a: 'b' } } }, bad), `${field} that were there`)
  }
})

t.test('the policy that labels ask for', (t) => {
  const label = (name: string): string => `pod-security.kubernetes.io/${name}`
  const of = (labels: Record<string, string>) => {
    const { policy, errors } = policyOf(Object.fromEntries(Object.entries(labels).map(([name, value]) => [label(name), value])))
    const text = ({ level, version }: { level: string; version: string }): string => `${level}:${version}`
    return [text(policy.enforce), text(policy.warn), ...errors.map(({ path, message }) => `${path}: ${message}`)]
  }
  const levels = 'must be one of privileged, baseline, restricted'
  const wrong = (name: string, value: string, detail: string): string =>
    `metadata.labels[${label(name)}]: Invalid value: "${value}": ${detail}`
  t.strictSame(of({}), ['privileged:latest', 'privileged:latest'])
  t.strictSame(of({ enforce: 'baseline' }), ['baseline:latest', 'baseline:latest'], 'what is enforced is warned about')
  t.strictSame(of({ enforce: 'baseline', 'enforce-version': 'v1.20' }), ['baseline:v1.20', 'baseline:v1.20'])
  t.strictSame(of({ enforce: 'baseline', 'enforce-version': 'v1.20', 'warn-version': 'v1.30' }), ['baseline:v1.20', 'baseline:v1.30'])
  t.strictSame(of({ enforce: 'restricted', warn: 'baseline' }), ['restricted:latest', 'baseline:latest'])
  t.strictSame(of({ enforce: 'privileged', 'warn-version': 'v1.1' }), ['privileged:latest', 'privileged:v1.1'])
  t.strictSame(of({ enforce: 'x' }), ['restricted:latest', 'privileged:latest', wrong('enforce', 'x', levels)])
  t.strictSame(of({ warn: 'x', audit: 'y' }), [
    'privileged:latest',
    'privileged:latest',
    wrong('audit', 'y', levels),
    wrong('warn', 'x', levels),
  ])
  const version = 'must be "latest" or "v1.x"'
  for (const good of ['latest', 'v1.0', 'v1.9', 'v1.10', 'v1.123'])
    t.strictSame(of({ 'enforce-version': good }), [`privileged:${good}`, 'privileged:latest'])
  for (const bad of ['', 'v1', 'v1.01', '1.2', 'v2.1', 'v1.x', 'v1.2.3'])
    t.strictSame(of({ 'enforce-version': bad }), ['privileged:latest', 'privileged:latest', wrong('enforce-version', bad, version)])
  t.strictSame(of({ 'audit-version': 'x', 'warn-version': 'y' }), [
    'privileged:latest',
    'privileged:latest',
    wrong('audit-version', 'x', version),
    wrong('warn-version', 'y', version),
  ])
  t.end()
})

/** What is warned about, and with which Status a write is refused. */
async function judged(attributes: AdmissionAttributes, labels: Record<string, string> | undefined, existing: JsonObject[] = []) {
  const warnings: string[] = []
  const asked: string[] = []
  const admission = withPodSecurity(admitAll, {
    namespaceLabels: (name) => {
      asked.push(name)
      return labels
    },
    podsIn: () => existing,
  })
  const context = contextOf({ warn: (text) => warnings.push(text) })
  const refused = await admission.validate({ ...attributes, context }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { warnings, refused, asked }
}
const enforceBaseline = { 'pod-security.kubernetes.io/enforce': 'baseline' }
const hostPod = { metadata: { name: 'a' }, spec: { hostNetwork: true } }
const violation = 'host namespaces (hostNetwork=true)'

t.test('which writes are judged', async (t) => {
  const warned = [`would violate PodSecurity "baseline:latest": ${violation}`]
  const refused = `pods "a" is forbidden: violates PodSecurity "baseline:latest": ${violation}`
  const of = (more: Partial<AdmissionAttributes> = {}, labels: Record<string, string> | undefined = enforceBaseline) =>
    judged(attributesOf(pods, { object: hostPod, ...more }), labels)
  t.strictSame(await of(), { warnings: [], refused, asked: ['default'] })
  t.strictSame((await of({ name: '' })).refused, refused.replace('pods "a"', 'pods'))
  t.strictSame((await of({ subresource: 'resize' })).refused, refused)
  for (const subresource of ['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])
    t.strictSame(await of({ subresource }), { warnings: [], refused: undefined, asked: [] }, subresource)
  for (const operation of ['DELETE', 'CONNECT'] as const) t.equal((await of({ operation })).refused, undefined)
  t.equal((await judged(attributesOf(pods, { object: hostPod }), undefined)).refused, undefined, 'in no namespace')
  t.strictSame(await of({}, { 'pod-security.kubernetes.io/warn': 'baseline' }), {
    warnings: warned,
    refused: undefined,
    asked: ['default'],
  })
  for (const [group, plural, path] of [
    ['', 'podtemplates', ['template']],
    ['', 'replicationcontrollers', ['spec', 'template']],
    ['apps', 'replicasets', ['spec', 'template']],
    ['apps', 'deployments', ['spec', 'template']],
    ['apps', 'statefulsets', ['spec', 'template']],
    ['apps', 'daemonsets', ['spec', 'template']],
    ['batch', 'jobs', ['spec', 'template']],
    ['batch', 'cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
  ] as const) {
    const object = path.reduceRight<JsonObject>((inner, field) => ({ [field]: inner }), hostPod)
    const attributes = attributesOf(infoOf(group, 'v1', 'X', plural), { object })
    t.strictSame(await judged(attributes, enforceBaseline), { warnings: warned, refused: undefined, asked: ['default'] }, plural)
    t.strictSame((await judged({ ...attributes, subresource: 'status' }, enforceBaseline)).warnings, [])
    t.strictSame((await judged({ ...attributes, object: {} }, enforceBaseline)).warnings, [])
  }
  t.strictSame(await judged(attributesOf(nodes, { object: hostPod }), enforceBaseline), { warnings: [], refused: undefined, asked: [] })
})

t.test('whoever comes next is asked about what is let through, and about mutations', async (t) => {
  const seen: string[] = []
  const next = {
    mutate: ({ object, name }: AdmissionAttributes) => {
      seen.push(`mutate ${name}`)
      return Promise.resolve(object)
    },
    validate: ({ name }: AdmissionAttributes) => {
      seen.push(`validate ${name}`)
      return Promise.resolve()
    },
  }
  const admission = withPodSecurity(next, { namespaceLabels: () => enforceBaseline, podsIn: () => [] })
  await admission.mutate(attributesOf(pods, { object: hostPod }), (object) => object)
  await t.rejects(admission.validate(attributesOf(pods, { object: hostPod })))
  await admission.validate(attributesOf(pods, { name: 'b', operation: 'DELETE', object: hostPod }))
  t.strictSame(seen, ['mutate a', 'validate b'])
})

t.test('a namespace that becomes stricter tells which Pods do not fit', async (t) => {
  const label = 'pod-security.kubernetes.io/enforce'
  const namespace = (labels: Record<string, string>): JsonObject => ({ metadata: { name: 'ns', labels } })
  const change = async (
    before: Record<string, string> | undefined,
    after: Record<string, string>,
    existing: JsonObject[] = [hostPod],
    more = {},
  ) => {
    const oldObject = before === undefined ? {} : { oldObject: namespace(before) }
    const attributes = attributesOf(namespaces, { operation: 'UPDATE', name: 'ns', object: namespace(after), ...oldObject, ...more })
    const { warnings, refused } = await judged(attributes, {}, existing)
    return refused ?? warnings
  }
  const violates = (level: string): string => `existing pods in namespace "ns" violate the new PodSecurity enforce level "${level}"`
  t.strictSame(await change({}, { [label]: 'baseline' }), [violates('baseline:latest'), 'a: host namespaces'])
  t.strictSame(await change(undefined, { [label]: 'baseline' }), [], 'a new one has none')
  t.strictSame(await change({}, { [label]: 'baseline' }, [hostPod], { subresource: 'status' }), [])
  t.strictSame(await change({ [label]: 'baseline' }, { [label]: 'baseline', x: 'y' }), [])
  t.strictSame(await change({ [label]: 'restricted' }, { [label]: 'baseline' }), [])
  t.strictSame(await change({ [label]: 'restricted' }, { [label]: 'baseline', [`${label}-version`]: 'v1.30' }), [
    violates('baseline:v1.30'),
    'a: host namespaces',
  ])
  t.strictSame(await change({ [label]: 'baseline' }, {}), [])
  t.strictSame(await change({}, { [label]: 'baseline' }, []), [])
  const named = (name: string, spec: JsonObject, owner?: string): JsonObject => ({
    metadata: {
      name,
      ...(owner === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: owner, controller: true }] }),
    },
    spec,
  })
  t.strictSame(
    await change({}, { [label]: 'baseline' }, [
      named('z', { hostNetwork: true }),
      named('c', { hostNetwork: true }, 'o'),
      named('b', { hostNetwork: true }, 'o'),
      named('a', { hostNetwork: true, volumes: [{ name: 'v', hostPath: {} }] }),
      named('fine', {}),
    ]),
    [violates('baseline:latest'), 'a: host namespaces, hostPath volumes', 'b (and 2 other pods): host namespaces'],
  )
  const many = Array.from({ length: 3001 }, (_, index) =>
    named(`p${index}`, index < 2 ? { hostNetwork: true } : {}, index === 0 ? undefined : 'o'),
  )
  t.strictSame(await change({}, { [label]: 'baseline' }, many), [
    'new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods',
    violates('baseline:latest'),
    'p0 (and 1 other pod): host namespaces',
  ])
  t.strictSame((await change({}, { [label]: 'baseline' }, many.slice(1))).length, 2)
  const bad = `Namespace "ns" is invalid: metadata.labels[${label}]: Invalid value: "x": must be one of privileged, baseline, restricted`
  t.equal(await change({}, { [label]: 'x' }, []), bad)
  t.equal(await change(undefined, { [label]: 'x' }, []), bad)
  t.equal(await change({ [label]: 'y' }, { [label]: 'x' }, []), bad)
  t.strictSame(await change({ [label]: 'x' }, { [label]: 'x', a: 'b' }, []), [], 'what was wrong before may stay')
})
