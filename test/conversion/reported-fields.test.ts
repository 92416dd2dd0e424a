import t from 'tap'
import { ReportedFields } from '../../src/conversion/reported-fields.ts'

t.test('a field is reported once for each version, whatever list item it is in', async (t) => {
  const reported = new ReportedFields()
  t.strictSame(reported.newPaths('v1', ['spec.a', 'spec.list[0].b', 'spec.list[1].b']), ['spec.a', 'spec.list[0].b'])
  t.strictSame(reported.newPaths('v1', ['spec.list[7].b', 'spec.c']), ['spec.c'])
  t.strictSame(reported.newPaths('v2', ['spec.a']), ['spec.a'])
})

t.test('after a hundred fields nothing more is reported, so that memory stays bounded', async (t) => {
  const reported = new ReportedFields()
  const paths = Array.from({ length: 150 }, (_, index) => `spec.labels.key-${index}`)
  t.strictSame(reported.newPaths('v1', paths), paths.slice(0, 100))
  t.strictSame(reported.newPaths('v1', paths), [])
  t.strictSame(reported.newPaths('v2', ['spec.a']), [])
})
