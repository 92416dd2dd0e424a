/** Tests of requests that impersonate a user: the identity that results, and the rights that the requester needs. */
import t from 'tap'
import { node } from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { Impersonation } from '../../src/client/impersonation.ts'
import type { Transport } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-impersonation'
const authentication = 'authentication.k8s.io'
const review = 'selfsubjectreviews'

interface Rights {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
}

function rule(verb: string, apiGroup: string, resource: string, ...resourceNames: string[]): Rights {
  return { verbs: [verb], apiGroups: [apiGroup], resources: [resource], ...(resourceNames.length === 0 ? {} : { resourceNames }) }
}

function reviewAs(mode: string): Rights {
  return rule(`impersonate-on:${mode}:create`, authentication, review)
}

/** ServiceAccounts and the rules of each. */
const accounts: Readonly<Record<string, readonly Rights[]>> = {
  general: [
    rule('impersonate', '', 'users', 'jane', 'system:node:n'),
    rule('impersonate', '', 'groups', 'a'),
    rule('impersonate', authentication, 'uids', '7'),
    rule('impersonate', authentication, 'userextras/scopes', 'x'),
    rule('impersonate', '', 'serviceaccounts', 'it'),
  ],
  users: [
    reviewAs('user-info'),
    rule('impersonate:user-info', authentication, 'users', 'jane'),
    rule('impersonate:user-info', authentication, 'uids', '7'),
    rule('impersonate:user-info', authentication, 'groups', 'a', ''),
    rule('impersonate:user-info', authentication, 'userextras/acme.com/scopes', 'x'),
  ],
  'many-values': [
    reviewAs('user-info'),
    rule('impersonate:user-info', authentication, 'users', 'jane'),
    rule('impersonate:user-info', authentication, 'groups', '*'),
    rule('impersonate:user-info', authentication, 'userextras/*', '*'),
  ],
  'service-accounts': [reviewAs('serviceaccount'), rule('impersonate:serviceaccount', authentication, 'serviceaccounts', 'it')],
  nodes: [reviewAs('arbitrary-node'), rule('impersonate:arbitrary-node', authentication, 'nodes', 'n')],
  agent: [reviewAs('associated-node'), rule('impersonate:associated-node', authentication, 'nodes', '*')],
  unbound: [reviewAs('associated-node'), rule('impersonate:associated-node', authentication, 'nodes', '*')],
  'only-values': [rule('impersonate:user-info', authentication, 'users', 'jane')],
  'only-request': [reviewAs('user-info')],
}

const { connection, connectionFor, client } = await conformanceControlPlane(t, {
  controllers: false,
  namespaces: [namespace],
  serviceAccounts: Object.entries(accounts).map(([name, rules]) => ({ name: `${namespace}/${name}`, rules: [...rules] })),
})

const administrator = open(connection)

function open(to: Connection): Transport {
  const transport = createTransport(to)
  t.teardown(() => transport.close())
  return transport
}

/** Returns the user that the API server sees, or the message of its error. */
async function whoIs(transport: Transport, user: Impersonation): Promise<JsonObject | string> {
  try {
    const { body } = await transport.request({
      method: 'POST',
      path: `/apis/${authentication}/v1/${review}`,
      body: JSON.stringify({ apiVersion: `${authentication}/v1`, kind: 'SelfSubjectReview' }),
      contentType: 'application/json',
      impersonate: user,
    })
    return (body as { status: { userInfo: JsonObject } }).status.userInfo
  } catch (error) {
    if (error instanceof Error) return error.message
    throw error
  }
}

const account = 'system:serviceaccount:ns:sa'
const everybody = 'system:authenticated'

function refusedReview(username: string): string {
  return `${review}.${authentication} is forbidden: User "${username}" cannot create resource "${review}" in API group "${authentication}" at the cluster scope`
}

