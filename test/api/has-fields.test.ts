import t from 'tap'
import { hasFields } from '../../src/api/has-fields.ts'

t.test('an object has the wanted fields, whatever other fields it has', async (t) => {
  const live = { spec: { replicas: 3, strategy: {}, list: [{ name: 'a', image: 'x', extra: true }] }, status: {} }
  const cases: [string, unknown, boolean][] = [
    ['a part', { spec: { replicas: 3 } }, true],
    ['fields of items', { spec: { list: [{ name: 'a', image: 'x' }] } }, true],
    ['a field that is undefined', { spec: { replicas: 3, paused: undefined } }, true],
    ['an empty object', {}, true],
    ['another value', { spec: { replicas: 4 } }, false],
    ['another item', { spec: { list: [{ name: 'a', image: 'y' }] } }, false],
    ['more items', { spec: { list: [{ name: 'a' }, { name: 'b' }] } }, false],
    ['no items', { spec: { list: [] } }, false],
    ['a field that is missing', { metadata: {} }, false],
    ['an inherited name', { constructor: {} }, false],
    ['an object where a number is', { spec: { replicas: {} } }, false],
  ]
  for (const [name, wanted, expected] of cases) t.equal(hasFields(live, wanted), expected, name)
  t.equal(hasFields(undefined, {}), false)
})

t.test('lists match only with the same length, and inherited fields do not count', async (t) => {
  const cases: readonly (readonly [unknown, unknown, boolean])[] = [
    [[1, 2], [1, 2], true],
    [[1, 2], [1], false],
    [[1], [1, 2], false],
    [[2, 1], [1, 2], false],
    ['ab', ['a', 'b'], false],
    [{ length: 0 }, [], false],
    [undefined, [], false],
    [[1], { 0: 1 }, false],
    [{ a: null }, { a: null }, true],
    [{}, { a: null }, false],
    [{}, { __proto__x: {} }, false],
    [{}, JSON.parse('{"__proto__":{}}'), false],
    [{}, { toString: Object.prototype.toString as never }, false],
    [5, 5n, true],
    [5, '5', false],
  ]
  for (const [actual, wanted, expected] of cases) t.equal(hasFields(actual, wanted), expected, JSON.stringify(String(wanted)))
})
