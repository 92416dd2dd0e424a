/** Tests of the OpenAPI v2 document: its definitions, its protobuf form, and how it is cached. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { partOf } from '../../../src/devcluster/http/openapi-v2-part.ts'
import { encodeDefinition, encodeDocument, encodePath } from '../../../src/devcluster/http/openapi-v2-protobuf.ts'
import { supportedSchema, v2Schema } from '../../../src/devcluster/http/openapi-v2-schemas.ts'
import { OpenApiV2 } from '../../../src/devcluster/http/openapi-v2.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { rowOf } from '../../support/devcluster/http-server.ts'

const foos = rowOf({ group: 'a.example.com', version: 'v1', kind: 'Foo', plural: 'foos', openapi: { type: 'object' } })

t.test('the schema of a custom resource is published without what OpenAPI v2 lacks', (t) => {
  for (const [schema, published] of [
    [
      { type: 'string', default: 'a', oneOf: [{ minLength: 1 }], minLength: 2 },
      { type: 'string', minLength: 2 },
    ],
    [{ type: 'object', nullable: true, properties: { a: { type: 'string' } }, required: ['a'] }, { required: ['a'] }],
    [
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      { type: 'array', items: { type: 'string', nullable: true } },
      { type: 'array', items: {} },
    ],
    [{ type: 'array', nullable: true, items: { type: 'string' } }, {}],
    [
      { type: 'object', properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'object', properties: { a: {}, b: { type: 'string' } }, required: ['b'] },
    ],
    [
      { type: 'object', additionalProperties: { type: 'string', nullable: true } },
      { type: 'object', additionalProperties: {} },
    ],
  ] as const)
    t.strictSame(supportedSchema(schema as never), published, JSON.stringify(schema))
  t.end()
})

t.test('a reference has siblings in OpenAPI v2, and alternatives are strings', (t) => {
  t.strictSame(v2Schema({ description: 'd', allOf: [{ $ref: '#/components/schemas/A' }] }), { description: 'd', $ref: '#/definitions/A' })
  t.strictSame(v2Schema({ oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' }), {
    format: 'int-or-string',
    type: 'string',
  })
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } }
  t.strictSame(v2Schema(open, { builtin: true }), { type: 'object', properties: { a: { type: 'string' } } })
  t.strictSame(v2Schema(open), open)
  t.end()
})

const jsonOf = async (openApi: OpenApiV2): Promise<string> => (await openApi.document()).json.toString()

t.test('the document describes operations with their bodies as parameters', async (t) => {
  const json = await jsonOf(new OpenApiV2(new Catalog([foos]), 'v1', () => 0))
  const { paths } = JSON.parse(json) as Record<string, Record<string, JsonObject>>
  t.match(paths!['/apis/a.example.com/v1/namespaces/{namespace}/foos/{name}'], {
    put: {
      operationId: 'replaceAExampleComV1NamespacedFoo',
      consumes: ['application/json', 'application/yaml'],
      produces: ['application/json', 'application/yaml'],
      schemes: ['https'],
      parameters: [
        { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/com.example.a.v1.Foo' } },
        { name: 'dryRun', in: 'query', type: 'string' },
      ],
      responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/com.example.a.v1.Foo' } }, '201': {} },
    },
    patch: { consumes: ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'] },
    parameters: [{ name: 'namespace', in: 'path', required: true, type: 'string' }, { name: 'name' }],
  })
})

t.test('every reference in the document is defined', async (t) => {
  const json = await jsonOf(new OpenApiV2(new Catalog([...builtinResources, foos]), 'v1', () => 0))
  const { definitions } = JSON.parse(json) as { definitions: JsonObject }
  for (const name of new Set([...json.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, found]) => found!)))
    if (!Object.hasOwn(definitions, name)) t.fail(name)
  t.ok(Object.hasOwn(definitions, 'io.k8s.api.core.v1.PodSpec'))
  t.notMatch(json, /components\/schemas/)
  t.match(definitions['io.k8s.api.core.v1.PersistentVolumeClaim'], {
    'x-kubernetes-group-version-kind': [{ kind: 'PersistentVolumeClaim' }],
  })
})

t.test('the document is built again only when types have changed', async (t) => {
  let now = 1
  const catalog = new Catalog([foos, ...builtinResources])
  const openApi = new OpenApiV2(catalog, 'v1', () => now)
  const before = await openApi.document()
  now = 2
  t.equal(await openApi.document(), before)
  catalog.add({ ...foos })
  t.equal(await openApi.document(), before, 'a row with the same description does not change the document')
  catalog.add({ ...foos, kind: 'Bar', plural: 'bars' })
  const after = await openApi.document()
  t.not(after.etag, before.etag)
  t.equal(after.madeAt, 2)
  catalog.add({ ...foos, openapi: { type: 'object', description: 'A changed foo.' } })
  t.match(await jsonOf(openApi), /A changed foo\./)
  catalog.remove('a.example.com', 'foos')
  catalog.remove('a.example.com', 'bars')
  t.notMatch(await jsonOf(openApi), /a\.example\.com/)
})

t.test('a change of one CRD does not concern the definitions of the others', async (t) => {
  const reads = { foos: 0, bars: 0 }
  const counted = (plural: keyof typeof reads) => ({
    ...rowOf({ group: 'a.example.com', version: 'v1', kind: plural === 'foos' ? 'Foo' : 'Bar', plural }),
    get openapi() {
      reads[plural] += 1
      return { type: 'object' } as const
    },
  })
  const catalog = new Catalog([counted('foos'), counted('bars')])
  const openApi = new OpenApiV2(catalog, 'v1', () => 0)
  await openApi.document()
  t.ok(reads.foos > 0)
  catalog.add(counted('bars'))
  reads.foos = reads.bars = 0
  await openApi.document()
  t.equal(reads.foos, 0)
  t.ok(reads.bars > 0)
  const before = partOf([foos])
  const definition = (part: typeof before) => part.definitions.find(({ name }) => name === 'com.example.a.v1.Foo')
  t.equal(definition(partOf([{ ...foos }], before)), definition(before), 'an encoded definition is used again while it is the same')
  const changed = { ...foos, openapi: { type: 'object', description: 'changed' } } as const
  t.match(definition(partOf([changed], before))?.json.toString(), /changed/)
})

t.test('other requests are served while the document is built', async (t) => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index}`, { type: 'string', enum: ['a', 'b'] }]))
  const rows = Array.from({ length: 100 }, (_, index) =>
    rowOf({
      group: 'a.example.com',
      version: 'v1',
      kind: `Foo${index}`,
      plural: `foo${index}s`,
      openapi: { type: 'object', properties } as never,
    }),
  )
  const catalog = new Catalog(rows)
  const openApi = new OpenApiV2(catalog, 'v1', () => 0)
  const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
    let turns = 0
    let isRunning = true
    const next = (): void => {
      turns += 1
      if (isRunning) setImmediate(next)
    }
    setImmediate(next)
    await work
    isRunning = false
    return turns
  }
  const [building, again] = [openApi.document(), openApi.document()]
  t.ok((await turnsDuring(building)) > 2)
  t.equal(await building, await again)
  t.ok((await turnsDuring((await building).protobuf())) > 2)
  catalog.add({ ...foos })
  const beginning = openApi.document()
  catalog.add({ ...foos, kind: 'Late', plural: 'lates' })
  t.match(await jsonOf(openApi), /a\.example\.com\/v1\/lates/, 'a request gets no document of earlier types')
  await beginning
})

/**
 * A document with each kind of field. The expected protobuf form of the document was generated by github.com/google/gnostic-models v0.7.0
 * (openapi_v2.ParseDocument).
 */
