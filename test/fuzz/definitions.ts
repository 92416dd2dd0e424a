/** Generators of complete objects with metadata, and of schemas that the API server should reject. */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { getOwn, isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'
import { schemaArbitrary } from './arbitraries.ts'
import { jsonArbitrary, scalarArbitrary, valueFor, withField } from './values.ts'

/**
 * Generates valid schemas that describe an object with `apiVersion`, `kind`, `metadata` and `spec`. The root of a schema may contain
 * additional keywords, such as `required`.
 */
export const rootArbitrary: fc.Arbitrary<StructuralSchema> = fc
  .tuple(
    schemaArbitrary,
    fc.option(schemaArbitrary, { freq: 3 }),
    fc.record(
      {
        required: fc.constantFrom<string[]>(['spec'], ['status'], ['spec', 'other']),
        minProperties: fc.constantFrom(4, 5),
        maxProperties: fc.constantFrom(3, 4),
        'x-kubernetes-preserve-unknown-fields': fc.constant<true>(true),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom<StructuralSchema | undefined>(
      undefined,
      { type: 'object' },
      { type: 'object' },
      { type: 'object', properties: { name: { type: 'string', maxLength: 3, pattern: '^n' } } },
      { type: 'object', properties: { generateName: { type: 'string', minLength: 30 } } },
    ),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([schema, other, keywords, metadata, plain]) => {
    const { metadata: _, ...properties } = schema.properties!
    return {
      ...schema,
      ...(plain === 0 ? keywords : {}),
      properties: { ...properties, ...(metadata && { metadata }), ...(other && { status: other.properties!.spec! }) },
    } as StructuralSchema
  })
  .filter((schema) => checkStructural(schema).length === 0)

/** Generates the metadata of an object, without the field `name`. Most of the generated metadata is valid. */
const metadataArbitrary: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<JsonObject>({}) },
  {
    weight: 1,
    arbitrary: fc
      .record(
        {
          labels: fc.constantFrom<JsonValue>(
            { a: 'b' },
            { '': 'x' },
            { 'a/b/c': '' },
            { A_B: '-' },
            { a: 'x'.repeat(64) },
            { a: 5 },
            null,
            [],
            { é: 'é' },
          ),
          annotations: fc.constantFrom<JsonValue>({ a: 'any "text"\n' }, { 'A/B': '' }, { '/a': '' }, { a: null }, { b: true }, 'x'),
          finalizers: fc.constantFrom<JsonValue>(['a/b'], ['a'], ['a.b'], ['-'], ['foregroundDeletion', 'orphan'], [''], 'a', [1]),
          ownerReferences: fc.constantFrom<JsonValue>(
            [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }],
            [{ apiVersion: '', kind: '', name: '', uid: '' }],
            [{}],
            [{ apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'u' }],
            [
              { apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u', controller: true },
              { apiVersion: 'v1', kind: 'B', name: 'b', uid: 'v', controller: true, blockOwnerDeletion: true },
            ],
            { apiVersion: 'v1' },
          ),
          generateName: fc.constantFrom<JsonValue>('n-', 'N', '', '-'),
          namespace: fc.constantFrom<JsonValue>('other', '', null),
          uid: fc.constantFrom<JsonValue>('given', ''),
          generation: fc.constantFrom<JsonValue>(7, -1, 1.5, 'x'),
          creationTimestamp: fc.constantFrom<JsonValue>('2020-01-01T00:00:00Z', 'yesterday', null),
          deletionTimestamp: fc.constantFrom<JsonValue>('2020-01-01T00:00:00Z', null),
          deletionGracePeriodSeconds: fc.constantFrom<JsonValue>(5, null),
          managedFields: fc.constantFrom<JsonValue>(
            [],
            null,
            [{}],
            [{ manager: 'm', operation: 'X', apiVersion: 'v1', fieldsType: 'FieldsV1' }],
          ),
          selfLink: fc.constantFrom<JsonValue>('/x', 1),
          other: fc.constantFrom<JsonValue>(1, { a: 1 }),
        },
        { requiredKeys: [] },
      )
      .chain((all) => fc.shuffledSubarray(Object.entries(all)).map((entries) => Object.fromEntries(entries.slice(0, 2)) as JsonObject)),
  },
)

/** Generates objects without apiVersion, kind and namespace. */
export function objectFor({ properties = {} }: StructuralSchema): fc.Arbitrary<JsonObject> {
  const field = (name: string): fc.Arbitrary<JsonObject> =>
    fc
      .option(Object.hasOwn(properties, name) ? valueFor(properties[name]!) : jsonArbitrary, { freq: 12 })
      .map((value) => (value === null ? {} : { [name]: value }))
  return fc
    .tuple(
      metadataArbitrary,
      fc.oneof(
        { weight: 12, arbitrary: fc.constant('name') },
        { weight: 1, arbitrary: fc.constantFrom('n', 'A b', 'a.b', '', 'é', 'x'.repeat(254), '.', 'a/b', 'a%b') },
      ),
      field('spec'),
      fc.oneof(fc.constant({}), field('status')),
      fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: field('other') }),
    )
    .map(([metadata, name, spec, status, other]) => ({ metadata: { name, ...metadata }, ...spec, ...status, ...other }))
}

