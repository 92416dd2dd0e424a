/** Tokens of ServiceAccounts, as a client asks for them, and what the objects of RBAC let them do. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Connection } from '../../src/client/connection.ts'
import { apiOf, type Api } from '../support/api-request.ts'
import { until } from '../support/process.ts'
import { conformanceControlPlane } from './backends.ts'

const namespace = 'conformance-access'
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const user = (name: string): string => `system:serviceaccount:${namespace}:${name}`

t.test('access', async (t) => {
  const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, connection)
  t.teardown(() =>
    Promise.all(['clusterroles', 'clusterrolebindings'].map((plural) => api('DELETE', `${rbac}/${plural}/conformance-access`))),
  )

  const tokenOf = (name: string, spec: JsonObject = {}) =>
    api('POST', `${accounts}/${name}/token`, { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec } })
  const review = async (token: string) =>
    (await api('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: { token } } })).body as {
      status: { authenticated?: boolean; user: { username?: string; groups?: string[] } }
    }
  async function createAccount(name: string): Promise<Api> {
    await api('POST', accounts, { body: { metadata: { name } } })
    const { body } = await tokenOf(name)
    const { token } = body['status'] as { token: string }
    const own: Connection = { ...connection, authorization: () => Promise.resolve(`Bearer ${token}`) }
    return apiOf(t, own)
  }

  t.test('a token says whose it is, and ends with the ServiceAccount', async (t) => {
    await api('POST', accounts, { body: { metadata: { name: 'worker' } } })
    const { status, body } = await tokenOf('worker', { expirationSeconds: 700 })
    t.equal(status, 201)
    t.match(body, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'worker', namespace },
      spec: { expirationSeconds: 700, boundObjectRef: null },
      status: { expirationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
    })
    const { token } = body['status'] as { token: string }
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number; iat: number }
    t.match(claims, {
      sub: user('worker'),
      'kubernetes.io': { namespace, serviceaccount: { name: 'worker', uid: (body['metadata'] as { uid: string }).uid } },
    })
    t.equal(claims.exp - claims.iat, 700)
    t.match((await review(token)).status, {
      authenticated: true,
      user: {
        username: user('worker'),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      },
    })
    const forged = `${token.slice(0, -8)}AAAAAAAA`
    t.not((await review(forged)).status.authenticated, true)

    await api('DELETE', `${accounts}/worker`)
    await api('POST', accounts, { body: { metadata: { name: 'worker' } } })
    // The API server remembers for some seconds whom it has authenticated.
    await until('the token is of no use', async () => (await review(token)).status.authenticated !== true)
  })

  t.test('a token for others is not for the API server', async (t) => {
    await api('POST', accounts, { body: { metadata: { name: 'abroad' } } })
    const { body } = await tokenOf('abroad', { audiences: ['elsewhere'] })
    t.match(body['spec'], { audiences: ['elsewhere'] })
    t.not((await review((body['status'] as { token: string }).token)).status.authenticated, true)
  })

  t.test('requests that make no sense are refused', async (t) => {
    t.match((await tokenOf('nobody')).body, { code: 404, message: 'serviceaccounts "nobody" not found' })
    await api('POST', accounts, { body: { metadata: { name: 'hasty' } } })
    t.match((await tokenOf('hasty', { expirationSeconds: 10 })).body, {
      code: 422,
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    })
  })

  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
  const subject = (name: string): JsonObject => ({ kind: 'ServiceAccount', namespace, name })
  const configMaps = (of: string): string => `/api/v1/namespaces/${of}/configmaps`

  t.test('a Role that is bound holds in its namespace, and only as long as it is bound', async (t) => {
    const own = await createAccount('local')
    const refused = {
      code: 403,
      message: `configmaps is forbidden: User "${user('local')}" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
    }
    t.match((await own('GET', configMaps(namespace))).body, refused)
    const path = `${rbac}/namespaces/${namespace}`
    await api('POST', `${path}/roles`, { body: { metadata: { name: 'reader' }, rules } })
    await api('POST', `${path}/rolebindings`, {
      body: { metadata: { name: 'reader' }, roleRef: { apiGroup: group, kind: 'Role', name: 'reader' }, subjects: [subject('local')] },
    })
    await until('it may', async () => (await own('GET', configMaps(namespace))).status === 200)
    t.equal((await own('GET', configMaps('default'))).status, 403)
    t.equal((await own('GET', `${configMaps(namespace)}/a`)).status, 403)
    await api('DELETE', `${path}/rolebindings/reader`)
    await until('it may no longer', async () => (await own('GET', configMaps(namespace))).status === 403)
  })

  t.test('a ClusterRole that is bound for the cluster holds everywhere, also for a group', async (t) => {
    const own = await createAccount('global')
    const paths = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
    await api('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'conformance-access' }, rules: [...rules, ...paths] } })
    await api('POST', `${rbac}/clusterrolebindings`, {
      body: {
        metadata: { name: 'conformance-access' },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'conformance-access' },
        subjects: [{ apiGroup: group, kind: 'Group', name: `system:serviceaccounts:${namespace}` }],
      },
    })
    await until('it may', async () => (await own('GET', configMaps('default'))).status === 200)
    t.equal((await own('GET', configMaps(namespace))).status, 200)
    t.not((await own('GET', '/metrics')).status, 403)
    t.equal((await own('GET', '/metrics/slis')).status, 403)
  })
})
