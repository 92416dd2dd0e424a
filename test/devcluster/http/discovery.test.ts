/** Tests of discovery and of the OpenAPI documents. */
import { createHash } from 'node:crypto'
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { Discovery } from '../../../src/devcluster/http/discovery.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { storedVerbs } from '../../../src/devcluster/rest/subresource.ts'
import { rowOf, startTestServer } from '../../support/devcluster/http-server.ts'

const aggregated = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

t.test('legacy discovery lists groups, versions and resources', async (t) => {
  const { send } = await startTestServer(t)
  t.match((await send('/api')).json, { kind: 'APIVersions', versions: ['v1'] })
  const { json } = await send('/apis')
  t.equal(json.kind, 'APIGroupList')
  t.strictSame(
    (json.groups as JsonObject[]).map(({ name }) => name),
    ['apps', 'authentication.k8s.io', 'authorization.k8s.io', 'a.example.com'],
    'groups of CustomResourceDefinitions come last',
  )
  t.strictSame((await send('/apis/a.example.com')).json, {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'a.example.com',
    versions: [
      { groupVersion: 'a.example.com/v1', version: 'v1' },
      { groupVersion: 'a.example.com/v1beta1', version: 'v1beta1' },
    ],
    preferredVersion: { groupVersion: 'a.example.com/v1', version: 'v1' },
  })
  t.match((await send('/api/v1')).json, { kind: 'APIResourceList', groupVersion: 'v1' })
  const resources = (await send('/api/v1')).json.resources as JsonObject[]
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
    'pods are described as by kube-apiserver, hash included',
  )
  t.match((await send('/apis/a.example.com/v1')).json.resources, [
    { name: 'foos' },
    { name: 'foos/status', singularName: '', kind: 'Foo', verbs: ['get', 'patch', 'update'] },
    { name: 'foos/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
  ])
})

t.test('legacy discovery describes a type with its subresources', async (t) => {
  const { send, server } = await startTestServer(t)
  t.strictSame((await send('/api')).json, {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: server.url.replace('https://', '') }],
  })
  const { json } = await send('/apis/a.example.com/v1')
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
  const subresource = { singularName: '', namespaced: true, verbs: ['get', 'patch', 'update'] }
  t.strictSame(json, {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'a.example.com/v1',
    resources: [
      {
        name: 'foos',
        singularName: 'foo',
        namespaced: true,
        kind: 'Foo',
        verbs,
        shortNames: ['fo'],
        storageVersionHash: createHash('sha256').update('a.example.com/v1/Foo').digest().subarray(0, 8).toString('base64'),
      },
      { name: 'foos/status', kind: 'Foo', ...subresource },
      { name: 'foos/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', ...subresource },
    ],
  })
  t.match(await send('/apis/a.example.com/v1beta1'), {
    json: { resources: [{ name: 'foos', storageVersionHash: (json.resources as JsonObject[])[0]!.storageVersionHash! }] },
  })
  const core = (await send('/api/v1')).json
  t.equal(core.apiVersion, undefined)
  t.equal(core.groupVersion, 'v1')
  const reviews = (await send('/apis/authorization.k8s.io/v1')).json.resources as JsonObject[]
  t.strictSame(
    reviews.find(({ kind }) => kind === 'SubjectAccessReview'),
    {
      name: 'subjectaccessreviews',
      singularName: 'subjectaccessreview',
      namespaced: false,
      kind: 'SubjectAccessReview',
      verbs: ['create'],
    },
  )
  t.match(await send('/api', { accept: 'application/yaml' }), {
    headers: { 'content-type': 'application/yaml' },
    text: /^kind: APIVersions\n/,
  })
  t.match(await send('/apis/a.example.com/v1', { accept: 'text/xml' }), { code: 406, json: { message: /^only the following/ } })
  t.match(await send('/api/v1', { accept: 'text/xml' }), { code: 406, json: { message: /^406: Not Acceptable/ } })
  t.match(await send('/apis', { accept: 'text/xml' }), { code: 406, json: { message: /^only the following/ } })
  t.match(await send('/api', { accept: 'text/xml' }), { code: 406, json: { message: /^406: Not Acceptable/ } })
})

