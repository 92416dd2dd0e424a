/** Generators of values that often match a schema, and of arbitrary values. */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { setOwn } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'

/** Field names. Every JavaScript object inherits properties with some of these names. */
const keys = ['a', 'b', 'c', 'constructor', '__proto__', 'x-y', 'metadata', 'kind', 'é', 'a.b', '']
export const keyArbitrary: fc.Arbitrary<string> = fc.constantFrom('a', 'a', 'b', 'b', 'c', 'c', ...keys)

/** Strings for each format. Most of them are valid. */
export const formatTexts: Readonly<Record<string, readonly string[]>> = {
  bsonobjectid: ['507f1f77bcf86cd799439011', '507f1f77bcf86cd79943901'],
  uri: ['http://a.b/c?d#e', '/a/b', 'a:b', 'http://a:80:80/', 'http://[::1]:80/', '#a', '/%zz'],
  email: ['a@b', 'A B <a@b.c>', 'a b@c', 'a@', 'é@b.c'],
  hostname: ['a-b.cd', 'a_b', '-a', 'example.com', '1.2.3.4'],
  ipv4: ['10.0.0.1', '01.2.3.4', '256.1.1.1', '::ffff:1.2.3.4'],
  ipv6: ['::1', 'fe80::1%eth0', '1.2.3.4', '::'],
  cidr: ['10.0.0.0/8', '10.0.0.1/33', '::/0', '1.2.3.4/08'],
  mac: ['01:23:45:67:89:ab', '0123.4567.89ab', '01:23-45:67:89:ab'],
  uuid: ['00000000-0000-0000-0000-000000000000', 'ABCDEFABCDEFABCDEFABCDEFABCDEFAB', '0-0'],
  uuid3: ['00000000-0000-3000-0000-000000000000', '00000000-0000-4000-8000-000000000000'],
  uuid4: ['00000000-0000-4000-8000-000000000000', '00000000-0000-4000-7000-000000000000'],
  uuid5: ['00000000-0000-5000-b000-000000000000', '00000000-0000-4000-8000-000000000000'],
  isbn: ['0321751043', '978-0321751041', '0321751044'],
  isbn10: ['0 8044 2957 X', '9780321751041'],
  isbn13: ['978-0321751041', '0321751043'],
  creditcard: ['4111-1111-1111-1111', '4111111111111112'],
  ssn: ['111-22-3333', '111223333'],
  hexcolor: ['#fff', '#ffff'],
  rgbcolor: ['rgb(0,0,0)', 'rgb(256,0,0)'],
  byte: ['YQ==', 'YQ=', '_-=='],
  password: ['', 'secret'],
  date: ['2020-02-29', '2019-02-29', '2020-1-1'],
  duration: ['1h', '1 day', '1.5h', '1x', '-1s', '3 weeks'],
  'date-time': ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00.5+01:00', '2020-01-01 00:00:00Z', '2020-01-01T23:59:60Z'],
  datetime: ['2020-01-01T00:00:00Z', '2020-01-01'],
  'k8s-short-name': ['a-b', 'A', 'a.b', '-a'],
  'k8s-long-name': ['a-b.c', 'A', 'a..b'],
  quantity: ['1.5Gi', 'x'],
}

const plainTexts = [
  '',
  'a',
  'aa',
  'ab',
  'b',
  'A',
  '12',
  'é',
  '👍',
  '👍👍',
  '"q"\n',
  'a\tb\\',
  '<&>',
  '\u0000\u007f\u0085\u00a0\u2028\ufeff',
  '\u{e0001}\u{10ffff}',
  'a.b',
  'x'.repeat(70),
  'ü'.repeat(300),
]
/** Strings of characters that Go and Node.js treat equally, even if they implement different versions of Unicode. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...plainTexts) },
  { weight: 2, arbitrary: fc.constantFrom(...Object.values(formatTexts).flat()) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: fc.nat({ max: 0x7ff }).map((code) => String.fromCodePoint(code)) }) },
)

/** Integers that a double represents exactly. They therefore have the same value in JavaScript and in Go. */
export const integerArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -4, max: 8 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1_000_000, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 52, 2 ** 53, 1e19, 1e21),
  },
)
export const numberArbitrary: fc.Arbitrary<number> = fc.oneof(
  integerArbitrary,
  fc.constantFrom(0.5, 1.5, -1.5, 2.25, 0.1, 0.3, 1e300, 3.5e38, 1e-5, 1234567.5, 0.000123, 1e-7),
)
export const scalarArbitrary: fc.Arbitrary<JsonValue> = fc.oneof(textArbitrary, numberArbitrary, fc.boolean(), fc.constant(null))

