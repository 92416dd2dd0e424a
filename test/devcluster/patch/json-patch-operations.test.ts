import t from 'tap'
import type { JsonValue } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { jsonPatch } from '../../../src/devcluster/patch/json-patch.ts'

const d: JsonValue = { a: [1, 2], o: { x: 1 }, s: 't' }

/** Results of the JSON patch library of kube-apiserver: the patched document, or the error. */
const cases: readonly (readonly [document: JsonValue, patch: JsonValue, result: JsonValue])[] = [
  [d, [{ op: 'add', path: '/b/c', value: 1 }], 'add operation does not apply: doc is missing path: "/b/c": missing value'],
  [d, [{ op: 'add', path: '', value: 1 }], 'add operation does not apply: doc is missing path: "": missing value'],
  [d, [{ op: 'add', path: '/s/c', value: 1 }], 'add operation does not apply: doc is missing path: "/s/c": missing value'],
  [
    d,
    [{ op: 'add', path: '/a/3', value: 1 }],
    "error in add for path: '/a/3': Unable to access invalid index: 3: invalid index referenced",
  ],
  [d, [{ op: 'add', path: '/a/2', value: 3 }], { a: [1, 2, 3], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'add', path: '/a/-3', value: 0 }], { a: [0, 1, 2], o: { x: 1 }, s: 't' }],
  [
    d,
    [{ op: 'add', path: '/a/-4', value: 0 }],
    "error in add for path: '/a/-4': Unable to access invalid index: -4: invalid index referenced",
  ],
  [
    d,
    [{ op: 'add', path: '/a/x', value: 0 }],
    "error in add for path: '/a/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
  ],
  [d, [{ op: 'add', path: '/a/0', value: 0 }], { a: [0, 1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'add', path: '/a/1/x', value: 0 }], 'add operation does not apply: doc is missing path: "/a/1/x": missing value'],
  [d, [{ op: 'add', path: '/a/5/x', value: 0 }], 'add operation does not apply: doc is missing path: "/a/5/x": missing value'],
  [d, [{ op: 'add' }], 'add operation failed to decode path: missing value'],
  [d, [{ op: 'add', path: 5 }], 'add operation failed to decode path: missing value'],
  [d, [{ op: 'remove', path: '/b' }], "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value"],
  [d, [{ op: 'remove', path: '/b/c' }], 'remove operation does not apply: doc is missing path: "/b/c": missing value'],
  [d, [{ op: 'remove', path: '' }], 'remove operation does not apply: doc is missing path: "": missing value'],
  [d, [{ op: 'remove', path: '/a/2' }], "error in remove for path: '/a/2': Unable to access invalid index: 2: invalid index referenced"],
  [d, [{ op: 'remove', path: '/a/-2' }], { a: [2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'remove', path: '/a/-3' }], "error in remove for path: '/a/-3': Unable to access invalid index: -3: invalid index referenced"],
  [d, [{ op: 'remove', path: '/a/-' }], 'error in remove for path: \'/a/-\': strconv.Atoi: parsing "-": invalid syntax'],
  [d, [{ op: 'remove', path: '/a/x' }], 'error in remove for path: \'/a/x\': strconv.Atoi: parsing "x": invalid syntax'],
  [d, [{ op: 'remove' }], 'remove operation failed to decode path: missing value'],
  [d, [{ op: 'replace', path: '/b', value: 1 }], { a: [1, 2], b: 1, o: { x: 1 }, s: 't' }],
  [d, [{ op: 'replace', path: '/b/c', value: 1 }], 'replace operation does not apply: doc is missing path: /b/c: missing value'],
  [d, [{ op: 'replace', path: '/a/2', value: 1 }], 'replace operation does not apply: doc is missing key: /a/2: missing value'],
  [d, [{ op: 'replace', path: '/a/1', value: 1 }], { a: [1, 1], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'replace', path: '/a/-1', value: 9 }], { a: [1, 9], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'replace', path: '/a/-', value: 1 }], 'replace operation does not apply: doc is missing key: /a/-: missing value'],
  [d, [{ op: 'replace', path: '', value: [1] }], [1]],
  [d, [{ op: 'replace', path: '', value: 5 }], 'replace operation value must be object or array: %!w(<nil>)'],
  [d, [{ op: 'replace', path: '', value: 'x' }], 'replace operation value must be object or array: %!w(<nil>)'],
  [d, [{ op: 'replace', path: '/o', value: { y: 2 } }], { a: [1, 2], o: { y: 2 }, s: 't' }],
  [d, [{ op: 'replace', path: '/o' }], { a: [1, 2], o: null, s: 't' }],
  [d, [{ op: 'replace' }], 'replace operation failed to decode path: operation missing path field: missing value'],
  [d, [{ op: 'move', from: '/b', path: '/c' }], "error in move for path: 'b': Unable to remove nonexistent key: b: missing value"],
  [d, [{ op: 'move', from: '/b/c', path: '/c' }], 'move operation does not apply: doc is missing from path: /b/c: missing value'],
  [
    d,
    [{ op: 'move', from: '/a/5', path: '/c' }],
    "error in move for path: '5': Unable to access invalid index: 5: invalid index referenced",
  ],
  [d, [{ op: 'move', from: '/a/0', path: '/c' }], { a: [2], c: 1, o: { x: 1 }, s: 't' }],
  [d, [{ op: 'move', from: '/o', path: '/p/q' }], 'move operation does not apply: doc is missing destination path: /p/q: missing value'],
  [
    d,
    [{ op: 'move', from: '/o', path: '/a/9' }],
    "error in move for path: '/a/9': Unable to access invalid index: 9: invalid index referenced",
  ],
  [d, [{ op: 'move', from: '/o', path: '/a/-' }], { a: [1, 2, { x: 1 }], s: 't' }],
  [d, [{ op: 'move', from: '', path: '/c' }], 'move operation does not apply: doc is missing from path: : missing value'],
  [d, [{ op: 'move', path: '/x' }], 'move operation failed to decode from: operation, missing from field: missing value'],
  [d, [{ op: 'move', from: '/o' }], 'move operation failed to decode path: operation missing path field: missing value'],
  [d, [{ op: 'move', from: '/o', path: '/s/x' }], 'move operation does not apply: doc is missing destination path: /s/x: missing value'],
  [d, [{ op: 'copy', from: '/b', path: '/c' }], { a: [1, 2], c: null, o: { x: 1 }, s: 't' }],
  [d, [{ op: 'copy', from: '/b/c', path: '/c' }], 'copy operation does not apply: doc is missing from path: /b/c: missing value'],
  [
    d,
    [{ op: 'copy', from: '/a/5', path: '/c' }],
    "error in copy for from: '/a/5': Unable to access invalid index: 5: invalid index referenced",
  ],
  [d, [{ op: 'copy', from: '/a/0', path: '/c' }], { a: [1, 2], c: 1, o: { x: 1 }, s: 't' }],
  [d, [{ op: 'copy', from: '/o', path: '/p/q' }], 'copy operation does not apply: doc is missing destination path: /p/q: missing value'],
  [
    d,
    [{ op: 'copy', from: '/o', path: '/a/9' }],
    'error while adding value during copy: Unable to access invalid index: 9: invalid index referenced',
  ],
  [
    d,
    [{ op: 'copy', from: '/o', path: '/a/x' }],
    'error while adding value during copy: value was not a proper array index: \'x\': strconv.Atoi: parsing "x": invalid syntax',
  ],
  [d, [{ op: 'copy', from: '/o', path: '/a/1' }], { a: [1, { x: 1 }, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'copy', from: '', path: '/c' }], 'copy operation does not apply: doc is missing from path: : missing value'],
  [d, [{ op: 'copy', path: '/x' }], 'copy operation failed to decode from: operation, missing from field: missing value'],
  [d, [{ op: 'copy', from: '/o' }], 'copy operation failed to decode path: missing value'],
  [d, [{ op: 'test', path: '/o/x', value: 1 }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test', path: '/o/x', value: 2 }], 'testing value /o/x failed: test failed'],
  [d, [{ op: 'test', path: '/o/y', value: null }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test', path: '/o/y', value: 1 }], 'testing value /o/y failed: test failed'],
  [d, [{ op: 'test', path: '/b/c', value: 1 }], 'test operation does not apply: is missing path: /b/c: missing value'],
  [
    d,
    [{ op: 'test', path: '/a/2', value: 1 }],
    "error in test for path: '/a/2': Unable to access invalid index: 2: invalid index referenced",
  ],
  [d, [{ op: 'test', path: '/a/-1', value: 2 }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test', path: '/a/x', value: 2 }], 'error in test for path: \'/a/x\': strconv.Atoi: parsing "x": invalid syntax'],
  [d, [{ op: 'test', path: '/a', value: [1, 2] }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test', path: '/a', value: [2, 1] }], 'testing value /a failed: test failed'],
  [d, [{ op: 'test', path: '/o', value: { x: 1 } }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test' }], 'test operation failed to decode path: operation missing path field: missing value'],
  [d, [{ op: 'test', path: '/s', value: 't' }], { a: [1, 2], o: { x: 1 }, s: 't' }],
  [d, [{ op: 'test', path: '/s', value: null }], 'testing value /s failed: test failed'],
  [d, [{ op: 'merge', path: '/x' }], 'Unexpected kind: merge'],
  [d, [{ path: '/x' }], 'Unexpected kind: unknown'],
  [d, [{ op: 5, path: '/x' }], 'Unexpected kind: unknown'],
  [
    { 'a/b': { 'm~n': 1, '~1': 2 } },
    [
      { op: 'remove', path: '/a~1b/m~0n' },
      { op: 'test', path: '/a~1b/~01', value: 2 },
    ],
    { 'a/b': { '~1': 2 } },
  ],
  [{ '': { '': 1 } }, [{ op: 'replace', path: '//', value: 2 }], { '': { '': 2 } }],
  [{ l: [{ a: 1 }] }, [{ op: 'replace', path: '/l/0/a', value: 2 }], { l: [{ a: 2 }] }],
  [d, [{ op: 'add', path: 'a/0', value: 5 }], { '0': 5, a: [1, 2], o: { x: 1 }, s: 't' }],
]

t.test('each operation has the result of kube-apiserver at the boundaries of lists, objects and paths', async (t) => {
  for (const [document, patch, result] of cases) {
    const run = (): JsonValue => jsonPatch(deepFreeze(document), patch)
    if (typeof result === 'string') t.throws(run, { name: 'PatchError', reason: 'failed', message: result }, JSON.stringify(patch))
    else t.strictSame(run(), result, JSON.stringify(patch))
  }
})

t.test('an invalid JSON patch is reported as malformed', async (t) => {
  t.throws(() => jsonPatch({}, {}), { reason: 'malformed', message: 'a JSON patch must be a list of operations' })
  t.throws(() => jsonPatch({}, ['add']), { reason: 'malformed', message: 'an operation of a JSON patch must be an object' })
  t.throws(() => jsonPatch(d, [{ op: 'replace', path: '' }]), {
    reason: 'failed',
    message: 'replace operation value must be object or array: %!w(<nil>)',
  })
  const tests = (count: number): JsonValue => Array.from({ length: count }, () => ({ op: 'test', path: '/s', value: 't' }))
  t.equal(jsonPatch(d, tests(10_000)), d)
  t.throws(() => jsonPatch(d, tests(10_001)), {
    reason: 'malformed',
    message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
  })
})
