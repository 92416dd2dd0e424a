import t from 'tap'
import { specSchemaErrors, schemaErrors } from '../../support/structural-errors.ts'

const text = { type: 'string' }
const intOrString = [{ type: 'integer' }, { type: 'string' }]

t.test('structural keywords and annotations are refused in a branch', async (t) => {
  const structure: readonly (readonly [keyword: string, value: unknown, detail: string])[] = [
    ['type', 'string', 'must be empty to be structural'],
    ['additionalProperties', { minLength: 1 }, 'must be undefined to be structural'],
    ['additionalProperties', true, 'must be undefined to be structural'],
    ['default', 'x', 'must be undefined to be structural'],
    ['default', false, 'must be undefined to be structural'],
    ['title', 'x', 'must be empty to be structural'],
    ['description', 'x', 'must be empty to be structural'],
    ['nullable', true, 'must be false to be structural'],
    ['x-kubernetes-preserve-unknown-fields', true, 'must be false to be structural'],
    ['x-kubernetes-embedded-resource', true, 'must be false to be structural'],
    ['x-kubernetes-int-or-string', true, 'must be false to be structural'],
    ['x-kubernetes-list-map-keys', ['a'], 'must be empty to be structural'],
    ['x-kubernetes-list-type', 'atomic', 'must be undefined to be structural'],
    ['x-kubernetes-map-type', 'atomic', 'must be undefined to be structural'],
    ['x-kubernetes-validations', [{ rule: 'true' }], 'must be empty to be structural'],
  ]
  for (const [keyword, value, detail] of structure)
    for (const [place, branch] of [
      ['not', { not: { [keyword]: value } }],
      ['anyOf[1]', { anyOf: [{}, { [keyword]: value }] }],
      ['allOf[0].items', { allOf: [{ items: { [keyword]: value } }] }],
      ['oneOf[0].properties[a]', { oneOf: [{ properties: { a: { [keyword]: value } } }] }],
      ['not.oneOf[0].not', { not: { oneOf: [{ not: { [keyword]: value } }] } }],
    ] as const) {
      const wanted = `${place}.${keyword}: Forbidden: ${detail}`
      t.ok(specSchemaErrors({ ...text, ...branch }).includes(wanted), wanted)
    }
  for (const [keyword, value] of [
    ['type', ''],
    ['nullable', false],
    ['default', null],
    ['x-kubernetes-int-or-string', false],
    ['x-kubernetes-list-map-keys', []],
    ['x-kubernetes-validations', []],
  ] as const)
    t.strictSame(specSchemaErrors({ ...text, not: { [keyword]: value } }), [], `${keyword} without effect`)
})

t.test('a branch must not restrict metadata', async (t) => {
  const properties = { metadata: { properties: { name: { minLength: 1 } } } }
  const place = (path: string): string => `${path}: Forbidden: must not be specified in a nested context`
  const schema = { type: 'object', properties: { metadata: { type: 'object', properties: { name: text } } } }
  t.strictSame(specSchemaErrors({ ...schema, anyOf: [{ properties }] }), [place('anyOf[0].properties[metadata]')])
  t.strictSame(schemaErrors({ ...schema, not: { properties } }), [place('not.properties[metadata]')])
  t.strictSame(specSchemaErrors({ ...schema, properties: { spec: schema }, allOf: [{ properties: { spec: { properties } } }] }), [
    place('allOf[0].properties[spec].properties[metadata]'),
  ])
})

