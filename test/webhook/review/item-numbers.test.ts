import t from 'tap'
import type { JsonValue } from '../../../src/api/json.ts'
import { jsonEqual } from '../../../src/api/json.ts'
import { ItemNumbers } from '../../../src/webhook/review/item-numbers.ts'

/** Values that all differ from each other. Some of them differ only in a delimiter, in a type or in the nesting. */
const different = (): JsonValue[] => [
  null,
  'null',
  true,
  'true',
  1,
  '1',
  -1,
  '',
  [],
  {},
  [[]],
  [{}],
  [[], []],
  [[[]]],
  [1, 2],
  [12],
  ['1,2'],
  [2, 1],
  [1],
  ['1'],
  ['a', 'b'],
  ['a,"1:b'],
  ['ab', ''],
  ['#0'],
  { a: 1 },
  { a: '1' },
  { a: [1] },
  { a: { b: 1 } },
  { a: { c: 1 } },
  { b: 1 },
  { a: 1, b: 2 },
  { a: 2, b: 1 },
  { 'a1,1:b': 2 },
  { a: null },
  { aa: 1 },
  9007199254740993n,
  9007199254740992n,
]

t.test('different items have different numbers, counted in the order in which they are seen', (t) => {
  const numbers = new ItemNumbers()
  // A nested list or object gets its number before the list or object that contains it. The numbers of the items are therefore distinct,
  // but not consecutive.
  const seen = different().map((item) => numbers.of(item))
  t.equal(new Set(seen).size, seen.length)
  t.equal(seen[0], 0)
  t.equal(seen[1], 1)
  t.end()
})

t.test('equal items have equal numbers, whatever the order of their fields', (t) => {
  const numbers = new ItemNumbers()
  const seen = different().map((item) => numbers.of(item))
  t.strictSame(
    different().map((item) => numbers.of(item)),
    seen,
  )
  for (const [a, b] of [
    [
      { a: 1, b: [{ c: 2, d: 3 }] },
      { b: [{ d: 3, c: 2 }], a: 1 },
    ],
    [{ a: 1, b: undefined }, { a: 1 }],
    [7, 7n],
  ] as [JsonValue, JsonValue][]) {
    t.equal(numbers.of(a), numbers.of(b))
    t.equal(jsonEqual(a, b), true)
  }
  t.end()
})
