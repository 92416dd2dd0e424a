import t from 'tap'
import { jsonEqual } from '../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { createPatch } from '../../../src/webhook/review/patch.ts'
import { applyPatch } from '../../support/webhook/apply-patch.ts'
import { fc } from '../../support/property.ts'
import { processorTimeMs } from '../../support/turns.ts'

const named = (...names: string[]): JsonValue[] => names.map((name) => ({ name, image: `${name}:1` }))
const many = Array.from({ length: 34 }, (_, index) => `c${index}`)
const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue

t.test('creates the smallest patch', (t) => {
  const cases: [string, JsonValue, JsonValue, object[]][] = [
    ['nothing for equal values', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    ['an added field', {}, { a: null }, [{ op: 'add', path: '/a', value: null }]],
    ['a changed field', { a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2 }]],
    ['a removed field', { a: 1, b: 2 }, { b: 2 }, [{ op: 'remove', path: '/a' }]],
    ['another type', { a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    [
      'escaped keys',
      { 'a/b': 1 },
      { 'a/b': 2, 'c~d': 3 },
      [
        { op: 'replace', path: '/a~1b', value: 2 },
        { op: 'add', path: '/c~0d', value: 3 },
      ],
    ],
    ['a key __proto__', parse('{"a":{}}'), parse('{"a":{"__proto__":{"x":1}}}'), [{ op: 'add', path: '/a/__proto__', value: { x: 1 } }]],
    ['an inherited name', {}, { constructor: 1 }, [{ op: 'add', path: '/constructor', value: 1 }]],
    ['an empty key', { '': 1 }, { '': 2 }, [{ op: 'replace', path: '/', value: 2 }]],
    [
      'a named item inserted in front of 34',
      { list: named(...many) },
      { list: named('first', ...many) },
      [{ op: 'add', path: '/list/0', value: { name: 'first', image: 'first:1' } }],
    ],
    ['a named item in the middle removed', { list: named('a', 'b', 'c') }, { list: named('a', 'c') }, [{ op: 'remove', path: '/list/1' }]],
    [
      'a named item appended',
      { list: named('a') },
      { list: named('a', 'b') },
      [{ op: 'add', path: '/list/-', value: { name: 'b', image: 'b:1' } }],
    ],
    [
      'inserted and changed at once',
      { list: named('a', 'b') },
      { list: [...named('z', 'a'), { name: 'b', image: 'b:2' }] },
      [
        { op: 'add', path: '/list/0', value: { name: 'z', image: 'z:1' } },
        { op: 'replace', path: '/list/2/image', value: 'b:2' },
      ],
    ],
    ['a string inserted', { args: ['a', 'b'] }, { args: ['x', 'a', 'b'] }, [{ op: 'add', path: '/args/0', value: 'x' }]],
    [
      'a field of an item without a name',
      { list: [{ x: 1 }, { x: 2 }] },
      { list: [{ x: 1 }, { x: 2, y: 3 }] },
      [{ op: 'add', path: '/list/1/y', value: 3 }],
    ],
    ['a list with nothing in common', { args: ['a', 'b', 'c'] }, { args: ['d'] }, [{ op: 'replace', path: '/args', value: ['d'] }]],
    ['the whole value', 1, 'one', [{ op: 'replace', path: '', value: 'one' }]],
    ['a list for an object', { a: { b: 1 } }, { a: [1] }, [{ op: 'replace', path: '/a', value: [1] }]],
    ['null for an object', { a: { b: 1 } }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
    ['both escapes in one key', { 'a/~b': 1, '~1': 1 }, {}, [...['/a~1~0b', '/~01'].map((path) => ({ op: 'remove', path }))]],
    ['the first item of an empty list', { args: [] }, { args: ['a'] }, [{ op: 'add', path: '/args/-', value: 'a' }]],
    [
      'items of an empty list, in order',
      { args: [] },
      { args: ['a', 'b'] },
      [
        { op: 'add', path: '/args/-', value: 'a' },
        { op: 'add', path: '/args/-', value: 'b' },
      ],
    ],
    ['the last item removed', { args: ['a'] }, { args: [] }, [{ op: 'remove', path: '/args/0' }]],
    [
      'two items removed from within',
      { args: ['a', 'b', 'c', 'd'] },
      { args: ['a', 'd'] },
      [
        { op: 'remove', path: '/args/1' },
        { op: 'remove', path: '/args/1' },
      ],
    ],
    [
      'items without keys in a list of the same length, by index',
      { args: ['a', 'b'] },
      { args: ['c', 'd'] },
      [
        { op: 'replace', path: '/args/0', value: 'c' },
        { op: 'replace', path: '/args/1', value: 'd' },
      ],
    ],
    [
      'a named item that replaces another, as a whole',
      { list: named('a', 'b', 'c') },
      { list: named('a', 'x', 'c') },
      [{ op: 'replace', path: '/list/1', value: { name: 'x', image: 'x:1' } }],
    ],
    [
      'a list without any of the previous names',
      { list: named('a') },
      { list: named('x') },
      [{ op: 'replace', path: '/list', value: named('x') }],
    ],
    [
      'a named item moved to the front',
      { list: named('a', 'b', 'c') },
      { list: named('c', 'a', 'b') },
      [
        { op: 'add', path: '/list/0', value: { name: 'c', image: 'c:1' } },
        { op: 'remove', path: '/list/3' },
      ],
    ],
    [
      'a named item inserted and another removed behind it',
      { list: named('a', 'b', 'c', 'd') },
      { list: named('a', 'x', 'b', 'd') },
      [
        { op: 'add', path: '/list/1', value: { name: 'x', image: 'x:1' } },
        { op: 'remove', path: '/list/3' },
      ],
    ],
    [
      'items with a duplicate name, by value',
      { list: named('a', 'a') },
      { list: [...named('x'), ...named('a', 'a')] },
      [{ op: 'add', path: '/list/0', value: { name: 'x', image: 'x:1' } }],
    ],
    [
      'a named item beside one without a name, by its fields',
      { list: [{ name: 'a' }, { x: 1 }] },
      { list: [{ name: 'b' }, { x: 1 }] },
      [{ op: 'replace', path: '/list/0/name', value: 'b' }],
    ],
    [
      'a name that is not a scalar, by value',
      { list: [{ name: ['a'], x: 1 }, { y: 1 }] },
      { list: [{ z: 1 }, { name: ['a'], x: 1 }, { y: 1 }] },
      [{ op: 'add', path: '/list/0', value: { z: 1 } }],
    ],
    [
      'a field removed from a named item that has moved',
      { list: [{ name: 'a', x: 1 }, ...named('b')] },
      { list: [...named('z'), { name: 'a' }, ...named('b')] },
      [
        { op: 'add', path: '/list/0', value: { name: 'z', image: 'z:1' } },
        { op: 'remove', path: '/list/1/x' },
      ],
    ],
    [
      'the longest common subsequence of two lists is kept',
      { args: ['a', 'b', 'c', 'd', 'e', 'f'] },
      { args: ['x', 'b', 'a', 'c', 'e', 'y'] },
      [
        { op: 'replace', path: '/args/0', value: 'x' },
        { op: 'add', path: '/args/2', value: 'a' },
        { op: 'remove', path: '/args/4' },
        { op: 'replace', path: '/args/5', value: 'y' },
      ],
    ],
  ]
  for (const [name, raw, target, expected] of cases) {
    t.test(name, (t) => {
      const patch = createPatch(raw, target)
      t.strictSame(patch, expected)
      t.ok(jsonEqual(applyPatch(raw, patch), target))
      t.end()
    })
  }
  t.end()
})

t.test('items are matched by the list map keys of the schema', (t) => {
  const schema = { properties: { ports: { items: {}, 'x-kubernetes-list-map-keys': ['port', 'protocol'] } } }
  const raw = {
    ports: [
      { port: 80, protocol: 'TCP' },
      { port: 81, protocol: 'TCP' },
    ],
  }
  const target = {
    ports: [
      { port: 79, protocol: 'TCP' },
      { port: 80, protocol: 'TCP', name: 'web' },
      { port: 81, protocol: 'TCP' },
    ],
  }
  t.strictSame(createPatch(raw, target, schema), [
    { op: 'add', path: '/ports/0', value: { port: 79, protocol: 'TCP' } },
    { op: 'add', path: '/ports/1/name', value: 'web' },
  ])
  t.end()
})

t.test('only scalars are keys, and a missing key matches as absent', (t) => {
  const schema = { 'x-kubernetes-list-map-keys': ['a', 'b'], items: {} }
  t.strictSame(createPatch([{ a: 1, b: {} }], [{ a: 2, b: {} }], schema), [{ op: 'replace', path: '/0/a', value: 2 }])
  t.strictSame(createPatch([{ a: 1, x: 1 }, { a: 2 }], [{ a: 0 }, { a: 1, x: 2 }, { a: 2 }], schema), [
    { op: 'add', path: '/0', value: { a: 0 } },
    { op: 'replace', path: '/1/x', value: 2 },
  ])
  t.end()
})

t.test('list map keys are found in the schemas of fields, items and additionalProperties', (t) => {
  const list = { 'x-kubernetes-list-map-keys': ['id'], items: {} }
  const schema = {
    properties: {
      groups: { items: { additionalProperties: list } },
      // `additionalProperties` does not apply to the field `here`, because `properties` contains it.
      own: { properties: { here: {} }, additionalProperties: list },
      any: { additionalProperties: true },
    },
  }
  const change = { from: [{ id: 1, a: 1 }, { id: 2 }], to: [{ id: 0 }, { id: 1, a: 2 }, { id: 2 }] }
  const byKey = (path: string): object[] => [
    { op: 'add', path: `${path}/0`, value: { id: 0 } },
    { op: 'replace', path: `${path}/1/a`, value: 2 },
  ]
  const byValue = (path: string): object[] => [
    { op: 'remove', path: `${path}/0/a` },
    { op: 'replace', path: `${path}/0/id`, value: 0 },
    { op: 'add', path: `${path}/1`, value: { id: 1, a: 2 } },
  ]
  t.strictSame(createPatch({ groups: [{ x: change.from }] }, { groups: [{ x: change.to }] }, schema), byKey('/groups/0/x'))
  t.strictSame(createPatch({ own: { there: change.from } }, { own: { there: change.to } }, schema), byKey('/own/there'))
  for (const path of ['/own/here', '/any/x', '/other/x']) {
    const [field, key] = path.slice(1).split('/') as [string, string]
    t.strictSame(createPatch({ [field]: { [key]: change.from } }, { [field]: { [key]: change.to } }, schema), byValue(path))
  }
  t.end()
})

t.test('undefined is absent', (t) => {
  t.strictSame(createPatch({ a: 1 }, { a: undefined, b: undefined } as unknown as JsonValue), [{ op: 'remove', path: '/a' }])
  t.end()
})

t.test('untouched values are not written', (t) => {
  const raw = parse('{"spec":{"big":9007199254740993,"size":1}}') as { spec: { big: number; size: number } }
  t.strictSame(createPatch(raw, { ...raw, spec: { ...raw.spec, size: 2 } }), [{ op: 'replace', path: '/spec/size', value: 2 }])
  t.end()
})

t.test('a patch applied to the raw value yields the target', (t) => {
  const key = fc.constantFrom('a', 'name', '__proto__', '', '~', '/', '~1', 'constructor', '-', '0')
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, '', 'a', 'b'),
      fc.array(tie('value'), { maxLength: 5 }),
      fc
        .array(fc.tuple(key, tie('value')), { maxLength: 5 })
        .map((entries) => parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`)),
      fc
        .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 })
        .chain((names) =>
          fc
            .array(tie('value'), { minLength: names.length, maxLength: names.length })
            .map((values): JsonValue => names.map((name, index) => ({ name, value: values[index]! }))),
        ),
    ),
  }))
  const property = fc.property(value, value, (raw, target) => {
    const before = JSON.stringify(raw)
    const patch = createPatch(raw, target)
    const patched = applyPatch(raw, patch)
    return jsonEqual(patched, target) && JSON.stringify(raw) === before && (!jsonEqual(raw, target) || patch.length === 0)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 5000 }))
  t.end()
})

/** Returns the length of the longest common subsequence of two lists. */
function inCommon(raw: readonly string[], target: readonly string[]): number {
  if (raw.length === 0 || target.length === 0) return 0
  const [first, ...rest] = raw
  const at = target.indexOf(first!)
  return Math.max(inCommon(rest, target), at < 0 ? 0 : 1 + inCommon(rest, target.slice(at + 1)))
}

t.test('the longest common subsequence of two lists is left untouched', (t) => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 8 })
  const property = fc.property(list, list, (raw, target) => {
    const common = inCommon(raw, target)
    const touched = createPatch(raw, target).filter(({ op }) => op !== 'add').length
    return common === 0 || raw.length - touched === common
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1000 }))
  t.end()
})

t.test('items without keys are matched by value between changed ones, regardless of field order', (t) => {
  const rule = (id: number): JsonObject => ({ from: [{ labels: { app: `a${id}` }, ports: [id, 443] }], id })
  const turned = ({ from, id }: JsonObject): JsonObject => ({ id: id!, from: structuredClone(from!) })
  const raw = Array.from({ length: 300 }, (_, id) => rule(id))
  const target = [rule(-1), ...raw.slice(0, 100).map(turned), rule(-2), ...raw.slice(101, 299).map(turned), { id: 299 }]
  t.strictSame(createPatch({ rules: raw }, { rules: target }), [
    { op: 'add', path: '/rules/0', value: rule(-1) },
    { op: 'replace', path: '/rules/101/from/0/labels/app', value: 'a-2' },
    { op: 'replace', path: '/rules/101/from/0/ports/0', value: -2 },
    { op: 'replace', path: '/rules/101/id', value: -2 },
    { op: 'remove', path: '/rules/300/from' },
  ])
  t.end()
})

t.test('a number beyond 2^53 equals the bigint of its digits, at any place in a list', (t) => {
  t.strictSame(createPatch([[2n ** 53n]], [[2 ** 53]]), [])
  t.strictSame(createPatch([2n ** 53n, 1], [2 ** 53, 2]), [{ op: 'replace', path: '/1', value: 2 }])
  t.strictSame(createPatch([[1], [2n ** 53n], [2]], [[3], [2 ** 53], [2]]), [{ op: 'replace', path: '/0/0', value: 3 }])
  t.strictSame(createPatch([['1'], [2]], [[1], [2]]), [{ op: 'replace', path: '/0/0', value: 1 }])
  t.end()
})

t.test('a string with commas, quotes and colons is never equal to several items or fields', (t) => {
  const pairs: [JsonValue, JsonValue][] = [
    [['a', 'b'], ['a,"b']],
    [['a', 1], ['a,1']],
    [['a', null], ['a,null']],
    [{ a: 'x', b: 'y' }, { a: 'x,1:b"y' }],
  ]
  for (const [raw, target] of pairs) {
    const rest = ['same']
    const patched = applyPatch([raw, ...rest], createPatch([raw, ...rest], [target, ...rest]))
    t.strictSame(patched, [target, ...rest])
  }
  t.end()
})

/**
 * Functions that return two values to compare. Each value has about 100 KB multiplied by `times`. An earlier implementation of the
 * comparison needed at least quadratic time for such values.
 */
const hard: Readonly<Record<string, (times: number) => readonly [JsonValue, JsonValue]>> = {
  'items without keys that differ in their last fields alone': (times) => {
    const match = Object.fromEntries(Array.from({ length: 20 * times }, (_, index) => [`key-${index}`, 'value']))
    const raw = Array.from({ length: 500 }, (_, id) => ({ match: { ...match }, id, ...(id % 499 > 0 && { protocol: 'TCP' }) }))
    return [raw, raw.map((item) => ({ ...item, protocol: 'TCP' }))]
  },
  'such items, all of them copied': (times) => {
    const match = Object.fromEntries(Array.from({ length: 20 * times }, (_, index) => [`key-${index}`, 'value']))
    const raw = Array.from({ length: 500 }, (_, id) => ({ match, id }))
    return [raw, raw.map((item) => ({ ...structuredClone(item), seen: true }))]
  },
  'many lists with other ends': (times) => {
    const list = (end: number): JsonValue[] => [end, ...Array.from({ length: 498 }, (_, index) => index), end]
    return [Array.from({ length: 60 * times }, () => list(-1)), Array.from({ length: 60 * times }, () => list(-2))]
  },
  'lists in lists': (times) => {
    const lists = (leaf: number): JsonValue => {
      let list: JsonValue = [leaf]
      for (let level = 0; level < 800; level += 1) list = [Array.from({ length: 50 * times }, () => 1), list, [level]]
      return list
    }
    return [lists(1), lists(2)]
  },
  'names with lists in them': (times) => {
    const lists = (leaf: number): JsonValue => {
      let list: JsonValue = [leaf]
      for (let level = 0; level < 400; level += 1) list = [{ name: list, text: Array.from({ length: 50 * times }, () => 1) }, {}]
      return list
    }
    return [lists(1), lists(2)]
  },
}

for (const [name, pair] of Object.entries(hard)) {
  t.test(`the time for a patch is linear in the size of the values: ${name}`, (t) => {
    for (const times of [1, 8]) {
      const [raw, target] = pair(times)
      const began = processorTimeMs()
      const patch = createPatch(raw, target)
      const took = processorTimeMs() - began
      t.ok(took < 60 * times, `it takes ${took.toFixed(1)} ms of the processor for ${times} times as much`)
      t.ok(jsonEqual(applyPatch(raw, patch), target))
      t.comment(`${times}: ${took.toFixed(1)} ms, ${patch.length} operations`)
    }
    t.end()
  })
}
