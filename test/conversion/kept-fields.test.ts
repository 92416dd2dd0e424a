import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { findKeptFields, restoreKeptFields } from '../../src/conversion/kept-fields.ts'

const text: StructuralSchema = { type: 'string' }
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties })
const listMap = (items: StructuralSchema, ...keys: string[]): StructuralSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
})
const find = (shown: JsonObject, original: JsonObject, schema = object({})): unknown => findKeptFields(shown, original, schema)
/** Returns the digest of a value. `findKeptFields` puts this digest into the property `shown` of a kept field. */
const digest = (shown: JsonValue): string => (find({ a: shown }, {}) as { fields: { a: { shown: string } } }).fields.a.shown

t.test('without differences nothing is kept', async (t) => {
  for (const [shown, original] of [
    [{}, {}],
    [{ a: { b: [1, { c: null }] } }, { a: { b: [1, { c: null }] } }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ a: undefined }, {}],
    [{ a: 9007199254740992 }, { a: 9007199254740992n }],
  ] as [JsonObject, JsonObject][])
    t.equal(find(shown, original), undefined)
  t.equal(findKeptFields(undefined, undefined, undefined), undefined)
})

t.test('a difference is kept with a digest of the shown value', async (t) => {
  const shown = digest(1)
  t.match(shown, /^[\w-]{22}$/)
  t.equal(digest(1), shown)
  t.not(digest(2), shown)
  t.equal(digest({ x: 1, y: [2] }), digest({ y: [2], x: 1 }))
  t.strictSame(find({ a: 1 }, { a: 2 }), { fields: { a: { value: 2, shown } } })
  t.strictSame(find({}, { a: 2 }), { fields: { a: { value: 2 } } })
  t.strictSame(find({ a: 1 }, {}), { fields: { a: { shown } } })
  t.strictSame(find({ a: 1 }, { a: null }), { fields: { a: { value: null, shown } } })
  t.strictSame(find({ a: { b: 1, c: 3 }, d: 4 }, { a: { b: 2, c: 3 }, d: 4 }), { fields: { a: { fields: { b: { value: 2, shown } } } } })
  t.strictSame(find({ a: [1] }, { a: { b: 2 } }), { fields: { a: { value: { b: 2 }, shown: digest([1]) } } })
})

t.test('lists are kept whole, unless they are list maps with the same items in the same order', async (t) => {
  const schema = object({ list: listMap(object({ id: text, a: text }), 'id'), plain: { type: 'array', items: object({ id: text }) } })
  const of = (shown: JsonValue, original: JsonValue, field = 'list'): unknown => {
    const kept = find({ [field]: shown }, { [field]: original }, schema) as { fields: Record<string, unknown> } | undefined
    return kept?.fields[field]
  }
  const one = { id: '1', a: 'x' }
  const two = { id: '2', a: 'y' }
  t.strictSame(of([one, two], [one, { ...two, a: 'z' }]), { items: [[['2'], { fields: { a: { value: 'z', shown: digest('y') } } }]] })
  t.strictSame(of([{ id: '1' }, two], [one, two]), { items: [[['1'], { fields: { a: { value: 'x' } } }]] })
  for (const [shown, original] of [
    [
      [two, one],
      [one, two],
    ],
    [[one], [one, two]],
    [
      [one, one],
      [one, { ...one, a: 'z' }],
    ],
    [[{ a: 'x' }], [{ id: '1', a: 'x' }]],
  ] as [JsonValue[], JsonValue[]][])
    t.strictSame(of(shown, original), { value: original, shown: digest(shown) })
  t.strictSame(of([{ id: '1' }], [one], 'plain'), { value: [one], shown: digest([{ id: '1' }]) })
  t.equal(of([one, two], [one, two]), undefined)
  t.strictSame(find({}, { list: [one] }, schema), { fields: { list: { value: [one] } } }, 'absent in the shown object')
  t.strictSame(find({ list: [one] }, {}, schema), { fields: { list: { shown: digest([one]) } } }, 'absent in the original')
  for (const [shown, original] of [
    [{ id: '1' }, [one]],
    [[one], { id: '1' }],
    [null, [one]],
    [[one], null],
    ['x', [one]],
  ] as [JsonValue, JsonValue][])
    t.strictSame(of(shown, original), { value: original, shown: digest(shown) }, 'a value of another type')
})

t.test('an item with several keys is matched by all of them', async (t) => {
  const schema = object({ ports: listMap(object({ port: { type: 'integer' }, protocol: text, name: text }), 'port', 'protocol') })
  const ports = [{ port: 1, protocol: 'TCP' }, { port: 1, protocol: 'UDP' }, { port: 2 }]
  const original = ports.map((port, index) => (index === 0 ? port : { ...port, name: `n${index}` }))
  const kept = find({ ports }, { ports: original }, schema)
  t.strictSame(kept, {
    fields: {
      ports: {
        items: [
          [[1, 'UDP'], { fields: { name: { value: 'n1' } } }],
          [[2, null], { fields: { name: { value: 'n2' } } }],
        ],
      },
    },
  })
  const swapped = { ports: [ports[2]!, ports[1]!, ports[0]!] }
  t.strictSame(restoreKeptFields(swapped, kept, schema), { ports: [original[2], original[1], original[0]] })
})

