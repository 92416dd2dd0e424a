import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { deepFreeze } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { maxNesting } from '../../src/schema/depth.ts'

const text = { type: 'string' } as const

t.test('compiles a schema once', async (t) => {
  const schema: StructuralSchema = { type: 'object' }
  t.equal(compileSchema(schema), compileSchema(schema))
  t.not(compileSchema(schema), compileSchema({ type: 'object' }))
  t.equal(compileSchema(schema).schema, schema)
})

t.test('a schema that the API server would refuse is an error that says where', async (t) => {
  t.throws(() => compileSchema({ type: 'object', properties: { a: {} } }), {
    code: 'PRO_SCHEMA_INVALID',
    message:
      /^The schema is invalid for a CustomResourceDefinition: properties\[a\]\.type: Required value: must not be empty for specified object fields\.$/,
  })
})

t.test('a valid object costs nothing', async (t) => {
  const compiled = compileSchema({ type: 'object', properties: { spec: { type: 'object', properties: { a: { ...text, default: 'x' } } } } })
  const object = deepFreeze({ spec: { a: 'y' } })
  t.equal(compiled.validate(object), compiled.validate({ spec: {} }), 'one and the same empty list')
  t.equal(compiled.default(object), object)
  t.equal(compiled.prune(object).object, object)
})

t.test('an update may leave a list as wrong as it was', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: { spec: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 4 } },
  })
  const twice = { spec: ['a', 'a'] }
  const other = { spec: ['b', 'b'] }
  t.strictSame(
    compiled.validate(twice).map(({ path }) => path),
    ['spec[1]'],
  )
  t.strictSame(
    compiled.validate(twice, { spec: ['a'] }).map(({ path }) => path),
    ['spec[1]'],
  )
  t.strictSame(compiled.validate(twice, other), [])
  t.strictSame(
    compiled.validate({ spec: ['a', 'a', 'a', 'a', 'a'] }, other).map(({ path }) => path),
    ['spec'],
    'but nothing else',
  )
})

t.test('the metadata of the object itself is left to validateObjectMeta', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { ...text, maxLength: 3 } } } },
  })
  t.strictSame(compiled.validate({ metadata: { name: 'A B', labels: 'none' } }), [])
  t.strictSame(
    compiled.validate({ metadata: { name: 'abcd' } }).map(({ path }) => path),
    ['metadata.name'],
    'but for what the schema says',
  )
})

t.test('nesting has a limit where the schema sets none', async (t) => {
  const free: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const compiled = compileSchema({ type: 'object', properties: { spec: free } })
  const nested = (levels: number): JsonObject => ({ spec: JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as JsonValue })
  t.strictSame(compiled.validate(nested(maxNesting)), [])
  t.strictSame(compiled.validate(nested(maxNesting + 1)), [
    { path: 'spec', reason: 'FieldValueInvalid', message: 'Invalid value: "object": must not be nested deeper than 1000 levels' },
  ])
})

t.test('no object can exhaust the stack', async (t) => {
  const levels = 100_000
  const deepList = JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
  const deepObject = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as JsonValue
  const item: StructuralSchema = { type: 'object', required: ['a'], properties: { a: text } }
  const fields: Record<string, StructuralSchema> = {
    scalar: text,
    enum: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a', { a: { a: 1 } }] },
    map: { type: 'object', additionalProperties: text },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
    closed: { type: 'object', properties: {} },
    atomic: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: text },
    listMap: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
    listSet: {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { b: text } },
      'x-kubernetes-list-type': 'set',
    },
    resource: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  }
  for (const [name, schema] of Object.entries(fields)) {
    const compiled = compileSchema({ type: 'object', properties: { spec: schema } })
    for (const value of [
      deepList,
      deepObject,
      [deepList],
      [deepObject],
      [
        { a: 'x', b: deepObject },
        { a: 'x', c: deepList },
      ],
      { a: deepList },
      { a: [deepObject] },
    ]) {
      const object = { spec: value }
      compiled.default(object)
      compiled.prune(object)
      t.ok(compiled.validate(object).length > 0, `${name} refuses it`)
    }
  }
})
