import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { strategicMergePatch } from '../../../src/devcluster/patch/strategic-merge-patch.ts'

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
    'adds to a list inside an item',
    { spec: { containers: [{ name: 'one', env: [{ name: 'B', value: '2' }] }] } },
    {
      spec: {
        containers: [
          {
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
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
  ['merges lists of scalars', { metadata: { finalizers: ['x/b', 'x/a'] } }, { metadata: { finalizers: ['x/a', 'x/b'] } }],
  ['deletes from lists of scalars', { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a'] } }, { metadata: { finalizers: [] } }],
  [
    'puts items into the wanted order',
    { spec: { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }], containers: [{ name: 'one', image: 'one:2' }] } },
    { spec: { containers: [{ name: 'two' }, { name: 'one', image: 'one:2' }] } },
  ],
  ['keeps named fields alone', { metadata: { labels: { $retainKeys: ['b'], b: '3' } } }, { metadata: { labels: { b: '3' } } }],
]

for (const [name, patch, expected] of cases) {
  t.test(`strategic merge patch ${name}`, async (t) => {
    const result = strategicMergePatch(pod, patch)
    t.match(result, expected)
    t.notMatch(JSON.stringify(result), /\$/, 'no directive is left')
    for (const [path, size] of sizes(expected)) t.equal(sizeAt(result, path), size, path.join('.'))
  })
}

t.test('a strategic merge patch without a merge key is malformed', async (t) => {
  t.throws(() => strategicMergePatch(pod, { spec: { containers: [{ image: 'x' }] } }), {
    reason: 'malformed',
    message: /does not contain declared merge key: name/,
  })
})

/** How many entries the lists and label maps of the expected part have: `match` alone would allow more. */
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