/** The users that the administrator impersonates, each with the resulting user or error. */
const identities: [impersonated: Impersonation, result: JsonObject | string][] = [
  // This entry must be the first. kube-apiserver first checks the verbs that allowed the latest impersonation by the same requester (see
  // `attempts`). After an impersonation that the verb `impersonate` has allowed, kube-apiserver checks this verb before the constrained
  // verbs. If the verb `impersonate` allows the impersonation of a node, the impersonated node does not get the group `system:nodes`, which
  // this entry expects.
  [{ user: 'system:node:n' }, { username: 'system:node:n', groups: ['system:nodes', everybody] }],
  [{ user: 'jane' }, { username: 'jane', groups: [everybody] }],
  [{ user: ' jane ' }, { username: 'jane', groups: [everybody] }],
  [
    { user: 'jane', groups: ['a,b', ' c '] },
    { username: 'jane', groups: ['a,b', 'c', everybody] },
  ],
  [
    { user: 'jane', groups: ['a', 'a'] },
    { username: 'jane', groups: ['a', 'a', everybody] },
  ],
  [
    { user: 'jane', groups: ['', 'a'] },
    { username: 'jane', groups: ['', 'a', everybody] },
  ],
  [
    { user: 'jane', groups: [everybody, 'a'] },
    { username: 'jane', groups: [everybody, 'a'] },
  ],
  [{ user: 'jane', groups: ['system:unauthenticated'] }, refusedReview('jane')],
  [{ user: '<a&b>', groups: ['system:unauthenticated'] }, refusedReview('&lt;a&amp;b&gt;')],
  [
    { user: 'jane', uid: '1,2' },
    { username: 'jane', uid: '1,2', groups: [everybody] },
  ],
  [
    { user: 'jane', extra: { a: [''] } },
    { username: 'jane', groups: [everybody], extra: { a: [''] } },
  ],
  [
    { user: 'jane', extra: { Scopes: ['1', '1'], 'acme.com/b': ['x, y'] } },
    { username: 'jane', groups: [everybody], extra: { scopes: ['1', '1'], 'acme.com/b': ['x, y'] } },
  ],
  [
    { user: 'jörg', groups: ['größe'], extra: { schlüssel: ['wört'] } },
    { username: 'jörg', groups: ['größe', everybody], extra: { schlüssel: ['wört'] } },
  ],
  [{ user: account }, { username: account, groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', everybody] }],
  [
    { user: account, groups: ['a'] },
    { username: account, groups: ['a', everybody] },
  ],
  ...['system:serviceaccount:NS:sa', 'system:serviceaccount:ns:', `${account}:more`, 'system:node:', 'system:node:N'].map(
    (user): [Impersonation, JsonObject] => [{ user }, { username: user, groups: [everybody] }],
  ),
  [
    { user: 'system:node:n', groups: ['a'] },
    { username: 'system:node:n', groups: ['a', everybody] },
  ],
  [{ user: 'system:anonymous' }, refusedReview('system:anonymous')],
  [
    { user: 'system:anonymous', groups: [everybody] },
    { username: 'system:anonymous', groups: [everybody, 'system:unauthenticated'] },
  ],
]
t.test('an impersonated user has the values of the headers and the groups that follow from its name', async (t) => {
  for (const [impersonated, result] of identities)
    t.strictSame(await whoIs(administrator, impersonated), result, JSON.stringify(impersonated))
})

const jane = { username: 'jane', groups: [everybody] }
const it = `system:serviceaccount:${namespace}:it`
const itself = { username: it, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, everybody] }
const aNode = { username: 'system:node:n', groups: ['system:nodes', everybody] }
const atCluster = 'at the cluster scope'

function isRefused(
  by: string,
  verb: string,
  resource: string,
  { group = authentication, name = '', where = atCluster, why = '' } = {},
): string {
  const [plural] = resource.split('/')
  const subject = `${plural}${group === '' ? '' : `.${group}`}${name === '' ? '' : ` "${name}"`}`
  const user = `system:serviceaccount:${namespace}:${by}`
  return `${subject} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}${why}`
}

function refusedOn(by: string, mode: string): string {
  return isRefused(by, `impersonate-on:${mode}:create`, review)
}

/**
 * Each entry has a requester, the user that the requester impersonates, and the expected user or error.
 *
 * If kube-apiserver refuses an impersonation, the error names the verb of the first check that fails. The order of the checks depends on
 * earlier requests: the verbs that allowed the latest impersonation by the same requester are checked first. After a successful
 * impersonation, an error can therefore name a different verb. For this reason, the entries with errors come before the successful entries
 * of the same requester.
 */
const attempts: [requester: string, impersonated: Impersonation, result: JsonObject | string][] = [
  ['general', { user: 'eve' }, refusedOn('general', 'user-info')],
  ['general', { user: 'jane', groups: ['b'] }, refusedOn('general', 'user-info')],
  ['general', { user: 'jane', extra: { scopes: ['y'] } }, refusedOn('general', 'user-info')],
  [
    'general',
    { user: account, groups: ['a'] },
    isRefused('general', 'impersonate', 'serviceaccounts', { group: '', name: 'sa', where: 'in the namespace "ns"' }),
  ],
  ['general', { user: 'system:node:m' }, refusedOn('general', 'arbitrary-node')],
  ['general', { user: 'system:node:m', uid: '7' }, isRefused('general', 'impersonate', 'users', { group: '', name: 'system:node:m' })],
  ['general', { user: account }, refusedOn('general', 'serviceaccount')],
  [
    'general',
    { user: 'jane', groups: ['a'], uid: '7', extra: { scopes: ['x'] } },
    { ...jane, groups: ['a', everybody], uid: '7', extra: { scopes: ['x'] } },
  ],
  ['general', { user: 'system:node:n' }, { username: 'system:node:n', groups: [everybody] }],

  ['users', { user: 'eve' }, isRefused('users', 'impersonate:user-info', 'users', { name: 'eve' })],
  ['users', { user: 'jane', uid: '<' }, isRefused('users', 'impersonate:user-info', 'uids', { name: '<' })],
  ['users', { user: 'jane', groups: ['a', 'b'] }, isRefused('users', 'impersonate:user-info', 'groups', { name: 'b' })],
  [
    'users',
    { user: 'jane', groups: [''] },
    isRefused('users', 'impersonate:user-info', 'groups', { why: ': impersonating the empty string group is not allowed' }),
  ],
  [
    'users',
    { user: 'jane', groups: ['system:masters'] },
    isRefused('users', 'impersonate:user-info', 'groups', {
      name: 'system:masters',
      why: ': impersonating the system:masters group is not allowed',
    }),
  ],
  [
    'users',
    { user: 'jane', extra: { 'acme.com/scopes': ['x', 'y'] } },
    isRefused('users', 'impersonate:user-info', 'userextras/acme.com/scopes', { name: 'y' }),
  ],
  ...(
    [
      [
        'scopes',
        'x',
        'an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
      ['acme.com/scopes', '', 'the empty string value in extra is not allowed'],
    ] as const
  ).map(([key, value, why]): [string, Impersonation, string] => [
    'users',
    { user: 'jane', extra: { [key]: [value] } },
    isRefused('users', 'impersonate:user-info', 'userextras', { why: `: impersonating ${why}` }),
  ]),
  [
    'users',
    { user: 'jane', groups: ['a'], uid: '7', extra: { 'acme.com/scopes': ['x'] } },
    { ...jane, groups: ['a', everybody], uid: '7', extra: { 'acme.com/scopes': ['x'] } },
  ],

  ['many-values', { user: 'jane', groups: ['a', 'b', 'c'] }, isRefused('many-values', 'impersonate:user-info', 'groups', { name: 'a' })],
  [
    'many-values',
    { user: 'jane', groups: ['a', 'b', 'c', 'd'], extra: { 'a/b': ['1', '2'], 'c/d': ['3', '4'] } },
    { ...jane, groups: ['a', 'b', 'c', 'd', everybody], extra: { 'a/b': ['1', '2'], 'c/d': ['3', '4'] } },
  ],

  [
    'service-accounts',
    { user: `${it}-not` },
    isRefused('service-accounts', 'impersonate:serviceaccount', 'serviceaccounts', {
      name: 'it-not',
      where: `in the namespace "${namespace}"`,
    }),
  ],
  ['service-accounts', { user: it }, itself],

  ['nodes', { user: 'system:node:m' }, isRefused('nodes', 'impersonate:arbitrary-node', 'nodes', { name: 'm' })],
  ['nodes', { user: 'system:node:n' }, aNode],

  ['only-values', { user: 'jane' }, refusedOn('only-values', 'user-info')],
  ['only-request', { user: 'jane' }, isRefused('only-request', 'impersonate:user-info', 'users', { name: 'jane' })],
]
t.test('a requester needs either the verb impersonate or both constrained verbs', async (t) => {
  const transports = new Map(Object.keys(accounts).map((name) => [name, open(connectionFor({ serviceAccount: `${namespace}/${name}` }))]))
  await until('the rules hold', async () => typeof (await whoIs(transports.get('nodes')!, { user: 'system:node:n' })) === 'object')
  for (const [requester, impersonated, result] of attempts)
    t.strictSame(await whoIs(transports.get(requester)!, impersonated), result, `${requester} ${JSON.stringify(impersonated)}`)
})

t.test('a ServiceAccount whose token is bound to a Node may impersonate that Node only', async (t) => {
  const name = `${namespace}-node`
  await client.create(node, { metadata: { name } })
  t.teardown(() => client.delete(node, { name }))
  const tokenOf = async (serviceAccount: string): Promise<string> => {
    const answer = await client.raw(`/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
      method: 'POST',
      body: {
        apiVersion: `${authentication}/v1`,
        kind: 'TokenRequest',
        spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name } },
      },
    })
    return (answer as { status: { token: string } }).status.token
  }
  const token = await tokenOf('agent')
  const agent = open({ ...connection, authorization: async () => `Bearer ${token}` })
  t.strictSame(await whoIs(agent, { user: 'system:node:other' }), refusedOn('agent', 'arbitrary-node'))
  t.strictSame(await whoIs(agent, { user: `system:node:${name}` }), {
    username: `system:node:${name}`,
    groups: ['system:nodes', everybody],
  })
  const unbound = open(connectionFor({ serviceAccount: `${namespace}/unbound` }))
  t.strictSame(await whoIs(unbound, { user: `system:node:${name}` }), refusedOn('unbound', 'arbitrary-node'))
})
