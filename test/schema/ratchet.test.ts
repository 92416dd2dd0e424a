import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
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

t.test('what counts as unchanged', async (t) => {
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
  ]
  for (const [name, schema, value, old, unchanged] of cases) {
    t.equal(isUnchanged(buildNode(schema), value as never, { value: old as never }), unchanged, name)
  }
  t.equal(isUnchanged(buildNode(text), 'a', undefined), false, 'what was not there')
})
