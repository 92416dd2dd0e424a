/** Discovery and OpenAPI documents. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { rowOf, startTestServer } from '../../support/http-server.ts'

const aggregated = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

t.test('the legacy documents', async (t) => {
  const { ask } = await startTestServer(t)
  t.match((await ask('/api')).json, { kind: 'APIVersions', versions: ['v1'] })
  const { json } = await ask('/apis')
  t.equal(json.kind, 'APIGroupList')
  t.strictSame(
    (json.groups as JsonObject[]).map(({ name }) => name),
    ['apps', 'authentication.k8s.io', 'authorization.k8s.io', 'a.example.com'],
    'the groups of CRDs come last',
  )
  t.strictSame((await ask('/apis/a.example.com')).json, {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'a.example.com',
    versions: [
      { groupVersion: 'a.example.com/v1', version: 'v1' },
      { groupVersion: 'a.example.com/v1beta1', version: 'v1beta1' },
    ],
    preferredVersion: { groupVersion: 'a.example.com/v1', version: 'v1' },
  })
  t.match((await ask('/api/v1')).json, { kind: 'APIResourceList', groupVersion: 'v1' })
  const resources = (await ask('/api/v1')).json.resources as JsonObject[]
  t.strictSame(
    resources.find(({ name }) => name === 'pods'),
    {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
      storageVersionHash: 'xPOwRZ+Yhw8=',
    },
    'as a real API server describes pods, hash included',
  )
  t.match((await ask('/apis/a.example.com/v1')).json.resources, [
    { name: 'foos' },
    { name: 'foos/status', singularName: '', kind: 'Foo', verbs: ['get', 'patch', 'update'] },
    { name: 'foos/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
  ])
})

t.test('the aggregated documents', async (t) => {
  const { ask } = await startTestServer(t)
  for (const order of [
    [aggregated('v2'), 'application/json'],
    ['application/json', aggregated('v2')],
  ]) {
    const core = await ask('/api', { accept: order.join(',') })
    t.equal(core.headers['content-type'], aggregated('v2'))
    t.match(core.json, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    const { json } = await ask('/apis', { accept: order.join(',') })
    const foos = (json.items as JsonObject[]).at(-1)
    t.match(foos, {
      metadata: { name: 'a.example.com' },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'foos',
              responseKind: { group: 'a.example.com', version: 'v1', kind: 'Foo' },
              scope: 'Namespaced',
              singularResource: 'foo',
              shortNames: ['fo'],
              subresources: [
                { subresource: 'status', responseKind: { kind: 'Foo' } },
                { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
              ],
            },
          ],
        },
        { version: 'v1beta1' },
      ],
    })
  }
})

t.test('an entity tag saves the second transfer, until the catalog changes', async (t) => {
  const { ask, catalog } = await startTestServer(t)
  const first = await ask('/apis', { accept: aggregated('v2') })
  const headers = { 'if-none-match': String(first.headers.etag) }
  t.match(await ask('/apis', { accept: aggregated('v2'), headers }), { code: 304, text: '' })
  catalog.add(rowOf({ group: 'b.example.com', version: 'v1', kind: 'Bar', plural: 'bars' }))
  const changed = await ask('/apis', { accept: aggregated('v2'), headers })
  t.equal(changed.code, 200)
  t.not(changed.headers.etag, first.headers.etag)
})

t.test('OpenAPI v3: an index with hashes, of which only the changed ones change', async (t) => {
  const { ask, catalog } = await startTestServer(t)
  const index = async (): Promise<Record<string, { serverRelativeURL: string }>> => (await ask('/openapi/v3')).json.paths as never
  const before = await index()
  t.strictSame(Object.keys(before), [
    'api/v1',
    'apis/a.example.com/v1',
    'apis/a.example.com/v1beta1',
    'apis/apps/v1',
    'apis/authentication.k8s.io/v1',
    'apis/authorization.k8s.io/v1',
  ])
  catalog.add(rowOf({ group: 'a.example.com', version: 'v1', kind: 'Bar', plural: 'bars' }))
  const after = await index()
  t.not(after['apis/a.example.com/v1']!.serverRelativeURL, before['apis/a.example.com/v1']!.serverRelativeURL)
  t.equal(after['apis/apps/v1']!.serverRelativeURL, before['apis/apps/v1']!.serverRelativeURL)

  const stale = await ask(before['apis/a.example.com/v1']!.serverRelativeURL)
  t.equal(stale.code, 301)
  t.equal(stale.headers.location, after['apis/a.example.com/v1']!.serverRelativeURL)
  t.match(await ask(after['apis/a.example.com/v1']!.serverRelativeURL), { code: 200, headers: { 'cache-control': 'public, immutable' } })
  t.equal((await ask('/openapi/v3/apis/nothing/v1')).code, 404)
  t.equal((await ask('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' })).code, 200)
  t.equal((await ask('/openapi/v2')).code, 404)
})

t.test('OpenAPI v3: a document says what kubectl wants to know', async (t) => {
  const { ask } = await startTestServer(t)
  const { json } = await ask('/openapi/v3/apis/a.example.com/v1')
  const path = (json.paths as JsonObject)['/apis/a.example.com/v1/namespaces/{namespace}/foos/{name}'] as Record<string, JsonObject>
  t.strictSame(Object.keys(path), ['get', 'put', 'patch', 'delete', 'parameters'])
  t.match(path.patch, {
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group: 'a.example.com', version: 'v1', kind: 'Foo' },
  })
  t.strictSame(Object.keys((path.patch!.requestBody as { content: JsonObject }).content), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ])
  for (const method of ['put', 'patch']) {
    t.ok(
      (path[method]!.parameters as JsonObject[]).some(({ name, in: where }) => name === 'fieldValidation' && where === 'query'),
      method,
    )
  }
  const schemas = (json.components as { schemas: Record<string, JsonObject> }).schemas
  t.match(schemas['com.example.a.v1.Foo'], {
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: /APIVersion/ },
      metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
      spec: { type: 'object', properties: { size: { type: 'integer', description: 'How many.' } } },
    },
    'x-kubernetes-group-version-kind': [{ group: 'a.example.com', kind: 'Foo', version: 'v1' }],
  })
  for (const reference of referencesIn(json)) t.ok(Object.hasOwn(schemas, reference.replace('#/components/schemas/', '')), reference)
})

function referencesIn(value: JsonValue | undefined): Set<string> {
  const found = new Set<string>()
  const visit = (node: JsonValue | undefined): void => {
    if (Array.isArray(node)) node.forEach(visit)
    else if (typeof node === 'object' && node !== null) {
      if (typeof node.$ref === 'string') found.add(node.$ref)
      Object.values(node).forEach(visit)
    }
  }
  visit(value)
  return found
}
