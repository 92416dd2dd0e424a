/** Tests of the types and operations in the OpenAPI documents. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import { metaSchemas } from '../../../src/devcluster/http/openapi-meta.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import { pathsOf } from '../../../src/devcluster/http/openapi-paths.ts'
import { componentsOf } from '../../../src/devcluster/http/openapi-schemas.ts'
import { OpenApi } from '../../../src/devcluster/http/openapi.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { rowOf } from '../../support/devcluster/http-server.ts'

const foos = rowOf({
  group: 'a.example.com',
  version: 'v1',
  kind: 'Foo',
  plural: 'foos',
  subresources: {
    status: { kind: 'Foo', verbs: ['get', 'patch', 'update'] },
    scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
  },
})
const builtin = (plural: string): ResourceInfo => builtinResources.find((row) => row.plural === plural)!
const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'
const quantity = '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity'
const meta = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1'

/** Returns the operations of a type in the OpenAPI document, each as `METHOD PATH: ACTION`. */
function operationsOf(info: ResourceInfo): string[] {
  return Object.entries(pathsOf(info)).flatMap(([path, item]) =>
    Object.entries(item as Record<string, JsonObject>)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => `${method} ${path}: ${String(operation['x-kubernetes-action'])}`),
  )
}

t.test('a type has the operations of its verbs', (t) => {
  const all = '/apis/a.example.com/v1/namespaces/{namespace}/foos'
  t.strictSame(operationsOf(foos), [
    `get ${all}: list`,
    `post ${all}: post`,
    `delete ${all}: deletecollection`,
    `get ${all}/{name}: get`,
    `put ${all}/{name}: put`,
    `patch ${all}/{name}: patch`,
    `delete ${all}/{name}: delete`,
    `get ${all}/{name}/status: get`,
    `put ${all}/{name}/status: put`,
    `patch ${all}/{name}/status: patch`,
    `get ${all}/{name}/scale: get`,
    'get /apis/a.example.com/v1/foos: list',
  ])
  t.strictSame(operationsOf({ ...foos, verbs: ['get'], subresources: {} }), [`get ${all}/{name}: get`])
  t.strictSame(operationsOf({ ...foos, group: '', namespaced: false, verbs: ['list', 'create'], subresources: {} }), [
    'get /api/v1/foos: list',
    'post /api/v1/foos: post',
  ])
  t.strictSame(operationsOf(rowOf({ ...foos, verbs: [], subresources: { token: { kind: 'TokenRequest', verbs: ['create'] } } })), [
    `post ${all}/{name}/token: post`,
  ])
  t.end()
})

const parametersOf = (operation: JsonObject | undefined): string[] =>
  (operation!.parameters as JsonObject[]).map(
    ({ name, in: where, schema }) => `${String(where)} ${String(name)}: ${String((schema as JsonObject).type)}`,
  )

