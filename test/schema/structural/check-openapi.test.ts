import t from 'tap'
import { specSchemaErrors, schemaErrors } from '../../support/structural-errors.ts'

const text = { type: 'string' }
const free = { 'x-kubernetes-preserve-unknown-fields': true }
const resource = { type: 'object', 'x-kubernetes-embedded-resource': true }

t.test('unsupported keywords are refused', async (t) => {
  const cases: readonly (readonly [keyword: string, value: unknown])[] = [
    ['id', 'x'],
    ['$ref', '#/x'],
    ['patternProperties', { a: text }],
    ['dependencies', { a: ['b'] }],
    ['additionalItems', true],
    ['additionalItems', text],
    ['definitions', { a: text }],
  ]
  for (const [keyword, value] of cases)
    for (const [place, schema] of [
      ['', { [keyword]: value }],
      ['items.', { type: 'array', items: { ...text, [keyword]: value } }],
      ['additionalProperties.', { type: 'object', additionalProperties: { ...text, [keyword]: value } }],
      ['properties[a].', { type: 'object', properties: { a: { ...text, [keyword]: value } } }],
      ['not.', { ...text, not: { [keyword]: value } }],
      ['oneOf[0].', { ...text, oneOf: [{ [keyword]: value }] }],
    ] as const)
      t.strictSame(specSchemaErrors({ ...text, ...schema }), [`${place}${keyword}: Forbidden: ${keyword} is not supported`])
  for (const [keyword, value] of [
    ['id', ''],
    ['$schema', ''],
    ['patternProperties', {}],
    ['definitions', {}],
    ['$ref', null],
    ['dependencies', null],
    ['additionalItems', null],
    ['patternProperties', null],
    ['definitions', null],
    ['id', null],
    ['$schema', null],
    ['$schema', undefined],
    ['id', undefined],
    ['definitions', undefined],
  ] as const)
    t.strictSame(specSchemaErrors({ ...text, [keyword]: value }), [], `${keyword} without effect`)
})

t.test('an unsupported keyword hides errors of the structure and of rules', async (t) => {
  const rules = [{ rule: 'self' }]
  for (const [keyword, value] of [
    ['id', 'x'],
    ['$ref', '#/x'],
    ['patternProperties', { a: text }],
    ['dependencies', { a: ['b'] }],
    ['additionalItems', true],
    ['additionalItems', {}],
    ['definitions', { a: text }],
  ] as const) {
    const unsupported = `${keyword}: Forbidden: ${keyword} is not supported`
    t.ok(specSchemaErrors({ [keyword]: value }).includes(unsupported), keyword)
    t.notOk(
      specSchemaErrors({ [keyword]: value }).some((error) => error.startsWith('type: Required')),
      `${keyword} without a type`,
    )
    t.notOk(
      specSchemaErrors({ ...text, [keyword]: value, 'x-kubernetes-validations': rules }).some((error) => error.includes('bool')),
      `${keyword} with a rule`,
    )
  }
  t.strictSame(specSchemaErrors({ items: [text] }), ['items: Forbidden: items must be a schema object and not an array'])
  const untyped = 'type: Required value: must not be empty for specified object fields'
  t.strictSame(specSchemaErrors({ $ref: '' }), ['$ref: Forbidden: $ref is not supported', untyped])
  t.strictSame(specSchemaErrors({ dependencies: {} }), ['dependencies: Forbidden: dependencies is not supported', untyped])
  t.strictSame(specSchemaErrors({ id: '', $schema: '', patternProperties: {}, definitions: {} }), [untyped])
})