const swagger = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: 'v1' },
  paths: {
    '/api/v1/namespaces/{namespace}/foos/{name}': {
      get: {
        description: 'read the specified Foo',
        consumes: ['*/*'],
        produces: ['application/json'],
        schemes: ['https'],
        tags: ['core_v1'],
        operationId: 'readCoreV1NamespacedFoo',
        responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Foo' } }, '401': { description: 'Unauthorized' } },
        'x-kubernetes-action': 'get',
        'x-kubernetes-group-version-kind': { group: '', kind: 'Foo', version: 'v1' },
      },
      put: {
        operationId: 'put',
        parameters: [
          { in: 'body', name: 'body', required: true, schema: { $ref: '#/definitions/Foo' } },
          { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true, description: 'd' },
          { $ref: '#/parameters/pretty' },
        ],
        responses: { '200': { description: 'OK' } },
      },
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string', uniqueItems: true, description: 'name of the Foo' }],
    },
  },
  definitions: {
    Foo: {
      type: 'object',
      description: 'A Foo.',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', format: 'int32', minimum: -1.5, maximum: 300, exclusiveMaximum: true, multipleOf: 2, example: 3 },
            name: { type: 'string', minLength: 1, maxLength: 200, pattern: '^a', enum: ['a', 'b'] },
            list: {
              type: 'array',
              items: { $ref: '#/definitions/Bar' },
              minItems: 1,
              maxItems: 2,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['a', 'b'],
            },
            map: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 3 },
            open: { type: 'object', additionalProperties: true, externalDocs: { url: 'http://x', description: 'e' }, title: 't' },
          },
        },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Foo', version: 'v1' }],
      'x-kubernetes-unions': [{ discriminator: 'type', 'fields-to-discriminateBy': { a: 'A' } }],
    },
  },
  parameters: { pretty: { name: 'pretty', in: 'query', type: 'string' } },
  securityDefinitions: { BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' } },
  security: [{ BearerToken: [] }],
}
const encoded = [
  'CgMyLjASEAoKS3ViZXJuZXRlcxICdjFC5QMS4gMKKi9hcGkvdjEvbmFtZXNwYWNlcy97bmFtZXNwYWNlfS9mb29zL3tuYW1lfRKzAxL/AQoHY29yZV92MRoW',
  'cmVhZCB0aGUgc3BlY2lmaWVkIEZvbyoXcmVhZENvcmVWMU5hbWVzcGFjZWRGb28yEGFwcGxpY2F0aW9uL2pzb246AyovKko/CiQKAzIwMBIdChsKAk9LEhUK',
  'EwoRIy9kZWZpbml0aW9ucy9Gb28KFwoDNDAxEhAKDgoMVW5hdXRob3JpemVkUgVodHRwc2odChN4LWt1YmVybmV0ZXMtYWN0aW9uEgYSBGdldApqRQofeC1r',
  'dWJlcm5ldGVzLWdyb3VwLXZlcnNpb24ta2luZBIiEiBncm91cDogIiIKa2luZDogRm9vCnZlcnNpb246IHYxChp9KgNwdXRCJwolCiMSBGJvZHkaBGJvZHkg',
  'ASoTChEjL2RlZmluaXRpb25zL0Zvb0IjCiESHxodEgVxdWVyeRoBZCIGZHJ5UnVuMgZzdHJpbmegAQFCFxIVChMjL3BhcmFtZXRlcnMvcHJldHR5Sg8KDQoD',
  'MjAwEgYKBAoCT0tKMAouEiwiKggBEgRwYXRoGg9uYW1lIG9mIHRoZSBGb28iBG5hbWUqBnN0cmluZ5gBAUqoBAqlBAoDRm9vEp0EIgZBIEZvby6aAQRzcGVj',
  'sgEICgZvYmplY3TKAdoCCtcCCgRzcGVjEs4CsgEICgZvYmplY3TKAb8CCj8KBHNpemUSNxIFaW50MzIxAAAAAAAAAEA5AAAAAADAckBAAUkAAAAAAAD4v7IB',
  'CQoHaW50ZWdlcvIBBBICMwoKKgoEbmFtZRIiWMgBYAFqAl5hogEEEgJhCqIBBBICYgqyAQgKBnN0cmluZwp8CgRsaXN0EnRwAngBsgEHCgVhcnJheboBFQoT',
  'ChEjL2RlZmluaXRpb25zL0JhcvoBIAoWeC1rdWJlcm5ldGVzLWxpc3QtdHlwZRIGEgRtYXAK+gEoChp4LWt1YmVybmV0ZXMtbGlzdC1tYXAta2V5cxIKEggt',
  'IGEKLSBiCgolCgNtYXASHogBA6oBDQoLsgEICgZzdHJpbmeyAQgKBm9iamVjdAorCgRvcGVuEiMaAXSqAQIQAbIBCAoGb2JqZWN06gENCgFlEghodHRwOi8v',
  'ePoBSwofeC1rdWJlcm5ldGVzLWdyb3VwLXZlcnNpb24ta2luZBIoEiYtIGdyb3VwOiAiIgogIGtpbmQ6IEZvbwogIHZlcnNpb246IHYxCvoBVAoTeC1rdWJl',
  'cm5ldGVzLXVuaW9ucxI9EjstIGRpc2NyaW1pbmF0b3I6IHR5cGUKICBmaWVsZHMtdG8tZGlzY3JpbWluYXRlQnk6CiAgICBhOiBBClInCiUKBnByZXR0eRIb',
  'EhkaFxIFcXVlcnkiBnByZXR0eTIGc3RyaW5nYhEKDwoLQmVhcmVyVG9rZW4SAGpPCk0KC0JlYXJlclRva2VuEj4SPAoGYXBpS2V5Eg1hdXRob3JpemF0aW9u',
  'GgZoZWFkZXIiG0JlYXJlciBUb2tlbiBhdXRoZW50aWNhdGlvbg==',
].join('')

t.test('the protobuf form is that of gnostic', (t) => {
  const { paths, definitions, ...fields } = swagger
  const entries = Object.entries(definitions).map(([name, definition]) => encodeDefinition(name, definition as JsonObject))
  const bytes = encodeDocument(
    fields as JsonObject,
    Object.entries(paths).map(([path, item]) => encodePath(path, item as JsonObject)),
    entries,
  )
  t.equal(bytes.toString('base64'), encoded)
  t.end()
})
