import t from 'tap'
import { toldBelow, toldOfRoot } from '../support/structural-errors.ts'

const text = { type: 'string' }
const free = { 'x-kubernetes-preserve-unknown-fields': true }
const resource = { type: 'object', 'x-kubernetes-embedded-resource': true }

t.test('keywords that are not supported', async (t) => {
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
      t.strictSame(toldBelow({ ...text, ...schema }), [`${place}${keyword}: Forbidden: ${keyword} is not supported`])
  for (const [keyword, value] of [
    ['id', ''],
    ['$schema', ''],
    ['patternProperties', {}],
    ['definitions', {}],
    ['$ref', null],
    ['dependencies', null],
  ] as const)
    t.strictSame(toldBelow({ ...text, [keyword]: value }), [], `${keyword} that is none`)
})

t.test('what hides what is not structural is told where nothing else is', async (t) => {
  t.strictSame(toldBelow({ $schema: 'x' }), [`: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`])
  t.strictSame(toldBelow({ type: 'array', items: { ...text, not: { $schema: 'x' } } }), [
    `: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
  ])
  t.strictSame(toldBelow({ type: 'object', properties: { a: { $schema: 'x' }, b: { ...text, uniqueItems: true } } }), [
    'properties[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ])
})

t.test('defaults of metadata', async (t) => {
  const withDefault = { ...text, default: 'x' }
  for (const key of ['apiVersion', 'kind'])
    t.strictSame(toldOfRoot({ type: 'object', properties: { [key]: withDefault } }), [
      `properties[${key}].default: Forbidden: must not be set in top-level ${key}`,
    ])
  t.strictSame(toldOfRoot({ type: 'object', properties: { metadata: { type: 'object', properties: { name: withDefault } } } }), [
    'properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
  ])
  t.strictSame(toldOfRoot({ type: 'object', properties: { metadata: { type: 'object', default: null }, spec: withDefault } }), [])
  const labels = { type: 'object', additionalProperties: withDefault }
  t.strictSame(toldBelow({ ...resource, properties: { metadata: { type: 'object', properties: { labels } } } }), [
    'properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata',
  ])
  t.strictSame(toldBelow({ ...resource, properties: { spec: { type: 'object', properties: { labels } } } }), [])
  t.strictSame(toldBelow({ type: 'object', properties: { metadata: { type: 'object', properties: { labels } } } }), [])
})

t.test('fields by name or by any name', async (t) => {
  const both = (additionalProperties: unknown): string[] => toldBelow({ type: 'object', properties: { a: text }, additionalProperties })
  const exclusive = 'additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'
  t.strictSame(both(text), [exclusive])
  t.strictSame(both(false), [exclusive])
  t.strictSame(both(true), [])
  t.strictSame(toldBelow({ type: 'object', properties: {}, additionalProperties: false }), [])
})

t.test('an embedded resource is an object with fields of its own', async (t) => {
  t.strictSame(toldBelow({ ...resource, type: 'string' }), [
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ])
  t.strictSame(toldBelow({ ...resource, ...free, additionalProperties: text }), [
    'additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
  ])
  t.strictSame(toldBelow({ ...resource, properties: { a: text } }), [])
  t.strictSame(
    toldBelow({
      ...resource,
      properties: { apiVersion: { type: 'integer' }, kind: { ...free }, metadata: { type: 'string' } },
    }),
    [
      'properties[apiVersion].type: Invalid value: "integer": must be string',
      'properties[kind].type: Invalid value: "": must be string',
      'properties[metadata].type: Invalid value: "string": must be object',
    ],
  )
  t.strictSame(toldBelow({ type: 'object', properties: { kind: { type: 'integer' } } }), [], 'other objects have any kind')
  const metadata = { type: 'object', description: 'x', properties: { labels: { type: 'object' } } }
  t.strictSame(toldBelow({ ...resource, properties: { metadata } }), [], 'nor are its metadata those of the object')
  t.strictSame(toldBelow({ ...resource, properties: { metadata: { ...metadata, properties: { a: { ...resource, ...free } } } } }), [
    'properties[metadata].properties[a].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
  ])
  t.strictSame(toldBelow({ ...resource, properties: { spec: { ...resource, ...free } } }), [])
  t.strictSame(toldOfRoot({ ...resource, type: 'string', ...free }), [
    'type: Invalid value: "string": must be object at the root',
    'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ])
})

t.test('a rule is looked at unless the schema is wrong where it stands, or below', async (t) => {
  const ruled = (type: string, more: object = {}): object => ({ type, ...more, 'x-kubernetes-validations': [{ rule: 'self == 5.5' }] })
  const unique = { type: 'array', items: text, uniqueItems: true }
  const isRule = (line: string): boolean => line.includes('x-kubernetes-validations')
  const rulesOf = (properties: object): string[] =>
    toldOfRoot({ type: 'object', properties })
      .filter(isRule)
      .map((line) => line.split(': ')[0]!)
  t.strictSame(rulesOf({ a: ruled('string') }), ['properties[a].x-kubernetes-validations[0].rule'])
  t.strictSame(rulesOf({ a: ruled('object', { properties: { b: unique } }) }), [])
  t.strictSame(rulesOf({ a: ruled('array', { items: text, uniqueItems: true }) }), [])
  t.strictSame(rulesOf({ a: ruled('string'), ab: unique }), ['properties[a].x-kubernetes-validations[0].rule'])
  t.strictSame(toldOfRoot({ ...ruled('object', { properties: { a: unique } }) }).filter(isRule), [], 'the root is above all')
})
