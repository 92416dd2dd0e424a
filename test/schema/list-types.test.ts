import t from 'tap'
import type { JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { isProperList, listErrors } from '../../src/schema/list-types.ts'
import { buildNode, type SchemaNode } from '../../src/schema/node.ts'
import { processorTimeMs } from '../support/turns.ts'

function errorsOf(schema: StructuralSchema, list: JsonValue[]): string[] {
  return listErrors(buildNode({ type: 'array', ...schema }), list, 'l').map(({ path, message }) => `${path}: ${message}`)
}

const free: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const set: StructuralSchema = { items: free, 'x-kubernetes-list-type': 'set' }
const mapBy = (...keys: string[]): StructuralSchema => ({
  items: free,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
})

t.test('duplicates in a set are reported', async (t) => {
  t.strictSame(
    errorsOf(set, ['a', 'b', 'a', 'a', 'c', 'c']),
    ['l[2]: Duplicate value: "a"', 'l[5]: Duplicate value: "c"'],
    'only the second occurrence is reported',
  )
  t.strictSame(errorsOf(set, [1, '1', true, 'true', null, 'null', [], '[]', {}, '{}']), [], 'values of different types are different')
  t.strictSame(
    errorsOf(set, [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
    ['l[1]: Duplicate value: {"a":1,"b":2}'],
    'the order of fields does not matter',
  )
  t.strictSame(errorsOf(set, [{ a: null }, {}]), [])
  t.strictSame(errorsOf(set, [null, null]), ['l[1]: Duplicate value: null'])
})

t.test('duplicate keys in a list map are reported', async (t) => {
  t.strictSame(
    errorsOf(mapBy('a'), [
      { a: 'x', c: 1 },
      { a: 'x', c: 2 },
    ]),
    ['l[1]: Duplicate value: {"a":"x"}'],
  )
  t.strictSame(
    errorsOf(mapBy('a', 'b'), [
      { a: 'x', b: 1 },
      { a: 'x', b: 2 },
      { b: 1, a: 'x' },
    ]),
    ['l[2]: Duplicate value: {"a":"x","b":1}'],
  )
  t.strictSame(errorsOf(mapBy('a'), [{}, { c: 1 }]), ['l[1]: Duplicate value: {}'], 'a key that is missing is a value')
  t.strictSame(errorsOf(mapBy('a'), [null, {}]), ['l[1]: Duplicate value: {}'], 'null is an item without keys')
  t.strictSame(errorsOf(mapBy('a'), [{ a: null }, {}]), [])
  t.strictSame(errorsOf(mapBy('constructor'), [{}, { constructor: 'x' } as unknown as JsonValue]), [], 'keys are not inherited')
  t.strictSame(errorsOf(mapBy('a'), [{ a: 'x' }, 5, 'y']), ['l[1]: Invalid value: 5: must be an object for an array of list-type map'])
})

t.test('many similar strings are compared exactly', async (t) => {
  const alike = (index: number): string => `${index.toString().padStart(6, '0')}${'x'.repeat(30)}`
  const unlike = (index: number): string => `name-${index}`
  const map = buildNode({ type: 'array', ...mapBy('a') })
  for (const name of [alike, unlike])
    for (const length of [2, 63, 64, 65, 129, 512, 513, 700]) {
      const list = Array.from({ length }, (_, index) => ({ a: name(index) }))
      t.ok(isProperList(map, list), `${length} of ${name.name}`)
      for (const twice of [0, (length - 1) >> 1])
        t.notOk(isProperList(map, [...list, { a: name(twice) }]), `${length} of ${name.name}, one of them twice`)
    }
})

t.test('a set or a list map with duplicates is improper', async (t) => {
  const map = buildNode({ type: 'array', ...mapBy('a') })
  const two = buildNode({ type: 'array', ...mapBy('a', 'b') })
  const inherited = buildNode({ type: 'array', ...mapBy('constructor') })
  const cases: readonly (readonly [SchemaNode, JsonValue[], boolean])[] = [
    [buildNode({ type: 'array', ...set }), ['', 'a', 'b', 'ab', 'ba'], true],
    [buildNode({ type: 'array', ...set }), ['a', ''], true],
    [buildNode({ type: 'array', ...set }), ['', ''], false],
    [buildNode({ type: 'array', ...set }), [1, 1], false],
    [buildNode({ type: 'array', ...set }), [1, '1'], true],
    [map, [{ a: 1 }, { a: 1 }], false],
    [map, [{ a: 'x' }, {}, {}], false],
    [map, [{ a: 'x' }, 'x'], false],
    [
      two,
      [
        { a: 'x', b: 'y' },
        { a: 'x', b: 'z' },
      ],
      true,
    ],
    [
      two,
      [
        { a: 'x', b: 'y' },
        { a: 'x', b: 'y' },
      ],
      false,
    ],
    [inherited, [{}, {}], false],
    [inherited, [{ constructor: 'x' }, {}] as unknown as JsonValue[], true],
    [buildNode({ type: 'array', items: free }), ['a', 'a'], true],
  ]
  for (const [node, list, proper] of cases) t.equal(isProperList(node, list), proper, JSON.stringify(list))
})

t.test('the number of errors is limited', async (t) => {
  const lists: readonly (readonly [StructuralSchema, JsonValue[]])[] = [
    [set, ['a', 'b', 'c', 'a', 'b', 'c']],
    [mapBy('a'), ['a', 'b', 'c', 'a', 'b', 'c'].map((a) => ({ a }))],
  ]
  for (const [schema, list] of lists) {
    const node = buildNode({ type: 'array', ...schema })
    for (const most of [0, 1, 2, 3]) t.equal(listErrors(node, list, 'l', most).length, most)
    t.equal(listErrors(node, list, 'l', 4).length, 3)
  }
})

t.test('items that are nested too deeply to be compared are refused', async (t) => {
  const nested = (levels: number): JsonValue => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
  t.strictSame(errorsOf(set, [nested(999)]), [])
  t.strictSame(errorsOf(set, [nested(1000)]), ['l: Invalid value: "array": must not be nested deeper than 1000 levels'])
})

t.test('an atomic list may contain duplicates', async (t) => {
  t.strictSame(errorsOf({ items: free }, ['a', 'a']), [])
  t.strictSame(errorsOf({ items: free, 'x-kubernetes-list-type': 'atomic' }, ['a', 'a']), [])
})

t.test('the comparison takes linear time', async (t) => {
  const list = Array.from({ length: 100_000 }, (_, index) => ({ a: `${index}` }))
  const started = processorTimeMs()
  t.strictSame(errorsOf(mapBy('a'), list), [])
  t.ok(processorTimeMs() - started < 5000)
})

t.test('the table of a list that was validated before is not used for the next one', async (t) => {
  const node = buildNode({ type: 'array', ...set })
  for (const length of [1, 60, 300]) {
    let reads = 0
    const get = (list: string[], key: string): unknown => {
      if (/^\d+$/.test(key)) reads += 1
      return Reflect.get(list, key) as unknown
    }
    const list = new Proxy(
      Array.from({ length }, (_, index) => `item ${index}`),
      { get } as ProxyHandler<string[]>,
    )
    const readsOf = (): number => {
      reads = 0
      t.ok(isProperList(node, list))
      return reads
    }
    // `isProperList` reuses one hash table for all lists. If the table still contained the items of the previous validation, items would
    // seem to be duplicates. `isProperList` would then check the list again in a slower way. The result would still be correct, but the
    // number of reads would increase.
    const first = readsOf()
    t.equal(readsOf(), first, `${length} items`)
    t.ok(first < 2 * length, 'there are few collisions')
  }
})
