import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { deepFreeze } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'

const text: StructuralSchema = { type: 'string' }
const resource: StructuralSchema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}
const pod = { apiVersion: 'v1', kind: 'Pod' }

/**
 * Prunes the object `{ spec: value }` with a schema of type `object`. The schema has only the property `spec`, and the argument `spec` is
 * the schema of this property.
 */
function read(spec: StructuralSchema, value: JsonValue): { spec: JsonValue | undefined; unknown: readonly string[]; malformed?: string } {
  const { object, unknown, malformed } = compileSchema({ type: 'object', properties: { spec } }).prune({ spec: value })
  return { spec: object.spec, unknown, ...(malformed && { malformed: `${malformed.path}: ${malformed.message}` }) }
}

t.test('apiVersion and kind of an embedded resource must be strings, or the object is malformed', async (t) => {
  const malformed = (value: JsonObject): string | undefined => {
    const result = read(resource, value)
    t.strictSame({ spec: result.spec, unknown: result.unknown }, { spec: value, unknown: [] }, 'the value is unchanged')
    return result.malformed
  }
  t.equal(malformed(pod), undefined)
  t.equal(malformed({}), undefined, 'missing fields are left to validation')
  t.equal(malformed({ ...pod, apiVersion: 5 }), 'spec.apiVersion: Invalid value: 5: must be a string')
  t.equal(malformed({ ...pod, kind: {} }), 'spec.kind: Invalid value: {}: must be a string')
  t.equal(malformed({ apiVersion: true, kind: 1 }), 'spec.apiVersion: Invalid value: true: must be a string', 'the first error is reported')
  t.equal(malformed({ ...pod, apiVersion: null }), 'spec.apiVersion: Invalid value: null: must be a string')
})

t.test('a null that the schema drops is not malformed', async (t) => {
  const named = (field: StructuralSchema): StructuralSchema => ({ ...resource, properties: { kind: field, metadata: { type: 'object' } } })
  const value = { apiVersion: 'v1', kind: null }
  const wrong = 'spec.kind: Invalid value: null: must be a string'
  t.equal(read(named(text), value).malformed, undefined)
  t.equal(read(named({ ...text, nullable: true }), value).malformed, wrong)
  t.equal(read(named({ ...text, default: 'Pod' }), value).malformed, wrong)
  t.equal(read(named(text), { apiVersion: 'v1', kind: 5 }).malformed, 'spec.kind: Invalid value: 5: must be a string')
  t.strictSame(read(named(text), { ...pod, metadata: null }), { spec: { ...pod, metadata: null }, unknown: [] })
  t.strictSame(
    read(resource, { ...pod, metadata: null }),
    { spec: { ...pod, metadata: {} }, unknown: [] },
    'null metadata is decoded as empty',
  )
})

t.test('other objects may have any apiVersion, kind and metadata', async (t) => {
  const count: StructuralSchema = { type: 'integer' }
  const object: StructuralSchema = { type: 'object', properties: { one: resource, apiVersion: count, kind: count, metadata: text } }
  const value = { one: pod, apiVersion: 1, kind: 2, metadata: 'x' }
  t.strictSame(read(object, value), { spec: value, unknown: [] })
  t.strictSame(read({ type: 'array', items: object }, [value]), { spec: [value], unknown: [] })
})

t.test('metadata of an embedded resource is decoded like that of every object', async (t) => {
  t.strictSame(read(resource, { ...pod, metadata: { name: 'a', labels: {}, other: 1, ownerReferences: [{ name: 'b', more: 2 }] } }), {
    spec: { ...pod, metadata: { name: 'a', ownerReferences: [{ apiVersion: '', kind: '', name: 'b', uid: '' }] } },
    unknown: ['spec.metadata.other', 'spec.metadata.ownerReferences[0].more'],
  })
  const wrong = { ...pod, metadata: { labels: 5, other: 1 } }
  t.strictSame(read(resource, wrong), {
    spec: wrong,
    unknown: ['spec.metadata.other'],
    malformed:
      'spec.metadata: Invalid value: {"labels":5,"other":1}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
  })
  t.strictSame(read(resource, { ...pod, metadata: 'x' }), {
    spec: { ...pod, metadata: 'x' },
    unknown: [],
    malformed: 'spec.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
  })
})

t.test('embedded resources are decoded in fields, lists, maps and each other', async (t) => {
  const metadata = { name: 'a', z: 1 }
  const left = { ...pod, metadata: { name: 'a' } }
  const bad = { ...pod, metadata }
  const cases: readonly (readonly [StructuralSchema, JsonValue, JsonValue, string])[] = [
    [{ type: 'object', properties: { one: resource } }, { one: bad }, { one: left }, 'spec.one.metadata.z'],
    [{ type: 'array', items: resource }, [pod, bad], [pod, left], 'spec[1].metadata.z'],
    [{ type: 'object', additionalProperties: resource }, { k: bad }, { k: left }, 'spec[k].metadata.z'],
    [{ ...resource, properties: { '': resource } }, { ...pod, '': bad }, { ...pod, '': left }, 'spec[].metadata.z'],
  ]
  for (const [schema, value, spec, path] of cases) t.strictSame(read(schema, value), { spec, unknown: [path] })
  t.strictSame(read({ ...resource, properties: { inner: resource } }, { ...bad, inner: bad }), {
    spec: { ...left, inner: left },
    unknown: ['spec.inner.metadata.z', 'spec.metadata.z'],
  })
  t.strictSame(read({ type: 'array', items: resource }, [{ ...pod, kind: 1 }, { ...pod, kind: 2 }, bad]), {
    spec: [{ ...pod, kind: 1 }, { ...pod, kind: 2 }, left],
    unknown: ['spec[2].metadata.z'],
    malformed: 'spec[0].kind: Invalid value: 1: must be a string',
  })
})

t.test('unknown fields of embedded metadata are reported after other unknown fields, both sorted', async (t) => {
  const schema: StructuralSchema = { type: 'object', properties: { b: resource, a: resource } }
  const value = { z: 1, y: 2, b: { ...pod, metadata: { w: 1, v: 2 } }, a: { ...pod, metadata: { u: 1 } } }
  t.strictSame(read(schema, value), {
    spec: { b: { ...pod, metadata: {} }, a: { ...pod, metadata: {} } },
    unknown: ['spec.y', 'spec.z', 'spec.a.metadata.u', 'spec.b.metadata.v', 'spec.b.metadata.w'],
  })
})

t.test('unchanged values are shared', async (t) => {
  const schema = compileSchema({ type: 'object', properties: { spec: { type: 'array', items: resource } } })
  const object = deepFreeze({ spec: [{ ...pod, metadata: { name: 'a', labels: { b: 'c' } } }] })
  t.equal(schema.prune(object).object, object)
  const mixed = deepFreeze({ spec: [object.spec[0]!, { ...pod, metadata: { z: 1 } }] })
  const { spec } = schema.prune(mixed).object as { spec: JsonValue[] }
  t.equal(spec[0], object.spec[0])
  t.strictSame(spec[1], { ...pod, metadata: {} })
})
