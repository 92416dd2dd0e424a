import t from 'tap'
import { ToldFields } from '../../src/conversion/told-fields.ts'

t.test('a field is news once for each version, whichever item of a list it is in', async (t) => {
  const told = new ToldFields()
  t.strictSame(told.news('v1', ['spec.a', 'spec.list[0].b', 'spec.list[1].b']), ['spec.a', 'spec.list[0].b'])
  t.strictSame(told.news('v1', ['spec.list[7].b', 'spec.c']), ['spec.c'])
  t.strictSame(told.news('v2', ['spec.a']), ['spec.a'])
})

t.test('after a hundred fields nothing is news, so that nothing grows with what users call theirs', async (t) => {
  const told = new ToldFields()
  const paths = Array.from({ length: 150 }, (_, index) => `spec.labels.key-${index}`)
  t.strictSame(told.news('v1', paths), paths.slice(0, 100))
  t.strictSame(told.news('v1', paths), [])
  t.strictSame(told.news('v2', ['spec.a']), [])
})
