/** Tests of content negotiation: accepted media types, and responses with 406. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-negotiation'
const group = 'negotiation.conformance.example.com'
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    names: { kind: 'Gadget', plural: 'gadgets' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v1beta1', served: true, storage: false, deprecated: true, schema: { openAPIV3Schema: { type: 'object' } } },
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'no more',
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
}

const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const gadgets = `/apis/${group}/v1/namespaces/${namespace}/gadgets`
const as = (kind: string, version = 'v1', type = 'application/json'): string => `${type};as=${kind};v=${version};g=meta.k8s.io`

const produced = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const streamed = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const only = 'only the following media types are accepted: '
const routed = '406: Not Acceptable\n\nAvailable representations: '

t.test('content negotiation', async (t) => {
  const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, connection)
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  t.teardown(() => api('DELETE', `${definitions}/gadgets.${group}`))
  await api('POST', definitions, { body: definition })
  await api('POST', configMaps, { body: { metadata: { name: 'a' }, data: { x: '1' } } })
  await until('the type is served', async () => {
    const { status } = await api('POST', gadgets, { body: { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'a' } } })
    return status === 201 || status === 409
  })

  t.test('an object is sent in the first supported media type', async (t) => {
    const kinds: [accept: string, contentType: string, kind: string | undefined][] = [
      ['application/xml,application/json', 'application/json', 'ConfigMap'],
      ['application/yaml;q=0.1,application/json;q=0.9', 'application/json', 'ConfigMap'],
      ['application/json;q=0', 'application/json', 'ConfigMap'],
      [`${as('Table')},application/json`, 'application/json', 'Table'],
      [as('PartialObjectMetadata', 'v1beta1'), 'application/json', 'PartialObjectMetadata'],
      [as('Table', 'v1', 'application/yaml'), 'application/yaml', undefined],
      ['application/yaml', 'application/yaml', undefined],
    ]
    for (const [accept, contentType, kind] of kinds) {
      const { status, headers, body } = await api('GET', `${configMaps}/a`, { accept })
      t.match({ status, contentType: headers['content-type'] }, { status: 200, contentType }, accept)
      t.equal(body.kind, kind, accept)
    }
  })

  t.test('a 406 response lists the supported media types', async (t) => {
    const refusals: [accept: string, path: string, message: string][] = [
      ['application/xml', `${configMaps}/a`, `${routed}${produced}`],
      ['application/xml', configMaps, `${routed}${produced}, ${streamed}`],
      ['application/*', `${configMaps}/a`, `${routed}${produced}`],
      [as('Table', 'v9'), `${configMaps}/a`, `${only}${produced}`],
      ['application/xml', `${gadgets}/a`, `${only}${produced}`],
      ['application/xml', `${gadgets}?watch=true`, `${only}${produced}`],
      [
        as('PartialObjectMetadataList'),
        `${configMaps}/a`,
        'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
      ],
      [
        as('PartialObjectMetadata'),
        configMaps,
        'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
      ],
      [
        as('PartialObjectMetadata'),
        gadgets,
        'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
      ],
    ]
    for (const [accept, path, message] of refusals) {
      const { status, body } = await api('GET', path, { accept })
      t.match({ code: status, ...body }, { code: 406, reason: 'NotAcceptable', message }, `${path} as ${accept}`)
    }
    const watch = await api('GET', `${configMaps}?watch=true`, { accept: 'application/yaml' })
    t.match(watch.headers, { 'content-type': 'application/yaml' })
    t.match(watch.text.replaceAll(/\s+/g, ' '), `${only}${streamed}`)
  })

  t.test('an error is sent in the accepted encoding, or in JSON when none is supported', async (t) => {
    const yaml = await api('GET', `${configMaps}/nothing`, { accept: 'application/yaml' })
    t.match(yaml, { status: 404, headers: { 'content-type': 'application/yaml' } })
    t.match(yaml.text, /^reason: NotFound$/m)
    for (const accept of [as('Table'), as('Table', 'v1', 'application/yaml')])
      t.match(await api('GET', `${gadgets}/nothing`, { accept }), { status: 404, body: { reason: 'NotFound' } }, accept)
  })

  t.test('items have apiVersion and kind in lists of custom resources only', async (t) => {
    const first = (body: JsonObject): JsonObject => (body.items as JsonObject[])[0]!
    const own = await api('GET', `${configMaps}?fieldSelector=metadata.name=a`)
    t.equal(own.body.kind, 'ConfigMapList')
    t.strictSame(Object.keys(first(own.body)).sort(), ['data', 'metadata'])
    t.match(first((await api('GET', gadgets)).body), { kind: 'Gadget', apiVersion: `${group}/v1` })
    const deleted = await api('DELETE', `${configMaps}?dryRun=All`, { accept: as('Table') })
    t.match(deleted, { status: 200, body: { kind: 'Table' } })
  })

  t.test('an empty list has items [] or null, depending on its type and form', async (t) => {
    const nothing = '?labelSelector=none%3Dnone'
    t.strictSame((await api('GET', `${configMaps}${nothing}`)).body.items, [])
    t.equal((await api('GET', `${configMaps}${nothing}`, { accept: as('PartialObjectMetadataList') })).body.items, null)
    t.strictSame((await api('GET', `${configMaps}${nothing}`, { accept: as('Table') })).body.rows, [])
    t.equal((await api('GET', `/apis/rbac.authorization.k8s.io/v1/roles${nothing}`, { accept: as('Table') })).body.rows, null)
  })

  t.test('a watch as Table has the columns in its first event, and a row in every event', async (t) => {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1'
    const { headers, text } = await api('GET', `${configMaps}?fieldSelector=metadata.name=a&${query}`, { accept: as('Table') })
    t.equal(headers['content-type'], 'application/json')
    const [added, bookmark] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: JsonObject })
    t.match(added, {
      type: 'ADDED',
      object: { columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }], rows: [{ cells: ['a', 1, /^\d+s$/] }] },
    })
    t.match(bookmark, {
      type: 'BOOKMARK',
      object: {
        rows: [{ cells: ['', 0, '<unknown>'], object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } }],
      },
    })
    t.equal(bookmark!.object.columnDefinitions, null)
  })

  t.test('includeObject adds objects to a table, and an unknown value is refused', async (t) => {
    const rowsOf = async (include: string): Promise<JsonObject[]> =>
      (await api('GET', `${configMaps}?fieldSelector=metadata.name=a&includeObject=${include}`, { accept: as('Table') })).body
        .rows as JsonObject[]
    t.strictSame(
      (await rowsOf('None')).map(({ object }) => object),
      [null],
    )
    t.match(await rowsOf('Object'), [{ object: { kind: 'ConfigMap', data: { x: '1' } } }])
    t.match(await rowsOf(''), [{ object: { kind: 'PartialObjectMetadata' } }])
    t.match(await api('GET', `${configMaps}?includeObject=Some`, { accept: as('Table') }), {
      status: 400,
      body: {
        message: `Unable to convert to Table as requested: includeObject: Invalid value: "Some": must be 'Metadata', 'Object', 'None', or empty`,
      },
    })
  })

  t.test('a deprecated version warns with its replacement', async (t) => {
    const at = async (version: string): Promise<unknown> => (await api('GET', gadgets.replace('/v1/', `/${version}/`))).warnings
    t.strictSame(await at('v1'), [])
    t.strictSame(await at('v1beta1'), [`${group}/v1beta1 Gadget is deprecated; use ${group}/v1 Gadget`])
    t.strictSame(await at('v1alpha1'), ['no more'])
  })

  t.test('a body in an unsupported form is refused', async (t) => {
    const header = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    const unrecognized = (kind: string, problem: string): string =>
      `the object provided is unrecognized (must be of type ${kind}): ${problem}`
    const parse = (found: string): string =>
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type ${header}`
    const refusals: [path: string, body: string, status: number, message: string][] = [
      [configMaps, '[]', 400, unrecognized('ConfigMap', `${parse('array')} (5b5d)`)],
      [configMaps, '12', 400, unrecognized('ConfigMap', `${parse('number')} (3132)`)],
      [configMaps, 'null', 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
      [gadgets, '[]', 400, unrecognized('Gadget', `${parse('array')} (5b5d)`)],
      [gadgets, 'null', 400, unrecognized('Gadget', `Object 'Kind' is missing in 'null' (6e756c6c)`)],
      [gadgets, '{"metadata":{}}', 400, unrecognized('Gadget', `Object 'Kind' is missing in '{"metadata":{}}' ({"metadata":{}})`)],
    ]
    for (const [path, body, status, message] of refusals)
      t.match(await api('POST', `${path}?dryRun=All`, { body }), { status, body: { message } }, `${body} to ${path}`)
  })
})
