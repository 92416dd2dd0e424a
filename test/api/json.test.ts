import t from 'tap'
import {
  canonicalJson,
  deepFreeze,
  getOwn,
  holdsBigint,
  isObject,
  jsonEqual,
  setOwn,
  shownInBrief,
  stringifyJson,
  type JsonObject,
} from '../../src/api/json.ts'

t.test('jsonEqual compares as JSON', async (t) => {
  t.ok(jsonEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }))
  t.ok(jsonEqual({ a: undefined }, {}))
  t.notOk(jsonEqual({ a: null }, {}))
  t.notOk(jsonEqual([1], { 0: 1 }))
  t.notOk(jsonEqual({ a: 1 }, { b: 1 }))
  t.notOk(jsonEqual(JSON.parse('{"__proto__":1}'), {}))
  t.notOk(jsonEqual(JSON.parse('{"__proto__":{}}'), { a: 1 }), 'the prototype of an object is not a field')
  t.notOk(jsonEqual({ toString: 1 }, {}))
  t.notOk(jsonEqual(9007199254740993n, 9007199254740992n))
  t.ok(jsonEqual([2 ** 53], [9007199254740992n]), 'both have the same JSON')
  t.notOk(jsonEqual(2 ** 53, 9007199254740993n), 'although JavaScript would round them to the same number')
  t.notOk(jsonEqual('9007199254740992', 9007199254740992n))
})

t.test('__proto__ is a key like any other', async (t) => {
  const object = JSON.parse('{"__proto__":{"polluted":true}}') as JsonObject
  const copy: JsonObject = {}
  for (const key of Object.keys(object)) setOwn(copy, key, getOwn(object, key)!)
  t.equal(canonicalJson(copy), '{"__proto__":{"polluted":true}}')
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
  t.equal(getOwn({}, 'constructor'), undefined)
})

t.test('equal values have equal canonical texts', async (t) => {
  t.equal(canonicalJson({ b: [1, 'x'], a: { d: undefined, c: null } }), '{"a":{"c":null},"b":[1,"x"]}')
})

t.test('deepFreeze freezes all levels', async (t) => {
  const object = deepFreeze({ a: [{ b: 1 }] })
  t.throws(() => {
    object.a[0]!.b = 2
  }, TypeError)
  t.ok(isObject(object))
  t.notOk(isObject([]))
})

t.test('lists and objects are equal if all their values are', async (t) => {
  const cases: readonly (readonly [unknown, unknown, boolean])[] = [
    [[1, 2], [1, 2], true],
    [[1, 2], [1], false],
    [[1], [1, 2], false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{}, [], false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: undefined }, { a: 1, c: undefined }, true],
    [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [{ a: undefined }, { a: 1 }, false],
    [null, null, true],
    [null, undefined, false],
    [null, {}, false],
    [0, false, false],
    [1, '1', false],
    [5, 5n, true],
    [5n, 5, true],
    [5n, 6, false],
  ]
  for (const [a, b, expected] of cases) t.equal(jsonEqual(a, b), expected, `${String(a)} ${String(b)}`)
})

t.test('inherited fields are not own fields', async (t) => {
  const object = JSON.parse('{"a":1,"__proto__":2,"constructor":null}') as JsonObject
  t.strictSame(
    ['a', '__proto__', 'constructor', 'toString', 'b'].map((key) => getOwn(object, key)),
    [1, 2, null, undefined, undefined],
  )
  t.equal(getOwn({}, '__proto__'), undefined)
  const own = { toString: (() => 1) as never } as JsonObject
  t.equal(getOwn(own, 'toString'), own.toString)
})

t.test('setOwn sets a key that can be changed and deleted', async (t) => {
  const object: JsonObject = {}
  setOwn(object, '__proto__', 1)
  setOwn(object, '__proto__', 2)
  setOwn(object, 'a', 3)
  t.equal(JSON.stringify(object), '{"__proto__":2,"a":3}')
  t.strictSame(Object.getOwnPropertyDescriptor(object, '__proto__'), { value: 2, writable: true, enumerable: true, configurable: true })
})

