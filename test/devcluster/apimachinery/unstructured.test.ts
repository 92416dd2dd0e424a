import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../../src/devcluster/apimachinery/unstructured.ts'

const object: JsonObject = {
  text: 'x',
  empty: '',
  number: 7,
  zero: 0,
  flag: false,
  nothing: null,
  list: [1, 2, 3],
  map: { a: { b: 'deep' }, c: 1 },
}

t.test('a value is found at its path of fields', async (t) => {
  t.equal(at(object), object)
  t.equal(at(object, 'map', 'a', 'b'), 'deep')
  t.equal(at(object, 'flag'), false)
  t.equal(at(object, 'nothing'), null)
  for (const path of [
    ['none'],
    ['none', 'a'],
    ['map', 'b'],
    ['text', 'length'],
    ['list', 'length'],
    ['list', '0'],
    ['toString'],
    ['nothing', 'a'],
  ])
    t.equal(at(object, ...path), undefined, path.join('.'))
  t.equal(at(undefined, 'a'), undefined)
})

t.test('a missing value, or one of another type, is an empty text, list or map, or 0', async (t) => {
  const cases: readonly (readonly [field: string, text: string, number: number, list: readonly JsonValue[], size: number])[] = [
    ['text', 'x', 0, [], 0],
    ['empty', '', 0, [], 0],
    ['number', '', 7, [], 0],
    ['zero', '', 0, [], 0],
    ['flag', '', 0, [], 0],
    ['nothing', '', 0, [], 0],
    ['list', '', 0, [1, 2, 3], 3],
    ['map', '', 0, [], 2],
    ['none', '', 0, [], 0],
  ]
  for (const [field, ...expected] of cases)
    t.strictSame([textAt(object, field), numberAt(object, field), listAt(object, field), sizeAt(object, field)], expected, field)
  t.equal(textAt(object, 'map', 'a', 'b'), 'deep')
  t.equal(numberAt(object, 'map', 'c'), 1)
  t.equal(sizeAt(object, 'map', 'a'), 1)
})
