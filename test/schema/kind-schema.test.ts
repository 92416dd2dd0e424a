import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { formatFieldError } from '../../src/api/field-error.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { schemaOf, validateObject } from '../../src/schema/kind-schema.ts'

const kind = defineKind({
  group: 'example.com',
  kind: 'Crate',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({
        size: Type.Integer({ minimum: 1, default: 3 }),
        tags: Type.Optional(Type.Array(Type.String(), { listType: 'set' })),
      }),
    },
    { name: 'v1beta1', spec: Type.Object({ length: Type.Integer() }) },
  ],
})

function crate(changes: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a', namespace: 'default' }, spec: { size: 1 }, ...changes }
}
function told(object: JsonObject, options?: Parameters<typeof validateObject>[2]): string[] {
  return validateObject(kind, object, options).map(({ path, message }) => `${path}: ${message}`)
}

t.test('the schema of the stored version, or of the one that is named', async (t) => {
  t.equal(schemaOf(kind), schemaOf(kind, 'v1'))
  t.not(schemaOf(kind), schemaOf(kind, 'v1beta1'))
  t.strictSame(schemaOf(kind).default({ spec: {} }), { spec: { size: 3 } })
  t.throws(() => schemaOf(kind, 'v2'), { code: 'PRO_KIND_INVALID', message: 'Crate.example.com has no version v2; it has v1, v1beta1.' })
})

t.test('metadata and structure together', async (t) => {
  t.strictSame(told(crate()), [])
  t.strictSame(told(crate({ metadata: { name: 'a', namespace: 'default', generation: -1 } })), [], 'generations are counted by the server')
  t.strictSame(told(crate({ metadata: { name: 'a' }, spec: { size: 0 } })), [
    'metadata.namespace: Required value',
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
  ])
  t.strictSame(told(crate({ metadata: undefined })), ['metadata: Required value'])
})

t.test('an object of another type is told that alone', async (t) => {
  t.strictSame(told(crate({ kind: 'Box', spec: 5 })), ['kind: Invalid value: "Box": must be Crate'])
  t.strictSame(told({}), ['apiVersion: Invalid value: "": must be example.com/v1', 'kind: Invalid value: "": must be Crate'])
  t.strictSame(told(crate({ apiVersion: 'example.com/v9' })), ['apiVersion: Invalid value: "example.com/v9": must be example.com/v1'])
})

t.test('the version that the object names counts, unless another one is asked for', async (t) => {
  const beta = crate({ apiVersion: 'example.com/v1beta1', spec: {} })
  t.strictSame(told(beta), ['spec.length: Required value'])
  t.strictSame(told(beta, { version: 'v1' }), ['apiVersion: Invalid value: "example.com/v1beta1": must be example.com/v1'])
})

t.test('what an update may leave as it was', async (t) => {
  const twice = crate({ spec: { size: 1, tags: ['a', 'a'] } })
  t.strictSame(told(twice), ['spec.tags[1]: Duplicate value: "a"'])
  t.strictSame(told(twice, { oldObject: twice }), [])
  const small = crate({ spec: { size: 0 }, metadata: { name: 'A', namespace: 'default' } })
  t.strictSame(told(small, { oldObject: small }), [], 'nor is the name judged again')
  t.match(told(small, { oldObject: crate() }), [/^spec.size/])
})

t.test('rules are evaluated unless metadata or structure keep them from it', async (t) => {
  const ruled = defineKind({
    group: 'example.com',
    kind: 'Crate',
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        spec: Type.Object({ size: Type.Integer({ minimum: 1 }) }, { rules: [{ rule: 'self.size < 9', message: 'too large' }] }),
      },
    ],
  })
  const object = (metadata: JsonObject, size: number): JsonObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Crate',
    metadata,
    spec: { size },
  })
  const toldOf = (value: JsonObject, oldObject?: JsonObject): string[] =>
    validateObject(ruled, value, oldObject === undefined ? {} : { oldObject }).map(formatFieldError)
  t.strictSame(toldOf(object({ name: 'a' }, 9)), ['spec: Invalid value: too large'])
  t.strictSame(toldOf(object({ name: 'a' }, 9), object({ name: 'a' }, 9)), [], 'it was so before')
  t.strictSame(toldOf(object({ name: 'a', namespace: 'b' }, 9)), [
    'metadata.namespace: Forbidden: not allowed on this type',
    'spec: Invalid value: too large',
  ])
  t.strictSame(toldOf(object({}, 9)), [
    'metadata.name: Required value: name or generateName is required',
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ])
})

t.test('an object that is new has a name by the rules, one that is there any that a path can have', async (t) => {
  const named = (name: string): JsonObject => crate({ metadata: { name, namespace: 'default' } })
  t.match(told(named('A')), [/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/])
  t.strictSame(told(named('A'), { oldObject: named('A') }), [])
  t.strictSame(told(named('a/b'), { oldObject: named('a/b') }), [`metadata.name: Invalid value: "a/b": may not contain '/'`])
  t.strictSame(told(crate({ metadata: 'x' })), [
    'metadata: Required value',
    'metadata: Invalid value: "string": metadata in body must be of type object: "string"',
  ])
})

t.test('a schema that no server would take is told with its kind and version', async (t) => {
  const [version] = kind.versions
  const broken = { ...kind, versions: [{ ...version!, schema: { type: 'object' as const, properties: { spec: {} } } }] }
  t.throws(() => schemaOf(broken), {
    code: 'PRO_SCHEMA_INVALID',
    message:
      'The schema of version v1 of Crate.example.com is invalid for a CustomResourceDefinition: ' +
      'properties[spec].type: Required value: must not be empty for specified object fields.',
  })
})