export const jsonArbitrary: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalarArbitrary,
    fc.array(tie('value'), { maxLength: 3 }),
    objectOf(fc.array(fc.tuple(keyArbitrary, tie('value')), { maxLength: 3 })),
  ),
})).value

export function objectOf(entries: fc.Arbitrary<(readonly [string, JsonValue])[]>): fc.Arbitrary<JsonObject> {
  return entries.map(objectFrom)
}

export function objectFrom(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: JsonObject = {}
  for (const [key, value] of entries) setOwn(object, key, value)
  return object
}

/** Returns a copy of the object in which the field has this value; undefined removes the field. */
export function withField(object: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
  const copy: JsonObject = {}
  for (const [name, item] of Object.entries(object)) if (name !== key && item !== undefined) setOwn(copy, name, item)
  if (value !== undefined) setOwn(copy, key, value)
  return copy
}

/** Generates values that often match the schema. */
export function valueFor(schema: StructuralSchema): fc.Arbitrary<JsonValue> {
  return fc.oneof({ weight: 12, arbitrary: near(schema) }, { weight: 1, arbitrary: jsonArbitrary })
}

function near(schema: StructuralSchema): fc.Arbitrary<JsonValue> {
  const { type, items, format } = schema
  const listed = schema.enum === undefined || schema.enum.length === 0 ? [] : [fc.constantFrom(...schema.enum)]
  if (schema['x-kubernetes-embedded-resource'] === true)
    return fc.tuple(nearObject(schema), resourceFields).map(([a, b]) => ({ ...a, ...b }))
  if (schema['x-kubernetes-int-or-string'] === true) return fc.oneof(...listed, integerArbitrary, textArbitrary)
  if (type === 'object') return nearObject(schema)
  if (type === 'array') return fc.array(items === undefined ? jsonArbitrary : valueFor(items), { maxLength: 4 })
  if (type === 'integer') return fc.oneof(...listed, integerArbitrary)
  if (type === 'number') return fc.oneof(...listed, numberArbitrary)
  if (type === 'boolean') return fc.boolean()
  const formatted = format === undefined || !Object.hasOwn(formatTexts, format) ? [] : [fc.constantFrom(...formatTexts[format]!)]
  if (type === 'string') return fc.oneof(...listed, ...formatted, ...formatted, textArbitrary)
  return jsonArbitrary
}

function nearObject({ properties = {}, additionalProperties }: StructuralSchema): fc.Arbitrary<JsonObject> {
  const known = Object.entries(properties).map(([key, child]) =>
    fc.option(valueFor(child), { freq: 4 }).map((value) => [key, value] as const),
  )
  const values = typeof additionalProperties === 'object' ? valueFor(additionalProperties) : jsonArbitrary
  const others = fc.array(fc.tuple(keyArbitrary, values), { maxLength: additionalProperties === undefined ? 1 : 3 })
  return objectOf(
    fc
      .tuple(others, fc.tuple(...known), fc.boolean())
      .map(([a, b, more]) => [...(more ? a : []), ...b.filter(([, value]) => value !== null)] as (readonly [string, JsonValue])[]),
  )
}

/** Generates apiVersion, kind and metadata for embedded resources. Most of them are valid. */
const resourceFields: fc.Arbitrary<JsonObject> = fc.record(
  {
    apiVersion: fc.constantFrom<JsonValue>('v1', 'v1', 'apps/v1', 'a/b/c', '', 5),
    kind: fc.constantFrom<JsonValue>('Pod', 'Pod', 'pod', 'Not a kind', '', null),
    metadata: fc.constantFrom<JsonValue>(
      {},
      { name: 'a' },
      { name: 'a/b' },
      { name: 'a', labels: { '-': '-' }, unknown: 1 },
      { namespace: 'N' },
      { labels: { a: 5 } },
      { finalizers: ['x', 'y/z'], ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: '' }] },
      { creationTimestamp: null },
      { generateName: 'a-', annotations: { 'a b': 'c' } },
      'text',
      null,
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>
