import t from 'tap'
import { authenticate, commonAudiences, impersonate, tokenAuthenticator } from '../../../src/devcluster/access/authenticate.ts'
import type { AuthorizationAttributes, Authorizer } from '../../../src/devcluster/access/authorizer.ts'
import type { UserInfo } from '../../../src/devcluster/apimachinery/request-context.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const requester = { username: 'bob', groups: ['devs'] }
const target = { verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }
const server = 'https://kubernetes.default.svc'

/** Returns an authorizer that allows `bob` to impersonate only these subjects, each given as `RESOURCE/NAME`. */
function allowing(...subjects: readonly string[]): Authorizer {
  return {
    authorize: ({ resource, name }: AuthorizationAttributes) => ({ allowed: subjects.includes(`${resource}/${name}`), reason: '' }),
  }
}

/** An authorizer that allows every request, and therefore every impersonation. */
const anybody: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) }

const unauthorized = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized',
  reason: 'Unauthorized',
  code: 401,
}

t.test('impersonation needs a right for the user, each group, the uid and each extra value', async (t) => {
  const headers = {
    'impersonate-user': 'eve',
    'impersonate-group': 'admins,ops',
    'impersonate-uid': '7',
    'impersonate-extra-scopes': 'a, b',
  }
  const all = ['users/eve', 'groups/admins', 'groups/ops', 'uids/7', 'userextras/a', 'userextras/b']
  t.strictSame(impersonate(requester, headers, allowing(...all), target), {
    username: 'eve',
    groups: ['admins', 'ops', 'system:authenticated'],
    uid: '7',
    extra: { scopes: ['a', 'b'] },
  })
  for (const missing of all) {
    const rights = all.filter((subject) => subject !== missing)
    t.match(
      await refusal(() => impersonate(requester, headers, allowing(...rights), target)),
      {
        code: 403,
        message: 'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
      },
      `without ${missing}`,
    )
  }
})

t.test('impersonation checks the verbs and resources of the Kubernetes documentation', async (t) => {
  const asked: AuthorizationAttributes[] = []
  const authorizer: Authorizer = {
    authorize(attributes) {
      asked.push(attributes)
      return { allowed: true, reason: '' }
    },
  }
  const general = { user: requester, verb: 'impersonate', group: '', version: '', subresource: '', namespace: '' }
  const authentication = { ...general, group: 'authentication.k8s.io' }
  const headers = {
    'impersonate-user': ' eve ',
    'impersonate-group': ['admins', ' ', 'ops'] as unknown as string,
    'impersonate-uid': '7',
    'impersonate-extra-acme.com%2fproject': 'a',
    'impersonate-extra-%zz': 'b',
  }
  t.strictSame(impersonate(requester, headers, authorizer, target), {
    username: 'eve',
    groups: ['admins', 'ops', 'system:authenticated'],
    uid: '7',
    extra: { 'acme.com/project': ['a'], '%zz': ['b'] },
  })
  t.strictSame(asked, [
    { ...general, resource: 'users', name: 'eve' },
    { ...general, resource: 'groups', name: 'admins' },
    { ...general, resource: 'groups', name: 'ops' },
    { ...authentication, resource: 'uids', name: '7' },
    { ...authentication, resource: 'userextras', subresource: 'acme.com/project', name: 'a' },
    { ...authentication, resource: 'userextras', subresource: '%zz', name: 'b' },
  ])
  asked.length = 0
  t.strictSame(impersonate(requester, { 'impersonate-user': 'system:serviceaccount:ns:it' }, authorizer, target), {
    username: 'system:serviceaccount:ns:it',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
  })
  t.strictSame(asked, [{ ...general, resource: 'serviceaccounts', namespace: 'ns', name: 'it' }])
  asked.length = 0
  t.equal(
    impersonate(requester, { 'impersonate-user': '' }, authorizer, target),
    requester,
    'an empty Impersonate-User header changes nothing',
  )
  t.strictSame(asked, [])
})

