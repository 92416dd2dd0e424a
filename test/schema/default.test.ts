import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { canonicalJson, deepFreeze } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { caseArbitrary } from '../fuzz/arbitraries.ts'
import { fc } from '../support/property.ts'

function defaulted(spec: StructuralSchema, value: JsonObject[string]): unknown {
  return compileSchema({ type: 'object', properties: { spec } }).default({ spec: value }).spec
}

const text = { type: 'string' } as const

t.test('missing fields are defaulted', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      a: { ...text, default: 'x' },
      b: { type: 'object', default: {}, properties: { c: { type: 'integer', default: 1 } } },
      d: { type: 'object', properties: { e: { type: 'boolean', default: true } } },
    },
  }
  t.strictSame(defaulted(schema, {}), { a: 'x', b: { c: 1 } }, 'nested defaults apply within a default, but not in a missing object')
  t.strictSame(defaulted(schema, { d: {}, b: {} }), { a: 'x', b: { c: 1 }, d: { e: true } })
  t.strictSame(defaulted(schema, { a: '', b: { c: 0 } }), { a: '', b: { c: 0 } }, 'existing values are kept, falsy ones included')
  t.strictSame(defaulted(schema, 'not an object'), 'not an object')
})

t.test('the default in the schema is neither changed nor frozen', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    default: { b: {} },
    properties: { b: { type: 'object', properties: { c: { ...text, default: 'x' } } } },
  }
  t.strictSame(defaulted(schema, null), { b: { c: 'x' } })
  t.strictSame(schema.default, { b: {} })
  const plain: StructuralSchema = { type: 'object', default: { list: ['x'] }, properties: { list: { type: 'array', items: text } } }
  t.ok(Object.isFrozen(defaulted(plain, null)))
  t.notOk(Object.isFrozen(plain.default))
})

t.test('nulls in a default are kept until the object is decoded again', async (t) => {
  const spec: StructuralSchema = {
    type: 'object',
    additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true },
    default: { a: null },
  }
  const schema = compileSchema({ type: 'object', properties: { spec } })
  const object = schema.default({})
  t.strictSame(object, { spec: { a: null } })
  t.strictSame(schema.convert(object), { spec: {} })
  t.strictSame(schema.default(object), { spec: {} })
})

t.test('nulls in lists and maps of a default are kept', async (t) => {
  const item: StructuralSchema = { type: 'object', additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true } }
  const spec: StructuralSchema = {
    type: 'object',
    properties: {
      l: { type: 'array', items: item, default: [{ a: null }] },
      m: { type: 'object', additionalProperties: item, default: { x: { y: null } } },
    },
  }
  const schema = compileSchema({ type: 'object', properties: { spec } })
  const completed = { spec: { l: [{ a: null }], m: { x: { y: null } } } }
  t.strictSame(schema.default({ spec: {} }), completed)
  t.strictSame(schema.default(completed), { spec: { l: [{}], m: { x: {} } } })
})

t.test('nullable items stay null even with a default', async (t) => {
  const nullable: StructuralSchema = { ...text, nullable: true, default: 'x' }
  t.strictSame(defaulted({ type: 'array', items: nullable }, [null, 'a']), [null, 'a'])
  t.strictSame(defaulted({ type: 'object', additionalProperties: nullable }, { k: null }), { k: null })
  const lists: StructuralSchema = {
    type: 'array',
    items: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'x' } } } },
  }
  t.strictSame(defaulted(lists, [[{}, { a: 'y' }], []]), [[{ a: 'x' }, { a: 'y' }], []])
  t.strictSame(defaulted({ 'x-kubernetes-preserve-unknown-fields': true }, [{ a: null }]), [{ a: null }])
})

t.test('a null default is no default', async (t) => {
  const properties = { a: { ...text, default: null }, b: { ...text, nullable: true, default: null } }
  t.strictSame(defaulted({ type: 'object', properties }, {}), {})
  t.strictSame(defaulted({ type: 'object', properties }, { a: null, b: null }), { b: null })
})

t.test('an undefined field counts as missing', async (t) => {
  t.strictSame(defaulted({ type: 'object', properties: { a: { ...text, default: 'x' } } }, { a: undefined } as unknown as JsonObject), {
    a: 'x',
  })
})