t.test('the index lists every path with a document', async (t) => {
  const { send } = await startTestServer(t)
  const apis = ['a.example.com', 'apps', 'authentication.k8s.io', 'authorization.k8s.io'].flatMap((group) => [
    `/apis/${group}`,
    `/apis/${group}/v1`,
    ...(group === 'a.example.com' ? [`/apis/${group}/v1beta1`] : []),
  ])
  const health = ['/healthz', '/healthz/ping', '/livez', '/livez/ping', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/readyz/ping']
  const paths = ['/api', '/api/v1', '/apis', ...apis, ...health, '/version']
  for (const path of ['/', '/index.html']) {
    const { headers, text } = await send(path)
    t.equal(headers['content-type'], 'application/json')
    t.equal(text, `${JSON.stringify({ paths }, null, 2)}\n`)
  }
})

t.test('built-in groups are in the order of kube-apiserver', async (t) => {
  const catalog = new Catalog([
    rowOf({ group: 'z.example.com', version: 'v1', kind: 'A', plural: 'as' }),
    rowOf({ group: 'discovery.k8s.io', version: 'v1', kind: 'B', plural: 'bs' }),
    rowOf({ group: 'events.k8s.io', version: 'v1', kind: 'C', plural: 'cs' }),
    rowOf({ group: 'batch', version: 'v1', kind: 'D', plural: 'ds' }),
    rowOf({ group: 'apps', version: 'v1', kind: 'E', plural: 'es' }),
  ])
  const discovery = new Discovery(catalog)
  t.strictSame(
    (discovery.groupList().groups as JsonObject[]).map(({ name }) => name),
    ['apps', 'events.k8s.io', 'batch', 'discovery.k8s.io', 'z.example.com'],
  )
  const groups = [
    ...['apps', 'events.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'autoscaling', 'batch', 'networking.k8s.io', 'policy'],
    ...['rbac.authorization.k8s.io', 'storage.k8s.io', 'admissionregistration.k8s.io', 'apiextensions.k8s.io', 'scheduling.k8s.io'],
    ...['coordination.k8s.io', 'discovery.k8s.io', 'a.example.com', 'b.example.com'],
  ]
  const reversed = groups.toReversed().map((group) => rowOf({ group, version: 'v1', kind: 'A', plural: 'as' }))
  t.strictSame(
    (new Discovery(new Catalog(reversed)).groupList().groups as JsonObject[]).map(({ name }) => name),
    groups,
  )
  t.strictSame(discovery.coreVersions('x').versions, [], 'a catalog without core group has no core versions')
  t.equal(discovery.group('nothing'), undefined)
  t.equal(discovery.group(''), undefined)
  t.equal(discovery.resourceList('apps', 'v2'), undefined)
  t.strictSame(discovery.paths().slice(0, 3), ['/apis', '/apis/apps', '/apis/apps/v1'])
  const before = discovery.aggregated(false)
  t.equal(discovery.aggregated(false), before)
  t.not(discovery.aggregated(true).text, before.text)
  catalog.remove('z.example.com', 'as')
  t.notMatch(discovery.aggregated(false).text, /z\.example\.com/)
})

t.test('aggregated discovery describes a type with its subresources', async (t) => {
  const sub = { kind: 'Foo', verbs: ['get'] as const }
  const discovery = new Discovery(
    new Catalog([
      rowOf({
        group: '',
        version: 'v1',
        kind: 'Pod',
        plural: 'pods',
        categories: ['all'],
        subresources: { status: { kind: 'Pod', verbs: ['get'] }, log: { kind: 'Pod', verbs: ['get'] } },
      }),
      rowOf({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false, shortNames: ['no'] }),
      rowOf({
        group: 'a.example.com',
        version: 'v1',
        kind: 'Foo',
        plural: 'foos',
        verbs: ['get', 'list'],
        subresources: { status: sub, scale: { ...sub, kind: 'Scale', group: 'autoscaling', version: 'v1' } },
      }),
    ]),
  )
  const parsed = (core: boolean): unknown => JSON.parse(discovery.aggregated(core).text)
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} }
  const own = (kind: string) => ({ group: '', version: '', kind })
  t.strictSame(parsed(true), {
    ...list,
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'nodes',
                responseKind: own('Node'),
                scope: 'Cluster',
                singularResource: 'node',
                verbs: storedVerbs,
                shortNames: ['no'],
              },
              {
                resource: 'pods',
                responseKind: own('Pod'),
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: storedVerbs,
                categories: ['all'],
                subresources: [
                  { subresource: 'log', responseKind: own('Pod'), verbs: ['get'] },
                  { subresource: 'status', responseKind: own('Pod'), verbs: ['get'] },
                ],
              },
            ],
            freshness: 'Current',
          },
        ],
      },
    ],
  })
  const kind = { group: 'a.example.com', version: 'v1', kind: 'Foo' }
  t.strictSame(parsed(false), {
    ...list,
    items: [
      {
        metadata: { name: 'a.example.com' },
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'foos',
                responseKind: kind,
                scope: 'Namespaced',
                singularResource: 'foo',
                verbs: ['get', 'list'],
                subresources: [
                  { subresource: 'status', responseKind: kind, verbs: ['get'] },
                  { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get'] },
                ],
              },
            ],
            freshness: 'Current',
          },
        ],
      },
    ],
  })
})

