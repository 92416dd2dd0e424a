/** Tests of the discovery of groups, versions and resources, and of the responses for paths that do not exist. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const v2beta1 = v2.replace('v=v2', 'v=v2beta1')

t.test('discovery', async (t) => {
  const { connection } = await conformanceControlPlane(t, { controllers: false })
  const api = apiOf(t, connection)

  t.test('aggregated discovery is served with an ETag when the client accepts it', async (t) => {
    for (const accept of [`${v2},${v2beta1},application/json`, `application/json,${v2}`, `application/yaml,${v2}`]) {
      const { status, headers, body } = await api('GET', '/apis', { accept })
      t.match({ status, body }, { status: 200, body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' } }, accept)
      t.match(headers, { 'content-type': v2, 'cache-control': 'public', vary: 'Accept', etag: /^"[0-9A-F]{128}"$/ })
    }
    const { headers } = await api('GET', '/api', { accept: v2 })
    const again = await api('GET', '/api', { accept: v2, headers: { 'if-none-match': String(headers['etag']) } })
    t.match(again, { status: 304, text: '' })
  })

  t.test('groups are in an order by which clients choose between types with the same name', async (t) => {
    const { body } = await api('GET', '/apis')
    t.equal(body.kind, 'APIGroupList')
    const wanted = [
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'autoscaling',
      'batch',
      'policy',
      'apiextensions.k8s.io',
      'discovery.k8s.io',
    ]
    const names = (body.groups as { name: string }[]).map(({ name }) => name).filter((name) => wanted.includes(name))
    t.strictSame(names, wanted)
  })

  t.test('a version lists its types', async (t) => {
    const { headers, body } = await api('GET', '/apis/apps/v1')
    t.match(headers, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
    const names = (body.resources as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith('deployments'))
    t.strictSame(names, ['deployments', 'deployments/scale', 'deployments/status'])
    t.equal((await api('GET', '/api/v1')).body.apiVersion, undefined, 'the document of the core group has no apiVersion')
    t.match((await api('GET', '/api/v1', { accept: 'application/yaml' })).headers, { 'content-type': 'application/yaml' })
    const aggregated = await api('GET', '/apis', { accept: v2 })
    const apps = (aggregated.body.items as JsonObject[]).find(({ metadata }) => (metadata as JsonObject).name === 'apps')
    t.match(apps, { metadata: { name: 'apps' } })
    const [version] = apps!.versions as { resources: JsonObject[] }[]
    t.match(
      version!.resources.find(({ resource }) => resource === 'deployments'),
      {
        responseKind: { group: '', version: '', kind: 'Deployment' },
        scope: 'Namespaced',
        subresources: [
          { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
          { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' } },
        ],
      },
    )
  })

  t.test('a missing path gets 404', async (t) => {
    const status = { reason: 'NotFound', message: 'the server could not find the requested resource', details: {} }
    for (const path of ['/api/v9', '/api/v9/pods', '/apis/apps/v9', '/apis/apps/v9/x', '/apis/apps/v1/nothings'])
      t.match(await api('GET', path), { status: 404, body: status }, path)
    for (const path of [
      '/nothing',
      '/openapi',
      '/apis/nothing.example.com',
      '/apis/nothing.example.com/v1',
      '/apis/nothing.example.com/v1/x',
      '/readyz/nothing',
    ])
      t.match(await api('GET', path), { status: 404, text: '404 page not found\n' }, path)
    t.match(await api('GET', '/openapi/v3/apis/nothing.example.com/v1'), { status: 404, text: '' })
  })

  t.test('an unsupported media type gets 406', async (t) => {
    const produced = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
    const only = `only the following media types are accepted: ${produced}`
    const routed = `406: Not Acceptable\n\nAvailable representations: ${produced}`
    for (const [path, message] of [
      ['/api', routed],
      ['/api/v1', routed],
      ['/apis', only],
      ['/apis/apps', only],
    ] as const)
      t.match(await api('GET', path, { accept: 'application/xml' }), { status: 406, body: { message } }, path)
    t.match(await api('GET', '/apis', { accept: v2beta1 }), { status: 406, body: { message: only } })
  })

  t.test('an unsupported method is refused', async (t) => {
    for (const path of ['/version', '/api', '/api/v1', '/apis/apps/v1']) t.equal((await api('POST', path, { body: {} })).status, 405, path)
    for (const path of ['/apis', '/apis/apps', '/openapi/v3', '/healthz'])
      t.equal((await api('POST', path, { body: {} })).status, 200, path)
  })

  t.test('the OpenAPI index has documents that can be cached for good', async (t) => {
    const index = await api('GET', '/openapi/v3')
    t.match(index.headers, { 'content-type': 'text/plain; charset=utf-8' })
    const url = (index.body.paths as Record<string, { serverRelativeURL: string }>)['apis/apps/v1']!.serverRelativeURL
    const document = await api('GET', url)
    t.match(document.headers, { 'content-type': 'application/json', 'cache-control': 'public, immutable', vary: 'Accept' })
    t.match(document.body, {
      openapi: '3.0.0',
      components: {
        schemas: {
          'io.k8s.api.apps.v1.Deployment': {
            type: 'object',
            'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
          },
        },
      },
    })
    t.match(await api('GET', '/openapi/v3/apis/apps/v1', { accept: 'application/xml' }), { status: 406, text: '' })
  })
})
