import t from 'tap'
import { checkStructural } from '../../../src/schema/structural/check-schema.ts'
import { specSchemaErrors, schemaErrors } from '../../support/structural-errors.ts'

const text = { type: 'string' }

/** Keywords that restrict values or specify structure, each with an arbitrary value. */
const restrictions: Readonly<Record<string, unknown>> = {
  title: 'x',
  description: 'x',
  nullable: true,
  additionalProperties: text,
  items: text,
  format: 'x',
  maximum: 0,
  exclusiveMaximum: true,
  minimum: 0,
  exclusiveMinimum: true,
  maxLength: 0,
  minLength: 0,
  pattern: 'x',
  maxItems: 0,
  minItems: 0,
  uniqueItems: true,
  multipleOf: 1,
  maxProperties: 0,
  minProperties: 0,
  required: ['x'],
  enum: ['x'],
  allOf: [{}],
  anyOf: [{}],
  oneOf: [{}],
  not: {},
  example: { a: 'x' },
  externalDocs: { url: 'https://example.com' },
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-int-or-string': true,
  'x-kubernetes-list-map-keys': ['x'],
  'x-kubernetes-list-type': 'atomic',
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [{ rule: 'true' }],
}

t.test('a schema must be structural', async (t) => {
  const cases: readonly (readonly [name: string, schema: object, errors: readonly string[]])[] = [
    ['a type', {}, ['type: Required value: must not be empty for specified object fields']],
    ['a type of items', { type: 'array', items: {} }, ['items.type: Required value: must not be empty for specified array items']],
    [
      'a type that exists',
      { type: 'float' },
      ['type: Unsupported value: "float": supported values: "array", "boolean", "integer", "number", "object", "string"'],
    ],
    [
      'not null',
      { type: 'null' },
      [
        'type: Forbidden: type cannot be set to null, use nullable as an alternative',
        'type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    ['no type with int-or-string', { 'x-kubernetes-int-or-string': true }, []],
    ['no type with unknown fields', { 'x-kubernetes-preserve-unknown-fields': true }, []],
    ['items of an array', { type: 'array' }, ['items: Required value: must be specified']],
    ['one schema for items', { type: 'array', items: [text] }, ['items: Forbidden: items must be a schema object and not an array']],
    [
      'properties or a map',
      { type: 'object', properties: { a: text }, additionalProperties: text },
      ['additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
    ],
    ['a ban on fields', { type: 'object', additionalProperties: false }, []],
    [
      'values in a map',
      { type: 'object', additionalProperties: {} },
      ['additionalProperties.type: Required value: must not be empty for specified object fields'],
    ],
    ['$ref', { ...text, $ref: '#/x' }, ['$ref: Forbidden: $ref is not supported']],
    [
      'uniqueItems',
      { type: 'array', items: text, uniqueItems: true },
      ['uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic'],
    ],
    ['a multipleOf that nothing fits', { type: 'integer', multipleOf: 0 }, []],
    ['a schema', { type: 'object', properties: { a: 'text' } }, ['properties[a]: Invalid value: "text": must be a schema']],
    [
      'unknown fields are kept or not mentioned',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      ['x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      'int-or-string is neither free nor a resource',
      { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
      ['x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true'],
    ],
    [
      'int-or-string is no resource with fields',
      { type: 'object', properties: { a: text }, 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': true },
      ['x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true'],
    ],
    [
      'a rule',
      { ...text, 'x-kubernetes-validations': [{ rule: ' ' }] },
      ['x-kubernetes-validations[0].rule: Required value: rule is not specified'],
    ],
    [
      'a message for a rule of several lines',
      { ...text, 'x-kubernetes-validations': [{ rule: 'a\nb' }] },
      ['x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks'],
    ],
    ['rules are accepted', { ...text, 'x-kubernetes-validations': [{ rule: 'self != ""', message: 'must be set' }] }, []],
  ]
  for (const [name, schema, errors] of cases) t.strictSame(specSchemaErrors(schema), errors, name)
  t.match(specSchemaErrors({ ...text, pattern: '(?=a)' }), [
    /^pattern: Invalid value: "\(\?=a\)": must be a valid regular expression, but isn't: error parsing regexp/,
  ])
})

t.test('each subschema must be an object', async (t) => {
  const wrong = (place: string): string[] => [`${place}: Invalid value: "x": must be a schema`]
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    t.strictSame(specSchemaErrors({ ...text, [keyword]: [{}, 'x'] }), wrong(`${keyword}[1]`))
  t.strictSame(specSchemaErrors({ type: 'array', items: { type: 'object', properties: { a: 'x' } } }), wrong('items.properties[a]'))
  t.strictSame(
    specSchemaErrors({ type: 'object', additionalProperties: { ...text, not: { anyOf: ['x'] } } }),
    wrong('additionalProperties.not.anyOf[0]'),
  )
})

t.test('the root schema must be an object with unrestricted apiVersion, kind and metadata', async (t) => {
  t.strictSame(schemaErrors({}), ['type: Required value: must not be empty at the root'])
  t.strictSame(schemaErrors({ type: 'string' }), ['type: Invalid value: "string": must be object at the root'])
  t.strictSame(schemaErrors({ type: 'object', additionalProperties: text }), [
    'additionalProperties: Forbidden: must not be used at the root',
  ])
  t.strictSame(
    schemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, maxLength: 5 } } } } }),
    [],
  )
  t.strictSame(schemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } }), [
    'properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ])
  t.strictSame(schemaErrors({ type: 'object', properties: { kind: { type: 'integer' }, metadata: { type: 'string' } } }), [
    'properties[kind].type: Invalid value: "integer": must be string',
    'properties[metadata].type: Invalid value: "string": must be object',
  ])
})

