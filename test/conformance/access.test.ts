/** Tests of the tokens of ServiceAccounts, and of the permissions that RBAC objects grant to them. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Connection } from '../../src/client/connection.ts'
import { apiOf, type Api } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-access'
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const reviews = '/apis/authorization.k8s.io/v1'
const claimsOf = (token: string): JsonObject => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JsonObject
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

  t.test('a token authenticates its ServiceAccount until that is deleted', async (t) => {
    await api('POST', accounts, { body: { metadata: { name: 'worker' } } })
    const { status, body } = await tokenOf('worker', { expirationSeconds: 700 })
    t.equal(status, 201)
    t.match(body, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'worker', namespace },
      spec: { expirationSeconds: 700 },
      status: { expirationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
    })
    t.equal((body['spec'] as JsonObject).boundObjectRef, null)
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
    // The API server caches successful token authentications for some seconds.
    await until('the token is invalid', async () => (await review(token)).status.authenticated !== true)
  })

  t.test('a token for another audience is refused by the API server', async (t) => {
    await api('POST', accounts, { body: { metadata: { name: 'abroad' } } })
    const { body } = await tokenOf('abroad', { audiences: ['elsewhere'] })
    t.match(body['spec'], { audiences: ['elsewhere'] })
    t.not((await review((body['status'] as { token: string }).token)).status.authenticated, true)
  })

  t.test('an invalid TokenRequest is refused', async (t) => {
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

  t.test('a bound Role allows in its namespace, until the binding is deleted', async (t) => {
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

  t.test('a ClusterRole in a ClusterRoleBinding allows in every namespace, also for a group', async (t) => {
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

  t.test('a token that is bound to an object becomes invalid with it', async (t) => {
    await api('POST', accounts, { body: { metadata: { name: 'bound' } } })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const secrets = `/api/v1/namespaces/${namespace}/secrets`
    const created = await api('POST', secrets, { body: { metadata: { name: 'bound' } } })
    const to = (kind: string, name: string, more: JsonObject = {}) =>
      tokenOf('bound', { boundObjectRef: { apiVersion: 'v1', kind, name, ...more } })
    const answer = await to('Secret', 'bound')
    const { token } = answer.body['status'] as { token: string }
    t.match(claimsOf(token), {
      'kubernetes.io': { namespace, secret: { name: 'bound', uid: (created.body.metadata as JsonObject).uid as string } },
    })
    t.match((await to('Secret', 'bound', { uid: 'x' })).body, {
      code: 409,
      message: /the UID in the bound object reference \(x\) does not match/,
    })
    await api('DELETE', `${secrets}/bound`)
    await until('it is worth nothing', async () => (await review(token)).status.authenticated !== true)

    t.match((await to('Pod', 'nothing')).body, { code: 404, message: 'pods "nothing" not found' })
    t.match((await to('ConfigMap', 'a')).body, { code: 400, message: 'cannot bind token to object of type /v1, Kind=ConfigMap' })
    await api('POST', `${accounts}`, { body: { metadata: { name: 'default' } } })
    await api('POST', pods, { body: { metadata: { name: 'other' }, spec: { containers: [{ name: 'main', image: 'x' }] } } })
    t.match((await to('Pod', 'other')).body, {
      code: 400,
      message: 'cannot bind token for serviceaccount "bound" to pod running with different serviceaccount name.',
    })
    const named = { metadata: { name: 'other' }, spec: {} }
    t.match((await api('POST', `${accounts}/bound/token`, { body: named })).body, {
      code: 422,
      message: /metadata.name: Invalid value: "other": must match the service account name if specified/,
    })
  })

  t.test('a request without a token is system:anonymous', async (t) => {
    const { authorization: _authorization, ...nobody } = connection
    const anonymous = apiOf(t, nobody)
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) t.equal((await anonymous('GET', path)).status, 200, path)
    t.match((await anonymous('GET', '/api')).body, { code: 403, message: 'forbidden: User "system:anonymous" cannot get path "/api"' })
    t.match((await anonymous('GET', '/api/v1/pods')).body, {
      code: 403,
      message: 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope',
    })
    const wrong = apiOf(t, { ...nobody, authorization: () => Promise.resolve('Bearer nothing') })
    t.match((await wrong('GET', '/healthz')).body, { code: 401, message: 'Unauthorized' })
  })

  const may = async (who: string, resourceAttributes: JsonObject): Promise<JsonObject> =>
    (await api('POST', `${reviews}/subjectaccessreviews`, { body: { spec: { user: who, resourceAttributes } } })).body.status as JsonObject

  t.test('a SubjectAccessReview names the binding that allows', async (t) => {
    const path = `${rbac}/namespaces/${namespace}`
    const reader = user('reasoned')
    const question = { verb: 'list', resource: 'configmaps', namespace }
    const roleRef = { apiGroup: group, kind: 'Role', name: 'reasons' }
    await api('POST', `${path}/rolebindings`, { body: { metadata: { name: 'reasons' }, roleRef, subjects: [subject('reasoned')] } })
    await until('the binding is known', async () => (await may(reader, question)).reason !== undefined)
    t.strictSame(await may(reader, question), { allowed: false, reason: `RBAC: role.${group} "reasons" not found` })
    await api('POST', `${path}/roles`, { body: { metadata: { name: 'reasons' }, rules } })
    await until('it may', async () => (await may(reader, question)).allowed)
    t.strictSame(await may(reader, question), {
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "reasons/${namespace}" of Role "reasons" to ServiceAccount "reasoned/${namespace}"`,
    })
  })

  t.test('the bootstrap roles exist', async (t) => {
    const names = ['cluster-admin', 'admin', 'edit', 'view', 'system:basic-user', 'system:discovery', 'system:auth-delegator']
    for (const name of names) t.equal((await api('GET', `${rbac}/clusterroles/${name}`)).status, 200, name)
    t.match((await api('GET', `${rbac}/clusterroles/view`)).body, {
      metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }] },
    })
    const own = await createAccount('curious')
    t.equal((await own('GET', '/apis')).status, 200)
    const { body } = await own('POST', `${reviews}/selfsubjectrulesreviews`, { body: { spec: { namespace } } })
    const { resourceRules, nonResourceRules } = body.status as Record<string, JsonObject[]>
    t.match(
      resourceRules!.find(({ apiGroups }) => (apiGroups as string[]).includes('authorization.k8s.io')),
      { verbs: ['create'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
    )
    t.ok(nonResourceRules!.some(({ nonResourceURLs }) => (nonResourceURLs as string[]).includes('/openapi/*')))
    t.match(body, { spec: {}, status: { incomplete: false } })
  })

  t.test('impersonation needs a right', async (t) => {
    const own = await createAccount('actor')
    const who = user('actor')
    const as = (name: string, path: string): Promise<{ body: JsonObject }> => own('GET', path, { headers: { 'impersonate-user': name } })
    t.match((await as('somebody', configMaps(namespace))).body, {
      message: `configmaps is forbidden: User "${who}" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "${namespace}"`,
    })
    t.match((await as(user('local'), '/version')).body, {
      message: `forbidden: User "${who}" cannot impersonate-on:serviceaccount:get path "/version"`,
    })
    t.match(await api('GET', '/version', { headers: { 'impersonate-group': 'x' } }), {
      status: 400,
      body: {
        message:
          'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
      },
    })
  })

  t.test('an invalid access review or token review is refused', async (t) => {
    const nothing = {
      code: 422,
      message: /^\.authorization\.k8s\.io "" is invalid: spec\.resourceAttributes: Invalid value: null: exactly one of/,
    }
    t.match((await api('POST', `${reviews}/selfsubjectaccessreviews`, { body: { spec: {} } })).body, nothing)
    t.match((await api('POST', `${reviews}/selfsubjectrulesreviews`, { body: { spec: {} } })).body, {
      code: 400,
      message: 'no namespace on request',
    })
    t.match((await api('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: {} } })).body, {
      code: 400,
      message: 'token is required for TokenReview in authentication',
    })
  })
})