t.test('an operation describes its request body and its responses', (t) => {
  const paths = pathsOf(foos) as Record<string, Record<string, JsonObject>>
  const collection = paths['/apis/a.example.com/v1/namespaces/{namespace}/foos']!
  const item = paths['/apis/a.example.com/v1/namespaces/{namespace}/foos/{name}']!
  const bodies = ['application/json', 'application/yaml']
  const content = (name: string, types = bodies): JsonObject => Object.fromEntries(types.map((type) => [type, { schema: { $ref: name } }]))
  const foo = '#/components/schemas/com.example.a.v1.Foo'
  const { parameters, ...get } = item.get!
  t.strictSame(parameters, [])
  t.strictSame(get, {
    operationId: 'readAExampleComV1NamespacedFoo',
    tags: ['aExampleCom_v1'],
    description: 'read the specified Foo',
    responses: { '200': { description: 'OK', content: content(foo) }, '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': 'get',
    'x-kubernetes-group-version-kind': { group: 'a.example.com', kind: 'Foo', version: 'v1' },
  })
  t.strictSame(item.put!.requestBody, { required: true, content: content(foo) })
  t.strictSame(collection.post!.requestBody, { required: true, content: content(foo) })
  t.strictSame(item.patch!.requestBody, {
    required: true,
    content: content(`${meta}.Patch`, ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']),
  })
  t.strictSame(item.delete!.requestBody, { content: content(`${meta}.DeleteOptions`) })
  t.equal(collection.delete!.requestBody, undefined, 'the deletion of a collection of custom resources has no request body')
  const pods = pathsOf(builtin('pods')) as Record<string, Record<string, JsonObject>>
  t.match(pods['/api/v1/namespaces/{namespace}/pods']!.delete!.requestBody, { content: content(`${meta}.DeleteOptions`) })
  const answer = (operation: JsonObject | undefined): unknown => (operation!.responses as { 200: JsonObject })['200'].content
  t.strictSame(answer(item.delete), content(`${meta}.Status`))
  t.strictSame(answer(collection.get), content('#/components/schemas/com.example.a.v1.FooList'))
  t.strictSame(answer(collection.post), content(foo))
  t.end()
})

t.test('an operation has the query and path parameters of its verb', (t) => {
  const paths = pathsOf(foos) as Record<string, Record<string, JsonObject>>
  const collection = paths['/apis/a.example.com/v1/namespaces/{namespace}/foos']!
  const item = paths['/apis/a.example.com/v1/namespaces/{namespace}/foos/{name}']!
  const dryRun = 'query dryRun: string'
  const write = [dryRun, 'query fieldManager: string', 'query fieldValidation: string']
  const remove = [dryRun, 'query gracePeriodSeconds: integer', 'query propagationPolicy: string']
  const lists = [
    ...['labelSelector: string', 'fieldSelector: string', 'limit: integer', 'continue: string', 'resourceVersion: string'],
    ...['resourceVersionMatch: string', 'watch: boolean', 'timeoutSeconds: integer', 'allowWatchBookmarks: boolean'],
    'sendInitialEvents: boolean',
  ].map((text) => `query ${text}`)
  t.strictSame(parametersOf(item.get), [])
  t.strictSame(parametersOf(item.put), write)
  t.strictSame(parametersOf(item.patch), [...write, 'query force: boolean'])
  t.strictSame(parametersOf(item.delete), remove)
  t.strictSame(parametersOf(collection.post), write)
  t.strictSame(parametersOf(collection.get), lists)
  t.strictSame(parametersOf(collection.delete), [...remove, ...lists])
  const inPath = (name: string): JsonObject => ({
    name,
    in: 'path',
    description: name === 'name' ? 'name of the Foo' : 'object name and auth scope, such as for teams and projects',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  })
  t.strictSame(item.parameters, [inPath('namespace'), inPath('name')])
  t.strictSame(collection.parameters, [inPath('namespace')])
  t.strictSame(paths['/apis/a.example.com/v1/foos']!.parameters, [])
  const cluster = pathsOf({ ...foos, namespaced: false }) as Record<string, JsonObject>
  t.strictSame(cluster['/apis/a.example.com/v1/foos/{name}/status']!.parameters, [inPath('name')])
  t.end()
})

t.test('an operation on a subresource refers to the schema of the subresource', (t) => {
  const target = (info: ResourceInfo, path: string, method = 'get'): unknown[] => {
    const operation = (pathsOf(info) as Record<string, Record<string, JsonObject>>)[path]![method]!
    const { content } = (operation.responses as { 200: { content: Record<string, { schema: JsonObject }> } })['200']
    return [operation['x-kubernetes-group-version-kind'], content['application/json']!.schema]
  }
  const all = '/apis/a.example.com/v1/namespaces/{namespace}/foos/{name}'
  const foo = { group: 'a.example.com', kind: 'Foo', version: 'v1' }
  const scale = { $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale' }
  t.strictSame(target(foos, `${all}/status`), [foo, { $ref: '#/components/schemas/com.example.a.v1.Foo' }])
  t.strictSame(target(foos, `${all}/scale`), [foo, scale])
  t.strictSame(target(builtin('deployments'), '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'), [
    { group: 'autoscaling', kind: 'Scale', version: 'v1' },
    scale,
  ])
  t.strictSame(target(builtin('pods'), '/api/v1/namespaces/{namespace}/pods/{name}/binding', 'post'), [
    { group: '', kind: 'Binding', version: 'v1' },
    { $ref: '#/components/schemas/io.k8s.api.core.v1.Binding' },
  ])
  t.end()
})

/** Returns the OpenAPI schema of a custom type, without the fields that all types have. */
function schemaOf(openapi: NonNullable<ResourceInfo['openapi']>, more: Partial<ResourceInfo> = {}): JsonObject {
  return componentsOf([{ ...foos, openapi, ...more }])['com.example.a.v1.Foo'] as JsonObject
}

t.test('the schema of a custom type is that of its definition with apiVersion, kind and metadata', (t) => {
  const { properties, ...schema } = schemaOf({
    type: 'object',
    description: 'A Foo.',
    required: ['spec'],
    properties: {
      metadata: { type: 'object' },
      kind: { type: 'string' },
      spec: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  })
  t.strictSame(schema, {
    type: 'object',
    description: 'A Foo.',
    required: ['spec'],
    'x-kubernetes-group-version-kind': [{ group: 'a.example.com', kind: 'Foo', version: 'v1' }],
  })
  const { apiVersion, kind, metadata, ...own } = properties as Record<string, JsonObject>
  t.match(apiVersion, { type: 'string', description: /^APIVersion defines the versioned schema/ })
  t.match(kind, { type: 'string', description: /^Kind is a string value representing the REST resource/ })
  t.match(metadata, { allOf: [{ $ref: `${meta}.ObjectMeta` }], description: /^Standard object's metadata/ })
  t.strictSame(own, { spec: { type: 'object', properties: { size: { type: 'integer' } } } })
  t.end()
})

t.test('Kubernetes extensions of a schema are published as by kube-apiserver', (t) => {
  const { properties } = schemaOf({
    type: 'object',
    properties: {
      port: { 'x-kubernetes-int-or-string': true },
      own: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }] },
      list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      map: { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
      open: { type: 'object', additionalProperties: true },
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        required: ['spec', 'kind'],
        properties: { spec: { type: 'object' } },
      },
    },
  } as never)
  const { port, own, list, map, open, template } = properties as Record<string, JsonObject>
  const intOrString = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
  t.strictSame(port, intOrString)
  t.strictSame(own, { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }] })
  t.strictSame(list, { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } })
  t.strictSame(map, { type: 'object', additionalProperties: intOrString })
  t.strictSame(open, { type: 'object', additionalProperties: true })
  t.strictSame(template!.required, ['spec', 'kind', 'apiVersion'])
  t.strictSame(Object.keys(template!.properties as JsonObject), ['spec', 'apiVersion', 'kind', 'metadata'])
  const bare = schemaOf({ type: 'object', properties: { any: { type: 'object', 'x-kubernetes-embedded-resource': true } } } as never)
  t.match((bare.properties as JsonObject).any, { required: ['kind', 'apiVersion'], properties: { metadata: {} } })
  t.end()
})