t.test('the keyword $schema is reported only without other errors', async (t) => {
  t.strictSame(specSchemaErrors({ $schema: 'x' }), [`: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`])
  t.strictSame(specSchemaErrors({ type: 'array', items: { ...text, not: { $schema: 'x' } } }), [
    `: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
  ])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: { $schema: 'x' }, b: { ...text, uniqueItems: true } } }), [
    'properties[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ])
})

t.test('unsupported defaults of apiVersion, kind and metadata are refused', async (t) => {
  const withDefault = { ...text, default: 'x' }
  for (const key of ['apiVersion', 'kind'])
    t.strictSame(schemaErrors({ type: 'object', properties: { [key]: withDefault } }), [
      `properties[${key}].default: Forbidden: must not be set in top-level ${key}`,
    ])
  t.strictSame(schemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { name: withDefault } } } }), [
    'properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
  ])
  t.strictSame(schemaErrors({ type: 'object', properties: { metadata: { type: 'object', default: null }, spec: withDefault } }), [])
  const labels = { type: 'object', additionalProperties: withDefault }
  t.strictSame(specSchemaErrors({ ...resource, properties: { metadata: { type: 'object', properties: { labels } } } }), [
    'properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata',
  ])
  t.strictSame(specSchemaErrors({ ...resource, properties: { spec: { type: 'object', properties: { labels } } } }), [])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { labels } } } }), [])
})

t.test('properties and additionalProperties are mutually exclusive', async (t) => {
  const both = (additionalProperties: unknown): string[] =>
    specSchemaErrors({ type: 'object', properties: { a: text }, additionalProperties })
  const exclusive = 'additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'
  t.strictSame(both(text), [exclusive])
  t.strictSame(both(false), [exclusive])
  t.strictSame(both(true), [])
  t.strictSame(specSchemaErrors({ type: 'object', properties: {}, additionalProperties: false }), [])
})

t.test('an embedded resource must be an object with properties', async (t) => {
  t.strictSame(specSchemaErrors({ ...resource, type: 'string' }), [
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ])
  t.strictSame(specSchemaErrors({ ...resource, ...free, additionalProperties: text }), [
    'additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
  ])
  t.strictSame(specSchemaErrors({ ...resource, properties: { a: text } }), [])
  t.strictSame(
    specSchemaErrors({
      ...resource,
      properties: { apiVersion: { type: 'integer' }, kind: { ...free }, metadata: { type: 'string' } },
    }),
    [
      'properties[apiVersion].type: Invalid value: "integer": must be string',
      'properties[kind].type: Invalid value: "": must be string',
      'properties[metadata].type: Invalid value: "string": must be object',
    ],
  )
  t.strictSame(
    specSchemaErrors({ type: 'object', properties: { kind: { type: 'integer' } } }),
    [],
    'the kind of other objects is not restricted',
  )
  const metadata = { type: 'object', description: 'x', properties: { labels: { type: 'object' } } }
  t.strictSame(
    specSchemaErrors({ ...resource, properties: { metadata } }),
    [],
    'metadata of an embedded resource is not that of the object',
  )
  t.strictSame(specSchemaErrors({ ...resource, properties: { metadata: { ...metadata, properties: { a: { ...resource, ...free } } } } }), [
    'properties[metadata].properties[a].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
  ])
  t.strictSame(specSchemaErrors({ ...resource, properties: { spec: { ...resource, ...free } } }), [])
  t.strictSame(schemaErrors({ ...resource, type: 'string', ...free }), [
    'type: Invalid value: "string": must be object at the root',
    'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ])
})

t.test('a rule is validated unless its schema or one below has errors', async (t) => {
  const ruled = (type: string, more: object = {}): object => ({ type, ...more, 'x-kubernetes-validations': [{ rule: 'self == 5.5' }] })
  const unique = { type: 'array', items: text, uniqueItems: true }
  const isRule = (line: string): boolean => line.includes('x-kubernetes-validations')
  const rulesOf = (properties: object): string[] =>
    schemaErrors({ type: 'object', properties })
      .filter(isRule)
      .map((line) => line.split(': ')[0]!)
  t.strictSame(rulesOf({ a: ruled('string') }), ['properties[a].x-kubernetes-validations[0].rule'])
  t.strictSame(rulesOf({ a: ruled('object', { properties: { b: unique } }) }), [])
  t.strictSame(rulesOf({ a: ruled('array', { items: text, uniqueItems: true }) }), [])
  t.strictSame(rulesOf({ a: ruled('string'), b: unique }), ['properties[a].x-kubernetes-validations[0].rule'])
  t.strictSame(rulesOf({ a: ruled('string'), ab: unique }), ['properties[a].x-kubernetes-validations[0].rule'])
  t.strictSame(schemaErrors({ ...ruled('object', { properties: { a: unique } }) }).filter(isRule), [], 'the root is above every schema')
})