/** Generates copies of the value in which one value, at any depth, is changed, removed or duplicated. */
export function changed(value: JsonValue): fc.Arbitrary<JsonValue> {
  const here: fc.Arbitrary<JsonValue> = jsonArbitrary
  if (Array.isArray(value)) {
    if (value.length === 0) return here
    return fc
      .nat({ max: value.length - 1 })
      .chain((index) =>
        fc.oneof(
          { weight: 3, arbitrary: changed(value[index]!).map((item): JsonValue => value.with(index, item)) },
          fc.constant<JsonValue>(value.toSpliced(index, 1)),
          fc.constant<JsonValue>([...value, value[index]!]),
          fc.constant<JsonValue>(value.toReversed()),
        ),
      )
  }
  if (!isObject(value) || Object.keys(value).length === 0) return fc.oneof(scalarArbitrary, here)
  return fc
    .constantFrom(...Object.keys(value))
    .chain((key) =>
      fc.oneof(
        { weight: 4, arbitrary: changed(getOwn(value, key)!).map((item) => withField(value, key, item)) },
        { weight: 1, arbitrary: fc.constant(withField(value, key, undefined)) },
        { weight: 1, arbitrary: scalarArbitrary.map((item) => withField(value, 'b', item)) },
      ),
    )
}

/** Keywords that are invalid, or allowed only at some paths of a schema. */
const faults: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject[]>(
  { type: undefined },
  { type: 'null' as never },
  { type: 'text' as never },
  { type: 'object' },
  { type: 'array' },
  { type: 'array', items: { type: 'string' } },
  { type: 'string' },
  { nullable: true },
  { uniqueItems: true },
  { uniqueItems: false },
  { additionalProperties: false },
  { additionalProperties: true },
  { additionalProperties: { type: 'string' } },
  { additionalProperties: {} },
  { properties: { a: { type: 'string' }, metadata: { type: 'object' } } },
  { properties: { a: {} } },
  { items: { type: 'string' } },
  { items: {} },
  { pattern: '(' },
  { pattern: '(?=a)' },
  { pattern: '[z-a]' },
  { multipleOf: 0 },
  { multipleOf: -1 },
  { minimum: 5, maximum: 1 },
  { minLength: 5, maxLength: 1 },
  { minLength: -1 },
  { maxItems: -1 },
  { required: ['missing'] },
  { required: [] },
  { 'x-kubernetes-list-map-keys': [] },
  { 'x-kubernetes-validations': [] },
  { allOf: [] },
  { enum: [] },
  { enum: [1, 1, null, 'x'] },
  { default: 'text' },
  { default: 5 },
  { default: {} },
  { default: { a: 1, unknown: 2 } },
  { default: null },
  { default: [] },
  { default: [null, 'a', 'a'] },
  { format: 'no-such-format' },
  { format: 'int32' },
  { $ref: '#/definitions/a' },
  { $schema: 'x' },
  { id: 'x' },
  { title: 'title', description: 'text' },
  { example: { a: 1 } },
  { externalDocs: { url: 'x' } },
  { definitions: { a: { type: 'string' } } },
  { patternProperties: { a: { type: 'string' } } },
  { dependencies: { a: ['b'] } },
  { additionalItems: true },
  { additionalItems: { type: 'string' } },
  { const: 1 },
  { not: {} },
  { not: { type: 'string' } },
  { not: { required: ['zz'], properties: { zz: { minimum: 1 } } } },
  { allOf: [{ properties: { metadata: { minProperties: 1 } } }] },
  { allOf: [{ nullable: true }, { default: 1 }, { description: 'x', title: 'y' }] },
  { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
  { allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }] },
  { oneOf: [{ items: { minLength: 1 } }, { additionalProperties: { minLength: 1 } }] },
  { anyOf: [{ 'x-kubernetes-int-or-string': true }, { 'x-kubernetes-preserve-unknown-fields': true }] },
  { anyOf: [{ pattern: '(' }, { uniqueItems: true }, { multipleOf: 0 }] },
  { 'x-kubernetes-preserve-unknown-fields': false },
  { 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-int-or-string': true, type: undefined },
  { 'x-kubernetes-embedded-resource': true },
  {
    'x-kubernetes-embedded-resource': true,
    type: 'object',
    properties: { apiVersion: { type: 'integer' }, kind: { type: 'string', default: 'A' }, metadata: { type: 'string' } },
  },
  { 'x-kubernetes-list-type': 'set' },
  { 'x-kubernetes-list-type': 'map' },
  { 'x-kubernetes-list-type': 'bag' },
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'a', 'zz'] },
  { 'x-kubernetes-list-map-keys': ['a'] },
  { 'x-kubernetes-map-type': 'atomic' },
  { 'x-kubernetes-map-type': 'loose' },
)

/** Generates schemas in which one to three subschemas have an additional keyword that is probably invalid. */
export const wrongSchemaArbitrary: fc.Arbitrary<JsonObject> = fc
  .tuple(rootArbitrary, fc.array(fc.tuple(fc.nat(), faults), { minLength: 1, maxLength: 3 }))
  .map(([schema, changes]) => changes.reduce((changing, [at, fault]) => withFault(changing, at, fault), schema as unknown as JsonObject))

function withFault(schema: JsonObject, at: number, fault: JsonObject): JsonObject {
  const copy = structuredClone(schema)
  const places = placesOf(copy)
  const place = places[at % places.length]!
  for (const [key, value] of Object.entries(fault)) {
    if (value === undefined) delete place[key]
    else place[key] = structuredClone(value)
  }
  return copy
}

/** Returns the schema and all of its subschemas. */
function placesOf(schema: JsonValue | undefined): JsonObject[] {
  if (!isObject(schema)) return []
  const several = (value: JsonValue | undefined): JsonValue[] =>
    Array.isArray(value) ? value : isObject(value) ? Object.values(value).filter((one) => one !== undefined) : []
  const children = [
    ...several(getOwn(schema, 'properties')),
    ...['items', 'additionalProperties', 'not'].map((key) => getOwn(schema, key) ?? null),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((key) => several(getOwn(schema, key))),
  ]
  return [schema, ...children.flatMap(placesOf)]
}