t.test('a list type has its items, metadata and selectable fields', (t) => {
  const components = componentsOf([
    { ...foos, openapi: { type: 'object' }, selectableFields: () => ({ '.spec.color': '', '.spec.size': '' }) },
  ])
  const selectable = [{ fieldPath: '.spec.color' }, { fieldPath: '.spec.size' }]
  const list = components['com.example.a.v1.FooList'] as JsonObject
  t.match(list, {
    type: 'object',
    description: 'FooList is a list of Foo',
    required: ['items'],
    'x-kubernetes-group-version-kind': [{ group: 'a.example.com', kind: 'FooList', version: 'v1' }],
    'x-kubernetes-selectable-fields': selectable,
  })
  const { items, metadata } = list.properties as Record<string, JsonObject>
  t.strictSame(items, {
    type: 'array',
    description: `List of foos. More info: ${conventions}`,
    items: { $ref: '#/components/schemas/com.example.a.v1.Foo' },
  })
  t.strictSame(metadata, {
    description: `Standard list metadata. More info: ${conventions}#types-kinds`,
    allOf: [{ $ref: `${meta}.ListMeta` }],
  })
  t.match(components['com.example.a.v1.Foo'], { 'x-kubernetes-selectable-fields': selectable })
  t.notOk('x-kubernetes-selectable-fields' in schemaOf({ type: 'object' }))
  t.notOk('x-kubernetes-selectable-fields' in (componentsOf([builtin('pods')])['io.k8s.api.core.v1.Pod'] as JsonObject))
  t.notOk('com.example.a.v1.FooList' in componentsOf([{ ...foos, verbs: ['create'] }]))
  t.end()
})

