import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { canonicalJson, deepFreeze } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { caseArbitrary } from '../fuzz/arbitraries.ts'
import { fc } from '../support/property.ts'

const text = { type: 'string' } as const
const preserve = { 'x-kubernetes-preserve-unknown-fields': true } as const

t.test('fields that the schema does not specify are removed', async (t) => {
  const cases: readonly (readonly [
    name: string,
    schema: StructuralSchema,
    value: JsonValue,
    pruned: JsonValue,
    unknown: readonly string[],
  ])[] = [
    ['fields', { type: 'object', properties: { a: text } }, { x: 1, a: 'a', y: 2 }, { a: 'a' }, ['spec.x', 'spec.y']],
    [
      'lists in lists where all is kept',
      { ...preserve, items: { ...preserve, items: { type: 'object', properties: { a: text } } } },
      [[{ x: 1, a: 'a' }], 5, null],
      [[{ x: 1, a: 'a' }], 5, null],
      [],
    ],
    [
      'nothing of a map of anything but what is in it',
      { type: 'object', additionalProperties: true },
      { k: [{ b: 1 }], l: null },
      { k: [{}], l: null },
      ['spec.k[0].b'],
    ],
    [
      'fields that a program left undefined, silently',
      { type: 'object', properties: { a: text } },
      { a: 'a', b: undefined } as unknown as JsonValue,
      { a: 'a' },
      [],
    ],
    ['what is unknown in order', { type: 'object' }, { b: 1, a: 2, 'a.b': 3 }, {}, ['spec.a', 'spec.a.b', 'spec.b']],
    [
      'in lists',
      { type: 'array', items: { type: 'object', properties: { a: text } } },
      [{ a: 'a' }, { b: 1 }],
      [{ a: 'a' }, {}],
      ['spec[1].b'],
    ],
    [
      'in maps',
      { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
      { k: { b: 1 } },
      { k: {} },
      ['spec.k.b'],
    ],
    ['in values of any type', { type: 'object', additionalProperties: true }, { k: { b: 1 }, l: 5 }, { k: {}, l: 5 }, ['spec.k.b']],
    ['in objects without fields', { type: 'object' }, { a: 1 }, {}, ['spec.a']],
    ['objects for scalars', text, { a: [{ b: 1 }] }, {}, ['spec.a']],
    ['lists for scalars', text, [{ b: 1 }, [{ c: 1 }]], [{}, [{}]], ['spec[0].b', 'spec[1][0].c']],
    ['nothing where all is kept', { type: 'object', ...preserve }, { a: { b: 1 } }, { a: { b: 1 } }, []],
    [
      'named fields where all else is kept',
      { type: 'object', ...preserve, properties: { a: { type: 'object', properties: { b: text } } } },
      { a: { b: 'b', c: 1 }, x: { y: 1 } },
      { a: { b: 'b' }, x: { y: 1 } },
      ['spec.a.c'],
    ],
    [
      'items of a kept list',
      { ...preserve, items: { type: 'object', properties: { a: { type: 'object' } } } },
      [{ x: 1, a: { y: 1 } }],
      [{ x: 1, a: {} }],
      ['spec[0].a.y'],
    ],
    [
      'embedded resources but for what all objects have',
      { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      { apiVersion: 'v1', kind: 'A', metadata: { x: 1 }, spec: { a: 1 }, b: 2 },
      { apiVersion: 'v1', kind: 'A', metadata: {}, spec: {} },
      ['spec.b', 'spec.spec.a', 'spec.metadata.x'],
    ],
  ]
  for (const [name, schema, value, pruned, unknown] of cases) {
    const result = compileSchema({ type: 'object', properties: { spec: schema } }).prune({ spec: value })
    t.strictSame(result, { object: { spec: pruned }, unknown }, name)
  }
})

t.test('apiVersion, kind and metadata of the object are kept', async (t) => {
  const object = { apiVersion: 'v1', kind: 'A', metadata: { any: 'thing' }, spec: 1 }
  t.strictSame(compileSchema({ type: 'object' }).prune(object), {
    object: { apiVersion: 'v1', kind: 'A', metadata: { any: 'thing' } },
    unknown: ['spec'],
  })
})

t.test('an unchanged object is shared, and so is each unchanged part', async (t) => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      spec: { type: 'array', items: { type: 'object', properties: { a: text } } },
      status: { type: 'object', properties: { b: text } },
    },
  })
  const object = deepFreeze({ spec: [{ a: 'x' }, { z: 1 }], status: { b: 'y' } })
  const pruned = schema.prune(object as unknown as JsonObject).object as unknown as typeof object
  t.strictSame(pruned, { spec: [{ a: 'x' }, {}], status: { b: 'y' } })
  t.equal(pruned.spec[0], object.spec[0])
  t.equal(pruned.status, object.status)
})

t.test('a field named __proto__ is pruned like others', async (t) => {
  const object = JSON.parse('{"spec":{"__proto__":{"a":1},"keep":"x","constructor":1}}') as JsonObject
  const { object: pruned, unknown } = compileSchema({
    type: 'object',
    properties: { spec: { type: 'object', properties: { keep: text } } },
  }).prune(object)
  t.strictSame(unknown, ['spec.__proto__', 'spec.constructor'])
  t.equal(JSON.stringify(pruned), '{"spec":{"keep":"x"}}')
  const kept = compileSchema({
    type: 'object',
    properties: { spec: { type: 'object', additionalProperties: { type: 'object', properties: { b: text } } } },
  })
  t.equal(
    JSON.stringify(kept.prune(JSON.parse('{"spec":{"__proto__":{"a":1,"b":"c"}}}') as JsonObject).object),
    '{"spec":{"__proto__":{"b":"c"}}}',
  )
})

t.test('a pruned object has no unknown fields, and the input is not modified', async () => {
  fc.assert(
    fc.property(caseArbitrary, ({ schema, object }) => {
      const compiled = compileSchema(schema)
      const before = canonicalJson(object)
      const first = compiled.prune(deepFreeze(object))
      const second = compiled.prune(first.object)
      // If the object has unknown fields, `prune` must return another object. If the object has no unknown fields, `prune` may return the
      // same object or a copy. `prune` returns a copy if it changes the metadata of an embedded resource, for example if it drops an empty
      // field.
      const unchanged = first.unknown.length === 0 || first.object !== object
      return unchanged && second.object === first.object && second.unknown.length === 0 && canonicalJson(object) === before
    }),
    { numRuns: 500 },
  )
})
