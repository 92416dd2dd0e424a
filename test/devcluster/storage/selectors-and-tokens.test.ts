import t from 'tap'
import { decodeContinueToken, encodeContinueToken } from '../../../src/devcluster/storage/continue-token.ts'
import { matchesFields, parseFieldSelector } from '../../../src/devcluster/storage/field-selector.ts'

t.test('parses field selectors', async (t) => {
  t.strictSame(parseFieldSelector('metadata.name=a,status.phase!=Running,spec.x==y'), [
    { field: 'metadata.name', operator: '=', value: 'a' },
    { field: 'status.phase', operator: '!=', value: 'Running' },
    { field: 'spec.x', operator: '=', value: 'y' },
  ])
  t.strictSame(parseFieldSelector('a=b\\,c\\=d'), [{ field: 'a', operator: '=', value: 'b,c=d' }])
  t.strictSame(parseFieldSelector(''), [])
  t.throws(() => parseFieldSelector('abc'), { message: "invalid selector: 'abc'; can't understand 'abc'" })
})

t.test('matches fields, one that is not there being empty', async (t) => {
  t.ok(matchesFields(parseFieldSelector('a=1,b!=2'), { a: '1' }))
  t.notOk(matchesFields(parseFieldSelector('a!=1'), { a: '1' }))
  t.ok(matchesFields(parseFieldSelector('toString='), {}), 'inherited names are not fields')
})

t.test("reads the continue tokens that it writes, in the API server's form", async (t) => {
  const text = encodeContinueToken({ revision: 216, start: 'a\0' })
  t.equal(Buffer.from(text, 'base64url').toString(), '{"v":"meta.k8s.io/v1","rv":216,"start":"a\\u0000"}')
  t.strictSame(decodeContinueToken(text), { revision: 216, start: 'a\0' })
  for (const bad of ['', 'abc', Buffer.from('{}').toString('base64url')]) t.throws(() => decodeContinueToken(bad), { name: 'SyntaxError' })
})
