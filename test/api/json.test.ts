import t from 'tap'
import { canonicalJson, deepFreeze, getOwn, isObject, jsonEqual, setOwn, type JsonObject } from '../../src/api/json.ts'

t.test('equality is that of JSON', async (t) => {
  t.ok(jsonEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }))
  t.ok(jsonEqual({ a: undefined }, {}))
  t.notOk(jsonEqual({ a: null }, {}))
  t.notOk(jsonEqual([1], { 0: 1 }))
  t.notOk(jsonEqual({ a: 1 }, { b: 1 }))
  t.notOk(jsonEqual(JSON.parse('{"__proto__":1}'), {}))
  t.notOk(jsonEqual({ toString: 1 }, {}))
  t.notOk(jsonEqual(9007199254740993n, 9007199254740992n))
  t.ok(jsonEqual([2 ** 53], [9007199254740992n]), 'they are written alike')
  t.notOk(jsonEqual(2 ** 53, 9007199254740993n), 'though JavaScript would round the one to the other')
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

t.test('a frozen object is frozen all the way down', async (t) => {
  const object = deepFreeze({ a: [{ b: 1 }] })
  t.throws(() => {
    object.a[0]!.b = 2
  }, TypeError)
  t.ok(isObject(object))
  t.notOk(isObject([]))
})
