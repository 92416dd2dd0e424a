/** Tests of clients that authenticate as a ServiceAccount. */
import t from 'tap'
import { configMap, serviceAccount } from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'

const namespace = 'conformance-accounts'
const configMaps = (...verbs: string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }]

const controlPlane = await conformanceControlPlane(t, {
  controllers: false,
  namespaces: [namespace],
  serviceAccounts: [{ name: `${namespace}/worker`, rules: configMaps('list'), namespaceRules: { [namespace]: configMaps('create') } }],
})
const { client } = controlPlane

function clientAs(name: string): Client {
  const made = createClient(controlPlane.connectionFor({ serviceAccount: `${namespace}/${name}` }))
  t.teardown(() => made.close())
  return made
}

async function whoIs(asking: Client): Promise<{ username: string; groups: string[] }> {
  const answer = await asking.raw('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  const { username, groups } = (answer as { status: { userInfo: { username: string; groups: string[] } } }).status.userInfo
  return { username, groups: groups.toSorted() }
}

t.test('a ServiceAccount client has the user and the groups of a Pod', async (t) => {
  t.strictSame(await whoIs(clientAs('worker')), {
    username: `system:serviceaccount:${namespace}:worker`,
    groups: ['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  })
})

t.test('a ServiceAccount client has exactly the rights of the options', async (t) => {
  const worker = clientAs('worker')
  await until('the rules hold', () => worker.list(configMap))
  await until('in the namespace, too', () => worker.create(configMap, { metadata: { namespace, name: 'a' } }))
  await t.rejects(worker.create(configMap, { metadata: { namespace: 'default', name: 'a' } }), {
    statusCode: 403,
    message: `configmaps is forbidden: User "system:serviceaccount:${namespace}:worker" cannot create resource "configmaps" in API group "" in the namespace "default"`,
  })
})

t.test('a client can act as any existing ServiceAccount', async (t) => {
  const later = clientAs('later')
  await t.rejects(whoIs(later), { statusCode: 404, message: 'serviceaccounts "later" not found' })
  await client.create(serviceAccount, { metadata: { namespace, name: 'later' } })
  t.equal((await whoIs(later)).username, `system:serviceaccount:${namespace}:later`)
  await t.rejects(later.list(configMap), { message: /configmaps is forbidden/ })
  t.throws(() => controlPlane.connectionFor({ serviceAccount: 'later' }), {
    code: 'PRO_INPUT',
    message: '"later" is not a ServiceAccount: write namespace/name.',
  })
})

t.test('a TokenReview returns the audiences of the token among the requested ones', async (t) => {
  const post = (path: string, body: JsonObject) => client.raw(path, { method: 'POST', body })
  const audiences = ['a', 'b']
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences } }
  const issued = await post(`/api/v1/namespaces/${namespace}/serviceaccounts/worker/token`, request)
  const { token } = (issued as { status: { token: string } }).status
  const review = async (...asked: string[]): Promise<JsonObject> => {
    const spec = { token, ...(asked.length === 0 ? {} : { audiences: asked }) }
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    return ((await post('/apis/authentication.k8s.io/v1/tokenreviews', body)) as { status: JsonObject }).status
  }
  for (const [asked, meant] of [
    [['b', 'c'], ['b']],
    [
      ['b', 'a'],
      ['b', 'a'],
    ],
  ] as const) {
    const status = await review(...asked)
    t.strictSame([status.authenticated, status.audiences], [true, meant])
  }
  for (const asked of [['c'], []]) {
    const status = await review(...asked)
    t.strictSame([status.authenticated, status.audiences, status.user], [undefined, undefined, {}])
    // A TokenReview without audiences checks the token for the audience of the API server.
    const target = asked[0] ?? 'https://kubernetes.default.svc'
    t.equal(status.error, `[invalid bearer token, token audiences ["a" "b"] is invalid for the target audiences ["${target}"]]`)
  }
})

t.test('a ServiceAccount client can use a fault proxy', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const worker = createClient(proxy.through(controlPlane.connectionFor({ serviceAccount: `${namespace}/worker` })))
  t.teardown(() => worker.close())
  t.equal((await whoIs(worker)).username, `system:serviceaccount:${namespace}:worker`)
})

t.test('requests of a ServiceAccount client are recorded with its user', needsRequests, async (t) => {
  const worker = clientAs('worker')
  await worker.list(configMap, { namespace })
  const user = `system:serviceaccount:${namespace}:worker`
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const recorded = until('the request is recorded', async () =>
    (await controlPlane.requests()).some((request) => request.user === user && request.verb === 'list' && request.path === path),
  )
  await t.resolves(recorded)
})
