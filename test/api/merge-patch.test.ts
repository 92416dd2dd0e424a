import t from 'tap'
import { jsonEqual } from '../../src/api/json.ts'
import { effectiveMergePatch, mergePatchBetween } from '../../src/api/merge-patch.ts'

t.test('the patch between two objects contains only what differs', async (t) => {
  const from = { a: 1, b: { c: 1, d: [1, 2] }, e: { f: 1 }, n: null }
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    ['equal, in another order', { n: null, e: { f: 1 }, b: { d: [1, 2], c: 1 }, a: 1 }, undefined],
    ['a changed value', { ...from, a: 2 }, { a: 2 }],
    ['a changed value within an object', { ...from, b: { c: 2, d: [1, 2] } }, { b: { c: 2 } }],
    ['a list is replaced as a whole', { ...from, b: { c: 1, d: [1, 3] } }, { b: { d: [1, 3] } }],
    ['a removed field', { a: 1, b: from.b, n: null }, { e: null }],
    ['a removed field within an object', { ...from, e: {} }, { e: { f: null } }],
    ['a field that becomes undefined is removed', { ...from, a: undefined }, { a: null }],
    ['a field that becomes null is removed', { ...from, a: null }, { a: null }],
    ['null and absent are equal', { a: 1, b: from.b, e: from.e, m: null }, undefined],
    ['an added field', { ...from, g: { h: {} } }, { g: { h: {} } }],
    ['an object in place of a value', { ...from, a: { b: 1 } }, { a: { b: 1 } }],
    ['a value in place of an object', { ...from, e: 1 }, { e: 1 }],
    ['a list in place of an object', { ...from, e: [] }, { e: [] }],
  ]
  for (const [name, to, expected] of cases) t.strictSame(mergePatchBetween(from, to), expected, name)
  t.strictSame(mergePatchBetween(undefined, { a: 1 }), { a: 1 })
  t.strictSame(mergePatchBetween({ a: 1 }, undefined), { a: null })
})

t.test('the effective part of a patch leaves other fields out', async (t) => {
  const object = { a: 1, b: { c: 1 }, list: [{ x: 1, y: 2 }] }
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    ['nothing', {}, undefined],
    ['equal fields', { b: { c: 1 }, list: [{ y: 2, x: 1 }] }, undefined],
    ['a changed field', { a: 1, b: { c: 2 } }, { b: { c: 2 } }],
    ['an undefined field', { a: undefined }, undefined],
    ['the removal of a field', { a: null }, { a: null }],
    ['the removal of an absent field', { z: null, b: { y: null } }, undefined],
    ['a list with fewer fields', { list: [{ x: 1 }] }, { list: [{ x: 1 }] }],
    ['a new object', { z: { y: 1 } }, { z: { y: 1 } }],
  ]
  for (const [name, patch, expected] of cases) t.strictSame(effectiveMergePatch(object, patch), expected, name)
})

t.test('keys such as __proto__ are ordinary keys', async (t) => {
  const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as object
  const patch = mergePatchBetween({}, hostile)!
  t.strictSame(Object.keys(patch).sort(), ['__proto__', 'constructor'])
  t.ok(jsonEqual(patch, hostile))
  t.strictSame(Object.keys(mergePatchBetween(hostile, {})!).sort(), ['__proto__', 'constructor'])
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
})