t.test('a document contains the components that its types refer to', (t) => {
  const own = (rows: readonly ResourceInfo[]): string[] => Object.keys(componentsOf(rows)).filter((name) => !(name in metaSchemas))
  t.strictSame(own([rowOf({ group: 'b.example.com', version: 'v2', kind: 'Bar', plural: 'bars' })]), [
    'com.example.b.v2.Bar',
    'com.example.b.v2.BarList',
  ])
  t.ok(own([foos]).includes('io.k8s.api.autoscaling.v1.Scale'))
  const scale = componentsOf([foos])['io.k8s.api.autoscaling.v1.Scale'] as JsonObject
  t.match(scale, {
    type: 'object',
    description: 'Scale of the API version autoscaling/v1.',
    properties: { spec: {}, status: {}, metadata: {} },
  })
  t.end()
})

t.test('built-in types are described like their Go types', (t) => {
  const components = componentsOf(['pods', 'secrets'].map(builtin)) as Record<string, JsonObject>
  const core = '#/components/schemas/io.k8s.api.core.v1'
  const fieldsOf = (name: string): Record<string, JsonObject> =>
    components[`io.k8s.api.core.v1.${name}`]!.properties as Record<string, JsonObject>
  const open = { 'x-kubernetes-preserve-unknown-fields': true }
  t.match(components['io.k8s.api.core.v1.Pod'], {
    type: 'object',
    description: 'Pod of the API version v1.',
    ...open,
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
  })
  t.strictSame(Object.keys(fieldsOf('Pod')), ['apiVersion', 'kind', 'spec', 'status', 'metadata'])
  t.strictSame(fieldsOf('Pod').spec, { $ref: `${core}.PodSpec` })
  t.match(components['io.k8s.api.core.v1.PodSpec'], { type: 'object', ...open, properties: {} })
  t.match(fieldsOf('PodSpec'), {
    containers: { type: 'array', items: { $ref: `${core}.Container` } },
    nodeSelector: { type: 'object', additionalProperties: { type: 'string' } },
    terminationGracePeriodSeconds: { type: 'integer', format: 'int64' },
    priority: { type: 'integer', format: 'int32' },
    hostNetwork: { type: 'boolean' },
    overhead: { type: 'object', additionalProperties: { $ref: quantity } },
  })
  t.strictSame(fieldsOf('HTTPGetAction').port, { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString' })
  t.match(components['io.k8s.apimachinery.pkg.util.intstr.IntOrString'], {
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    format: 'int-or-string',
  })
  t.strictSame(fieldsOf('PodStatus').startTime, { $ref: `${meta}.Time` })
  t.strictSame(fieldsOf('Secret').data, { type: 'object', additionalProperties: { type: 'string', format: 'byte' } })
  t.end()
})

t.test('a document has the title and the version of its group', (t) => {
  const catalog = new Catalog([foos, { ...foos, kind: 'Bar', plural: 'bars' }, builtin('pods')])
  const openApi = new OpenApi(catalog, 'v1.2.3')
  const parsed = (path: string): JsonObject => JSON.parse(openApi.document(path)!.text) as JsonObject
  t.match(parsed('apis/a.example.com/v1'), { openapi: '3.0.0', info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } })
  t.match(parsed('api/v1'), { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.2.3' } })
  t.ok(Object.hasOwn(parsed('apis/a.example.com/v1').paths as JsonObject, '/apis/a.example.com/v1/bars'))
  for (const path of ['', 'api', 'api/v2', 'apis/v1', 'apis/a.example.com', 'apis/a.example.com/v1/x', 'xapi/v1'])
    t.equal(openApi.document(path), undefined, path)
  const document = openApi.document('api/v1')
  t.equal(openApi.document('api/v1'), document)
  const before = openApi.document('apis/a.example.com/v1')!
  catalog.add({ ...foos, kind: 'Bar', plural: 'bars', shortNames: ['b'] })
  t.not(openApi.document('apis/a.example.com/v1'), before, 'a changed row changes the document')
  t.equal(openApi.document('apis/a.example.com/v1')!.hash, before.hash)
  catalog.remove('a.example.com', 'bars')
  t.not(openApi.document('apis/a.example.com/v1')!.hash, before.hash)
  t.equal(openApi.document('api/v1'), document)
  t.end()
})

t.test('the schemas of metadata reference each other only', (t) => {
  const references = [...JSON.stringify(metaSchemas).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!)
  t.ok(references.length > 0)
  for (const name of new Set(references)) t.ok(Object.hasOwn(metaSchemas, name), name)
  t.end()
})

t.test('ObjectMeta is described with each of its fields', (t) => {
  const prefix = 'io.k8s.apimachinery.pkg.apis.meta.v1'
  const types = (name: string): Record<string, unknown> => {
    const { properties } = metaSchemas[`${prefix}.${name}`] as { properties: Record<string, JsonObject> }
    return Object.fromEntries(
      Object.entries(properties).map(([field, schema]) => {
        const [whole] = (schema.allOf ?? []) as JsonObject[]
        return [
          field,
          schema.type === 'integer' ? schema.format : (schema.type ?? String(whole?.$ref ?? schema.$ref).replace(`${meta}.`, '')),
        ]
      }),
    )
  }
  t.strictSame(types('ObjectMeta'), {
    annotations: 'object',
    creationTimestamp: 'Time',
    deletionGracePeriodSeconds: 'int64',
    deletionTimestamp: 'Time',
    finalizers: 'array',
    generateName: 'string',
    generation: 'int64',
    labels: 'object',
    managedFields: 'array',
    name: 'string',
    namespace: 'string',
    ownerReferences: 'array',
    resourceVersion: 'string',
    selfLink: 'string',
    uid: 'string',
  })
  const list = ['kind', 'apiVersion', 'name', 'uid']
  t.strictSame(types('OwnerReference'), {
    ...Object.fromEntries(list.map((field) => [field, 'string'])),
    blockOwnerDeletion: 'boolean',
    controller: 'boolean',
  })
  const { finalizers, ownerReferences, managedFields, labels } = (
    metaSchemas[`${prefix}.ObjectMeta`] as { properties: Record<string, JsonObject> }
  ).properties
  t.match(finalizers, { items: { type: 'string' }, 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' })
  t.match(ownerReferences, {
    items: { $ref: `${meta}.OwnerReference` },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['uid'],
    'x-kubernetes-patch-merge-key': 'uid',
    'x-kubernetes-patch-strategy': 'merge',
  })
  t.match(managedFields, { items: { $ref: `${meta}.ManagedFieldsEntry` }, 'x-kubernetes-list-type': 'atomic' })
  t.match(labels, { additionalProperties: { type: 'string' } })
  t.match(metaSchemas[`${prefix}.OwnerReference`], { required: list.toSorted(), 'x-kubernetes-map-type': 'atomic' })
  t.strictSame(types('ListMeta'), { continue: 'string', remainingItemCount: 'int64', resourceVersion: 'string' })
  t.match(types('ManagedFieldsEntry'), { fieldsV1: 'FieldsV1', time: 'Time', manager: 'string' })
  t.match(types('DeleteOptions'), { dryRun: 'array', gracePeriodSeconds: 'int64', preconditions: 'object', propagationPolicy: 'string' })
  t.match(types('Status'), { code: 'int32', details: 'object', metadata: 'ListMeta', reason: 'string', status: 'string' })
  for (const [name, schema] of Object.entries(metaSchemas)) t.match((schema as JsonObject).type, /^(object|string)$/, name)
  t.match(metaSchemas[`${prefix}.Time`], { type: 'string', format: 'date-time' })
  t.match(metaSchemas[`${prefix}.Status`], { 'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }] })
  t.end()
})

/** Returns a schema without its descriptions. Properties with the name `description` are kept. */
function structureOf(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map((item: JsonValue) => structureOf(item))
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).filter(([key, value]) => !(key === 'description' && typeof value === 'string'))
  return Object.fromEntries(entries.map(([key, value]) => [key, structureOf(value!)]))
}

t.test('the schemas of metadata have the structure of those of kube-apiserver', (t) => {
  const [string, int64, flag] = [{ type: 'string' }, { type: 'integer', format: 'int64' }, { type: 'boolean' }]
  const strings = { type: 'object', additionalProperties: string }
  const ref = (name: string): JsonObject => ({ $ref: `${meta}.${name}` })
  const time = { allOf: [ref('Time')] }
  const list = { type: 'array', items: string }
  const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more })
  const expected = {
    ObjectMeta: object({
      annotations: strings,
      creationTimestamp: time,
      deletionGracePeriodSeconds: int64,
      deletionTimestamp: time,
      finalizers: { ...list, 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
      generateName: string,
      generation: int64,
      labels: strings,
      managedFields: { type: 'array', items: ref('ManagedFieldsEntry'), 'x-kubernetes-list-type': 'atomic' },
      name: string,
      namespace: string,
      ownerReferences: {
        type: 'array',
        items: ref('OwnerReference'),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      },
      resourceVersion: string,
      selfLink: string,
      uid: string,
    }),
    ListMeta: object({ continue: string, remainingItemCount: int64, resourceVersion: string }),
    OwnerReference: object(
      { apiVersion: string, blockOwnerDeletion: flag, controller: flag, kind: string, name: string, uid: string },
      { required: ['apiVersion', 'kind', 'name', 'uid'], 'x-kubernetes-map-type': 'atomic' },
    ),
    ManagedFieldsEntry: object({
      apiVersion: string,
      fieldsType: string,
      fieldsV1: { allOf: [ref('FieldsV1')] },
      manager: string,
      operation: string,
      subresource: string,
      time,
    }),
    FieldsV1: { type: 'object' },
    Time: { type: 'string', format: 'date-time' },
    DeleteOptions: object({
      apiVersion: string,
      dryRun: list,
      gracePeriodSeconds: int64,
      kind: string,
      preconditions: object({ resourceVersion: string, uid: string }),
      propagationPolicy: string,
    }),
    Patch: { type: 'object' },
    Status: object(
      {
        apiVersion: string,
        code: { type: 'integer', format: 'int32' },
        details: { type: 'object' },
        kind: string,
        message: string,
        metadata: ref('ListMeta'),
        reason: string,
        status: string,
      },
      { 'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }] },
    ),
  }
  const prefix = 'io.k8s.apimachinery.pkg.apis.meta.v1'
  t.strictSame(
    structureOf(metaSchemas),
    Object.fromEntries(Object.entries(expected).map(([name, schema]) => [`${prefix}.${name}`, schema])),
  )
  for (const [name, schema] of Object.entries(metaSchemas) as [string, JsonObject][]) {
    t.match(schema.description, /^[A-Z].*\.$/, name)
    for (const [field, property] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>))
      if (property.$ref === undefined) t.match(property.description, /./, `${name}.${field}`)
  }
  t.end()
})

t.test('the metadata of templates is ObjectMeta, and a quantity a string or a number', (t) => {
  const components = componentsOf(['deployments', 'cronjobs'].map(builtin)) as Record<string, JsonObject>
  const fieldOf = (name: string, field: string): JsonObject => (components[name]!.properties as Record<string, JsonObject>)[field]!
  for (const name of ['io.k8s.api.core.v1.PodTemplateSpec', 'io.k8s.api.batch.v1.JobTemplateSpec'])
    t.strictSame(fieldOf(name, 'metadata'), { $ref: `${meta}.ObjectMeta` }, name)
  t.strictSame(fieldOf('io.k8s.api.core.v1.ResourceRequirements', 'limits'), {
    type: 'object',
    additionalProperties: { $ref: quantity },
  })
  t.match(components[quantity.replace('#/components/schemas/', '')], { oneOf: [{ type: 'string' }, { type: 'number' }] })
  t.notOk('io.k8s.api.core.v1.ObjectMeta' in components)
  t.end()
})

t.test('the schemas in a CustomResourceDefinition are described by a type that contains itself', (t) => {
  const components = componentsOf([customResourceDefinitions(systemClock)]) as Record<string, JsonObject>
  const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'
  const { $ref: _ref, ...fields } = components[name]!.properties as Record<string, JsonObject>
  const itself = { $ref: `#/components/schemas/${name}` }
  const anything = { 'x-kubernetes-preserve-unknown-fields': true }
  const number = { type: 'number', format: 'double' }
  for (const field of ['default', 'example', 'items', 'additionalItems', 'additionalProperties'])
    t.strictSame(fields[field], anything, field)
  t.strictSame(fields.enum, { type: 'array', items: anything })
  for (const field of ['maximum', 'minimum', 'multipleOf']) t.strictSame(fields[field], number, field)
  for (const field of ['allOf', 'anyOf', 'oneOf']) t.strictSame(fields[field], { type: 'array', items: itself }, field)
  for (const field of ['properties', 'patternProperties', 'definitions'])
    t.strictSame(fields[field], { type: 'object', additionalProperties: itself }, field)
  t.strictSame(fields.dependencies, { type: 'object', additionalProperties: anything })
  t.strictSame(fields.not, itself)
  t.strictSame(fields.maxLength, { type: 'integer', format: 'int64' })
  t.end()
})

t.test('the index has the address and the hash of each document, and a document its components', (t) => {
  const openApi = new OpenApi(new Catalog([foos, { ...foos, version: 'v2' }, builtin('pods')]), 'v1')
  const paths = ['api/v1', 'apis/a.example.com/v1', 'apis/a.example.com/v2']
  const entries = paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${openApi.document(path)!.hash}` }])
  const { paths: found } = openApi.index() as { paths: JsonObject }
  t.strictSame(found, Object.fromEntries(entries))
  for (const path of paths) {
    const { text, hash } = openApi.document(path)!
    const { components, ...rest } = JSON.parse(text) as { components: { schemas: JsonObject } }
    t.strictSame(Object.keys(rest), ['openapi', 'info', 'paths'])
    t.ok(Object.keys(metaSchemas).every((name) => name in components.schemas))
    t.match(hash, /^[0-9A-F]{128}$/)
  }
  t.end()
})
