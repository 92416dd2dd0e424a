/** Tests of the rules that apply to a user, and of the messages for forbidden requests. */
import t from 'tap'
import type { AuthorizationAttributes, Grant } from '../../../src/devcluster/access/authorizer.ts'
import { forbiddenError, ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import { everybody } from '../../support/devcluster/http-server.ts'

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

const anyOf = (resources: readonly string[]): Grant => ({ user: 'bob', rules: [{ apiGroups: ['*'], resources, verbs: ['*'] }] })
const pathsFor = (...nonResourceURLs: string[]): Grant => ({
  user: 'bob',
  rules: [{ apiGroups: [], resources: [], verbs: ['get'], nonResourceURLs }],
})

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
  ['nor write it', [], { verb: 'post', resource: '', path: '/apis/apps/v1' }, false],
  ['a path that only begins like one', [], { verb: 'get', resource: '', path: '/versionx' }, false],
  ['all paths', [pathsFor('*')], { verb: 'get', resource: '', path: '/metrics' }, true],
  ['a path without a path', [pathsFor('/a')], { verb: 'get', resource: '' }, false],
  ['another path', [pathsFor('/a')], { verb: 'get', resource: '', path: '/b' }, false],
  ['the path', [pathsFor('/b', '/a')], { verb: 'get', resource: '', path: '/a' }, true],
  ['what is below a path', [pathsFor('/a/*')], { verb: 'get', resource: '', path: '/a/b/c' }, true],
  ['what stands before it', [pathsFor('/a/*')], { verb: 'get', resource: '', path: '/a' }, false],
  ['a rule for paths says nothing about resources', [pathsFor('*')], { verb: 'get' }, false],
  ['a rule for resources says nothing about paths', [anyOf(['*'])], { verb: 'get', resource: '', path: '/a' }, false],
  ['no names: all of them', [{ user: 'bob', rules: [{ ...rules[0]!, resourceNames: [] }] }], { name: 'b' }, true],
  ['one of several names', [{ user: 'bob', rules: [{ ...rules[0]!, resourceNames: ['a', 'b'] }] }], { name: 'b' }, true],
  ['another of several', [{ user: 'bob', rules: [{ ...rules[0]!, resourceNames: ['a', 'b'] }] }], { name: 'c' }, false],
  ['the same subresource of another type', [anyOf(['services/status'])], { subresource: 'status' }, false],
  ['another subresource of all types', [anyOf(['*/scale'])], { subresource: 'status' }, false],
  ['a rule for a group of others', [{ group: 'devs', rules }], {}, false],
  ['a rule for nobody', [{ rules }], {}, false],
  ['the second rule', [{ user: 'bob', rules: [{ ...rules[0]!, verbs: ['get'] }, rules[0]!] }], {}, true],
  [
    'the second grant',
    [
      { user: 'bob', rules: [] },
      { user: 'bob', rules },
    ],
    {},
    true,
  ],
]

t.test('a rule allows matching verbs, groups, resources, names, namespaces and paths only', (t) => {
  for (const [name, grants, change, allowed] of cases) {
    t.equal(ruleAuthorizer([...everybody, ...(grants ?? [])]).authorize({ ...attributes, ...change }).allowed, allowed, name)
  }
  t.end()
})

t.test('the reason of a decision names the binding of the allowing rule, or the problems of the bindings', (t) => {
  const reason = (...grants: Grant[]): string => ruleAuthorizer(grants).authorize(attributes).reason
  t.equal(reason({ user: 'bob', rules, source: 'RoleBinding "a/b"' }), 'RBAC: allowed by RoleBinding "a/b"')
  t.equal(reason({ user: 'bob', rules: [], problem: 'x' }), 'RBAC: x')
  t.equal(reason({ user: 'bob', rules: [], problem: 'x' }, { user: 'bob', rules: [], problem: 'y' }), 'RBAC: [x, y]')
  t.equal(reason({ user: 'eve', rules: [], problem: 'x' }), '', 'problems of other users are not included')
  t.end()
})

t.test('the rules of a user are those of the grants in the namespace and the cluster', (t) => {
  const other = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }]
  const { rulesOf } = ruleAuthorizer(
    [
      { user: 'bob', namespace: 'a', rules },
      { user: 'bob', namespace: 'b', rules: [] },
    ],
    () => [
      { group: 'system:authenticated', rules: other },
      { user: 'eve', rules: other },
      { user: 'bob', namespace: 'a', rules: [], problem: 'x' },
      { user: 'bob', rules: [], problem: 'x' },
    ],
  )
  t.strictSame(rulesOf!(bob, 'a'), { rules: [...rules, ...other], error: 'x' }, 'a repeated problem is reported once')
  t.strictSame(rulesOf!({ username: 'eve', groups: [] }, 'a'), { rules: other, error: '' })
  t.end()
})

t.test('stored rules are read for each decision', (t) => {
  let stored: Grant[] = []
  const authorizer = ruleAuthorizer([], () => stored)
  t.strictSame(authorizer.authorize(attributes), { allowed: false, reason: '' })
  stored = [{ user: 'bob', rules, problem: 'x' }]
  t.strictSame(authorizer.authorize(attributes), { allowed: true, reason: '' })
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
  [{ verb: 'get', resource: '', path: '/<a>&' }, 'forbidden: User "bob" cannot get path "/&lt;a&gt;&amp;"', {}],
  [{ verb: 'get', resource: '', path: '/metrics' }, 'forbidden: User "bob" cannot get path "/metrics"', {}],
]

t.test('refusals have the messages of kube-apiserver', (t) => {
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
  const reasons = [attributes, { ...attributes, resource: '', path: '/x' }, { ...attributes, resource: '' }].map(
    (given) => forbiddenError(given, 'RBAC: x').message,
  )
  t.strictSame(reasons, [
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default": RBAC: x',
    'forbidden: User "bob" cannot list path "/x": RBAC: x',
    'forbidden: User "bob" cannot list path "": RBAC: x',
  ])
  t.end()
})
