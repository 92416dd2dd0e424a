import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { createServiceAccounts, userOfServiceAccount, withToken } from '../../src/testing/service-account.ts'
import type { Created } from '../../src/testing/users.ts'
import { createNamespaces, grant } from '../../src/testing/users.ts'

/** Returns a client that records the created objects. Creating an object whose name is in `existing` fails with 409. */
function creating(...existing: string[]): { client: Client; created: [kind: string, object: object][] } {
  const created: [string, object][] = []
  const create = async ({ kind }: { kind: string }, object: { metadata: { name: string } }): Promise<void> => {
    if (existing.includes(object.metadata.name)) throw new ApiError(failure(409, 'AlreadyExists', 'it is there'))
    if (object.metadata.name === 'broken') throw new ApiError(failure(500, 'InternalError', 'broken'))
    created.push([kind, object])
  }
  return { client: { create } as unknown as Client, created }
}

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]

t.test('each user gets roles for its rules, in the cluster and in namespaces', async (t) => {
  const { client, created } = creating()
  const users = [
    { name: 'a', rules: [], namespaceRules: { x: [], y: rules } },
    { name: 'b', rules },
  ]
  const made: Created[] = []
  await grant(client, users, 'p', made)
  const apiGroup = 'rbac.authorization.k8s.io'
  const bound = (kind: string, name: string, user: string): object => ({
    roleRef: { apiGroup, kind, name },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  })
  t.strictSame(created, [
    ['Role', { metadata: { name: 'p-0', namespace: 'y' }, rules }],
    ['RoleBinding', { metadata: { name: 'p-0', namespace: 'y' }, ...bound('Role', 'p-0', 'a') }],
    ['ClusterRole', { metadata: { name: 'p-1' }, rules }],
    ['ClusterRoleBinding', { metadata: { name: 'p-1' }, ...bound('ClusterRole', 'p-1', 'b') }],
  ])
  t.strictSame(
    made.map(({ type, key }) => [type.plural, type.group, type.namespaced, key]),
    [
      ['roles', apiGroup, true, { name: 'p-0', namespace: 'y' }],
      ['rolebindings', apiGroup, true, { name: 'p-0', namespace: 'y' }],
      ['clusterroles', apiGroup, false, { name: 'p-1' }],
      ['clusterrolebindings', apiGroup, false, { name: 'p-1' }],
    ],
  )
})

t.test('missing namespaces and ServiceAccounts are created', async (t) => {
  const { client, created } = creating('there')
  const made: Created[] = []
  await createNamespaces(client, ['new', 'there', 'new'], made)
  await createServiceAccounts(client, [{ name: 'a/there' }, { name: 'a/robot' }], made)
  t.strictSame(created, [
    ['Namespace', { metadata: { name: 'new' } }],
    ['ServiceAccount', { metadata: { namespace: 'a', name: 'robot' } }],
  ])
  t.strictSame(
    made.map(({ type, key }) => [type.kind, key]),
    [
      ['Namespace', { name: 'new' }],
      ['ServiceAccount', { namespace: 'a', name: 'robot' }],
    ],
  )
  await t.rejects(createNamespaces(client, ['broken']), { message: 'broken' })
  await t.rejects(createServiceAccounts(client, [{ name: 'a/broken' }]), { message: 'broken' })
})

t.test('a ServiceAccount is a user with the groups of Kubernetes', (t) => {
  const namespaceRules = { x: rules }
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:a']
  t.strictSame(userOfServiceAccount({ name: 'a/b', namespaceRules }), {
    name: 'system:serviceaccount:a:b',
    groups,
    rules: [],
    namespaceRules,
  })
  t.strictSame(userOfServiceAccount({ name: 'a/b', rules }), { name: 'system:serviceaccount:a:b', groups, rules })
  for (const name of ['a', 'a/', '/b', 'a/b/c', ''])
    t.throws(() => userOfServiceAccount({ name }), {
      code: 'PRO_INPUT',
      message: `${JSON.stringify(name)} is not a ServiceAccount: write namespace/name.`,
    })
  t.end()
})

t.test('the token of a ServiceAccount is requested on demand, cached, and renewed when refused', async (t) => {
  const requests: unknown[] = []
  const admin = {
    raw: async (path: string, options: object) => {
      requests.push([path, options])
      return { status: { token: `token-${requests.length}` } }
    },
  } as unknown as Client
  const connection = {
    server: 'https://a',
    ca: 'ca',
    describe: 'a test',
    namespace: 'n',
    tls: async () => ({}),
    authorization: async () => 'of the administrator',
  }
  const clock = new FakeClock()
  const { authorization, ...rest } = withToken(admin, connection, 'x/y', clock)
  t.strictSame(rest, { server: 'https://a', ca: 'ca', namespace: 'n', describe: 'a test, as the ServiceAccount x/y' })
  t.strictSame(requests, [])
  t.equal(await authorization!(), 'Bearer token-1')
  t.equal(await authorization!(), 'Bearer token-1')
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  t.strictSame(requests, [['/api/v1/namespaces/x/serviceaccounts/y/token', { method: 'POST', body }]])
  t.equal(await authorization!('Bearer token-1'), 'Bearer token-2')
  await clock.advance(1_799_000)
  t.equal(await authorization!(), 'Bearer token-2')
  await clock.advance(1_000)
  t.equal(await authorization!(), 'Bearer token-3', 'after half of its lifetime, the token is replaced')
})
