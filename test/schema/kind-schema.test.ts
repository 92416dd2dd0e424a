import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
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
