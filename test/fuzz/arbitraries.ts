/** Generators (fast-check arbitraries) of structural schemas, and of objects that nearly match the schemas. */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'
import { formatTexts, keyArbitrary, objectFrom, scalarArbitrary, valueFor } from './values.ts'

function optional<T extends object>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
}

const small = fc.integer({ min: 0, max: 3 })
const stringKeywords = optional<StructuralSchema>({
  minLength: small,
  maxLength: small,
  pattern: fc.constantFrom(
    '^a',
    'b$',
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '(?i)A',
    '^(a+)+$',
    '.',
    '\\d',
    '^(?:a|b){1,2}$',
    '\\pL',
    '^\'<&>"\\\\',
  ),
  format: fc.constantFrom(...Object.keys(formatTexts), 'no-such-format', 'int32', 'double', 'binary', 'dateTime', 'IPV4', 'u-u-i-d'),
})
const bound = fc.oneof(fc.integer({ min: -2, max: 4 }), fc.constantFrom(0.5, 1.5, -1.5, 1e-7, 1e6, 2 ** 31, 2 ** 31 - 1, 2 ** 53, 1e21))
const numberKeywords = optional<StructuralSchema>({
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: fc.boolean(),
  exclusiveMaximum: fc.boolean(),
  multipleOf: fc.constantFrom(1, 2, 3, 0.1, 0.5, 1.5, 1e6, 0, -1),
  format: fc.constantFrom('int32', 'int64', 'float', 'double', 'ipv4'),
})
const objectKeywords = optional<StructuralSchema>({ minProperties: small, maxProperties: small })
const arrayKeywords = optional<StructuralSchema>({ minItems: small, maxItems: small })
/** Generates at most two of the keywords, and often none. If schemas had all keywords, hardly any object would be valid. */
function few(keywords: fc.Arbitrary<Partial<StructuralSchema>>): fc.Arbitrary<Partial<StructuralSchema>> {
  const some = keywords.chain((all) =>
    fc.shuffledSubarray(Object.entries(all)).map((entries) => Object.fromEntries(entries.slice(0, 2)) as Partial<StructuralSchema>),
  )
  return fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some })
}

/** Generates value validations for a schema or for one of its branches (allOf, anyOf, oneOf, not). */
function valueKeywords(schema: StructuralSchema, depth: number): fc.Arbitrary<Partial<StructuralSchema>> {
  const branch = depth <= 0 ? few(stringKeywords) : branchArbitrary(schema, depth - 1)
  const branches = fc.array(branch, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ enum: fc.array(scalarArbitrary, { minLength: 1, maxLength: 4 }) }) },
    { weight: 1, arbitrary: optional<StructuralSchema>({ allOf: branches, anyOf: branches, oneOf: branches, not: branch }) },
  ) as fc.Arbitrary<Partial<StructuralSchema>>
}

function branchArbitrary(schema: StructuralSchema, depth: number): fc.Arbitrary<StructuralSchema> {
  const names = Object.keys(schema.properties ?? {})
  const ofKind =
    schema.type === 'object'
      ? fc.tuple(few(objectKeywords), fc.subarray(names), fc.subarray(names)).chain(([keywords, required, restricted]) =>
          fc.tuple(...restricted.map((name) => branchArbitrary(schema.properties![name]!, depth - 1))).map((branches) => ({
            ...keywords,
            ...(required.length > 0 ? { required } : {}),
            ...(restricted.length > 0 ? { properties: schemasFrom(restricted.map((name, index) => [name, branches[index]!])) } : {}),
          })),
        )
      : schema.type === 'array'
        ? few(arrayKeywords)
        : schema.type === 'integer' || schema.type === 'number'
          ? few(numberKeywords)
          : few(stringKeywords)
  return fc
    .tuple(ofKind as fc.Arbitrary<StructuralSchema>, depth <= 0 ? fc.constant({}) : valueKeywords(schema, depth - 1))
    .map(([a, b]) => ({ ...a, ...b }))
}

function schemasFrom(entries: readonly (readonly [string, StructuralSchema])[]): Record<string, StructuralSchema> {
  return objectFrom(entries as unknown as readonly (readonly [string, JsonValue])[]) as Record<string, StructuralSchema>
}

