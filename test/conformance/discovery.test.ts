/** Tests of the discovery of groups, versions and resources, and of the responses for paths that do not exist. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { until } from '../../src/testing/until.ts'
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

  const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

  t.test('the OpenAPI v2 document has all types, in JSON and in protobuf, with an ETag', async (t) => {
    const document = await api('GET', '/openapi/v2')
    t.match(document.headers, {
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      vary: /Accept-Encoding, Accept$/,
      etag: /^"[0-9A-F]{128}"$/,
      'last-modified': / GMT$/,
    })
    const { paths, definitions } = document.body as Record<string, Record<string, JsonObject>>
    t.match(document.body, { swagger: '2.0', info: { title: 'Kubernetes' } })
    t.match(definitions!['io.k8s.api.apps.v1.DeploymentSpec'], {
      type: 'object',
      properties: {
        replicas: { type: 'integer', format: 'int32' },
        template: { $ref: '#/definitions/io.k8s.api.core.v1.PodTemplateSpec' },
      },
    })
    t.match(definitions!['io.k8s.api.core.v1.PodSpec'], {
      properties: {
        containers: {
          items: { $ref: '#/definitions/io.k8s.api.core.v1.Container' },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          'x-kubernetes-patch-merge-key': 'name',
          'x-kubernetes-patch-strategy': 'merge',
        },
        overhead: { additionalProperties: { $ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity' } },
      },
    })
    t.match(definitions!['io.k8s.apimachinery.pkg.util.intstr.IntOrString'], { type: 'string', format: 'int-or-string' })
    t.match(paths!['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale']!.patch, {
      operationId: 'patchAppsV1NamespacedDeploymentScale',
      tags: ['apps_v1'],
      description: 'partially update scale of the specified Deployment',
      consumes: [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
        'application/apply-patch+yaml',
      ],
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'autoscaling', kind: 'Scale', version: 'v1' },
    })
    for (const accept of [protobuf, protobuf.replace('.v1.0', '@v1.0')]) {
      const encoded = await api('GET', '/openapi/v2', { accept })
      t.match(encoded, { status: 200, headers: { 'content-type': protobuf, etag: document.headers.etag }, text: /^\n\u00032\.0\u0012/ })
    }
    const again = await api('GET', '/openapi/v2', { headers: { 'if-none-match': String(document.headers.etag) } })
    t.match(again, { status: 304, text: '', headers: { etag: document.headers.etag } })
    t.match(await api('GET', '/openapi/v2', { accept: 'application/xml' }), { status: 406, text: '' })
    t.match(await api('GET', '/openapi/v2', { headers: { 'accept-encoding': 'gzip' } }), { headers: { 'content-encoding': 'gzip' } })
  })

  t.test('the OpenAPI v2 document has the types of CustomResourceDefinitions, as far as kubectl can validate by them', async (t) => {
    const unknown = { 'x-kubernetes-preserve-unknown-fields': true }
    const schema = {
      type: 'object',
      description: 'A Gear.',
      properties: {
        spec: {
          type: 'object',
          required: ['size', 'tooth'],
          properties: {
            size: { type: 'integer', default: 3, maximum: 10 },
            tooth: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
            open: { type: 'object', ...unknown, properties: { a: { type: 'string' } } },
            port: { 'x-kubernetes-int-or-string': true },
            list: { type: 'array', items: unknown },
            either: { type: 'string', oneOf: [{ minLength: 3 }, { maxLength: 1 }] },
            template: { type: 'object', 'x-kubernetes-embedded-resource': true, ...unknown },
          },
        },
      },
    }
    const version = (name: string, openAPIV3Schema: unknown): JsonObject =>
      ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema } }) as JsonObject
    const names = { kind: 'Gear', plural: 'gears' }
    const versions = [version('v1', schema), version('v1beta1', { type: 'object', ...unknown })]
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const name = 'gears.openapi.example.com'
    const body = { metadata: { name }, spec: { group: 'openapi.example.com', scope: 'Namespaced', names, versions } }
    t.equal((await api('POST', definitions, { body })).status, 201)
    t.teardown(() => api('DELETE', `${definitions}/${name}`))
    const published = await until('the types are published', async () => {
      const found = (await api('GET', '/openapi/v2')).body.definitions as Record<string, JsonObject>
      return found['com.example.openapi.v1beta1.Gear'] === undefined ? undefined : found
    })
    const { properties, ...gear } = published['com.example.openapi.v1.Gear'] as Record<string, JsonObject>
    t.strictSame(gear, {
      type: 'object',
      description: 'A Gear.',
      'x-kubernetes-group-version-kind': [{ group: 'openapi.example.com', kind: 'Gear', version: 'v1' }],
    })
    t.strictSame(properties!.spec, {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', maximum: 10 },
        tooth: {},
        open: unknown,
        port: { 'x-kubernetes-int-or-string': true },
        list: { type: 'array', items: unknown },
        either: { type: 'string' },
        template: { 'x-kubernetes-embedded-resource': true, ...unknown },
      },
    })
    t.strictSame(published['com.example.openapi.v1beta1.Gear'], {
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'openapi.example.com', kind: 'Gear', version: 'v1beta1' }],
    })
  })

  t.test('metrics are in the text format of Prometheus', async (t) => {
    await api('GET', '/api/v1/namespaces/default')
    await api('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { body: { metadata: { name: 'a' } } })
    const { status, headers, text } = await api('GET', '/metrics', { accept: '*/*' })
    t.match({ status, headers }, { status: 200, headers: { 'content-type': /^text\/plain; version=0\.0\.4; charset=utf-8/ } })
    for (const line of [
      /^# TYPE apiserver_request_total counter$/m,
      sample('apiserver_request_total', { code: '200', verb: 'GET', version: 'v1', resource: 'namespaces', scope: 'resource' }),
      sample('apiserver_request_total', { code: '201', verb: 'POST', dry_run: 'All', resource: 'configmaps', scope: 'resource' }),
      sample('apiserver_request_duration_seconds_bucket', { verb: 'GET', resource: 'namespaces', le: '0.025' }),
      sample('apiserver_current_inflight_requests', { request_kind: 'readOnly' }),
      /^# TYPE apiserver_longrunning_requests gauge$/m,
      sample('apiserver_storage_objects', { resource: 'namespaces' }),
      sample('apiserver_storage_objects', { resource: 'customresourcedefinitions.apiextensions.k8s.io' }),
      /^process_cpu_seconds_total [\d.]+$/m,
      /^process_resident_memory_bytes [\d.e+]+$/m,
      /^process_start_time_seconds [\d.e+]+$/m,
    ])
      t.match(text, line)
    const sentBy = async (headers: Record<string, string>): Promise<number> =>
      (await api('GET', '/metrics', { accept: '*/*', headers: { 'impersonate-user': 'somebody', ...headers } })).status
    t.equal(await sentBy({}), 403)
    t.equal(await sentBy({ 'impersonate-group': 'system:monitoring' }), 200)
  })
})

/** Returns a pattern that matches a line of `/metrics` with these labels. */
function sample(name: string, labels: Readonly<Record<string, string>>): RegExp {
  const each = Object.entries(labels).map(([label, value]) => `(?=[^}]*\\b${label}="${value}")`)
  return new RegExp(`^${name}\\{${each.join('')}[^}]*\\} \\d`, 'm')
}
