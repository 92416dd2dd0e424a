import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { deepFreeze, isObject, stringifyJson } from '../../../src/api/json.ts'
import { readDelta, writeDelta } from '../../../src/webhook/evaluation/thread-delta.ts'
import { fc } from '../../support/property.ts'

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue

/**
 * Returns the serialized delta between `base` and `value`, and the number of slices. `writeDelta` writes the delta in slices, and yields
 * between two slices.
 */
function written(value: JsonObject, base: JsonObject, count = 1000): { readonly text: string; readonly slices: number } {
  const delta = writeDelta(value, base, count)
  let slices = 1
  let step = delta.next()
  for (; step.done !== true; step = delta.next()) slices += 1
  return { text: step.value, slices }
}

function roundTripped(value: JsonObject, base: JsonObject): JsonObject {
  return readDelta(written(value, base).text, base)
}

const key = fc.constantFrom('a', 'name', '__proto__', '', '~', '/', '~1', 'constructor', '-', '0')
const { object, value } = fc.letrec<{ value: JsonValue; object: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(null, true, 1, 2, 'a', 2n ** 60n),
    fc.array(tie('value'), { maxLength: 6 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
}))

/**
 * Returns a changed copy that shares parts with `value`. The numbers from `numbers` select the changes: a value is replaced by `other`, or
 * a list is reversed, extended or shortened.
 */
function changed(value: JsonValue, numbers: () => number, other: JsonValue): JsonValue {
  const choice = numbers()
  if (choice === 0) return value
  if (choice === 1) return other
  if (Array.isArray(value)) {
    const items = value.map((item) => changed(item, numbers, other))
    return choice === 2 ? items.toReversed() : choice === 3 ? [other, ...items] : items.slice(choice === 4 ? 1 : 0)
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, changed(field!, numbers, other)]))
}

t.test('a delta is read as it was written, down to the order of the fields', (t) => {
  const property = fc.property(object, value, fc.infiniteStream(fc.nat(7)), (base, other, stream) => {
    const before = deepFreeze(base) as JsonObject
    const numbers = (): number => stream.next().value as number
    const target = { ...before, more: changed(before, numbers, other), list: changed([before, other, before], numbers, other) }
    const result = roundTripped(target, before)
    const again = { ...target, list: changed(target.list, numbers, other) }
    return stringifyJson(result) === stringifyJson(target) && stringifyJson(roundTripped(again, target)) === stringifyJson(again)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 3000 }))
  t.end()
})

t.test('unchanged values are not in the delta, and are shared when it is read', (t) => {
  const base = deepFreeze({ a: { long: 'x'.repeat(1000) }, list: [{ a: 1 }, { b: [2] }, { c: 3 }], n: 1 }) as JsonObject & {
    list: JsonObject[]
  }
  const cases: [string, JsonObject, string][] = [
    ['a changed field', { ...base, n: 2 }, '[2,"a",[0],"list",[0],"n",2]'],
    ['a removed field', { a: base.a, n: 1 }, '[2,"a",[0],"n",[0]]'],
    ['a field that is undefined', { a: base.a, list: undefined, n: 1 }, '[2,"a",[0],"n",[0]]'],
    ['an item inserted', { list: [{ z: 0 }, ...base.list] }, '[2,"list",[1,[2,"z",0],[0,0],[0,1],[0,2]]]'],
    ['an item removed', { list: base.list.slice(1) }, '[2,"list",[1,[0,1],[0,2]]]'],
    ['an item changed', { list: base.list.with(1, { ...base.list[1], n: null }) }, '[2,"list",[1,[0],[2,"b",[0],"n",null],[0]]]'],
    ['a copy', structuredClone(base), '[0]'],
    ['a copy with a change', { ...structuredClone(base), n: 2 }, '[2,"a",[0],"list",[0],"n",2]'],
    ['an empty object where there was none', { new: {}, other: [] }, '[2,"new",[2],"other",[1]]'],
  ]
  for (const [name, value, text] of cases) t.equal(written(value, base).text, text, name)
  const unreadable = deepFreeze({ ratio: Infinity, list: [-Infinity, {}], n: 1 }) as JsonObject & { list: JsonValue[] }
  t.strictSame(roundTripped({ ...unreadable, list: [...unreadable.list, 2], n: 2 }, unreadable), {
    ratio: Infinity,
    list: [-Infinity, {}, 2],
    n: 2,
  })
  const result = roundTripped({ ...structuredClone(base), list: [...base.list, 1n] }, base) as typeof base
  t.equal(result.a, base.a)
  t.equal(result.list[2], base.list[2])
  t.end()
})

t.test('a delta is written in slices, and freezes the value', (t) => {
  const base = deepFreeze({ list: Array.from({ length: 100 }, (_, id) => ({ id })) }) as JsonObject & { list: JsonObject[] }
  const target = { list: [{ id: -1 }, ...base.list.map((item) => ({ ...item, seen: true }))] }
  t.equal(written(target, base, 10).slices, Math.floor((100 + 101 + 201 + 1) / 10) + 1)
  t.ok(Object.isFrozen(target) && Object.isFrozen(target.list) && target.list.every((item) => Object.isFrozen(item)))
  t.end()
})

t.test('values without JSON are read as null', (t) => {
  const odd = { a: () => 1, b: [undefined, Number.NaN] } as unknown as JsonObject
  t.strictSame(roundTripped(odd, {}), parse('{"a":null,"b":[null,null]}'))
  t.end()
})

t.test('a delta that is applied to another object is an error', (t) => {
  t.throws(() => readDelta('[2,"b",[0]]', { a: {} }), { message: 'the delta is about another object' })
  t.throws(() => readDelta('[2,"a",[1,[0,3]]]', { a: [{}] }), { message: 'the delta is about another object' })
  t.end()
})
