/** Tests of requests that need more than one right, or a right for one object only. */
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

  /** Returns requests as a user with these rights in the namespace. */
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
})
