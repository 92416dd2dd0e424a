import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { namespace } from '../../src/api/builtin.ts'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = (kind: string, plural: string, namespaced: boolean): ResourceType =>
  resourceType({ group, version: 'v1', kind, plural, namespaced })
const types = [
  rbac('ClusterRole', 'clusterroles', false),
  rbac('ClusterRoleBinding', 'clusterrolebindings', false),
  rbac('Role', 'roles', true),
  rbac('RoleBinding', 'rolebindings', true),
  namespace,
]

t.test('objects that a test creates in an existing cluster are deleted', async (t) => {
  const cluster = await startControlPlane()
  t.teardown(() => cluster.stop())
  const names = async (): Promise<string[][]> =>
    Promise.all(types.map(async (type) => (await cluster.client.list(type)).items.map(({ metadata }) => metadata.name).sort()))
  const before = await names()
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
  const namespaceRules = { default: rules }
  const existing = await startControlPlane({
    backend: 'existing',
    env: { KUBECONFIG: cluster.kubeconfig },
    namespaces: ['default', 'own'],
    users: [{ name: 'somebody', rules, namespaceRules }],
    serviceAccounts: [{ name: 'own/it', rules, namespaceRules }],
  })
  t.equal(existing.backend, 'existing')
  t.equal(existing.kubeconfig, cluster.kubeconfig)
  const { headers, describe } = existing.connectionFor('somebody')
  t.strictSame(headers, { 'Impersonate-User': 'somebody', 'Impersonate-Group': ['system:authenticated'] })
  t.equal(describe, `${existing.connection.describe}, as somebody`)
  t.equal(existing.connectionFor({ serviceAccount: 'own/it' }).describe, `${existing.connection.describe}, as the ServiceAccount own/it`)
  t.throws(() => existing.connectionFor('nobody'), {
    code: 'PRO_INPUT',
    message: 'There is no user "nobody" here: name it in the option users.',
  })
  await t.rejects(existing.snapshot(), { code: 'PRO_INPUT', message: /^Only the objects of the embedded API server can be restored/ })
  await t.rejects(existing.compact(), { code: 'PRO_INPUT', message: 'The storage of an existing cluster cannot be compacted.' })
  await t.rejects(existing.requests(), {
    code: 'PRO_INPUT',
    message: 'The requests of an existing cluster are not recorded: use another backend.',
  })
  const made = await names()
  t.strictSame(
    made.map((all, index) => all.length - before[index]!.length),
    [2, 2, 2, 2, 1],
  )
  await existing.stop()
  t.strictSame(await names(), before)
})

t.test('a failed start deletes its objects, and objects that the test has deleted are ignored', async (t) => {
  const cluster = await startControlPlane({ namespaces: ['there'] })
  t.teardown(() => cluster.stop())
  const env = { KUBECONFIG: cluster.kubeconfig }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: [] }]
  await t.rejects(startControlPlane({ backend: 'existing', env, namespaces: ['own', 'there'], users: [{ name: 'a', rules }] }))
  await t.rejects(cluster.client.get(namespace, { name: 'own' }), { message: /not found/ })
  const users = [
    { name: 'a', rules: [{ ...rules[0]!, verbs: ['get'] }] },
    { name: 'b', rules },
  ]
  await t.rejects(startControlPlane({ backend: 'existing', env, users }))
  const roles = (await cluster.client.list(types[0]!)).items.map(({ metadata }) => metadata.name)
  t.strictSame(
    roles.filter((name) => name.startsWith('proreus-test')),
    [],
    'objects of the users before the invalid one are deleted',
  )
  await t.resolves(cluster.client.get(namespace, { name: 'there' }), 'existing objects are kept')
  const existing = await startControlPlane({ backend: 'existing', env, namespaces: ['own'] })
  await existing.client.delete(namespace, { name: 'own' })
  await existing.stop()
})

t.test('proxies and operators stop with their control plane, in reverse order, even if one fails', async (t) => {
  const cluster = await startControlPlane({ controllers: false })
  const proxies = [await cluster.faultProxy(), await cluster.faultProxy(), await cluster.faultProxy()]
  const folders = [...proxies, cluster].map(({ kubeconfig }) => dirname(kubeconfig))
  const stopped: number[] = []
  for (const [index, proxy] of proxies.entries()) {
    const { stop } = proxy
    t.intercept(proxy, 'stop', {
      value: async () => {
        stopped.push(index)
        await cluster.client.raw('/version')
        await stop()
        if (index === 1) throw new Error('it fails')
      },
    })
  }
  const stopping = cluster.stop()
  t.equal(cluster.stop(), stopping, 'once')
  await stopping
  t.strictSame(stopped, [2, 1, 0])
  for (const folder of folders) t.notOk(existsSync(folder))
})

t.test('a failed start of an embedded control plane leaves nothing behind', async (t) => {
  const { TMPDIR } = process.env
  const folder = t.testdir()
  process.env.TMPDIR = folder
  t.teardown(() => (TMPDIR === undefined ? delete process.env.TMPDIR : (process.env.TMPDIR = TMPDIR)))
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: [] }]
  await t.rejects(startControlPlane({ controllers: false, users: [{ name: 'a', rules }] }), {
    message: /verbs must contain at least one value/,
  })
  t.strictSame(readdirSync(folder), [])
})
