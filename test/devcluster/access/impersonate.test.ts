import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { AuthorizationAttributes, Authorizer } from '../../../src/devcluster/access/authorizer.ts'
import { impersonate } from '../../../src/devcluster/access/impersonate.ts'
import type { UserInfo } from '../../../src/devcluster/apimachinery/request-context.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const requester = { username: 'bob', groups: ['devs'] }
const target = { verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }

/** Returns an authorizer that allows only these rights, each given as `VERB RESOURCE/NAME`. It records all checked rights in `asked`. */
function allowing(rights: readonly string[], asked: string[] = []): Authorizer {
  return {
    authorize({ verb, group, resource, subresource, namespace, name }: AuthorizationAttributes) {
      const place = namespace === '' ? '' : `${namespace}/`
      const right = `${verb} ${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`} ${place}${name}`
      asked.push(right)
      return { allowed: rights.includes(right), reason: '' }
    },
  }
}

/** An authorizer that allows every request, and therefore every impersonation. */
const anybody: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) }

type Headers = Readonly<Record<string, string | readonly string[]>>

function requestWith(headers: Headers): Pick<IncomingMessage, 'headers' | 'headersDistinct'> {
  const lists = Object.entries(headers).map(([name, values]): [string, string[]] => [name, [values].flat()])
  return {
    headers: Object.fromEntries(lists.map(([name, values]) => [name, values.join(', ')])),
    headersDistinct: Object.fromEntries(lists),
  }
}

const eve = { 'impersonate-user': 'eve', 'impersonate-group': ['admins', 'ops'], 'impersonate-uid': '7' }
const withScopes = { ...eve, 'impersonate-extra-scopes': ['a', 'b'] }

t.test('the verb impersonate is needed for the user, each group, the uid and each extra value', async (t) => {
  const asked: string[] = []
  const all = [
    'impersonate users eve',
    'impersonate uids.authentication.k8s.io 7',
    'impersonate groups admins',
    'impersonate groups ops',
    'impersonate userextras.authentication.k8s.io/scopes a',
    'impersonate userextras.authentication.k8s.io/scopes b',
  ]
  t.strictSame(impersonate(requester, requestWith(withScopes), allowing(all, asked), target), {
    username: 'eve',
    groups: ['admins', 'ops', 'system:authenticated'],
    uid: '7',
    extra: { scopes: ['a', 'b'] },
  })
  t.strictSame(asked, ['impersonate-on:user-info:list pods ', ...all])
  for (const missing of all) {
    const rights = all.filter((right) => right !== missing)
    t.match(
      await refusal(() => impersonate(requester, requestWith(withScopes), allowing(rights), target)),
      {
        code: 403,
        message: 'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
      },
      `without ${missing}`,
    )
  }
})

const authentication = 'authentication.k8s.io'

const constrained: { name: string; requester?: UserInfo; headers: Headers; rights: string[]; user: UserInfo }[] = [
  {
    name: 'a user with all values',
    headers: { ...eve, 'impersonate-extra-acme.com%2fscopes': ['a', 'b'] },
    rights: [
      'impersonate-on:user-info:list pods ',
      `impersonate:user-info users.${authentication} eve`,
      `impersonate:user-info uids.${authentication} 7`,
      `impersonate:user-info groups.${authentication} admins`,
      `impersonate:user-info groups.${authentication} ops`,
      `impersonate:user-info userextras.${authentication}/acme.com/scopes a`,
      `impersonate:user-info userextras.${authentication}/acme.com/scopes b`,
    ],
    user: { username: 'eve', groups: ['admins', 'ops', 'system:authenticated'], uid: '7', extra: { 'acme.com/scopes': ['a', 'b'] } },
  },
  {
    name: 'all groups and all extra values',
    headers: { 'impersonate-user': 'eve', 'impersonate-group': ['a', 'b', 'c', 'd'], 'impersonate-extra-a%2fb': ['1', '2', '3', '4'] },
    rights: [
      'impersonate-on:user-info:list pods ',
      `impersonate:user-info users.${authentication} eve`,
      `impersonate:user-info groups.${authentication} *`,
      `impersonate:user-info userextras.${authentication}/* *`,
    ],
    user: { username: 'eve', groups: ['a', 'b', 'c', 'd', 'system:authenticated'], extra: { 'a/b': ['1', '2', '3', '4'] } },
  },
  {
    name: 'a ServiceAccount',
    headers: { 'impersonate-user': 'system:serviceaccount:ns:it' },
    rights: ['impersonate-on:serviceaccount:list pods ', `impersonate:serviceaccount serviceaccounts.${authentication} ns/it`],
    user: {
      username: 'system:serviceaccount:ns:it',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    },
  },
  {
    name: 'any node',
    headers: { 'impersonate-user': 'system:node:n' },
    rights: ['impersonate-on:arbitrary-node:list pods ', `impersonate:arbitrary-node nodes.${authentication} n`],
    user: { username: 'system:node:n', groups: ['system:nodes', 'system:authenticated'] },
  },
  {
    name: 'the node of the requester',
    requester: {
      username: 'system:serviceaccount:ns:agent',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': ['n'] },
    },
    headers: { 'impersonate-user': 'system:node:n' },
    rights: ['impersonate-on:associated-node:list pods ', `impersonate:associated-node nodes.${authentication} *`],
    user: { username: 'system:node:n', groups: ['system:nodes', 'system:authenticated'] },
  },
]
t.test('the constrained verbs are enough, and each of them is needed', async (t) => {
  for (const { name, requester: sender = requester, headers, rights, user } of constrained) {
    const asked: string[] = []
    t.strictSame(impersonate(sender, requestWith(headers), allowing(rights, asked), target), user, name)
    t.strictSame(asked, rights, name)
    for (const missing of rights) {
      const others = rights.filter((right) => right !== missing)
      t.match(
        await refusal(() => impersonate(sender, requestWith(headers), allowing(others), target)),
        { code: 403, message: / cannot impersonate/ },
        `${name}, without ${missing}`,
      )
    }
  }
})

const refusals: [name: string, headers: Headers, verb: string, resource: string, requester?: UserInfo][] = [
  ['a user', { 'impersonate-user': 'eve' }, 'impersonate-on:user-info:list', 'pods'],
  ['a ServiceAccount', { 'impersonate-user': 'system:serviceaccount:ns:it' }, 'impersonate-on:serviceaccount:list', 'pods'],
  ['a node', { 'impersonate-user': 'system:node:a' }, 'impersonate-on:arbitrary-node:list', 'pods'],
  ['what only looks like a node', { 'impersonate-user': 'system:node:A' }, 'impersonate-on:user-info:list', 'pods'],
  ['a node with a group', { 'impersonate-user': 'system:node:a', 'impersonate-group': 'x' }, 'impersonate', 'users'],
  ['a node with a uid', { 'impersonate-user': 'system:node:a', 'impersonate-uid': 'x' }, 'impersonate', 'users'],
  [
    'a ServiceAccount with an extra field',
    { 'impersonate-user': 'system:serviceaccount:ns:it', 'impersonate-extra-a': 'b' },
    'impersonate',
    'serviceaccounts',
  ],
  [
    'a node of a user that is no ServiceAccount',
    { 'impersonate-user': 'system:node:n' },
    'impersonate-on:arbitrary-node:list',
    'pods',
    { username: 'jane', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n'] } },
  ],
]
t.test('a refused impersonation names the first missing verb', async (t) => {
  for (const [name, headers, verb, resource, sender = requester] of refusals) {
    const { message } = await refusal(() => impersonate(sender, requestWith(headers), allowing([]), target))
    t.match(message, `User "${sender.username}" cannot ${verb} resource "${resource}" in API group ""`, name)
  }
  const { message, details } = await refusal(() =>
    impersonate(requester, requestWith({ 'impersonate-user': 'eve' }), allowing([]), {
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
    'deployments.apps "x" is forbidden: User "bob" cannot impersonate-on:user-info:get resource "deployments" in API group "apps" in the namespace "ns"',
  )
  t.strictSame(details, { name: 'x', group: 'apps', kind: 'deployments' })
})

const invalidValues: [name: string, headers: Headers, subject: string, reason: string][] = [
  ['an empty group', { 'impersonate-group': '' }, 'groups', 'impersonating the empty string group is not allowed'],
  [
    'the group of the administrators',
    { 'impersonate-group': 'system:masters' },
    'groups "system:masters"',
    'impersonating the system:masters group is not allowed',
  ],
  ['an empty key', { 'impersonate-extra-': 'a' }, 'userextras', 'impersonating the empty string key in extra is not allowed'],
  [
    'a key without a domain',
    { 'impersonate-extra-scopes': 'a' },
    'userextras',
    'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    'a key with two faults',
    { 'impersonate-extra-_%2f%20': 'a' },
    'userextras',
    `impersonating an invalid key in extra is not allowed: [extra.key: Invalid value: "_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), extra.key: Invalid value: " ": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')]`,
  ],
  [
    'a key in upper case',
    { 'impersonate-extra-a%2f%41': 'a' },
    'userextras',
    'impersonating a non-lowercase key in extra is not allowed: "a/A"',
  ],
  ['an empty extra value', { 'impersonate-extra-a%2fb': '' }, 'userextras', 'impersonating the empty string value in extra is not allowed'],
]
t.test('the constrained verbs do not allow some values that the verb impersonate allows', async (t) => {
  for (const [name, headers, subject, reason] of invalidValues) {
    const request = requestWith({ 'impersonate-user': 'eve', ...headers })
    const withoutGeneral: Authorizer = { authorize: ({ verb }) => ({ allowed: verb !== 'impersonate', reason: '' }) }
    const [resource, quoted = ''] = subject.split(' ')
    const { message } = await refusal(() => impersonate(requester, request, withoutGeneral, target))
    t.equal(
      message,
      `${resource}.${authentication}${quoted === '' ? '' : ` ${quoted}`} is forbidden: User "bob" cannot impersonate:user-info resource "${resource}" in API group "${authentication}" at the cluster scope: ${reason}`,
      name,
    )
    t.match(impersonate(requester, request, anybody, target), { username: 'eve' }, name)
  }
})

t.test('an extra key whose percent-encoding is invalid is used without decoding', (t) => {
  const headers = { 'impersonate-user': 'eve', 'impersonate-extra-acme.com%2fproject': 'a', 'impersonate-extra-%zz': 'b' }
  t.match(impersonate(requester, requestWith(headers), anybody, target), { extra: { 'acme.com/project': ['a'], '%zz': ['b'] } })
  const twice = { 'impersonate-user': 'eve', 'impersonate-extra-%61': 'a', 'impersonate-extra-a': 'b' }
  t.match(impersonate(requester, requestWith(twice), anybody, target), { extra: { a: ['a', 'b'] } }, 'two headers for one key')
  t.end()
})

t.test('a request without impersonation headers, or with empty ones, keeps its user', (t) => {
  const asked: string[] = []
  for (const headers of [{}, { accept: 'a' }, { 'impersonate-user': '' }, { 'impersonate-uid': '' }])
    t.equal(impersonate(requester, requestWith(headers), allowing([], asked), target), requester, JSON.stringify(headers))
  t.strictSame(asked, [])
  t.end()
})

t.test('an error of the authorizer is not taken for a refusal', (t) => {
  const broken: Authorizer = {
    authorize() {
      throw new TypeError('broken')
    },
  }
  t.throws(() => impersonate(requester, requestWith(eve), broken, target), { name: 'TypeError', message: 'broken' })
  t.end()
})

t.test('impersonation headers without Impersonate-User are refused with the message of kube-apiserver', async (t) => {
  const nameless: [headers: Headers, printed: string][] = [
    [{ 'impersonate-group': ['a', 'b'] }, '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)}'],
    [
      { 'impersonate-uid': '7', 'impersonate-extra-y': '3', 'impersonate-extra-x': ['1', '2'] },
      '&user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"1", "2"}, "y":[]string{"3"}}}',
    ],
  ]
  for (const [headers, printed] of nameless)
    t.match(await refusal(() => impersonate(requester, requestWith(headers), anybody, target)), {
      code: 400,
      reason: 'BadRequest',
      message: `requested ${printed} without impersonating a user name`,
    })
})