t.test('a converted object also loses nulls in lists and maps', async (t) => {
  const item: StructuralSchema = { type: 'object', properties: { a: text, b: { ...text, default: 'x' } } }
  const schema = compileSchema({
    type: 'object',
    properties: {
      list: { type: 'array', items: item },
      map: { type: 'object', additionalProperties: item },
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      texts: { type: 'array', items: text },
    },
  })
  const kept = deepFreeze({ a: 'y' })
  const object = deepFreeze({
    list: [{ a: null, b: null }, kept],
    map: { k: { a: null }, l: null, m: kept },
    free: [{ a: null }],
    texts: [null],
  })
  const result = schema.convert(object as unknown as JsonObject) as unknown as typeof object
  t.strictSame(result, { list: [{ b: null }, { a: 'y' }], map: { k: {}, m: { a: 'y' } }, free: [{ a: null }], texts: [null] })
  t.equal(result.list[1], kept)
  t.equal(result.texts, object.texts)
  t.equal(result.free, object.free)
  const proto = JSON.parse('{"map":{"__proto__":{"a":null}}}') as JsonObject
  t.equal(JSON.stringify(schema.convert(proto)), '{"map":{"__proto__":{}}}')
})

t.test('null metadata in a default becomes an object', async (t) => {
  const spec: StructuralSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { metadata: { type: 'object' } },
    default: { apiVersion: 'v1', kind: 'Pod', metadata: null },
  }
  t.strictSame(compileSchema({ type: 'object', properties: { spec } }).default({}).spec, { apiVersion: 'v1', kind: 'Pod', metadata: {} })
})

t.test('nulls of fields that are not nullable are dropped', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      plain: text,
      nullable: { ...text, nullable: true },
      withDefault: { ...text, default: 'x' },
      both: { ...text, nullable: true, default: 'x' },
      list: { type: 'array', items: text },
      listWithDefault: { type: 'array', items: { ...text, default: 'x' } },
      map: { type: 'object', additionalProperties: text },
      mapWithDefault: { type: 'object', additionalProperties: { ...text, default: 'x' } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  const nulls = {
    plain: null,
    nullable: null,
    withDefault: null,
    both: null,
    list: [null],
    listWithDefault: [null],
    map: { k: null },
    mapWithDefault: { k: null },
    free: { k: null },
  }
  t.strictSame(defaulted(schema, nulls), {
    nullable: null,
    withDefault: 'x',
    both: null,
    list: [null],
    listWithDefault: ['x'],
    map: {},
    mapWithDefault: { k: 'x' },
    free: { k: null },
  })
})

t.test('a default is pruned, defaulted and shared', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        default: { a: {} },
        properties: { a: { type: 'object', properties: { b: { type: 'integer', default: 1 } } } },
      },
    },
  }
  const compiled = compileSchema(schema)
  const first = compiled.default({})
  t.strictSame(first, { spec: { a: { b: 1 } } })
  t.equal(compiled.default({}).spec, first.spec)
  t.throws(() => {
    ;(first.spec as JsonObject).a = 'changed'
  }, TypeError)
  t.strictSame(schema.properties!.spec!.default, { a: {} }, 'the schema is not modified')
})

t.test('fields with the names of inherited properties are defaulted', async (t) => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"string","default":"y"}}}',
  ) as StructuralSchema
  const object = defaulted(schema, {}) as object
  t.strictSame(Object.entries(object), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
  t.equal(Object.getPrototypeOf(object), Object.prototype)
})

t.test('unchanged values are shared', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { a: { ...text, default: 'x' }, b: { type: 'array', items: { type: 'object', properties: { c: text } } } },
      },
      status: { type: 'object', properties: { d: text } },
    },
  })
  const object = deepFreeze({ spec: { b: [{ c: 'y' }, { c: null }] }, status: { d: 'z' } })
  const result = compiled.default(object as unknown as JsonObject) as unknown as { spec: { b: unknown[] }; status: unknown }
  t.strictSame(result, { spec: { a: 'x', b: [{ c: 'y' }, {}] }, status: { d: 'z' } })
  t.equal(result.status, object.status)
  t.equal(result.spec.b[0], object.spec.b[0])
})

t.test('defaulting is idempotent and does not modify its input', async () => {
  fc.assert(
    fc.property(caseArbitrary, ({ schema, object }) => {
      const compiled = compileSchema(schema)
      const before = canonicalJson(object)
      const once = compiled.default(deepFreeze(object))
      return compiled.default(once) === once && canonicalJson(object) === before
    }),
    { numRuns: 500 },
  )
})