t.test('a pattern must be valid in every place', async (t) => {
  const wrong = (path: string): string =>
    `${path}: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``
  const pattern = { pattern: '(' }
  t.strictSame(specSchemaErrors({ ...text, ...pattern }), [wrong('pattern')])
  t.strictSame(specSchemaErrors({ type: 'array', items: { ...text, ...pattern } }), [wrong('items.pattern')])
  t.strictSame(specSchemaErrors({ type: 'object', additionalProperties: { ...text, ...pattern } }), [wrong('additionalProperties.pattern')])
  t.strictSame(specSchemaErrors({ type: 'array', items: text, not: { items: { anyOf: [pattern] } } }), [
    wrong('not.items.anyOf[0].pattern'),
  ])
  t.strictSame(specSchemaErrors({ ...text, pattern: '' }), [])
})

t.test('int-or-string allows two forms of anyOf', async (t) => {
  const empty = (...places: string[]): string[] => places.map((place) => `${place}: Forbidden: must be empty to be structural`)
  const free = { 'x-kubernetes-int-or-string': true }
  t.strictSame(specSchemaErrors({ ...free, anyOf: intOrString }), [])
  t.strictSame(specSchemaErrors({ ...free, allOf: [{ anyOf: intOrString }] }), [])
  t.strictSame(
    specSchemaErrors({ ...free, allOf: [{ minLength: 1 }, { anyOf: intOrString }] }),
    empty('allOf[1].anyOf[0].type', 'allOf[1].anyOf[1].type'),
    'only in the first branch of allOf',
  )
  t.strictSame(specSchemaErrors({ ...free, anyOf: [{ anyOf: intOrString }] }), empty('anyOf[0].anyOf[0].type', 'anyOf[0].anyOf[1].type'))
  t.strictSame(
    specSchemaErrors({ ...free, allOf: [{ allOf: [{ anyOf: intOrString }] }] }),
    empty('allOf[0].allOf[0].anyOf[0].type', 'allOf[0].allOf[0].anyOf[1].type'),
  )
  t.strictSame(
    specSchemaErrors({ ...free, anyOf: [...intOrString].reverse() }),
    empty('anyOf[0].type', 'anyOf[1].type'),
    'integer must come before string',
  )
  t.strictSame(specSchemaErrors({ ...free, anyOf: [...intOrString, {}] }), empty('anyOf[0].type', 'anyOf[1].type'))
  t.strictSame(
    specSchemaErrors({ ...free, anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] }),
    empty('anyOf[0].type', 'anyOf[1].type'),
  )
  t.strictSame(
    specSchemaErrors({ ...free, anyOf: [{ type: 'integer', 'x-other': 1 }, { type: 'string' }] }),
    [],
    'an unknown keyword is ignored',
  )
  t.strictSame(specSchemaErrors({ ...free, oneOf: intOrString }), empty('oneOf[0].type', 'oneOf[1].type'))
  t.strictSame(
    specSchemaErrors({ ...free, anyOf: intOrString, oneOf: [{ title: 'x' }] }),
    empty('oneOf[0].title'),
    'other branches are validated',
  )
})

t.test('a field in a branch of the root must be specified outside of it', async (t) => {
  const said = { minLength: 1 }
  const missing = (path: string, branch: string): string => `${path}: Required value: because it is defined in ${branch}`
  const spec = { type: 'object', properties: { list: { type: 'array', items: { type: 'object', properties: { a: text } } } } }
  const schema = { type: 'object', properties: { spec } }
  const below = (inner: object): object => ({ properties: { spec: { properties: { list: { items: { properties: inner } } } } } })
  const place = 'properties[spec].properties[list].items.properties'
  t.strictSame(schemaErrors({ ...schema, allOf: [below({ a: said })] }), [])
  t.strictSame(schemaErrors({ ...schema, oneOf: [below({ a: said, b: said })] }), [missing(`${place}[b]`, `oneOf[0].${place}[b]`)])
  t.strictSame(schemaErrors({ ...schema, not: { anyOf: [{}, below({ constructor: said })] } }), [
    missing(`${place}[constructor]`, `not.anyOf[1].${place}[constructor]`),
  ])
  t.strictSame(schemaErrors({ ...schema, anyOf: [{ properties: { spec: { items: said } } }] }), [
    missing('properties[spec].items', 'anyOf[0].properties[spec].items'),
  ])
})
