/** Tests of the permissions that stored roles and bindings grant. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { PolicyRule } from '../../../src/api/policy-rule.ts'
import type { Grant } from '../../../src/devcluster/access/authorizer.ts'
import { storedRules } from '../../../src/devcluster/access/stored-rules.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'

type Kind = 'ClusterRole' | 'Role' | 'ClusterRoleBinding' | 'RoleBinding'

/** Returns an empty store, and a function that stores roles and bindings in it. */
function fixture() {
  const store = new ObjectStore()
  const put = (kind: Kind, name: string, fields: JsonObject, metadata: { namespace?: string; labels?: JsonObject } = {}): void => {
    const { namespace } = metadata
    const key = namespace === undefined ? { name } : { namespace, name }
    void store.put(`rbac.authorization.k8s.io/${kind.toLowerCase()}s`, key, { kind, metadata: { name, ...metadata }, ...fields }, undefined)
  }
  const bind = (kind: 'ClusterRole' | 'Role', name: string, ...subjects: JsonObject[]): JsonObject => ({
    roleRef: { kind, name },
    subjects,
  })
  return { store, put, bind, grants: storedRules(store) }
}

const rule = (...verbs: string[]): PolicyRule => ({ apiGroups: [''], resources: ['pods'], verbs })
const eve = { kind: 'User', name: 'eve' }

t.test('a binding grants its role to each of its subjects', (t) => {
  const { put, bind, grants } = fixture()
  put('ClusterRole', 'reader', { rules: [rule('get')] as never })
  put('Role', 'reader', { rules: [rule('list')] as never }, { namespace: 'ns' })
  put(
    'ClusterRoleBinding',
    'everywhere',
    bind('ClusterRole', 'reader', eve, { kind: 'Group', name: 'devs' }, { kind: 'ServiceAccount', name: 'it', namespace: 'other' }),
  )
  put('RoleBinding', 'here', bind('ClusterRole', 'reader', eve), { namespace: 'ns' })
  put('RoleBinding', 'own', bind('Role', 'reader', { kind: 'ServiceAccount', name: 'it' }, { kind: 'Robot', name: 'r2' }), {
    namespace: 'ns',
  })
  const everywhere = 'ClusterRoleBinding "everywhere" of ClusterRole "reader" to'
  t.strictSame(grants(), [
    { user: 'eve', rules: [rule('get')], source: `${everywhere} User "eve"` },
    { group: 'devs', rules: [rule('get')], source: `${everywhere} Group "devs"` },
    { user: 'system:serviceaccount:other:it', rules: [rule('get')], source: `${everywhere} ServiceAccount "it/other"` },
    { user: 'eve', namespace: 'ns', rules: [rule('get')], source: 'RoleBinding "here/ns" of ClusterRole "reader" to User "eve"' },
    {
      user: 'system:serviceaccount:ns:it',
      namespace: 'ns',
      rules: [rule('list')],
      source: 'RoleBinding "own/ns" of Role "reader" to ServiceAccount "it/ns"',
    },
  ])
  t.end()
})

t.test('a binding of a missing role grants nothing and reports the problem', (t) => {
  const { put, bind, grants } = fixture()
  put('Role', 'reader', {}, { namespace: 'elsewhere' })
  put('ClusterRoleBinding', 'a', bind('ClusterRole', 'reader', eve))
  put('RoleBinding', 'b', bind('Role', 'reader', eve), { namespace: 'ns' })
  t.strictSame(
    grants().map(({ rules, problem }) => ({ rules, problem })),
    [
      { rules: [], problem: 'clusterrole.rbac.authorization.k8s.io "reader" not found' },
      { rules: [], problem: 'role.rbac.authorization.k8s.io "reader" not found' },
    ],
  )
  t.end()
})

t.test('a rule keeps its resourceNames and nonResourceURLs', (t) => {
  const { put, bind, grants } = fixture()
  const named = { ...rule('get'), resourceNames: ['a'] }
  const paths = { apiGroups: [], resources: [], verbs: ['get'], nonResourceURLs: ['/metrics'] }
  put('ClusterRole', 'some', { rules: [named, { verbs: ['get'], nonResourceURLs: ['/metrics'] }] as never })
  put('ClusterRoleBinding', 'a', bind('ClusterRole', 'some', eve))
  t.strictSame(grants()[0]?.rules, [named, paths])
  t.end()
})

t.test('an aggregated role has the rules of the roles that it selects, directly and indirectly, each once', (t) => {
  const { put, bind, grants } = fixture()
  const selects = (...labels: string[]): JsonObject => ({
    aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })) },
  })
  put('ClusterRole', 'all', { ...selects('part', 'other'), rules: [rule('never')] as never }, { labels: { part: 'true' } })
  put('ClusterRole', 'b', { rules: [rule('b')] as never }, { labels: { part: 'true', other: 'true' } })
  put('ClusterRole', 'c', { rules: [rule('c')] as never }, { labels: { part: 'false' } })
  put('ClusterRole', 'd', selects('deep', 'part'), { labels: { other: 'true' } })
  put('ClusterRole', 'e', { rules: [rule('e')] as never }, { labels: { deep: 'true' } })
  put('ClusterRole', 'f', { rules: [rule('f')] as never })
  put('ClusterRoleBinding', 'a', bind('ClusterRole', 'all', eve))
  t.strictSame(grants()[0]?.rules, [rule('b'), rule('e')])
  t.end()
})

t.test('grants are cached until a role or a binding changes', (t) => {
  const { store, put, bind, grants } = fixture()
  t.strictSame(grants(), [])
  let before: readonly Grant[] = grants()
  t.equal(grants(), before)
  void store.put('/pods', { namespace: 'ns', name: 'p' }, { kind: 'Pod', metadata: { name: 'p', namespace: 'ns' } }, undefined)
  t.equal(grants(), before, 'a change of another type keeps them')
  const changes: (() => void)[] = [
    () => put('ClusterRoleBinding', 'a', bind('ClusterRole', 'x', eve)),
    () => put('ClusterRole', 'x', { rules: [rule('get')] as never }),
    () => put('RoleBinding', 'b', bind('Role', 'y', eve), { namespace: 'ns' }),
    () => put('Role', 'y', { rules: [rule('list')] as never }, { namespace: 'ns' }),
  ]
  for (const change of changes) {
    change()
    t.not(grants(), before)
    t.equal(grants(), (before = grants()))
  }
  t.strictSame(
    grants().map(({ rules }) => rules),
    [[rule('get')], [rule('list')]],
  )
  t.end()
})