/** Generates the schema of a field, nested up to `depth` levels. */
function fieldSchema(depth: number): fc.Arbitrary<StructuralSchema> {
  const scalar = fc.oneof(
    few(stringKeywords).map((keywords): StructuralSchema => ({ type: 'string', ...keywords })),
    few(numberKeywords).map((keywords): StructuralSchema => ({ type: 'integer', ...keywords })),
    few(numberKeywords).map((keywords): StructuralSchema => ({ type: 'number', ...keywords })),
    fc.constant<StructuralSchema>({ type: 'boolean' }),
    few(stringKeywords).map((keywords): StructuralSchema => ({ 'x-kubernetes-int-or-string': true, ...keywords })),
    fc.constant<StructuralSchema>({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    fc.constant<StructuralSchema>({ 'x-kubernetes-preserve-unknown-fields': true }),
  )
  const compound = depth <= 0 ? scalar : fc.oneof(objectSchema(depth), mapSchema(depth), listSchema(depth), resourceSchema())
  return fc
    .oneof({ weight: 2, arbitrary: scalar }, { weight: 3, arbitrary: compound })
    .chain((schema) =>
      fc.tuple(fc.constant(schema), valueKeywords(schema, 2), fc.integer({ min: 0, max: 5 }), fc.option(valueFor(schema), { freq: 4 })),
    )
    .map(([schema, keywords, nullable, value]) => ({
      ...schema,
      ...(schema.anyOf === undefined ? keywords : {}),
      ...(nullable === 0 ? { nullable: true } : {}),
      ...(value === null ? {} : { default: value }),
    }))
    .map((schema) => (checkStructural(inRoot(schema)).length === 0 ? schema : withoutDefault(schema)))
}

function withoutDefault({ default: _, ...schema }: StructuralSchema): StructuralSchema {
  return schema
}

function objectSchema(depth: number): fc.Arbitrary<StructuralSchema> {
  return fc
    .tuple(
      fc.uniqueArray(fc.tuple(keyArbitrary, fieldSchema(depth - 1)), { selector: ([key]) => key, maxLength: 4 }),
      few(objectKeywords),
      fc.boolean(),
    )
    .chain(([properties, keywords, preserve]) =>
      fc.subarray([...properties.map(([key]) => key), 'c']).map((required): StructuralSchema => ({
        type: 'object',
        properties: schemasFrom(properties),
        ...keywords,
        ...(required.length > 0 && required.length < 3 ? { required } : {}),
        ...(preserve ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
      })),
    )
}

function mapSchema(depth: number): fc.Arbitrary<StructuralSchema> {
  return fc
    .tuple(fc.oneof(fieldSchema(depth - 1), fieldSchema(depth - 1), fc.boolean()), few(objectKeywords))
    .map(([additionalProperties, keywords]) => ({ type: 'object', additionalProperties, ...keywords }))
}

function listSchema(depth: number): fc.Arbitrary<StructuralSchema> {
  const plain = fc
    .tuple(fieldSchema(depth - 1), few(arrayKeywords))
    .map(([items, keywords]): StructuralSchema => ({ type: 'array', items, ...keywords }))
  const set = fieldSchema(0).map(({ nullable: _, ...items }): StructuralSchema => ({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'set',
  }))
  const map = fc.tuple(fc.boolean(), fieldSchema(depth - 1), few(arrayKeywords)).map(([both, value, keywords]): StructuralSchema => ({
    type: 'array',
    items: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'integer', default: 1 }, c: value },
    },
    ...keywords,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': both ? ['a', 'b'] : ['a'],
  }))
  const compounds = fieldSchema(0).map((c): StructuralSchema => ({
    type: 'array',
    items: { type: 'object', properties: { a: { type: 'integer' }, c }, 'x-kubernetes-map-type': 'atomic' },
    'x-kubernetes-list-type': 'set',
  }))
  return fc.oneof({ weight: 3, arbitrary: plain }, set, compounds, { weight: 2, arbitrary: map })
}

function resourceSchema(): fc.Arbitrary<StructuralSchema> {
  const open: StructuralSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
  const closed = fieldSchema(0).map((spec): StructuralSchema => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string', enum: ['Pod', 'pod'] }, metadata: { type: 'object' }, spec },
  }))
  return fc.oneof(fc.constant(open), closed)
}

function inRoot(schema: StructuralSchema): StructuralSchema {
  return {
    type: 'object',
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec: schema },
  }
}

/** Generates valid schemas of complete objects that have a spec. */
export const schemaArbitrary: fc.Arbitrary<StructuralSchema> = fieldSchema(3)
  .map(inRoot)
  .filter((schema) => checkStructural(schema).length === 0)

/** Generates pairs of a schema and an object. The object is often valid. */
export const caseArbitrary: fc.Arbitrary<{ schema: StructuralSchema; object: JsonObject }> = schemaArbitrary.chain((schema) =>
  valueFor(schema.properties!.spec!).map((spec) => ({
    schema,
    object: { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' }, spec },
  })),
)
