/** Tests of the APIServices of the served groups, and of ComponentStatuses. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiregistration } from '../../src/api/kubernetes/apiregistration.ts'
import { until } from '../../src/testing/until.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const controlPlane = await conformanceControlPlane(t, { controllers: false })
const { client } = controlPlane
const api = apiOf(t, controlPlane.connection)
const type = apiregistration.apiService
const managed = 'kube-aggregator.kubernetes.io/automanaged'
const available = { type: 'Available', status: 'True', reason: 'Local', message: 'Local APIServices are always available' }

t.test('each version of a served group has an APIService', async (t) => {
  const { groups } = (await api('GET', '/apis')).body as { groups: { name: string; versions: { version: string }[] }[] }
  t.equal(groups[0]?.name, 'apiregistration.k8s.io')
  const served = groups.slice(1).flatMap(({ name, versions }) => versions.map(({ version }) => `${version}.${name}`))
  const { items } = await client.list(type)
  t.strictSame(items.map(({ metadata }) => metadata.name).sort(), ['v1.', ...served].sort())
  const priorities = new Map(items.map(({ metadata, spec }) => [metadata.name, [spec?.groupPriorityMinimum, spec?.versionPriority]]))
  for (const [name, ...expected] of [
    ['v1.', 18000, 1],
    ['v1.apps', 17800, 15],
    ['v1.events.k8s.io', 17750, 15],
    ['v1.authentication.k8s.io', 17700, 15],
    ['v1.authorization.k8s.io', 17600, 15],
    ['v2.autoscaling', 17500, 30],
    ['v1.batch', 17400, 15],
    ['v1.certificates.k8s.io', 17300, 15],
    ['v1.networking.k8s.io', 17200, 15],
    ['v1.policy', 17100, 15],
    ['v1.rbac.authorization.k8s.io', 17000, 15],
    ['v1.storage.k8s.io', 16800, 15],
    ['v1.admissionregistration.k8s.io', 16700, 15],
    ['v1.apiextensions.k8s.io', 16700, 15],
    ['v1.scheduling.k8s.io', 16600, 15],
    ['v1.coordination.k8s.io', 16500, 15],
    ['v1.discovery.k8s.io', 16200, 15],
  ] as const)
    t.strictSame(priorities.get(name), expected, name)
  for (const { metadata, status } of items) {
    t.strictSame(metadata.labels, { [managed]: 'onstart' })
    t.match(status, { conditions: [{ ...available, lastTransitionTime: metadata.creationTimestamp }] })
  }
})

t.test('the APIServices of a CustomResourceDefinition come and go with its versions', async (t) => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const group = 'registered.example.com'
  const name = `wheels.${group}`
  const version = (of: string, served: boolean): JsonObject => ({
    name: of,
    served,
    storage: of === 'v1',
    schema: { openAPIV3Schema: { type: 'object' } },
  })
  const names = { kind: 'Wheel', plural: 'wheels' }
  const spec = { group, scope: 'Namespaced', names, versions: [version('v1', true), version('v1beta1', true)] }
  t.equal((await api('POST', definitions, { body: { metadata: { name }, spec } })).status, 201)
  t.teardown(() => api('DELETE', `${definitions}/${name}`))
  const untilNamed = (...expected: string[]): Promise<unknown> =>
    until(`the APIServices are ${expected.join()}`, async () => {
      const own = (await client.list(type)).items.filter((one) => one.spec?.group === group)
      return own.map((one) => one.spec?.version).join() === expected.join() && own
    })
  t.match(await untilNamed('v1', 'v1beta1'), [
    {
      metadata: { name: `v1.${group}`, labels: { [managed]: 'true' } },
      spec: { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [available] },
    },
    { metadata: { name: `v1beta1.${group}` } },
  ])
  const body = { spec: { versions: [version('v1', true), version('v1beta1', false)] } }
  await api('PATCH', `${definitions}/${name}`, { body, contentType: 'application/merge-patch+json' })
  await untilNamed('v1')
  await client.delete(type, { name: `v1.${group}` })
  await untilNamed('v1')
  await api('DELETE', `${definitions}/${name}`)
  await t.resolves(untilNamed())
})

t.test('component statuses are listed and selected, with a warning', async (t) => {
  const path = '/api/v1/componentstatuses'
  const { body, warnings } = await api('GET', path)
  t.match(body, { kind: 'ComponentStatusList', metadata: {} })
  // kube-apiserver returns the components in random order, because it checks all of them at the same time.
  const names = (body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject)['name'])
  t.strictSame(names.sort(), ['controller-manager', 'etcd-0', 'scheduler'])
  t.strictSame(warnings, ['v1 ComponentStatus is deprecated in v1.19+'])
  t.strictSame((await api('GET', `${path}/etcd-0`)).body, {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: 'etcd-0' },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  })
  const selected = await api('GET', `${path}?fieldSelector=metadata.name%3Detcd-0`)
  t.equal((selected.body.items as JsonObject[]).length, 1)
  t.strictSame((await api('GET', `${path}?labelSelector=a`)).body.items, [])
  t.match(await api('GET', `${path}/none`), { status: 404, body: { reason: 'NotFound', message: 'componentstatus "none" not found' } })
  for (const method of ['POST', 'DELETE']) t.equal((await api(method, path, { body: {} })).status, 405)
})

t.test('kubectl lists APIServices and component statuses', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  t.match(await kubectl.ok('get apiservices v1.apps'), /^NAME +SERVICE +AVAILABLE +AGE\nv1.apps +Local +True +\d+[sm]\d*s?\n$/)
  t.match(await kubectl.ok('get componentstatuses etcd-0'), /^NAME +STATUS +MESSAGE +ERROR\netcd-0 +Healthy +ok +\n$/)
  t.match(await kubectl.ok('api-versions'), /^apiregistration.k8s.io\/v1$/m)
})
