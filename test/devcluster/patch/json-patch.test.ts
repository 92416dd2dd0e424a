import t from 'tap'
import type { JsonValue } from '../../../src/api/json.ts'
import { deepFreeze, jsonEqual } from '../../../src/api/json.ts'
import { jsonPatch } from '../../../src/devcluster/patch/json-patch.ts'
import { mergePatch } from '../../../src/devcluster/patch/merge-patch.ts'
import { fc } from '../../support/property.ts'

type Case = readonly [name: string, document: JsonValue, patch: JsonValue, result: JsonValue | 'failed' | 'malformed']

/** The examples in RFC 6902, appendix A, and some patches that are typical for Kubernetes. */
const cases: readonly Case[] = [
  ['adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
  ['adds an element', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
  ['appends', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
  ['removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['removes an element', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
  ['replaces', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
  [
    'moves a member',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: {} },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { thud: 'fred' } },
  ],
  [
    'moves an element',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  ['copies', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
  ['tests', { baz: 'qux', foo: ['a', 2, 'c'] }, [{ op: 'test', path: '/foo/1', value: 2 }], { baz: 'qux', foo: ['a', 2, 'c'] }],
  [
    'unescapes',
    { 'a/b': 1, 'm~n': 2 },
    [
      { op: 'replace', path: '/a~1b', value: 3 },
      { op: 'remove', path: '/m~0n' },
    ],
    { 'a/b': 3 },
  ],
  ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ['replaces what is not there', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
  ['finds null where nothing is', {}, [{ op: 'test', path: '/a', value: null }], {}],
  ['copies nothing as null', {}, [{ op: 'copy', from: '/a', path: '/b' }], { b: null }],
  ['adds null where there is no value', {}, [{ op: 'add', path: '/a' }], { a: null }],
  ['counts from the end', { a: [1, 2] }, [{ op: 'remove', path: '/a/-1' }], { a: [1] }],
  ['reads leading zeros', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }], { a: [1] }],
  [
    'treats __proto__ as data',
    {},
    [{ op: 'add', path: '/__proto__', value: { polluted: true } }],
    JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue,
  ],
  ['refuses a failed test', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }], 'failed'],
  ['refuses a missing parent', {}, [{ op: 'add', path: '/a/b', value: 1 }], 'failed'],
  ['refuses to remove what is not there', {}, [{ op: 'remove', path: '/a' }], 'failed'],
  ['refuses to move what is not there', {}, [{ op: 'move', from: '/a', path: '/b' }], 'failed'],
  ['refuses to add the whole', { a: 1 }, [{ op: 'add', path: '', value: {} }], 'failed'],
  ['refuses inherited names', {}, [{ op: 'remove', path: '/constructor' }], 'failed'],
  ['refuses an index beyond the end', { a: [] }, [{ op: 'add', path: '/a/1', value: 1 }], 'failed'],
  ['refuses an unknown operation', {}, [{ op: 'merge', path: '' }], 'failed'],
  ['refuses no operation', {}, [{ path: '/a' }], 'failed'],
  ['refuses what is no list', {}, { op: 'add' }, 'malformed'],
]

for (const [name, document, patch, result] of cases) {
  t.test(`JSON patch ${name}`, async (t) => {
    const run = (): JsonValue => jsonPatch(deepFreeze(document), patch)
    if (typeof result === 'string') t.throws(run, { name: 'PatchError', reason: result })
    else t.ok(jsonEqual(run(), result), JSON.stringify(run()))
    t.equal(({} as { polluted?: boolean }).polluted, undefined)
  })
}

t.test('the operations of a JSON patch copy a list once', async (t) => {
  // If each operation copied the list, this test would need minutes.
  const length = 300_000
  const list = deepFreeze(Array.from({ length }, () => ({ a: 1 })))
  const run = (op: string, path: string): JsonValue[] => {
    const operations = Array.from({ length: 10_000 }, () => ({ op, path, value: 2 }))
    return (jsonPatch({ list }, operations) as { list: JsonValue[] }).list
  }
  t.equal(run('add', '/list/-').length, length + 10_000)
  t.equal(run('remove', '/list/-1').length, length - 10_000)
  t.strictSame(run('replace', '/list/0/a')[0], { a: 2 })
  t.strictSame(list[0], { a: 1 }, 'the original does not change')
})

t.test('a copy in a JSON patch does not change with its original', async (t) => {
  const set = (path: string, value: JsonValue): JsonValue => ({ op: 'add', path, value })
  const copy = (from: string, path: string): JsonValue => ({ op: 'copy', from, path })
  const run = (...patch: JsonValue[]): JsonValue => jsonPatch(deepFreeze({ a: { b: { c: 1 } } }), patch)
  t.strictSame(run(set('/a/b/c', 2), copy('/a', '/d'), set('/a/b/c', 3), set('/d/b/e', 4)), {
    a: { b: { c: 3 } },
    d: { b: { c: 2, e: 4 } },
  })
  t.strictSame(run(set('/a/b/c', 2), copy('/a', '/a/d'), set('/a/d/b/c', 3)), { a: { b: { c: 2 }, d: { b: { c: 3 } } } })
  t.strictSame(run(set('/x', { y: 1 }), copy('/x', '/z'), set('/z/y', 2), { op: 'move', from: '/z', path: '/a' }, set('/a/y', 3)), {
    x: { y: 1 },
    a: { y: 3 },
  })
})

t.test('a JSON patch is limited in the size that its copies add', async (t) => {
  const doubling = (times: number): JsonValue => Array.from({ length: times }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
  const refused = {
    name: 'PatchError',
    reason: 'failed',
    message: /the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
  }
  t.throws(() => jsonPatch({ a: ['x'.repeat(100)] }, doubling(22)), refused)
  t.doesNotThrow(() => jsonPatch({ a: ['x'.repeat(100)] }, doubling(14)))
  const copy = { op: 'copy', from: '/a', path: '/b' }
  const longest = 'x'.repeat(3 * 1024 * 1024 - 2)
  t.doesNotThrow(() => jsonPatch({ a: longest }, [copy]))
  t.throws(() => jsonPatch({ a: `${longest}x` }, [copy]), refused)
})

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
const objects = fc.dictionary(fc.string({ maxLength: 3 }), json) as fc.Arbitrary<{ [key: string]: JsonValue }>

t.test('a JSON patch that adds and removes a value returns an equal document and does not modify the original', async () => {
  fc.assert(
    fc.property(objects, fc.string({ maxLength: 4 }), json, (document, key, value) => {
      fc.pre(!Object.hasOwn(document, key))
      const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const before = JSON.stringify(document)
      const added = jsonPatch(deepFreeze(document), [{ op: 'add', path, value }])
      return (
        jsonEqual(
          jsonPatch(added, [
            { op: 'test', path, value },
            { op: 'remove', path },
          ]),
          document,
        ) && JSON.stringify(document) === before
      )
    }),
  )
})

t.test('a merge patch is idempotent, adds no null and does not modify the original', async () => {
  fc.assert(
    fc.property(objects, objects, (target, patch) => {
      const merged = mergePatch(deepFreeze(target), deepFreeze(patch))
      return jsonEqual(mergePatch(merged, patch), merged) && jsonEqual(mergePatch({}, merged), mergePatch(mergePatch({}, target), patch))
    }),
  )
})

/** The examples in RFC 7386, appendix A: the original, the merge patch, and the result. */
const merges: readonly (readonly [JsonValue, JsonValue, JsonValue])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'foo' }, null, null],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

t.test('a merge patch ignores undefined fields and shares unchanged values with the original', async (t) => {
  const target = deepFreeze({ a: { b: 1 }, c: { d: 2 } })
  const merged = mergePatch(target, { a: undefined, c: { e: 3 } } as unknown as JsonValue) as { a: JsonValue; c: JsonValue }
  t.strictSame(merged, { a: { b: 1 }, c: { d: 2, e: 3 } })
  t.equal(merged.a, target.a)
  t.equal(
    JSON.stringify(mergePatch({}, JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2}}') as JsonValue)),
    '{"__proto__":{"a":1},"constructor":{"b":2}}',
  )
})

t.test('a merge patch has the results of RFC 7386', async (t) => {
  for (const [target, patch, result] of merges) t.strictSame(mergePatch(target, patch), result, JSON.stringify(patch))
})

t.test('a JSON patch that nests an object too deeply fails', async (t) => {
  const deep = JSON.parse(`${'{"a":'.repeat(400)}{}${'}'.repeat(400)}`) as JsonValue
  const add = (document: JsonValue, depth: number): JsonValue => jsonPatch(document, [{ op: 'add', path: '/a'.repeat(depth), value: deep }])
  const deeper = add(deep, 401)
  t.throws(() => add(deeper, 802), { name: 'PatchError', message: 'exceeded max depth' })
})
