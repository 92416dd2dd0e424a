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
  const made = await names()
  t.strictSame(
    made.map((all, index) => all.length - before[index]!.length),
    [2, 2, 2, 2, 1],
  )
  await existing.stop()
  t.strictSame(await names(), before)
})
