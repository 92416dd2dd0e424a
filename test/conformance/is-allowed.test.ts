/** Tests of permission checks with SubjectAccessReviews. */
import t from 'tap'
import { deployment, node, pod } from '../../src/api/builtin.ts'
import { isAllowed, rbac } from '../../src/index.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-is-allowed'
const { client } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })

t.test('a user has the permissions of the roles of its name and of its groups', async (t) => {
  const metadata = { name: 'scaler', namespace }
  const apiGroup = 'rbac.authorization.k8s.io'
  await client.create(rbac.role, { metadata, rules: [{ apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['update'] }] })
  await client.create(rbac.roleBinding, {
    metadata,
    roleRef: { apiGroup, kind: 'Role', name: 'scaler' },
    subjects: [{ apiGroup, kind: 'Group', name: 'example:scalers' }],
  })
  const user = { username: 'jane', groups: ['example:scalers', 'system:authenticated'] }
  const scale = { verb: 'update', type: deployment, subresource: 'scale', namespace }
  await until('the binding is known', () => isAllowed(client, user, scale))
  t.equal(await isAllowed(client, { username: 'jane' }, scale), false)
  t.equal(await isAllowed(client, user, { ...scale, namespace: 'default' }), false)
  t.equal(await isAllowed(client, user, { verb: 'update', type: deployment, namespace }), false)
  t.equal(await isAllowed(client, user, { verb: 'create', type: pod, namespace }), false)
})

t.test('administrators may do everything, and every authenticated user may get the version', async (t) => {
  const administrator = { username: 'root', groups: ['system:masters'] }
  t.equal(await isAllowed(client, administrator, { verb: 'delete', type: node, name: 'a' }), true)
  t.equal(await isAllowed(client, { username: 'jane', groups: ['system:authenticated'] }, { verb: 'get', path: '/version' }), true)
  t.equal(await isAllowed(client, { username: 'jane', groups: ['system:authenticated'] }, { verb: 'get', path: '/metrics' }), false)
})
