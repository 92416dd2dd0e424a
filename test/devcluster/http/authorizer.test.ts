/** Rules for users, and the words of refusals. */
import t from 'tap'
import type { AuthorizationAttributes, Grant } from '../../../src/devcluster/http/authorizer.ts'
import { forbiddenError, ruleAuthorizer } from '../../../src/devcluster/http/authorizer.ts'
import { everybody } from '../../support/http-server.ts'

const bob = { username: 'bob', groups: ['system:authenticated'] }
const attributes: AuthorizationAttributes = {
  user: bob,
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: '',
}

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]

const cases: [name: string, grants: Parameters<typeof ruleAuthorizer>[0], change: Partial<AuthorizationAttributes>, allowed: boolean][] = [
  ['nothing without a rule', [], {}, false],
  ['masters may do everything', [], { user: { username: 'x', groups: ['system:masters'] } }, true],
  ['a rule for the user', [{ user: 'bob', rules }], {}, true],
  ['a rule for another user', [{ user: 'eve', rules }], {}, false],
  ['a rule for a group', [{ group: 'system:authenticated', rules }], {}, true],
  ['a rule in the namespace', [{ user: 'bob', namespace: 'default', rules }], {}, true],
  ['a rule in another namespace', [{ user: 'bob', namespace: 'other', rules }], {}, false],
  ['a rule in a namespace does not cover all of them', [{ user: 'bob', namespace: 'default', rules }], { namespace: '' }, false],
  ['another verb', [{ user: 'bob', rules }], { verb: 'get' }, false],
  ['another group', [{ user: 'bob', rules }], { group: 'apps' }, false],
  ['a subresource needs its own rule', [{ user: 'bob', rules }], { subresource: 'status' }, false],
  ['a rule for the subresource', [{ user: 'bob', rules: [{ ...rules[0]!, resources: ['pods/status'] }] }], { subresource: 'status' }, true],
  [
    'a rule for the subresource of all types',
    [{ user: 'bob', rules: [{ ...rules[0]!, resources: ['*/status'] }] }],
    { subresource: 'status' },
    true,
  ],
  [
    'everything of everything',
    [{ user: 'bob', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
    { subresource: 'x' },
    true,
  ],
  ['a rule for names', [{ user: 'bob', rules: [{ ...rules[0]!, resourceNames: ['a'] }] }], { name: 'a' }, true],
  ['a rule for other names', [{ user: 'bob', rules: [{ ...rules[0]!, resourceNames: ['a'] }] }], { name: '' }, false],
  ['everybody may ask what they may do', [], { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }, true],
  ['but not what others may do', [], { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }, false],
  ['everybody may read discovery', [], { verb: 'get', resource: '', path: '/apis/apps/v1' }, true],
  ['and no other path', [], { verb: 'get', resource: '', path: '/metrics' }, false],
]

t.test('rules', (t) => {
  for (const [name, grants, change, allowed] of cases) {
    t.equal(ruleAuthorizer([...everybody, ...(grants ?? [])]).authorize({ ...attributes, ...change }).allowed, allowed, name)
  }
  t.end()
})

t.test('reasons: where an allowing rule comes from, and why others have none', (t) => {
  const reason = (...grants: Grant[]): string => ruleAuthorizer(grants).authorize(attributes).reason
  t.equal(reason({ user: 'bob', rules, source: 'RoleBinding "a/b"' }), 'RBAC: allowed by RoleBinding "a/b"')
  t.equal(reason({ user: 'bob', rules: [], problem: 'x' }), 'RBAC: x')
  t.equal(reason({ user: 'bob', rules: [], problem: 'x' }, { user: 'bob', rules: [], problem: 'y' }), 'RBAC: [x, y]')
  t.equal(reason({ user: 'eve', rules: [], problem: 'x' }), '', 'what is wrong for others is not told')
  t.end()
})

const texts: [change: Partial<AuthorizationAttributes>, message: string, details: object][] = [
  [{}, 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"', { kind: 'pods' }],
  [
    { verb: 'get', group: 'apps', resource: 'deployments', name: 'x', namespace: '' },
    'deployments.apps "x" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" at the cluster scope',
    { name: 'x', group: 'apps', kind: 'deployments' },
  ],
  [
    { verb: 'update', subresource: 'status', name: 'x' },
    'pods "x" is forbidden: User "bob" cannot update resource "pods/status" in API group "" in the namespace "default"',
    { name: 'x', kind: 'pods' },
  ],
  [{ verb: 'get', resource: '', path: '/metrics' }, 'forbidden: User "bob" cannot get path "/metrics"', {}],
]

t.test('refusals have the words of the API server', (t) => {
  for (const [change, message, details] of texts) {
    const { status } = forbiddenError({ ...attributes, ...change })
    t.strictSame(status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'Forbidden',
      details,
      code: 403,
    })
  }
  t.end()
})
