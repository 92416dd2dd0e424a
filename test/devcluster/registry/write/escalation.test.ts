/**
 * Tests of the privilege escalation prevention of RBAC:
 *
 * - A Role that grants more than the maximum number of rights is rejected, unless the user is a member of `system:masters`.
 * - If a binding of the user refers to a role that does not exist, the error contains the name of this role.
 * - A custom type in the API group of RBAC is not treated as a Role or a binding.
 */
import t from 'tap'
import { ruleAuthorizer } from '../../../../src/devcluster/access/authorizer.ts'
import { fixture, foo, foos, refusal } from '../../../support/devcluster/registry.ts'

const group = 'rbac.authorization.k8s.io'
const user = { username: 'jane', groups: ['devs', 'system:authenticated'] }
const rules = [{ apiGroups: ['a'], resources: ['b'], verbs: ['get'] }]

t.test('a Role with too many rights is refused before they are compared', async (t) => {
  const f = await fixture()
  const many = Array.from({ length: 2_000 }, (_, index) => `r${index}`)
  const rules = [{ apiGroups: many, resources: many, verbs: many }]
  const status = await refusal(() => f.create('roles', { metadata: { name: 'many' }, rules }, { user }))
  const message = `roles.${group} "many" is forbidden: the rules grant more than 50000 rights`
  t.match(status, { code: 403, reason: 'Forbidden', message })
  await f.create('roles', { metadata: { name: 'many' }, rules }, { user: { ...user, groups: ['system:masters'] } })
})

t.test('the error names a binding of the user whose role does not exist', async (t) => {
  const problem = `clusterrole.${group} "none" not found`
  const authorizer = ruleAuthorizer([{ group: 'devs', rules: [], problem }])
  const f = await fixture({ authorizer })
  const status = await refusal(() => f.create('clusterroles', { metadata: { name: 'a' }, rules }, { user }))
  const missing = '{APIGroups:["a"], Resources:["b"], Verbs:["get"]}'
  const who = 'user "jane" (groups=["devs" "system:authenticated"])'
  t.equal(
    status.message,
    `clusterroles.${group} "a" is forbidden: ${who} is attempting to grant RBAC permissions not currently held:\n${missing}; resolution errors: [${problem}]`,
  )
})

t.test('a custom type in the group of RBAC is not a Role or a binding', async (t) => {
  const f = await fixture()
  const custom = { ...foos, group, plural: 'foobindings', storageKey: `${group}/foobindings` }
  const object = { ...foo('a'), apiVersion: `${group}/v1` }
  const created = await f.registry.create(custom, 'default', { object, duplicates: [] }, f.as({ user }))
  t.match(created.metadata, { name: 'a' })
})
