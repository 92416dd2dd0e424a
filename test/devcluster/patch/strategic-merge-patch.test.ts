import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { strategicMergePatch } from '../../../src/devcluster/patch/strategic-merge-patch.ts'
import { kindType } from '../../../src/devcluster/types/go-types.ts'

const podType = kindType({ group: '', version: 'v1', kind: 'Pod' })!

const pod: JsonObject = deepFreeze({
  metadata: { name: 'p', labels: { a: '1', b: '2' }, finalizers: ['x/a'] },
  spec: {
    containers: [
      { name: 'one', image: 'one:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] },
      { name: 'two', image: 'two:1', args: ['a', 'b'] },
    ],
    tolerations: [{ key: 'k' }],
  },
})

const cases: readonly (readonly [name: string, patch: JsonObject, expected: JsonObject])[] = [
  [
    'changes the container of a name, and leaves the others',
    { spec: { containers: [{ name: 'two', image: 'two:2' }] } },
    {
      spec: {
        containers: [
          { name: 'one', image: 'one:1' },
          { name: 'two', image: 'two:2', args: ['a', 'b'] },
        ],
      },
    },
  ],
  [
    'adds to a list inside an item, before what is there',
    { spec: { containers: [{ name: 'one', env: [{ name: 'B', value: '2' }] }] } },
    {
      spec: {
        containers: [
          {
            env: [
              { name: 'B', value: '2' },
              { name: 'A', value: '1' },
            ],
          },
          {},
        ],
      },
    },
  ],
  ['deletes an item', { spec: { containers: [{ name: 'one', $patch: 'delete' }] } }, { spec: { containers: [{ name: 'two' }] } }],
  [
    'replaces a list',
    { spec: { containers: [{ name: 'three', image: 'x' }, { $patch: 'replace' }] } },
    { spec: { containers: [{ name: 'three', image: 'x' }] } },
  ],
  ['replaces a map', { metadata: { labels: { $patch: 'replace', c: '3' } } }, { metadata: { labels: { c: '3' } } }],
  ['deletes a field', { metadata: { labels: { a: null } } }, { metadata: { labels: { b: '2' } } }],
  ['replaces lists that have no key', { spec: { tolerations: [{ key: 'l' }] } }, { spec: { tolerations: [{ key: 'l' }] } }],
  ['merges lists of scalars', { metadata: { finalizers: ['x/b', 'x/a'] } }, { metadata: { finalizers: ['x/b', 'x/a'] } }],
  ['deletes from lists of scalars', { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a'] } }, { metadata: { finalizers: [] } }],
  [
    'puts items into the wanted order',
    { spec: { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }], containers: [{ name: 'one', image: 'one:2' }] } },
    { spec: { containers: [{ name: 'two' }, { name: 'one', image: 'one:2' }] } },
  ],
  [
    'keeps the place of items that the patch does not name',
    { spec: { containers: [{ name: 'two', image: 'two:2' }, { name: 'three' }] } },
    { spec: { containers: [{ name: 'one' }, { name: 'two', image: 'two:2' }, { name: 'three' }] } },
  ],
  ['leaves out what is a directive alone', { metadata: { annotations: { $patch: 'replace', a: 'b' } } }, { metadata: { name: 'p' } }],
  ['leaves out nulls of what is new', { metadata: { annotations: { a: null, b: '1' } } }, { metadata: { annotations: { b: '1' } } }],
  ['keeps named fields alone', { metadata: { labels: { $retainKeys: ['b'], b: '3' } } }, { metadata: { labels: { b: '3' } } }],
  [
    'keeps named fields alone, also where it says of others that they go',
    { metadata: { labels: { $retainKeys: ['b'], a: null, b: '3' } } },
    { metadata: { labels: { b: '3' } } },
  ],
]

for (const [name, patch, expected] of cases) {
  t.test(`strategic merge patch ${name}`, async (t) => {
    const result = strategicMergePatch(pod, patch, podType)
    t.match(result, expected)
    t.notMatch(JSON.stringify(result), /\$/, 'no directive is left')
    for (const [path, size] of sizes(expected)) t.equal(sizeAt(result, path), size, path.join('.'))
  })
}

const refused: readonly (readonly [name: string, patch: JsonObject, reason: 'malformed' | 'internal', message: string])[] = [
  [
    'an item without its key',
    { spec: { containers: [{ image: 'x' }] } },
    'internal',
    'map: map[image:x] does not contain declared merge key: name',
  ],
  ['an unknown directive', { spec: { $patch: 'jump' } }, 'internal', 'unknown patch type: jump in map: map[$patch:jump]'],
  [
    'merge as the directive of an item',
    { spec: { containers: [{ name: 'one', $patch: 'merge' }] } },
    'internal',
    'merging lists cannot yet be specified in the patch',
  ],
  [
    'an order that leaves out what the patch has',
    { spec: { '$setElementOrder/containers': [{ name: 'two' }], containers: [{ name: 'one' }] } },
    'internal',
    "The order in patch list:\n[map[name:one]]\n doesn't match $setElementOrder list:\n[map[name:two]]\n",
  ],
  [
    'an order that is no list',
    { spec: { '$setElementOrder/containers': 'one' } },
    'internal',
    'expected a []interface {}, but received a string',
  ],
  ['an order of nothing', { spec: { $setElementOrder: [] } }, 'malformed', 'invalid patch format of setElementOrder list'],
  ['deletions from nothing', { metadata: { $deleteFromPrimitiveList: [] } }, 'malformed', 'invalid patch format of primitive list'],
  [
    'fields beside those to keep',
    { metadata: { labels: { $retainKeys: ['b'], a: '3' } } },
    'malformed',
    'invalid patch format of retainKeys',
  ],
  [
    'items of different types',
    { metadata: { finalizers: [{ a: 'b' }] } },
    'internal',
    'list element types are not identical: [[x/a] [map[a:b]]]',
  ],
  [
    'a list that the type does not know',
    { spec: { extra: [] } },
    'internal',
    'unable to find api field in struct PodSpec for the json field "extra"',
  ],
]

for (const [name, patch, reason, message] of refused) {
  t.test(`a strategic merge patch is refused for ${name}`, async (t) => {
    const target = { ...pod, spec: { ...(pod.spec as JsonObject), extra: [1] } }
    t.throws(() => strategicMergePatch(target, patch, podType), { reason, message })
  })
}

/**
 * Returns the number of items of each list, and the number of labels, in the expected object. The test compares these numbers separately,
 * because `match` accepts additional items and labels.
 */
function sizes(expected: unknown, path: readonly string[] = []): [readonly string[], number][] {
  if (Array.isArray(expected)) return [[path, expected.length]]
  if (typeof expected !== 'object' || expected === null) return []
  const own: [readonly string[], number][] = path.at(-1) === 'labels' ? [[path, Object.keys(expected).length]] : []
  return [...own, ...Object.entries(expected).flatMap(([key, value]) => sizes(value, [...path, key]))]
}

function sizeAt(value: unknown, path: readonly string[]): number {
  const found = path.reduce<unknown>((current, key) => (current as Record<string, unknown>)[key], value)
  return Array.isArray(found) ? found.length : Object.keys(found as object).length
}
