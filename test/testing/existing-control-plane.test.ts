import { existsSync } from 'node:fs'
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

t.test('of what a test makes in a cluster that runs already, nothing is left', async (t) => {
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

t.test('what could not be made whole is taken away again, and what the test has deleted is no failure', async (t) => {
  const cluster = await startControlPlane({ namespaces: ['there'] })
  t.teardown(() => cluster.stop())
  const env = { KUBECONFIG: cluster.kubeconfig }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: [] }]
  await t.rejects(startControlPlane({ backend: 'existing', env, namespaces: ['own', 'there'], users: [{ name: 'a', rules }] }))
  await t.rejects(cluster.client.get(namespace, { name: 'own' }), { message: /not found/ })
  await t.resolves(cluster.client.get(namespace, { name: 'there' }), 'what was there before stays')
  const existing = await startControlPlane({ backend: 'existing', env, namespaces: ['own'] })
  await existing.client.delete(namespace, { name: 'own' })
  await existing.stop()
})

t.test('what is started beside a control plane ends with it, the latest first, also when one fails at its end', async (t) => {
  const cluster = await startControlPlane({ controllers: false })
  const [one, two] = [await cluster.faultProxy(), await cluster.faultProxy()]
  const folders = [one.kubeconfig, two.kubeconfig, cluster.kubeconfig].map((path) => dirname(path))
  const stopping = cluster.stop()
  t.equal(cluster.stop(), stopping, 'which happens once')
  await stopping
  for (const folder of folders) t.notOk(existsSync(folder))
})
