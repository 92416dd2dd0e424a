import t from 'tap'
import { hasFields } from '../../src/api/has-fields.ts'

t.test('an object has what is wanted of it, whatever else it has', async (t) => {
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