t.test('aggregated discovery names group and version of a subresource where they differ from those of the document', (t) => {
  const discovery = new Discovery(new Catalog(builtinResources))
  type Found = { items: { metadata: JsonObject; versions: { version: string; resources: JsonObject[] }[] }[] }
  const rowsOf = (core: boolean, group?: string): JsonObject[] =>
    (JSON.parse(discovery.aggregated(core).text) as Found).items.find(({ metadata }) => metadata.name === group)!.versions[0]!.resources
  const kindsOf = (rows: JsonObject[], plural: string): unknown =>
    (rows.find(({ resource }) => resource === plural)!.subresources as JsonObject[]).map(({ subresource, responseKind }) => [
      subresource,
      responseKind,
    ])
  const own = (kind: string): JsonObject => ({ group: '', version: '', kind })
  const scale = ['scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' }]
  t.strictSame(kindsOf(rowsOf(false, 'apps'), 'deployments'), [scale, ['status', own('Deployment')]])
  t.strictSame(kindsOf(rowsOf(true), 'pods'), [
    ['binding', own('Binding')],
    ['ephemeralcontainers', own('Pod')],
    ['eviction', { group: 'policy', version: 'v1', kind: 'Eviction' }],
    ['log', own('Pod')],
    ['status', own('Pod')],
  ])
  t.end()
})

t.test('aggregated discovery is served when it is accepted, in any order of media types', async (t) => {
  const { send } = await startTestServer(t)
  for (const order of [
    [aggregated('v2'), 'application/json'],
    ['application/json', aggregated('v2')],
  ]) {
    const core = await send('/api', { accept: order.join(',') })
    t.equal(core.headers['content-type'], aggregated('v2'))
    t.match(core.json, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    const { json } = await send('/apis', { accept: order.join(',') })
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

t.test('a request with the ETag gets 304 until the catalog changes', async (t) => {
  const { send, catalog } = await startTestServer(t)
  const first = await send('/apis', { accept: aggregated('v2') })
  const headers = { 'if-none-match': String(first.headers.etag) }
  t.match(first.headers, { etag: /^"[0-9A-F]{128}"$/, 'cache-control': 'public', vary: 'Accept' })
  t.match(await send('/apis', { accept: aggregated('v2'), headers }), { code: 304, text: '' })
  const several = { 'if-none-match': `"x", W/${String(first.headers.etag)}` }
  t.match(await send('/apis', { accept: aggregated('v2'), headers: several }), { code: 304, headers: { etag: first.headers.etag } })
  catalog.add(rowOf({ group: 'b.example.com', version: 'v1', kind: 'Bar', plural: 'bars' }))
  const changed = await send('/apis', { accept: aggregated('v2'), headers })
  t.equal(changed.code, 200)
  t.not(changed.headers.etag, first.headers.etag)
})

t.test('the OpenAPI v3 index has a hash for each document, which changes with the document only', async (t) => {
  const { send, catalog } = await startTestServer(t)
  const index = async (): Promise<Record<string, { serverRelativeURL: string }>> => (await send('/openapi/v3')).json.paths as never
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

  const stale = await send(before['apis/a.example.com/v1']!.serverRelativeURL)
  t.equal(stale.code, 301)
  t.equal(stale.headers.location, after['apis/a.example.com/v1']!.serverRelativeURL)
  const { serverRelativeURL } = after['apis/a.example.com/v1']!
  const hash = /hash=([0-9A-F]{128})$/.exec(serverRelativeURL)![1]!
  const common = { etag: `"${hash}"`, vary: 'Accept', 'content-type': 'application/json' }
  t.match(await send(serverRelativeURL), { code: 200, headers: { ...common, 'cache-control': 'public, immutable' } })
  const plain = '/openapi/v3/apis/a.example.com/v1'
  for (const accept of [undefined, 'application/*', 'text/xml,application/json'])
    t.match(await send(plain, accept === undefined ? {} : { accept }), {
      code: 200,
      headers: { ...common, 'cache-control': 'no-cache, private' },
    })
  t.match(await send(plain, { accept: 'application/yaml' }), { code: 406, text: '' })
  t.match(await send(plain, { headers: { 'if-none-match': `"${hash}"` } }), { code: 304, text: '' })
  t.match(await send('/openapi/v3', { accept: 'text/xml' }), {
    code: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    text: /\}\n$/,
  })
  t.match(await send('/openapi/v3/apis/nothing/v1'), { code: 404, text: '' })
  t.match(await send('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' }), {
    code: 200,
    headers: { 'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' },
    text: /^\n\u00032\.0/,
  })
  t.match(await send('/openapi/v2'), { code: 200, json: { swagger: '2.0' } })
})

t.test('an OpenAPI v3 document has the schemas and operations that kubectl reads', async (t) => {
  const { send } = await startTestServer(t)
  const { json } = await send('/openapi/v3/apis/a.example.com/v1')
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
