/** Tests of the compile-time checks for the options of `Type`. */
import t from 'tap'
import type { InferInput } from '../../src/api/kind.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { Static, StringSchemaOptions } from '../../src/api/type.ts'
import { Type } from '../../src/api/type.ts'

t.test('an unknown option of a schema is a compile error', async (t) => {
  const schemas = [
    // @ts-expect-error the keyword is `maxLength`
    Type.String({ minLength: 1, maxLenght: 3 }),
    // @ts-expect-error the keyword is `maximum`
    Type.Integer({ minimum: 1, max: 3 }),
    // @ts-expect-error a number has no length
    Type.Number({ default: 1, maxLength: 3 }),
    // @ts-expect-error the keyword is `description`
    Type.Boolean({ default: true, descripton: 'Whether.' }),
    // @ts-expect-error the keyword is `default`
    Type.Enum(['a', 'b'], { defualt: 'a' }),
    // @ts-expect-error the keyword is `maxItems`
    Type.Array(Type.String(), { maxLength: 3, default: [] }),
    // @ts-expect-error the keyword is `mapType`
    Type.Object({ a: Type.String() }, { listType: 'map' }),
    // @ts-expect-error the keyword is `maxProperties`
    Type.Record(Type.String(), { maxProps: 3 }),
    // @ts-expect-error the keyword is `pattern`
    Type.IntOrString({ patern: '^a$' }),
    // @ts-expect-error the keyword is `description`
    Type.Builtin('EnvVar', { descripton: 'A variable.' }),
    // @ts-expect-error the keyword is `description`
    Type.Unknown({ descripton: 'Anything.' }),
    // @ts-expect-error the keyword is `description`
    Type.EmbeddedResource({ descripton: 'An object.' }),
    // @ts-expect-error the keyword is `message`
    Type.String({ rules: [{ rule: 'self.size() > 0', mesage: 'must not be empty' }] }),
    // @ts-expect-error the keyword is `message`
    Type.Object({ a: Type.Integer() }, { default: { a: 1 }, rules: [{ rule: 'self.a > 0', mesage: 'must be positive' }] }),
  ]
  t.equal(schemas.length, 14)
})

t.test('an option with a value of a wrong type is a compile error', async (t) => {
  const schemas = [
    // @ts-expect-error a string schema has a string as its default
    Type.String({ default: 1 }),
    // @ts-expect-error the default of an enum is one of its values
    Type.Enum(['a', 'b'], { default: 'c' }),
    // @ts-expect-error a list of strings has a list of strings as its default
    Type.Array(Type.String(), { default: [1] }),
    // @ts-expect-error maxLength is a number
    Type.String({ maxLength: '3' }),
  ]
  t.equal(schemas.length, 4)
})

t.test('a field has a default only if its options certainly have one', async (t) => {
  const short: StringSchemaOptions = { maxLength: 3 }
  const spec = Type.Object({
    withDefault: Type.String({ default: 'a' }),
    list: Type.Array(Type.Object({ a: Type.String({ default: 'a' }) }), { default: [{}] }),
    letter: Type.Enum(['a', 'b'], { default: 'a' }),
    perhaps: Type.String(short),
    none: Type.String({ maxLength: 3 }),
  })
  const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec }] })
  const input: InferInput<typeof kind>['spec'] = { perhaps: 'a', none: 'a' }
  // @ts-expect-error the field is required, because the type of its options does not say that there is a default
  const lacksPerhaps: InferInput<typeof kind>['spec'] = { none: 'a' }
  // @ts-expect-error the field is required, because its options have no default
  const lacksNone: InferInput<typeof kind>['spec'] = { perhaps: 'a' }
  const letter = (read: Static<typeof spec>): 'a' | 'b' => read.letter
  t.ok([kind, input, lacksPerhaps, lacksNone, letter])
})

t.test('options become keywords of the schema', async (t) => {
  const rules = [{ rule: 'true' }]
  const cases: readonly (readonly [unknown, object])[] = [
    [Type.String(), { type: 'string' }],
    [
      Type.String({ minLength: 1, description: 'x', rules }),
      { type: 'string', minLength: 1, description: 'x', 'x-kubernetes-validations': rules },
    ],
    [Type.Integer({ minimum: 0 }), { type: 'integer', minimum: 0 }],
    [Type.Number({ multipleOf: 2 }), { type: 'number', multipleOf: 2 }],
    [Type.Boolean({ default: false }), { type: 'boolean', default: false }],
    [Type.Enum(['a', 'b'], { description: 'x' }), { type: 'string', enum: ['a', 'b'], description: 'x' }],
    [
      Type.Array(Type.String(), { listType: 'map', listMapKeys: ['a'], maxItems: 3 }),
      {
        type: 'array',
        items: { type: 'string' },
        maxItems: 3,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
    ],
    [
      Type.Object({}, { mapType: 'atomic', preserveUnknownFields: true }),
      { type: 'object', properties: {}, 'x-kubernetes-map-type': 'atomic', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [Type.Object({}, { preserveUnknownFields: false }), { type: 'object', properties: {} }],
    [Type.Record(Type.Integer(), { maxProperties: 2 }), { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 2 }],
    [Type.IntOrString({ pattern: 'a' }), { 'x-kubernetes-int-or-string': true, pattern: 'a' }],
    [
      Type.Unknown({ properties: { a: Type.String() }, required: ['a'] }),
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } }, required: ['a'] },
    ],
    [
      Type.EmbeddedResource({ description: 'x' }),
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true, description: 'x' },
    ],
    [Type.Builtin('EnvVar', { description: 'x' }), { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'x' }],
    [Type.Nullable(Type.String({ maxLength: 1 })), { type: 'string', maxLength: 1, nullable: true }],
  ]
  for (const [schema, expected] of cases) t.strictSame(JSON.parse(JSON.stringify(schema)), expected)
})

t.test('a property is required unless it is optional or has a default', async (t) => {
  const withDefault = Type.String({ default: 'a' })
  const schema = Type.Object({
    plain: Type.String(),
    optional: Type.Optional(Type.String()),
    defaulted: withDefault,
    both: Type.Optional(withDefault),
    nullable: Type.Nullable(Type.String()),
    optionalNullable: Type.Optional(Type.Nullable(Type.String())),
    nullableOptional: Type.Nullable(Type.Optional(Type.String())),
    falsy: Type.Boolean({ default: false }),
  })
  t.strictSame((schema as unknown as { required: string[] }).required, ['plain', 'nullable', 'nullableOptional'])
  t.equal(Type.Optional(withDefault), withDefault)
  t.notOk('required' in Type.Object({ a: withDefault }))
})
