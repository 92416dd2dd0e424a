import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { buildNode } from '../../src/schema/node.ts'
import { isUnchanged } from '../../src/schema/ratchet.ts'

const text: StructuralSchema = { type: 'string' }
const list: StructuralSchema = { type: 'array', items: text }
const map: StructuralSchema = {
  type: 'array',
  items: { type: 'object', properties: { k: text, v: text } },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
}
const object: StructuralSchema = { type: 'object', properties: { a: text, b: list } }

t.test('an item of a list map is compared with the old item with its keys', async (t) => {
  const item: StructuralSchema = {
    type: 'object',
    required: ['k', 'n'],
    properties: { k: text, n: { type: 'integer' }, v: { ...text, maxLength: 1 } },
  }
  const items: StructuralSchema = { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'n'] }
  const schema = compileSchema({
    type: 'object',
    properties: {
      l: items,
      s: { type: 'array', items: item },
      m: { type: 'object', additionalProperties: { ...text, maxLength: 1 } },
    },
  })
  const invalidPaths = (object: JsonObject, old: JsonObject): string[] => schema.validate(object, old).map(({ path }) => path)
  const a1 = { k: 'a', n: 1, v: 'wrong' }
  const a2 = { k: 'a', n: 2, v: 'wrong' }
  t.strictSame(invalidPaths({ l: [a2, a1] }, { l: [a1, a2] }), [])
  t.strictSame(invalidPaths({ l: [a2, { ...a1, v: 'worse' }] }, { l: [a1, a2] }), ['l[1].v'], 'an item with a changed value is new')
  t.strictSame(invalidPaths({ l: [a2, a1] }, { l: [a1] }), ['l[0].v'], 'only one of the keys is equal')
  t.strictSame(invalidPaths({ l: [a1] }, { l: 'none' }), ['l[0].v'])
  t.strictSame(invalidPaths({ l: [a1] }, {}), ['l[0].v'])
  t.strictSame(invalidPaths({ s: [a1] }, { s: [a1, a2] }), ['s[0].v'], 'items of other lists are new when the list has changed')
  t.strictSame(invalidPaths({ m: { a: 'wrong', b: 'wrong' } }, { m: { a: 'wrong' } }), ['m.b'])
})

t.test('a value is unchanged when it equals the old one by its schema', async (t) => {
  const cases: readonly (readonly [name: string, schema: StructuralSchema, value: unknown, old: unknown, unchanged: boolean])[] = [
    ['the same text', text, 'a', 'a', true],
    ['another text', text, 'a', 'b', false],
    ['null', text, null, null, true],
    ['an object', object, { a: 'x', b: ['y'] }, { b: ['y'], a: 'x' }, true],
    ['an object with a new field', object, { a: 'x', b: [] }, { a: 'x' }, false],
    ['an object that lost a field', object, { a: 'x' }, { a: 'x', b: [] }, false],
    ['an object with a field that nobody names', object, { c: 1 }, { c: 1 }, false],
    ['such an object in a list', { type: 'array', items: object }, [{ c: 1 }], [{ c: 1 }], true],
    ['a list in another order', list, ['a', 'b'], ['b', 'a'], false],
    ['a map in another order', map, [{ k: 'a' }, { k: 'b' }], [{ k: 'b' }, { k: 'a' }], true],
    ['a map with another value', map, [{ k: 'a', v: 'x' }], [{ k: 'a', v: 'y' }], false],
    ['a map with an item without its key', map, [{ v: 'x' }], [{ v: 'x' }], false],
    ['a value of a map of fields', { type: 'object', additionalProperties: text }, { any: 'x' }, { any: 'x' }, true],
    ['an object that was a list', object, {}, [], false],
    ['an object that was null', object, {}, null, false],
    ['a list that was an object', list, [], {}, false],
    ['a list of the same beginning', list, ['a'], ['a', 'b'], false],
    ['a list that grew', list, ['a', 'b'], ['a'], false],
    ['a map with one item less', map, [{ k: 'a' }], [{ k: 'a' }, { k: 'b' }], false],
    ['a map of which an item has another key', map, [{ k: 'a' }], [{ k: 'b' }], false],
    ['a map with an item that is no object', map, ['a'], ['a'], false],
    ['a map with a null item', map, [null], [null], false],
    ['a map with a null key', map, [{ k: null }], [{ k: null }], false],
    ['a map with a key that is an object', map, [{ k: {} }], [{ k: {} }], false],
    ['a map with a key of another type', map, [{ k: 1 }], [{ k: '1' }], false],
    ['an object with another value', object, { a: 'x' }, { a: 'y' }, false],
    ['an object with another field', object, { a: 'x' }, { b: [] }, false],
    ['a field that a program left undefined', object, { a: 'x', b: undefined }, { a: 'x' }, true],
    ['a field that a program had left undefined', object, { a: 'x' }, { a: 'x', b: undefined }, true],
    ['a field that became undefined', object, { a: 'x', b: undefined }, { a: 'x', b: [] }, false],
    ['an inherited field', { type: 'object', additionalProperties: object }, { constructor: {} }, {}, false],
    ['a map of fields with another value', { type: 'object', additionalProperties: text }, { any: 'x' }, { any: 'y' }, false],
    ['a field of a map of anything', { type: 'object', additionalProperties: true }, { any: 'x' }, { any: 'x' }, false],
  ]
  for (const [name, schema, value, old, unchanged] of cases) {
    t.equal(isUnchanged(buildNode(schema), value as never, { value: old as never }), unchanged, name)
  }
  t.equal(isUnchanged(buildNode(text), 'a', undefined), false, 'a missing old value')
})
