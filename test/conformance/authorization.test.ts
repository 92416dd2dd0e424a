/** Tests of requests that need more than one permission, or a permission for a single object. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf, type Api } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-authorization'
const group = 'rbac.authorization.k8s.io'
const core = `/api/v1/namespaces/${namespace}`
const rbac = `/apis/${group}/v1/namespaces/${namespace}`

t.test('authorization', async (t) => {
  const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, connection)

  /** Returns an `Api` that sends requests as a user with these permissions in the namespace. */
  async function userWith(name: string, rules: readonly JsonObject[]): Promise<Api> {
    const roleRef = { apiGroup: group, kind: 'Role', name }
    await api('POST', `${rbac}/roles`, { body: { metadata: { name }, rules } })
    await api('POST', `${rbac}/rolebindings`, {
      body: { metadata: { name }, roleRef, subjects: [{ apiGroup: group, kind: 'User', name }] },
    })
    const own: Api = (method, path, options = {}) => api(method, path, { ...options, headers: { 'impersonate-user': name } })
    await until('the rights are known', async () => (await own('GET', `${core}/secrets/visible`)).status !== 403)
    return own
  }

  t.test('a right for one name allows lists and watches of this object only', async (t) => {
    const verbs = ['get', 'list', 'watch', 'deletecollection']
    const own = await userWith('reader', [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['visible'], verbs }])
    for (const name of ['visible', 'hidden']) await api('POST', `${core}/secrets`, { body: { metadata: { name } } })
    const names = async (path: string): Promise<string[]> =>
      [...(await own('GET', path)).text.matchAll(/"name":"(\w+)","namespace"/g)].map(([, name]) => name!)
    const secrets = `${core}/secrets`
    const watches = `/api/v1/watch/namespaces/${namespace}/secrets`
    const select = (...terms: string[]): string => `timeoutSeconds=1&fieldSelector=${encodeURIComponent(terms.join(','))}`

    for (const path of [
      `${secrets}?${select('metadata.name=visible')}`,
      `${secrets}?watch=true&${select('metadata.name=visible')}`,
      `${watches}/visible?${select()}`,
      `${watches}/visible?${select('metadata.name=visible')}`,
    ])
      t.strictSame(await names(path), ['visible'], path)

    const mismatch = "fieldSelector metadata.name doesn't match requested name"
    for (const terms of [
      ['metadata.name=hidden'],
      ['metadata.name!=visible'],
      ['type=Opaque'],
      ['metadata.name=visible', 'metadata.name=hidden'],
      ['metadata.name=hidden', 'metadata.name=visible'],
    ])
      t.match((await own('GET', `${watches}/visible?${select(...terms)}`)).body, { code: 400, message: mismatch }, terms.join())

    const refused = (verb: string, name = ''): object => {
      const subject = name === '' ? 'secrets' : `secrets "${name}"`
      const message = `${subject} is forbidden: User "reader" cannot ${verb} resource "secrets" in API group "" in the namespace "${namespace}"`
      return { code: 403, message }
    }
    for (const [path, expected] of [
      [`${watches}?${select('metadata.name=visible')}`, refused('watch')],
      [`${watches}/hidden?${select('metadata.name=visible')}`, refused('watch', 'hidden')],
      [`${secrets}?watch=true&${select()}`, refused('watch')],
      [`${secrets}?watch=true&${select('metadata.name=hidden')}`, refused('watch', 'hidden')],
      [`${secrets}?${select('metadata.name!=hidden')}`, refused('list')],
      [`${secrets}?${select('metadata.name=visible', 'malformed')}`, refused('list')],
      [`${secrets}?${select('metadata.name=visible', 'metadata.name=hidden')}`, refused('list', 'hidden')],
    ] as const)
      t.match((await own('GET', path)).body, expected, path)
    t.match((await own('DELETE', `${secrets}?${select('metadata.name=visible')}`)).body, refused('deletecollection'))
  })

  t.test('a PUT or server-side apply request that creates an object needs the right to create it', async (t) => {
    const verbs = ['get', 'patch', 'update']
    const apiGroups = ['', 'coordination.k8s.io', group]
    const own = await userWith('editor', [
      { apiGroups, resources: ['configmaps', 'leases', 'pods', 'roles', 'secrets'], verbs },
      { apiGroups, resources: ['endpoints', 'services'], resourceNames: ['a'], verbs: [...verbs, 'create'] },
    ])
    const apply = { contentType: 'application/apply-patch+yaml' }
    const configMap = (more: JsonObject = {}): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...more })
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'x' }] } }
    const applied = `${core}/configmaps/a?fieldManager=x`
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/a`
    const named = { metadata: { name: 'a' } }
    const refused = (plural: string, ofGroup = ''): object => ({
      code: 403,
      reason: 'Forbidden',
      message: `${plural}${ofGroup && `.${ofGroup}`} "a" is forbidden: User "editor" cannot create resource "${plural}" in API group "${ofGroup}" in the namespace "${namespace}"`,
      details: { name: 'a', ...(ofGroup && { group: ofGroup }), kind: plural },
    })
    t.match((await own('PATCH', applied, { ...apply, body: configMap() })).body, refused('configmaps'))
    t.match((await own('PATCH', `${applied}&dryRun=All`, { ...apply, body: configMap() })).body, refused('configmaps'))
    t.match((await own('PATCH', `${core}/pods/a?fieldManager=x`, { ...apply, body: pod })).body, refused('pods'))
    t.match((await own('PUT', lease, { body: named })).body, refused('leases', 'coordination.k8s.io'))
    t.match((await own('PUT', `${rbac}/roles/a`, { body: { ...named, rules: [] } })).body, refused('roles', group))
    for (const path of [`${core}/configmaps/a`, `${core}/pods/a`, lease, `${rbac}/roles/a`])
      t.equal((await api('GET', path)).status, 404, path)

    // The API server checks the permission `create` after the validation of the object and before the validating admission phase.
    const invalid = configMap({ data: { 'a b': '' } })
    t.equal((await own('PATCH', applied, { ...apply, body: invalid })).status, 422)
    t.equal((await own('PUT', lease, { body: { ...named, spec: { leaseDurationSeconds: -1 } } })).status, 422)
    t.equal((await own('PATCH', applied, { ...apply, body: configMap({ metadata: { name: 'a', uid: 'x' } }) })).status, 409)

    t.equal((await own('PUT', `${core}/endpoints/a`, { body: named })).status, 201, 'the right may be limited to the name')
    const service = { apiVersion: 'v1', kind: 'Service', ...named, spec: { ports: [{ port: 80 }] } }
    t.equal((await own('PATCH', `${core}/services/a?fieldManager=x`, { ...apply, body: service })).status, 201)
    t.equal((await own('POST', `${core}/endpoints`, { body: named })).status, 403, 'a POST has no name')

    await api('POST', `${core}/configmaps`, { body: configMap() })
    t.equal((await own('PATCH', applied, { ...apply, body: configMap({ data: { a: 'b' } }) })).status, 200, 'a change needs no such right')
  })

  t.test('mutating webhooks are called before the right to create is checked, and validating webhooks are not', async (t) => {
    const own = await userWith('mutated', [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'patch'] }])
    const hook = {
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: 'https://127.0.0.1:1' },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mutated' } }
    const path = `${core}/configmaps/mutated?fieldManager=x`
    const answer = async (by: Api): Promise<string> =>
      String((await by('PATCH', `${path}&dryRun=All`, { contentType: 'application/apply-patch+yaml', body })).body.message)
    for (const [kind, expected] of [
      ['validating', /cannot create resource "configmaps"/],
      ['mutating', /failed calling webhook "a\.example\.com"/],
    ] as const) {
      const configurations = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
      const named = { metadata: { name: namespace }, webhooks: [{ ...hook, name: 'a.example.com' }] }
      await api('POST', configurations, { body: named })
      t.teardown(() => api('DELETE', `${configurations}/${namespace}`))
      await until('the webhook is called', async () => (await answer(api)).includes('failed calling webhook'))
      t.match(await answer(own), expected, kind)
    }
  })
})
