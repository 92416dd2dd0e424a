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
function errorsOf(object: JsonObject, options?: Parameters<typeof validateObject>[2]): string[] {
  return validateObject(kind, object, options).map(({ path, message }) => `${path}: ${message}`)
}

t.test('the schema defaults to that of the storage version', async (t) => {
  t.equal(schemaOf(kind), schemaOf(kind, 'v1'))
  t.not(schemaOf(kind), schemaOf(kind, 'v1beta1'))
  t.strictSame(schemaOf(kind).default({ spec: {} }), { spec: { size: 3 } })
  t.throws(() => schemaOf(kind, 'v2'), { code: 'PRO_KIND_INVALID', message: 'Crate.example.com has no version v2; it has v1, v1beta1.' })
})

t.test('errors of metadata and structure are reported together', async (t) => {
  t.strictSame(errorsOf(crate()), [])
  t.strictSame(
    errorsOf(crate({ metadata: { name: 'a', namespace: 'default', generation: -1 } })),
    [],
    'generations are counted by the server',
  )
  t.strictSame(errorsOf(crate({ metadata: { name: 'a' }, spec: { size: 0 } })), [
    'metadata.namespace: Required value',
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
  ])
  t.strictSame(errorsOf(crate({ metadata: undefined })), ['metadata: Required value'])
})

t.test('an object of another type is reported with this error only', async (t) => {
  t.strictSame(errorsOf(crate({ kind: 'Box', spec: 5 })), ['kind: Invalid value: "Box": must be Crate'])
  t.strictSame(errorsOf({}), ['apiVersion: Invalid value: "": must be example.com/v1', 'kind: Invalid value: "": must be Crate'])
  t.strictSame(errorsOf(crate({ apiVersion: 'example.com/v9' })), ['apiVersion: Invalid value: "example.com/v9": must be example.com/v1'])
})

t.test('an object is validated in its own version unless another one is requested', async (t) => {
  const beta = crate({ apiVersion: 'example.com/v1beta1', spec: {} })
  t.strictSame(errorsOf(beta), ['spec.length: Required value'])
  t.strictSame(errorsOf(beta, { version: 'v1' }), ['apiVersion: Invalid value: "example.com/v1beta1": must be example.com/v1'])
})

t.test('an update tolerates unchanged invalid values', async (t) => {
  const twice = crate({ spec: { size: 1, tags: ['a', 'a'] } })
  t.strictSame(errorsOf(twice), ['spec.tags[1]: Duplicate value: "a"'])
  t.strictSame(errorsOf(twice, { oldObject: twice }), [])
  const small = crate({ spec: { size: 0 }, metadata: { name: 'A', namespace: 'default' } })
  t.strictSame(errorsOf(small, { oldObject: small }), [], 'the name is not validated again')
  t.match(errorsOf(small, { oldObject: crate() }), [/^spec.size/])
})

t.test('rules are evaluated unless errors of metadata or structure prevent it', async (t) => {
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

t.test('a new object needs a valid name, an existing one any name that a path allows', async (t) => {
  const named = (name: string): JsonObject => crate({ metadata: { name, namespace: 'default' } })
  t.match(errorsOf(named('A')), [/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/])
  t.strictSame(errorsOf(named('A'), { oldObject: named('A') }), [])
  t.strictSame(errorsOf(named('a/b'), { oldObject: named('a/b') }), [`metadata.name: Invalid value: "a/b": may not contain '/'`])
  t.strictSame(errorsOf(crate({ metadata: 'x' })), [
    'metadata: Required value',
    'metadata: Invalid value: "string": metadata in body must be of type object: "string"',
  ])
})

t.test('an invalid schema is reported with its kind and version', async (t) => {
  const [version] = kind.versions
  const broken = { ...kind, versions: [{ ...version!, schema: { type: 'object' as const, properties: { spec: {} } } }] }
  t.throws(() => schemaOf(broken), {
    code: 'PRO_SCHEMA_INVALID',
    message:
      'The schema of version v1 of Crate.example.com is invalid for a CustomResourceDefinition: ' +
      'properties[spec].type: Required value: must not be empty for specified object fields.',
  })
})
