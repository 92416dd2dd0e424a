import t from 'tap'
import type { JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { isProperList, listErrors } from '../../src/schema/list-types.ts'
import { buildNode, type SchemaNode } from '../../src/schema/node.ts'
import { processorTimeMs } from '../support/turns.ts'

function told(schema: StructuralSchema, list: JsonValue[]): string[] {
  return listErrors(buildNode({ type: 'array', ...schema }), list, 'l').map(({ path, message }) => `${path}: ${message}`)
}

const free: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const set: StructuralSchema = { items: free, 'x-kubernetes-list-type': 'set' }
const mapBy = (...keys: string[]): StructuralSchema => ({
  items: free,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
})

t.test('sets', async (t) => {
  t.strictSame(
    told(set, ['a', 'b', 'a', 'a', 'c', 'c']),
    ['l[2]: Duplicate value: "a"', 'l[5]: Duplicate value: "c"'],
    'the second occurrence alone',
  )
  t.strictSame(told(set, [1, '1', true, 'true', null, 'null', [], '[]', {}, '{}']), [], 'what differs in type is different')
  t.strictSame(
    told(set, [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
    ['l[1]: Duplicate value: {"a":1,"b":2}'],
    'objects with their fields in any order',
  )
  t.strictSame(told(set, [{ a: null }, {}]), [])
  t.strictSame(told(set, [null, null]), ['l[1]: Duplicate value: null'])
})

t.test('maps', async (t) => {
  t.strictSame(
    told(mapBy('a'), [
      { a: 'x', c: 1 },
      { a: 'x', c: 2 },
    ]),
    ['l[1]: Duplicate value: {"a":"x"}'],
  )
  t.strictSame(
    told(mapBy('a', 'b'), [
      { a: 'x', b: 1 },
      { a: 'x', b: 2 },
      { b: 1, a: 'x' },
    ]),
    ['l[2]: Duplicate value: {"a":"x","b":1}'],
  )
  t.strictSame(told(mapBy('a'), [{}, { c: 1 }]), ['l[1]: Duplicate value: {}'], 'a key that is missing is a value')
  t.strictSame(told(mapBy('a'), [null, {}]), ['l[1]: Duplicate value: {}'], 'null is an item without keys')
  t.strictSame(told(mapBy('a'), [{ a: null }, {}]), [])
  t.strictSame(told(mapBy('constructor'), [{}, { constructor: 'x' } as unknown as JsonValue]), [], 'keys are not inherited')
  t.strictSame(told(mapBy('a'), [{ a: 'x' }, 5, 'y']), ['l[1]: Invalid value: 5: must be an object for an array of list-type map'])
})

t.test('strings are told apart however many there are, and however much they look alike', async (t) => {
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

t.test('a list that is no proper one is none, whatever makes it so', async (t) => {
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

t.test('no more errors are told than are asked for', async (t) => {
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

t.test('what is nested too deep to be compared is refused', async (t) => {
  const nested = (levels: number): JsonValue => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
  t.strictSame(told(set, [nested(999)]), [])
  t.strictSame(told(set, [nested(1000)]), ['l: Invalid value: "array": must not be nested deeper than 1000 levels'])
})

t.test('other lists may repeat', async (t) => {
  t.strictSame(told({ items: free }, ['a', 'a']), [])
  t.strictSame(told({ items: free, 'x-kubernetes-list-type': 'atomic' }, ['a', 'a']), [])
})

t.test('takes time in proportion to the list', async (t) => {
  const list = Array.from({ length: 100_000 }, (_, index) => ({ a: `${index}` }))
  const started = processorTimeMs()
  t.strictSame(told(mapBy('a'), list), [])
  t.ok(processorTimeMs() - started < 5000)
})