t.test('an integer beyond 2^53 is found at any depth', async (t) => {
  for (const value of [1n, [1, [2n]], { a: { b: [3n] } }]) t.ok(holdsBigint(value))
  for (const value of [1, '1', null, undefined, [], {}, [1, { a: null }]]) t.notOk(holdsBigint(value))
})

t.test('canonical JSON has sorted keys, and null for values without JSON', async (t) => {
  t.equal(canonicalJson({ b: 1n, a: [undefined, null, true], __proto__x: 'ü' }), '{"__proto__x":"ü","a":[null,null,true],"b":1}')
  t.equal(canonicalJson(undefined), 'null')
  t.equal(canonicalJson([]), '[]')
})

t.test('stringifyJson agrees with JSON.stringify', async (t) => {
  for (const value of [{ a: [1, 'x', null, undefined] }, 'x', 1, null, true, []]) t.equal(stringifyJson(value), JSON.stringify(value))
  t.equal(stringifyJson(undefined), undefined)
  t.equal(stringifyJson({ a: 1 }, 2), '{\n  "a": 1\n}')
  t.equal(stringifyJson(12345678901234567890n), '12345678901234567890')
  t.equal(stringifyJson({ a: -1n, b: [{ c: 2n }] }), '{"a":-1,"b":[{"c":2}]}')
  t.equal(Object.hasOwn(BigInt.prototype, 'toJSON'), false, 'no toJSON is left on the prototype')
  let calls = 0
  const failing = {
    toJSON: () => {
      calls += 1
      throw new Error('no')
    },
  }
  t.throws(() => stringifyJson(failing), new Error('no'))
  t.equal(calls, 1, 'not tried again')
  t.throws(() => stringifyJson([1n, failing]), new Error('no'))
  t.equal(Object.hasOwn(BigInt.prototype, 'toJSON'), false)
})

t.test('an integer beyond 2^53 is written with all its digits even if the prototype of BigInt is frozen', async (t) => {
  const { defineProperty } = Reflect
  t.teardown(() => (Reflect.defineProperty = defineProperty))
  // Simulates a frozen prototype. The test does not call `Object.freeze`, because this could not be undone, and later tests change the
  // prototype.
  Reflect.defineProperty = (target, ...rest) => target !== BigInt.prototype && defineProperty(target, ...rest)
  t.equal(stringifyJson({ a: 9007199254740993n, b: [1, 'x'] }), '{"a":9007199254740993,"b":[1,"x"]}')
  t.equal(stringifyJson([1n], 1), '[\n 1\n]')
})

t.test('freezing stops at frozen values, and accepts any value', async (t) => {
  const inner = { b: 1 }
  const frozen = Object.freeze({ inner })
  const value = deepFreeze({ frozen, list: [[1]], none: null })
  t.ok([value, value.list, value.list[0]].every(Object.isFrozen))
  t.notOk(Object.isFrozen(inner))
  t.strictSame([deepFreeze(5), deepFreeze(null), deepFreeze('x')], [5, null, 'x'])
  t.equal(deepFreeze(value), value)
})

t.test('isObject accepts only plain objects', async (t) => {
  t.strictSame([{}, [], null, undefined, 'x', 1, () => 1].map(isObject), [true, false, false, false, false, false, false])
})

t.test('a value that should be a text is described briefly', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'missing'],
    [null, 'null'],
    [{}, 'no text'],
    [[], 'no text'],
    [5, '5'],
    [5n, '5'],
    [true, 'true'],
    ['a"b', '"a\\"b"'],
    ['x'.repeat(100), `"${'x'.repeat(100)}"`],
    ['x'.repeat(101), `"${'x'.repeat(100)}"`],
  ]
  for (const [value, text] of cases) t.equal(shownInBrief(value), text)
})