t.test('embedded resources are validated', async (t) => {
  const resource = { 'x-kubernetes-embedded-resource': true }
  t.strictSame(specSchemaErrors({ type: 'object', ...resource, 'x-kubernetes-preserve-unknown-fields': true }), [])
  t.strictSame(specSchemaErrors({ ...resource, 'x-kubernetes-preserve-unknown-fields': true }), [
    'type: Required value: must be object if x-kubernetes-embedded-resource is true',
  ])
  t.strictSame(specSchemaErrors({ type: 'object', ...resource }), [
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
  ])
})

t.test('sets and list maps are validated', async (t) => {
  const set = { type: 'array', 'x-kubernetes-list-type': 'set' }
  const map = { type: 'array', 'x-kubernetes-list-type': 'map' }
  const item = { type: 'object', required: ['a'], properties: { a: text, b: text } }
  t.strictSame(specSchemaErrors({ ...map, items: item, 'x-kubernetes-list-map-keys': ['a'] }), [])
  t.strictSame(specSchemaErrors({ ...map, items: item }), [
    'x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
  ])
  t.strictSame(specSchemaErrors({ ...map, items: item, 'x-kubernetes-list-map-keys': ['c'] }), [
    'x-kubernetes-list-map-keys: Invalid value: ["c"]: entries must all be names of item properties',
  ])
  t.strictSame(specSchemaErrors({ ...map, items: item, 'x-kubernetes-list-map-keys': ['b'] }), [
    'items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
  ])
  const nullableKey = { ...item, properties: { ...item.properties, a: { ...text, nullable: true } } }
  t.strictSame(specSchemaErrors({ ...map, items: nullableKey, 'x-kubernetes-list-map-keys': ['a'] }), [
    'items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
  ])
  t.strictSame(specSchemaErrors({ type: 'array', items: item, 'x-kubernetes-list-map-keys': ['a'] }), [
    'x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
  ])
  t.strictSame(specSchemaErrors({ ...map, items: text, 'x-kubernetes-list-map-keys': ['a'] }), [
    `items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
  ])
  t.strictSame(specSchemaErrors({ ...set, items: { ...text, nullable: true } }), [
    'items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
  ])
  t.strictSame(specSchemaErrors({ ...set, items: { type: 'object' } }), [
    'items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
  ])
  t.strictSame(specSchemaErrors({ ...set, items: { type: 'object', 'x-kubernetes-map-type': 'atomic' } }), [])
  t.strictSame(specSchemaErrors({ ...text, 'x-kubernetes-list-type': 'set' }), [
    'type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
  ])
  t.strictSame(specSchemaErrors({ type: 'array', items: text, 'x-kubernetes-list-type': 'bag' }), [
    'x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
  ])
})

t.test('structural keywords in junctors are forbidden', async (t) => {
  const intOrString = [{ type: 'integer' }, { type: 'string' }]
  t.strictSame(specSchemaErrors({ 'x-kubernetes-int-or-string': true, anyOf: intOrString }), [])
  for (const keyword of ['required', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'])
    t.strictSame(
      specSchemaErrors({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer', [keyword]: [] }, { type: 'string' }] }),
      [0, 1].map((branch) => `anyOf[${branch}].type: Forbidden: must be empty to be structural`),
      `an empty list counts as set: ${keyword}`,
    )
  t.strictSame(specSchemaErrors({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: intOrString }, { pattern: 'a' }] }), [])
  t.strictSame(specSchemaErrors({ ...text, oneOf: intOrString }), [
    'oneOf[0].type: Forbidden: must be empty to be structural',
    'oneOf[1].type: Forbidden: must be empty to be structural',
  ])
  t.strictSame(specSchemaErrors({ ...text, not: { default: 'a', nullable: true, description: 'x' } }), [
    'not.default: Forbidden: must be undefined to be structural',
    'not.description: Forbidden: must be empty to be structural',
    'not.nullable: Forbidden: must be false to be structural',
  ])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: text }, anyOf: [{ properties: { a: { allOf: [{ title: 'x' }] } } }] }), [
    'anyOf[0].properties[a].allOf[0].title: Forbidden: must be empty to be structural',
  ])
  t.match(specSchemaErrors({ ...text, anyOf: [{ pattern: '(' }] }), [/^anyOf\[0\].pattern: Invalid value/])
  t.strictSame(specSchemaErrors({ ...text, not: { uniqueItems: true, type: 'null', $ref: 'x' } }), [
    'not.$ref: Forbidden: $ref is not supported',
    'not.type: Forbidden: type cannot be set to null, use nullable as an alternative',
    'not.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    'not.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ])
  t.strictSame(specSchemaErrors({ ...text, anyOf: [{ default: null, multipleOf: 0 }, { additionalProperties: false }] }), [])
})

t.test('fields in branches of the root must be specified; nested branches are not checked', async (t) => {
  const anyOf = [{ properties: { b: { minLength: 1 } } }]
  t.strictSame(schemaErrors({ type: 'object', properties: { a: text }, anyOf }), [
    'properties[b]: Required value: because it is defined in anyOf[0].properties[b]',
  ])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: text }, anyOf }), [])
})

t.test('the anyOf of int-or-string may have annotations, but no other keywords', async (t) => {
  const written = (more: object): string[] =>
    specSchemaErrors({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string', ...more }] })
  t.strictSame(written({ default: null, uniqueItems: false, enum: [] }), [])
  t.strictSame(written({ required: [] }).length, 2)
})

t.test('with any other keyword, the anyOf is not that of int-or-string', async (t) => {
  for (const [keyword, value] of Object.entries({ ...restrictions, default: 'x', properties: {} })) {
    const errors = specSchemaErrors({
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string', [keyword]: value }],
    })
    t.strictSame(
      errors.filter((error) => error.includes('].type: Forbidden: ')),
      [0, 1].map((branch) => `anyOf[${branch}].type: Forbidden: must be empty to be structural`),
      keyword,
    )
  }
})

t.test('unsupported keywords hide structural errors', async (t) => {
  t.strictSame(specSchemaErrors({ id: 'x' }), ['id: Forbidden: id is not supported'])
  t.strictSame(schemaErrors({ properties: { spec: { $schema: 'x' } } }), [
    ': Invalid value: "": OpenAPIV3Schema \'schema\' is not supported',
  ])
  t.strictSame(specSchemaErrors({ definitions: { a: { type: 'null' } }, 'x-kubernetes-preserve-unknown-fields': false }), [
    'definitions: Forbidden: definitions is not supported',
    'definitions[a].type: Forbidden: type cannot be set to null, use nullable as an alternative',
    'definitions[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    'x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ])
})

t.test('restrictions of metadata are forbidden in every form', async (t) => {
  const said = (metadata: object): number =>
    schemaErrors({ type: 'object', properties: { metadata: { type: 'object', ...metadata } } }).length
  t.equal(said({ properties: { name: text, generateName: text }, enum: [], nullable: false, description: '' }), 0)
  for (const more of [{ required: [] }, { additionalProperties: false }, { nullable: true }, { properties: { labels: text } }])
    t.equal(said(more), 1)
  const forbidden =
    'properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified'
  for (const [keyword, value] of Object.entries(restrictions))
    t.ok(
      schemaErrors({ type: 'object', properties: { metadata: { type: 'object', [keyword]: value } } }).includes(forbidden),
      `${keyword} restricts metadata`,
    )
  t.strictSame(schemaErrors({ type: 'object', nullable: true }), ['nullable: Forbidden: nullable cannot be true at the root'])
  t.strictSame(
    schemaErrors({ type: 'object', properties: { kind: { type: 'string', 'x-kubernetes-embedded-resource': true } } }).filter((line) =>
      line.includes('resource meta'),
    ),
    ['properties[kind].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta'],
  )
})

t.test('defaults must be valid', async (t) => {
  t.strictSame(specSchemaErrors({ ...text, default: 5 }), ['default: Invalid value: "integer":  in body must be of type string: "integer"'])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: text }, default: { a: 5 } }), [
    'default.a: Invalid value: "integer": a in body must be of type string: "integer"',
  ])
  t.strictSame(specSchemaErrors({ type: 'array', items: text, default: [5] }), [
    'default.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"',
  ])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: text }, default: { b: 5 } }), [
    'default: Invalid value: {"b":5}: must not have unknown fields',
  ])
  t.strictSame(specSchemaErrors({ ...text, nullable: true, default: null }), [])
})

t.test('some defaults are not fully validated', async (t) => {
  t.strictSame(specSchemaErrors({ 'x-kubernetes-int-or-string': true, default: {} }), [], 'int-or-string has no type here')
  t.strictSame(specSchemaErrors({ type: 'object', additionalProperties: { ...text, default: 5 } }), [], 'a default of map values')
  t.strictSame(
    specSchemaErrors({ type: 'array', items: text, 'x-kubernetes-list-type': 'set', default: ['a', 'a'] }),
    [],
    'duplicates in the default of a set',
  )
  t.strictSame(specSchemaErrors({ ...text, format: 'no-format', default: 'x' }), [], 'a text of an unknown format')
  t.strictSame(specSchemaErrors({ 'x-kubernetes-int-or-string': true, format: 'no-format', default: 2 }), [
    'default: Invalid value: "int64":  in body must be of type no-format: "int64"',
  ])
  t.strictSame(specSchemaErrors({ type: 'object', additionalProperties: text, default: { a: 5 } }), [
    'default.a: Invalid value: "integer": .a in body must be of type string: "integer"',
  ])
})

t.test('the default of the kind is validated as part of the object', async (t) => {
  const kindOf = (value: unknown): string[] =>
    specSchemaErrors({ type: 'object', 'x-kubernetes-embedded-resource': true, properties: { kind: { type: 'string', default: value } } })
  t.strictSame(kindOf('Pod'), [])
  t.strictSame(kindOf([]), [
    'properties[kind].default: Invalid value: []: must result in valid metadata: kind: Invalid value: []: must be a string',
  ])
  t.match(kindOf('a b'), [
    /^properties\[kind\]\.default: Invalid value: "a b": must result in valid metadata: kind: Invalid value: "a b": may have/,
  ])
})

t.test('paths begin with the given prefix', async (t) => {
  t.strictSame(
    checkStructural({ type: 'object', properties: { a: {} } }, 'openAPIV3Schema').map(({ path }) => path),
    ['openAPIV3Schema.properties[a].type'],
  )
})

t.test('no schema can exhaust the stack', async (t) => {
  const deep = JSON.parse(`${'{"type":"array","items":'.repeat(50_000)}{}${'}'.repeat(50_000)}`) as object
  t.strictSame(specSchemaErrors(deep), [': Forbidden: must not be nested deeper than 300 levels'])
})