const identities: [name: string, headers: Record<string, string>, user: UserInfo][] = [
  ['a user without groups', { 'impersonate-user': 'eve' }, { username: 'eve', groups: ['system:authenticated'] }],
  [
    'groups of a ServiceAccount that are named',
    { 'impersonate-user': 'system:serviceaccount:ns:it', 'impersonate-group': 'a' },
    { username: 'system:serviceaccount:ns:it', groups: ['a', 'system:authenticated'] },
  ],
  [
    'what only looks like a ServiceAccount',
    { 'impersonate-user': 'system:serviceaccount:ns:it:more' },
    { username: 'system:serviceaccount:ns:it:more', groups: ['system:authenticated'] },
  ],
  [
    'the group of all who are known, once',
    { 'impersonate-user': 'eve', 'impersonate-group': 'system:authenticated' },
    { username: 'eve', groups: ['system:authenticated'] },
  ],
  ['nobody', { 'impersonate-user': 'system:anonymous' }, { username: 'system:anonymous', groups: [] }],
  [
    'somebody who is not known',
    { 'impersonate-user': 'eve', 'impersonate-group': 'system:unauthenticated' },
    { username: 'eve', groups: ['system:unauthenticated'] },
  ],
]
t.test('an impersonated user has the groups, the uid and the extra values of the headers', (t) => {
  for (const [name, headers, user] of identities) t.strictSame(impersonate(requester, headers, anybody, target), user, name)
  t.end()
})

t.test('a refused impersonation names the kind of user in its verb', async (t) => {
  const modes = {
    eve: 'user-info',
    'system:serviceaccount:ns:it': 'serviceaccount',
    'system:node:a': 'arbitrary-node',
  }
  for (const [username, mode] of Object.entries(modes)) {
    const { message, details } = await refusal(() =>
      impersonate(requester, { 'impersonate-user': username }, allowing(), {
        ...target,
        verb: 'get',
        group: 'apps',
        resource: 'deployments',
        namespace: 'ns',
        name: 'x',
      }),
    )
    t.equal(
      message,
      `deployments.apps "x" is forbidden: User "bob" cannot impersonate-on:${mode}:get resource "deployments" in API group "apps" in the namespace "ns"`,
    )
    t.strictSame(details, { name: 'x', group: 'apps', kind: 'deployments' })
  }
})

t.test('impersonation headers without Impersonate-User are refused with the message of kube-apiserver', async (t) => {
  const nameless: [headers: Record<string, string>, printed: string][] = [
    [{ 'impersonate-group': 'a,b' }, '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)}'],
    [
      { 'impersonate-uid': '7', 'impersonate-extra-x': '1,2', 'impersonate-extra-y': '3' },
      '&user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"1", "2"}, "y":[]string{"3"}}}',
    ],
  ]
  for (const [headers, printed] of nameless)
    t.match(await refusal(() => impersonate(requester, headers, anybody, target)), {
      code: 400,
      reason: 'BadRequest',
      message: `requested ${printed} without impersonating a user name`,
    })
})

t.test('a token authenticates its user as a member of system:authenticated', (t) => {
  const tokens = tokenAuthenticator(
    new Map<string, UserInfo>([
      ['one', { username: 'one', groups: ['a'] }],
      ['two', { username: 'two', groups: ['system:authenticated', 'b'], uid: '2' }],
      ['three', { username: 'three', groups: [] }],
    ]),
  )
  const one = { username: 'one', groups: ['a', 'system:authenticated'] }
  const two = { username: 'two', groups: ['system:authenticated', 'b'], uid: '2' }
  t.strictSame(tokens('one'), { user: one, audiences: [server] })
  t.strictSame(tokens('two', ['other', server]), { user: two, audiences: [server] })
  t.equal(tokens('two', ['other']), undefined, 'the token is not valid for another audience')
  t.equal(tokens('four'), undefined)
  t.equal(tokens(''), undefined)
  t.end()
})

t.test('a bearer token is read from the Authorization header', async (t) => {
  const tokens = tokenAuthenticator(new Map([['secret', { username: 'eve', groups: [] }]]))
  const eve = { username: 'eve', groups: ['system:authenticated'] }
  for (const authorization of ['Bearer secret', 'bearer secret']) t.strictSame(authenticate({ authorization }, tokens), eve, authorization)
  const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
  for (const authorization of [undefined, '', 'Basic secret', 'Bearer ', 'x Bearer secret'])
    t.strictSame(authenticate(authorization === undefined ? {} : { authorization }, tokens), anonymous, String(authorization))
  t.strictSame(await refusal(() => authenticate({ authorization: 'Bearer other' }, tokens)), unauthorized)
  t.strictSame(await refusal(() => authenticate({ authorization: 'Bearer other' }, () => ({ refusal: 'expired' }))), unauthorized)
})

t.test('the audiences of a token are those that the client requested, in its order', (t) => {
  t.strictSame(commonAudiences(['c', 'a', 'b'], ['a', 'c']), ['c', 'a'])
  t.equal(commonAudiences(['a'], ['b']), undefined)
  t.equal(commonAudiences([], ['b']), undefined)
  t.end()
})
