import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { Correlation, isUnchanged, noRatchet, ratchetField, ratchetItem } from '../../src/cel/correlation.ts'

const text: StructuralSchema = { type: 'string' }
const list: StructuralSchema = { type: 'array', items: text }
const map: StructuralSchema = {
  type: 'array',
  items: { type: 'object', properties: { k: text, v: text } },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
}
const object: StructuralSchema = { type: 'object', properties: { a: text, b: list } }

t.test('a value is unchanged when it equals the old one by its schema', async (t) => {
  const cases: readonly (readonly [name: string, schema: StructuralSchema, value: JsonValue, old: JsonValue, unchanged: boolean])[] = [
    ['the same text', text, 'a', 'a', true],
    ['another text', text, 'a', 'b', false],
    ['null', text, null, null, true],
    ['a text that was null', text, 'a', null, false],
    ['an object with fields in another order', object, { a: 'x', b: ['y'] }, { b: ['y'], a: 'x' }, true],
    ['an object with another value', object, { a: 'x' }, { a: 'y' }, false],
    ['an object with a new field', object, { a: 'x', b: [] }, { a: 'x' }, false],
    ['an object that lost a field', object, { a: 'x' }, { a: 'x', b: [] }, false],
    ['an object with another field', object, { a: 'x' }, { b: [] }, false],
    ['an object with a field that the schema does not describe', object, { c: 1 }, { c: 1 }, false],
    ['such an object in a list', { type: 'array', items: object }, [{ c: 1 }], [{ c: 1 }], true],
    ['an empty object', object, {}, {}, true],
    ['an object that was a list', object, {}, [], false],
    ['an object that was null', object, {}, null, false],
    ['the same list', list, ['a', 'b'], ['a', 'b'], true],
    ['a list in another order', list, ['a', 'b'], ['b', 'a'], false],
    ['a list that grew', list, ['a', 'b'], ['a'], false],
    ['a list that shrank', list, ['a'], ['a', 'b'], false],
    ['a list that was an object', list, [], {}, false],
    ['a list map in another order', map, [{ k: 'a' }, { k: 'b' }], [{ k: 'b' }, { k: 'a' }], true],
    ['a list map with another value', map, [{ k: 'a', v: 'x' }], [{ k: 'a', v: 'y' }], false],
    ['a list map with another last value', map, [{ k: 'a' }, { k: 'b', v: 'x' }], [{ k: 'a' }, { k: 'b', v: 'y' }], false],
    ['a list map with an item less', map, [{ k: 'a' }], [{ k: 'a' }, { k: 'b' }], false],
    ['a list map with another key', map, [{ k: 'a' }], [{ k: 'b' }], false],
    ['a list map with an item without its key', map, [{ v: 'x' }], [{ v: 'x' }], false],
    ['a list map with an item that is no object', map, ['a'], ['a'], false],
    ['a list map that was a text', map, [], '', false],
    ['an empty list map', map, [], [], true],
    ['a map of fields', { type: 'object', additionalProperties: text }, { any: 'x' }, { any: 'x' }, true],
    ['a map of fields with another value', { type: 'object', additionalProperties: text }, { any: 'x' }, { any: 'y' }, false],
    ['a field of a map of anything', { type: 'object', additionalProperties: true }, { any: 'x' }, { any: 'x' }, false],
    ['an unknown field with an inherited name', object, { constructor: 'x' } as unknown as JsonValue, { constructor: 'x' } as never, false],
    [
      'a map entry with an inherited name',
      { type: 'object', additionalProperties: object },
      { constructor: { a: 'x' } } as unknown as JsonValue,
      { constructor: { a: 'x' } } as never,
      true,
    ],
    ['an inherited field', { type: 'object', additionalProperties: object }, { constructor: {} } as unknown as JsonValue, {}, false],
  ]
  for (const [name, schema, value, old, unchanged] of cases) {
    const correlation = new Correlation(schema, value, old)
    t.equal(correlation.isUnchanged, unchanged, name)
    t.equal(correlation.isUnchanged, unchanged, `${name}, asked again`)
  }
})

t.test('a value that is nested too deeply to be compared counts as changed', async (t) => {
  const free: StructuralSchema = { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } }
  const deep = (): JsonValue => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as JsonValue
  t.equal(new Correlation(free, deep(), deep()).isUnchanged, false)
})

t.test('a value without an old one is unchanged if the nearest value above it that has one is', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: { apiVersion: text, kind: text, spec: { type: 'object', properties: { kind: text, l: { type: 'array', items: object } } } },
  }
  const object1 = { apiVersion: 'v1', kind: 'A', spec: { kind: 'B', l: [{ a: 'x' }] } }
  const at = (old: JsonValue) => ({ current: new Correlation(schema, object1, old), nearestParent: undefined })
  const same = at(structuredClone(object1))
  t.equal(isUnchanged(same), true)
  t.equal(isUnchanged(ratchetField(same, 'apiVersion')), false, 'the apiVersion of the object always counts as changed')
  t.equal(isUnchanged(ratchetField(same, 'kind')), false, 'and so does its kind')
  const spec = ratchetField(same, 'spec')
  t.equal(isUnchanged(spec), true)
  t.equal(isUnchanged(ratchetField(spec, 'kind')), true, 'a field with this name elsewhere')
  const item = ratchetItem(ratchetField(spec, 'l'), 0)
  t.equal(item.current, undefined, 'an item of an atomic list has no old value')
  t.equal(isUnchanged(item), true, 'the list is unchanged')
  t.equal(isUnchanged(ratchetField(item, 'a')), true)
  const other = ratchetField(ratchetField(at({ ...object1, spec: { kind: 'C', l: [{ a: 'x' }] } }), 'spec'), 'l')
  t.equal(isUnchanged(ratchetItem(other, 0)), true, 'changes beside the list do not matter')
  const grown = ratchetField(ratchetField(at({ ...object1, spec: { kind: 'B', l: [{ a: 'x' }, { a: 'y' }] } }), 'spec'), 'l')
  t.equal(isUnchanged(ratchetItem(grown, 0)), false)
  t.equal(isUnchanged(ratchetField(ratchetItem(grown, 0), 'a')), false)
  t.equal(isUnchanged(noRatchet), false, 'a new object')
  t.equal(isUnchanged(ratchetItem(ratchetField(noRatchet, 'a'), 0)), false)
})

t.test('values are compared once', async (t) => {
  let compared = 0
  const ownKeys = (target: object): (string | symbol)[] => {
    compared += 1
    return Reflect.ownKeys(target)
  }
  const correlation = new Correlation(object, new Proxy<JsonObject>({ a: 'x' }, { ownKeys }), { a: 'x' })
  t.strictSame([correlation.isUnchanged, correlation.isUnchanged, compared], [true, true, 1])
})

t.test('an error of the comparison other than an exhausted stack is thrown', async (t) => {
  const ownKeys = (): never => {
    throw new TypeError('no keys')
  }
  t.throws(() => new Correlation(object, new Proxy<JsonObject>({}, { ownKeys }), {}).isUnchanged, new TypeError('no keys'))
})
