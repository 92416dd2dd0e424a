/** Tests of the client's verbs for subresources, metadata, pages and collections. */
import t from 'tap'
import { isForbidden } from '../../src/client/api-error.ts'
import { createClient } from '../../src/client/client.ts'
import { listInPages } from '../../src/client/list-in-pages.ts'
import { metadataOnly } from '../../src/client/metadata-only.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { collect } from '../support/client/collect.ts'

const namespace = 'conformance-client-verbs'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const { client } = controlPlane
const key = (name: string): { namespace: string; name: string } => ({ namespace, name })
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }

t.test('the scale of a Deployment is read, replaced, patched and applied', async (t) => {
  const deployment = key('scaled')
  const scale = { subresource: 'scale' } as const
  await client.create(apps.deployment, { metadata: deployment, spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template } })
  const read = await client.get(apps.deployment, deployment, scale)
  t.match(read, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: deployment, spec: { replicas: 1 }, status: { selector: 'a=b' } })
  t.equal((await client.update(apps.deployment, { ...read, spec: { replicas: 2 } }, scale)).spec.replicas, 2)
  t.equal((await client.patch(apps.deployment, deployment, { spec: { replicas: 3 } }, scale)).spec.replicas, 3)
  const replace = [{ op: 'replace', path: '/spec/replicas', value: 4 }] as const
  t.equal((await client.patch(apps.deployment, deployment, replace, { ...scale, type: 'json' })).spec.replicas, 4)
  t.equal((await client.apply(apps.deployment, { metadata: deployment, spec: { replicas: 5 } }, scale)).spec.replicas, 5)
  t.equal((await client.get(apps.deployment, deployment)).spec?.replicas, 5)
})

t.test('the status is read, and patched with each type of patch', async (t) => {
  const deployment = key('scaled')
  const status = { subresource: 'status' } as const
  await client.patchStatus(apps.deployment, deployment, { status: { observedGeneration: 1 } })
  t.equal((await client.get(apps.deployment, deployment, status)).status?.observedGeneration, 1)
  await client.patch(apps.deployment, deployment, { status: { observedGeneration: 2 } }, { ...status, type: 'strategic' })
  const add = [{ op: 'add', path: '/status/observedGeneration', value: 3 }] as const
  t.equal((await client.patch(apps.deployment, deployment, add, { ...status, type: 'json' })).status?.observedGeneration, 3)
  const applied = await client.apply(apps.deployment, { metadata: deployment, status: { observedGeneration: 4 } }, status)
  t.equal(applied.status?.observedGeneration, 4)
})

t.test('a Pod is bound, evicted, and has no logs before it runs', async (t) => {
  await client.create(core.serviceAccount, { metadata: key('default') }).catch(() => undefined)
  await client.create(core.pod, { metadata: key('bound'), spec: template.spec })
  t.match(await client.create(core.pod, { metadata: key('bound'), target: { kind: 'Node', name: 'n' } }, { subresource: 'binding' }), {
    kind: 'Status',
    status: 'Success',
  })
  t.equal((await client.get(core.pod, key('bound'))).spec?.nodeName, 'n')
  await client.create(core.pod, { metadata: key('pending'), spec: template.spec })
  t.strictSame(await collect(client.logs(key('pending'))), [])
  const evicted = { metadata: key('pending'), deleteOptions: { gracePeriodSeconds: 0 } }
  t.match(await client.create(core.pod, evicted, { subresource: 'eviction' }), { kind: 'Status', status: 'Success' })
  await t.rejects(client.get(core.pod, key('pending')), { message: /not found/ })
  await t.rejects(collect(client.logs(key('pending'))), { message: /not found/ })
})

t.test('the token of a ServiceAccount authenticates as it', async (t) => {
  await client.create(core.serviceAccount, { metadata: key('robot') })
  const { status } = await client.create(
    core.serviceAccount,
    { metadata: key('robot'), spec: { expirationSeconds: 600 } },
    { subresource: 'token' },
  )
  const { server, ca } = controlPlane.connection
  const connection = { server, ...(ca !== undefined && { ca }), authorization: async () => `Bearer ${status.token}`, describe: 'a token' }
  const robot = createClient(connection)
  t.teardown(() => robot.close())
  await t.rejects(robot.list(core.secret, { namespace }), { message: /system:serviceaccount:conformance-client-verbs:robot/ })
})

t.test('a client impersonates a user', async (t) => {
  const jane = createClient(controlPlane.connection, { impersonate: { user: 'jane', groups: ['a'], extra: { 'example.com/x': ['y'] } } })
  t.teardown(() => jane.close())
  const failure: unknown = await jane.list(core.secret, { namespace }).catch((error: unknown) => error)
  t.ok(isForbidden(failure))
  t.match(failure, { message: /"jane"/ })
})

t.test('metadata is read, watched and patched without the other fields', async (t) => {
  const type = metadataOnly(core.configMap)
  const { metadata } = await client.create(core.configMap, { metadata: { ...key('large'), labels: { a: 'b' } }, data: { x: 'y' } })
  const expected = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
  t.strictSame(await client.get(type, key('large')), expected)
  const list = await client.list(type, { namespace, labelSelector: { matchLabels: { a: 'b' } } })
  t.strictSame([list.apiVersion, list.kind, list.items], ['v1', 'ConfigMapList', [expected]])
  for await (const event of client.watch(type, { namespace, fieldSelector: 'metadata.name=large', resourceVersion: '0' })) {
    t.strictSame(event, { type: 'ADDED', object: expected })
    break
  }
  const patched = await client.patch(type, key('large'), { metadata: { labels: { c: 'd' } } })
  t.strictSame(Object.keys(patched).toSorted(), ['apiVersion', 'kind', 'metadata'])
  t.strictSame(patched.metadata.labels, { a: 'b', c: 'd' })
  t.strictSame((await client.get(core.configMap, key('large'))).data, { x: 'y' })
})

t.test('a list is read in pages, and a collection is deleted by its labels', async (t) => {
  const labels = { page: 'yes' }
  for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(core.configMap, { metadata: { ...key(name), labels } })
  await client.create(core.configMap, { metadata: { ...key('other'), labels: { page: 'no' } } })
  const selection = { namespace, labelSelector: { matchLabels: labels } }
  const names = async (): Promise<string[]> =>
    (await collect(listInPages(client, core.configMap, { ...selection, pageSize: 2 }))).map(({ metadata }) => metadata.name)
  t.strictSame(await names(), ['a', 'b', 'c', 'd', 'e'])
  await client.deleteCollection(core.configMap, { ...selection, dryRun: true })
  t.equal((await names()).length, 5)
  const deleted = await client.deleteCollection(core.configMap, { ...selection, fieldSelector: 'metadata.name!=e' })
  t.match(deleted, { kind: 'ConfigMapList', items: { length: 4 } })
  t.strictSame(await names(), ['e'])
  t.equal((await client.get(core.configMap, key('other'))).metadata.name, 'other')
})
