/** Tests of the schemas of custom resources: validation, defaults, pruning, null values, lists, embedded resources. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import {
  applyPatch,
  create,
  custom,
  define,
  definition,
  definitionPath,
  invalid,
  jsonPatch,
  namespace,
  object,
  objects,
  ordered,
  string,
} from '../support/conformance/definitions.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const junctor = (keyword: string, of: JsonValue): JsonObject => object({ x: string, y: string }, { [keyword]: of })
const either: JsonValue = [{ required: ['x'] }, { required: ['y'] }]
const formats = ['date-time', 'date', 'uuid', 'ipv4', 'cidr', 'byte', 'duration', 'email', 'hostname', 'uri']

const spec = object({
  text: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]*$' },
  enum: { type: 'string', enum: ['a', 'b'] },
  numberEnum: { type: 'number', enum: [0, 2, 3.5] },
  anyEnum: { enum: [1, 'A', true], 'x-kubernetes-preserve-unknown-fields': true },
  int: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2 },
  number: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  int32: { type: 'integer', format: 'int32' },
  bool: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 2 },
  map: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1, maxProperties: 2 },
  needs: object({ a: string, b: string }, { required: ['a', 'b'] }),
  formats: object(Object.fromEntries(formats.map((format) => [format, { type: 'string', format }]))),
  anyOf: junctor('anyOf', either),
  oneOf: junctor('oneOf', either),
  allOf: junctor('allOf', either),
  not: junctor('not', { required: ['x'] }),
  intOrString: { 'x-kubernetes-int-or-string': true },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
  ports: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'port'],
    items: object({ name: string, port: { type: 'integer', default: 80 } }, { required: ['name'] }),
  },
  atomic: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: string },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  closed: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: object({ a: string }) } },
  nullable: { type: 'string', nullable: true },
  nullableDefault: { type: 'string', nullable: true, default: 'x' },
  defaulted: { type: 'string', default: 'd' },
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: object({ a: string }) } },
  inner: object({ a: string, deep: object({ b: { type: 'integer', default: 1 } }) }),
})

const inBody = (field: string, value: string, text: string): string => `${field}: Invalid value: ${value}: ${field} in body ${text}`
const type = (field: string, found: string, wanted: string): string =>
  inBody(field, JSON.stringify(found), `must be of type ${wanted}: ${JSON.stringify(found)}`)
const junctors = (text: string): string => `<nil>: Invalid value: "": ${text}`
/** Invalid specs, each with its errors. */
const refused: readonly (readonly [JsonValue, ...string[]])[] = [
  [{ text: 'a' }, inBody('spec.text', '"a"', 'should be at least 2 chars long')],
  [{ text: 'abcde' }, 'spec.text: Too long: may not be more than 4 bytes'],
  [{ text: 'AB' }, inBody('spec.text', '"AB"', "should match '^[a-z]*$'")],
  ...Object.entries({ integer: 1, number: 1.5, boolean: true, object: {}, array: [] }).map(
    ([found, value]) => [{ text: value as JsonValue }, type('spec.text', found, 'string')] as const,
  ),
  [{ enum: 'c' }, 'spec.enum: Unsupported value: "c": supported values: "a", "b"'],
  [{ enum: 1 }, 'spec.enum: Unsupported value: 1: supported values: "a", "b"', type('spec.enum', 'integer', 'string')],
  // The API server converts the value of a field to the Go type of an allowed value before it compares the two values (kube-openapi:
  // validate.Enum). Two examples:
  // - The API server converts 97 to "a", which is an allowed value of `enum`. The only error is therefore that 97 is not a string.
  // - The list `accepted` below contains a `numberEnum` of 2.9. The API server converts 2.9 to 2, which is an allowed value of
  //   `numberEnum`.
  [{ enum: 97 }, type('spec.enum', 'integer', 'string')],
  [{ numberEnum: 3 }, 'spec.numberEnum: Unsupported value: 3: supported values: "0", "2", "3.5"'],
  [{ anyEnum: 66 }, 'spec.anyEnum: Unsupported value: 66: supported values: "1", "A", "true"'],
  [{ anyEnum: 65.5 }, 'spec.anyEnum: Unsupported value: 65.5: supported values: "1", "A", "true"'],
  [{ int: 0 }, inBody('spec.int', '0', 'should be greater than or equal to 1')],
  [{ int: 11 }, inBody('spec.int', '11', 'should be a multiple of 2'), inBody('spec.int', '11', 'should be less than or equal to 10')],
  [
    { int: 1.5 },
    junctors('Checked value must be of type integer (default format) in spec.int'),
    inBody('spec.int', '1.5', 'should be a multiple of 2'),
    type('spec.int', 'number', 'integer'),
  ],
  [{ int: '1' }, type('spec.int', 'string', 'integer')],
  [{ number: 0 }, inBody('spec.number', '0', 'should be greater than 0')],
  [{ number: 1 }, inBody('spec.number', '1', 'should be less than 1')],
  [{ int32: 3_000_000_000 }, junctors('Checked value must be of type integer with format int32 in spec.int32')],
  [{ bool: 'true' }, type('spec.bool', 'string', 'boolean')],
  [{ list: [] }, inBody('spec.list', '0', 'should have at least 1 items')],
  [{ list: ['a', 'b', 'c'] }, 'spec.list: Too many: 3: must have at most 2 items'],
  [{ list: [''] }, inBody('spec.list[0]', '""', 'should be at least 1 chars long')],
  [{ list: 'a' }, type('spec.list', 'string', 'array')],
  [{ list: [null] }, type('spec.list[0]', 'null', 'string')],
  [{ map: {} }, inBody('spec.map', '0', 'should have at least 1 properties')],
  [{ map: { a: 1, b: 2, c: 3 } }, 'spec.map: Too many: 3: must have at most 2 items'],
  [{ map: { a: 'x' } }, type('spec.map.a', 'string', 'integer')],
  [{ map: { a: null } }, inBody('spec.map', '0', 'should have at least 1 properties')],
  [{ needs: {} }, 'spec.needs.a: Required value', 'spec.needs.b: Required value'],
  [{ needs: { a: null, b: 'x' } }, 'spec.needs.a: Required value'],
  ...formats.map((format) => [{ formats: { [format]: '%' } }, type(`spec.formats.${format}`, '%', format)] as const),
  [{ anyOf: {} }, junctors('"spec.anyOf" must validate at least one schema (anyOf)'), 'spec.anyOf.x: Required value'],
  [{ oneOf: {} }, junctors('"spec.oneOf" must validate one and only one schema (oneOf). Found none valid'), 'spec.oneOf.x: Required value'],
  [{ oneOf: { x: '', y: '' } }, junctors('"spec.oneOf" must validate one and only one schema (oneOf). Found 2 valid alternatives')],
  [
    { allOf: {} },
    junctors('"spec.allOf" must validate all the schemas (allOf). None validated'),
    'spec.allOf.x: Required value',
    'spec.allOf.y: Required value',
  ],
  [{ not: { x: '' } }, junctors('"spec.not" must not validate the schema (not)')],
  [{ intOrString: true }, type('spec.intOrString', 'boolean', 'integer,string')],
  [{ intOrString: 1.5 }, type('spec.intOrString', 'number', 'integer,string')],
  [{ set: ['a', 'b', 'a'] }, 'spec.set[2]: Duplicate value: "a"'],
  [{ set: ['a', 'a', 'a'] }, 'spec.set[1]: Duplicate value: "a"'],
  [{ ports: [{ name: 'a' }, { name: 'a', port: 80 }] }, 'spec.ports[1]: Duplicate value: {"name":"a","port":80}'],
  [{ ports: [{ port: 1 }] }, 'spec.ports[0].name: Required value'],
  [{ embedded: {} }, 'spec.embedded.apiVersion: Required value', 'spec.embedded.kind: Required value'],
  [
    { embedded: { apiVersion: 'a/b/c', kind: 'pod!' } },
    'spec.embedded.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    `spec.embedded.kind: Invalid value: "pod!": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
  ],
  [
    { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: '!' } } } },
    `spec.embedded.metadata.labels: Invalid value: "!": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
  ],
  ['text', type('spec', 'string', 'object')],
  [[], type('spec', 'array', 'object')],
  [
    { text: 1, enum: 'c', needs: {}, set: ['a', 'a'] },
    'spec.enum: Unsupported value: "c": supported values: "a", "b"',
    'spec.needs.a: Required value',
    'spec.needs.b: Required value',
    'spec.set[1]: Duplicate value: "a"',
    type('spec.text', 'integer', 'string'),
  ],
]

const defaults = { defaulted: 'd', nullableDefault: 'x' }
const pod = { apiVersion: 'v1', kind: 'Pod' }

/**
 * Each row contains a valid spec, the spec that the API server stores for it, and the paths of the unknown fields that the warnings must
 * name. The stored spec also has the fields in `defaults`, which the rows do not repeat.
 */
const accepted: readonly (readonly [JsonObject, JsonObject, ...string[]])[] = [
  ...[{ numberEnum: 2.9 }, { numberEnum: -0.5 }, { anyEnum: 65 }, { anyEnum: 1.5 }].map((value): readonly [JsonObject, JsonObject] => [
    value,
    value,
  ]),
  [{ intOrString: 1 }, { intOrString: 1 }],
  [{ intOrString: '50%' }, { intOrString: '50%' }],
  [{ ports: [{ name: 'a' }, { name: 'a', port: 81 }] }, { ports: [{ name: 'a', port: 80 }, { name: 'a', port: 81 }] }], // prettier-ignore
  [{ atomic: ['a', 'a'] }, { atomic: ['a', 'a'] }],
  [{ anyOf: { x: '', y: '' } }, { anyOf: { x: '', y: '' } }],
  [{ nullable: null }, { nullable: null }],
  [{ nullableDefault: null }, { nullableDefault: null }],
  [{ defaulted: null, bool: null, list: null, map: null, needs: null, intOrString: null }, {}],
  [{ inner: { deep: {} } }, { inner: { deep: { b: 1 } } }],
  [{ open: { x: { y: 1 }, known: { a: 'b', c: 'd' } } }, { open: { x: { y: 1 }, known: { a: 'b' } } }, 'spec.open.known.c'],
  [{ inner: { a: 'b', c: 1 }, foo: [] }, { inner: { a: 'b' } }, 'spec.foo', 'spec.inner.c'],
  [
    { embedded: { ...pod, metadata: { name: 'X Y', foo: 1 }, any: { b: 1 } } },
    { embedded: { ...pod, metadata: { name: 'X Y' }, any: { b: 1 } } },
    'spec.embedded.metadata.foo',
  ],
  [
    { closed: { ...pod, metadata: { labels: { a: 'b' } }, spec: { a: 'b', c: 'd' }, other: 1 } },
    { closed: { ...pod, metadata: { labels: { a: 'b' } }, spec: { a: 'b' } } },
    'spec.closed.other',
    'spec.closed.spec.c',
  ],
]

const undecodable: readonly (readonly [JsonObject, string])[] = [
  [
    { ...pod, metadata: { name: 1 } },
    'spec.embedded.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  ],
  [
    { ...pod, metadata: 'x' },
    'spec.embedded.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
  ],
  [{ ...pod, apiVersion: 1 }, 'spec.embedded.apiVersion: Invalid value: 1: must be a string'],
]

t.test('custom resources and their schemas', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, controlPlane.connection)
  await define(t, api, definition('things', 'Thing', object({ spec })))
  const dryRun = (value: JsonValue): Promise<RawAnswer> =>
    api('POST', `${objects('things')}?dryRun=All`, { body: custom('Thing', 'a', { spec: value }) })

  t.test('refuse invalid values with a cause for each error', async (t) => {
    for (const [value, ...causes] of refused) {
      t.strictSame(ordered(await dryRun(value)), invalid('Thing', 'a', causes), JSON.stringify(value))
    }
  })

  t.test('keep, prune and default fields, and warn about pruned ones', async (t) => {
    for (const [value, expected, ...unknown] of accepted) {
      const { status, body, warnings } = await dryRun(value)
      t.equal(status, 201, JSON.stringify(value))
      t.strictSame(body.spec, { ...defaults, ...expected })
      t.strictSame([...warnings].sort(), unknown.map((path) => `unknown field "${path}"`).sort())
    }
    t.notOk('spec' in (await dryRun(null)).body, 'null is dropped for a field without a default')
  })

  t.test('refuse undecodable parts with 400', async (t) => {
    for (const [embedded, problem] of undecodable) {
      const { body } = await dryRun({ embedded })
      t.match(body, { code: 400, reason: 'BadRequest', message: `Thing in version "v1" cannot be handled as a Thing: ${problem}` })
    }
  })

  t.test('apply a changed schema to stored objects in reads, lists and watches', async (t) => {
    await define(t, api, definition('olds', 'Old', object({ spec: object({ keep: string, drop: string }) })))
    const { body } = await create(api, 'olds', custom('Old', 'a', { spec: { keep: 'k', drop: 'd' } }))
    const schema = object({ spec: object({ keep: string, added: { type: 'string', default: 'new' } }) })
    const change = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schema }]
    t.equal((await api('PATCH', definitionPath('olds'), { contentType: jsonPatch, body: change })).status, 200)
    const expected = { keep: 'k', added: 'new' }
    const shown = await until('the new schema is in effect', async () => {
      const { body } = await api('GET', objects('olds', 'a'))
      return (body.spec as JsonObject).added !== undefined && body
    })
    t.strictSame(shown, { ...body, spec: expected }, 'resourceVersion and generation are those of the create')
    // After the schema of a type has changed, kube-apiserver fills the watch cache of the type again. Until this cache is filled, a list
    // can be empty.
    const items = await until('the list has it', async () => {
      const found = (await api('GET', objects('olds'))).body.items as JsonObject[]
      return found.length > 0 && found
    })
    t.strictSame(items, [shown])
    const { text } = await api('GET', `${objects('olds')}?watch=1&timeoutSeconds=1&resourceVersion=0`)
    t.strictSame(JSON.parse(text.split('\n')[0]!), { type: 'ADDED', object: shown })
    const { body: written } = await api('PUT', objects('olds', 'a'), {
      body: { ...shown, metadata: { ...(shown.metadata as JsonObject), labels: { a: 'b' } } },
    })
    t.match(written, { spec: expected, metadata: { generation: 1 } }, 'pruning and defaulting do not increase the generation')
  })

  t.test('merge applied lists by their list types', async (t) => {
    const apply = (manager: string, name: string, value: JsonObject): Promise<RawAnswer> =>
      api('PATCH', `${objects('things', name)}?fieldManager=${manager}`, {
        contentType: applyPatch,
        body: custom('Thing', name, { spec: value }),
      })
    t.equal((await apply('one', 'lists', { set: ['a', 'b'], ports: [{ name: 'x', port: 1 }], atomic: ['a'] })).status, 201)
    const { body } = await apply('two', 'lists', { set: ['c', 'b'], ports: [{ name: 'y' }] })
    t.strictSame(body.spec, { ...defaults, set: ['a', 'c', 'b'], ports: [{ name: 'x', port: 1 }, { name: 'y', port: 80 }], atomic: ['a'] }) // prettier-ignore
    t.match((await apply('two', 'lists', { atomic: ['b'] })).body, {
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.atomic',
    })
    const left = await apply('one', 'lists', { set: ['a'] })
    t.strictSame(
      left.body.spec,
      { ...defaults, set: ['a', 'c', 'b'], ports: [{ name: 'y', port: 80 }] },
      'items that are no longer applied are removed',
    )
  })
})
