import t from 'tap'
import { formatFieldSelector, matchesFields, parseFieldSelector } from '../../src/cache/field-selector.ts'
import { object } from '../support/client/fake-cluster.ts'

t.test('a field selector is parsed as the API server parses it', async (t) => {
  t.strictSame(parseFieldSelector(''), [])
  t.strictSame(parseFieldSelector('metadata.name=a,status.phase!=Running,x==y'), [
    { field: 'metadata.name', operator: '=', value: 'a' },
    { field: 'status.phase', operator: '!=', value: 'Running' },
    { field: 'x', operator: '=', value: 'y' },
  ])
  const escaped = [{ field: 'a', operator: '=', value: 'b,c=d\\' }] as const
  t.strictSame(parseFieldSelector('a=b\\,c\\=d\\\\'), escaped)
  t.equal(formatFieldSelector(escaped), 'a=b\\,c\\=d\\\\')
  t.strictSame(parseFieldSelector('a='), [{ field: 'a', operator: '=', value: '' }])
})

t.test('a malformed field selector is refused', async (t) => {
  for (const text of ['a', '=b', 'a=b=c', 'a=b\\', 'a=\\x', 'a!b'])
    t.throws(
      () => parseFieldSelector(text),
      { code: 'PRO_INPUT', message: /^The field selector .+ must be FIELD=VALUE or FIELD!=VALUE\.$/ },
      text,
    )
})

t.test('name and namespace are compared, and other fields cannot be', async (t) => {
  const a = object('a', 1)
  for (const [text, expected] of [
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name=b', false],
    ['metadata.name!=b,metadata.namespace=default', true],
    ['metadata.namespace!=default', false],
    ['status.phase=Running', undefined],
    ['status.phase=Running,metadata.name=a', undefined],
    ['status.phase=Running,metadata.name!=a', false],
  ] as const)
    t.equal(matchesFields(parseFieldSelector(text), a), expected, text)
})