t.test('an atomic map is kept whole, other maps field by field', async (t) => {
  const atomic = object({ m: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text } })
  t.strictSame(find({ m: { a: '1' } }, { m: { a: '1', b: '2' } }, atomic), {
    fields: { m: { value: { a: '1', b: '2' }, shown: digest({ a: '1' }) } },
  })
  const list = listMap(object({ id: text, a: text }), 'id')
  const map = object({ m: { type: 'object', additionalProperties: list } })
  const kept = find({ m: { x: [{ id: '1' }] } }, { m: { x: [{ id: '1', a: 'b' }] } }, map)
  t.strictSame(kept, { fields: { m: { fields: { x: { items: [[['1'], { fields: { a: { value: 'b' } } }]] } } } } })
  t.strictSame(restoreKeptFields({ m: { x: [{ id: '1' }] } }, kept, map), { m: { x: [{ id: '1', a: 'b' }] } })
})

t.test('a shown value that is unchanged is replaced by the kept one, at any depth', async (t) => {
  const schema = object({ list: listMap(object({ id: text, a: text }), 'id'), a: object({ b: object({}) }) })
  const shown = { a: { b: { x: 1, y: 2, w: 1 } }, list: [{ id: '1', a: 'x' }, { id: '2' }], same: true }
  const original = { a: { b: { x: 9, z: 3, w: 1 } }, list: [{ id: '1' }, { id: '2', a: 'y' }], same: true }
  const kept = findKeptFields(shown, original, schema)
  const before = structuredClone(shown)
  t.strictSame(restoreKeptFields(shown, kept, schema), original)
  t.strictSame(shown, before, 'the input is unchanged')

  const edited = { ...shown, a: { b: { x: 2, y: 2, w: 5 } } }
  t.strictSame(restoreKeptFields(edited, kept, schema), { ...original, a: { b: { x: 2, z: 3, w: 5 } } })
})

t.test('an object is returned as it is if nothing can be restored', async (t) => {
  const schema = object({ list: listMap(object({ id: text }), 'id') })
  const value = { a: 1, list: [{ id: '1' }] }
  for (const kept of [
    undefined,
    7,
    { fields: 7 },
    { fields: { a: { value: 2 } } },
    { fields: { a: { value: 2, shown: digest(2) } } },
    { fields: { b: { value: 2, shown: digest(1) } } },
    { fields: { a: { fields: { x: { value: 1 } } } } },
    { fields: { a: { items: [[['1'], { value: 1 }]] } } },
    { fields: { list: { items: [[['1'], { shown: digest({ id: '1' }) }]] } } },
    { fields: { list: { items: [[['2'], { fields: { x: { value: 1 } } }], ['1', { fields: { x: { value: 1 } } }], 7] } } },
    { value: 7 },
    { shown: digest(value as JsonValue) },
  ])
    t.equal(restoreKeptFields(value, kept, schema), value, JSON.stringify(kept))
})

t.test('a field with the name of an inherited property is kept and restored', async (t) => {
  const original = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject
  const kept = JSON.parse(JSON.stringify(find({}, original))) as unknown
  t.equal(JSON.stringify(kept), '{"fields":{"__proto__":{"value":{"a":1}},"constructor":{"value":2}}}')
  const restored = restoreKeptFields({}, kept, object({}))
  t.equal(JSON.stringify(restored), JSON.stringify(original))
  t.equal(Object.getPrototypeOf(restored), Object.prototype)
  const added = find({ constructor: 1 } as unknown as JsonObject, {})
  t.equal(JSON.stringify(added), `{"fields":{"constructor":{"shown":"${digest(1)}"}}}`)
})

t.test('a null is restored, unlike a field that was absent', async (t) => {
  const shown = { a: 1, b: 1 }
  const original = { a: null }
  t.strictSame(restoreKeptFields(shown, find(shown, original), object({})), original)
})

t.test('no field is restored at, within or around a refused path', async (t) => {
  const schema = object({ list: listMap(object({ id: text, a: text, ab: text }), 'id') })
  const shown = { a: {}, ab: {}, list: [{ id: '1' }] }
  const original = { a: { b: 1, bc: 2 }, ab: { b: 3 }, list: [{ id: '1', a: 'x', ab: 'y' }], whole: { c: { d: 1 } } }
  const kept = findKeptFields(shown, original, schema)
  const restored = (...refused: string[]): JsonObject => restoreKeptFields(shown, kept, schema, refused)
  t.strictSame(restored(), original)
  t.strictSame(restored('a.b'), { ...original, a: { bc: 2 } })
  t.strictSame(restored('a'), { ...original, a: {} })
  t.strictSame(restored('a.b.x', 'a.bc[0]'), { ...original, a: {} })
  t.strictSame(restored('list[0].a'), { ...original, list: [{ id: '1', ab: 'y' }] })
  t.strictSame(restored('list'), { ...original, list: shown.list })
  t.strictSame(restored('list[0]'), { ...original, list: shown.list })
  t.strictSame(restored('whole.c.d'), { a: original.a, ab: original.ab, list: original.list })
  t.strictSame(restored('who'), original)
})
