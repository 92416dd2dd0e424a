import t from 'tap'
import { decodeContinueToken, encodeContinueToken } from '../../../src/devcluster/storage/continue-token.ts'
import { exactValue, matchesFields, parseFieldSelector } from '../../../src/devcluster/storage/field-selector.ts'

t.test('a field selector is parsed into requirements in the order of its sorted terms', async (t) => {
  t.strictSame(parseFieldSelector('metadata.name=a,status.phase!=Running,spec.x==y'), [
    { field: 'metadata.name', operator: '=', value: 'a' },
    { field: 'spec.x', operator: '=', value: 'y' },
    { field: 'status.phase', operator: '!=', value: 'Running' },
  ])
  t.strictSame(parseFieldSelector('a=b\\,c\\=d'), [{ field: 'a', operator: '=', value: 'b,c=d' }])
  t.strictSame(parseFieldSelector(''), [])
  t.throws(() => parseFieldSelector('abc'), { message: "invalid selector: 'abc'; can't understand 'abc'" })
})

t.test('a field selector supports escapes of its separators only', async (t) => {
  const value = (text: string): unknown => parseFieldSelector(`a=${text}`)
  t.strictSame(value('b\\\\c'), [{ field: 'a', operator: '=', value: 'b\\c' }])
  t.strictSame(value(''), [{ field: 'a', operator: '=', value: '' }])
  t.strictSame(parseFieldSelector('a!='), [{ field: 'a', operator: '!=', value: '' }])
  t.strictSame(parseFieldSelector('=b'), [{ field: '', operator: '=', value: 'b' }])
  t.strictSame(parseFieldSelector(',a=b,,c=d,'), [
    { field: 'a', operator: '=', value: 'b' },
    { field: 'c', operator: '=', value: 'd' },
  ])
  t.strictSame(value('\\\\'), [{ field: 'a', operator: '=', value: '\\' }])
  t.strictSame(parseFieldSelector('a!b=c'), [{ field: 'a!b', operator: '=', value: 'c' }])
  t.strictSame(parseFieldSelector('a==b'), [{ field: 'a', operator: '=', value: 'b' }])
  // The message is compared with `t.equal`, because `t.throws` accepts a string that is only a part of the message.
  const wrong = (text: string, message: string): void => {
    const error = t.throws(() => parseFieldSelector(text), { name: 'SyntaxError' }) as unknown as Error
    t.equal(error.message, message, text)
  }
  wrong('a=b\\n', 'invalid field selector: invalid escape sequence: \\n')
  wrong('a=b\\', 'invalid field selector: invalid escape sequence: \\')
  wrong('a=b\\\\\\', 'invalid field selector: invalid escape sequence: \\')
  wrong('a\\', "invalid selector: 'a\\'; can't understand 'a\\'")
  wrong('a=b=c', 'invalid field selector: unescaped character in value: 61')
  wrong('x=y,a!b', "invalid selector: 'x=y,a!b'; can't understand 'a!b'")
})

t.test('the first of the sorted requirements that a field has one value is its exact value', async (t) => {
  const exact = (text: string) => exactValue(parseFieldSelector(text), 'a')
  t.equal(exact('b=1,a=2'), '2')
  t.equal(exact('a=2,a=1'), '1')
  t.equal(exact('a==2'), '2')
  t.equal(exact('a='), '')
  t.equal(exact('a!=2,b=1'), undefined)
})

t.test('a missing field matches the empty string', async (t) => {
  t.ok(matchesFields(parseFieldSelector('a=1,b!=2'), { a: '1' }))
  t.notOk(matchesFields(parseFieldSelector('a!=1'), { a: '1' }))
  t.ok(matchesFields(parseFieldSelector('toString='), {}), 'inherited names are not fields')
})

t.test('an object must match every requirement of a field selector', async (t) => {
  for (const [selector, matches] of [
    ['a=1,b=2', true],
    ['a=1,b=3', false],
    ['a=0,b=2', false],
    ['a=1,b!=2', false],
    ['a!=0,b!=3,c=', true],
    ['', true],
  ] as const)
    t.equal(matchesFields(parseFieldSelector(selector), { a: '1', b: '2' }), matches, selector)
})

t.test('a continue token is encoded and decoded in the form of kube-apiserver', async (t) => {
  const text = encodeContinueToken({ revision: 216, start: 'a\0' })
  t.equal(Buffer.from(text, 'base64url').toString(), '{"v":"meta.k8s.io/v1","rv":216,"start":"a\\u0000"}')
  t.strictSame(decodeContinueToken(text), { revision: 216, start: 'a\0' })
  t.strictSame(decodeContinueToken(encodeContinueToken({ revision: -1, start: 'n/a' })), { revision: -1, start: 'n/a' })
  for (const bad of ['', 'abc', Buffer.from('{}').toString('base64url')]) t.throws(() => decodeContinueToken(bad), { name: 'SyntaxError' })
})

t.test('an invalid continue token is refused with its error', async (t) => {
  const token = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const v = 'meta.k8s.io/v1'
  const cases: readonly (readonly [text: string, problem: string])[] = [
    ['!abc', 'illegal base64 data at input byte 0'],
    ['ab!c', 'illegal base64 data at input byte 2'],
    ['YQ==', 'illegal base64 data at input byte 2'],
    [token('[]'), 'server does not recognize this encoded version '],
    [token({ rv: 1, start: 'a' }), 'server does not recognize this encoded version '],
    [token({ v: 'v2', rv: 1, start: 'a' }), 'server does not recognize this encoded version v2'],
    [token({ v, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v, rv: 0, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v, rv: 1.5, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v, rv: '1', start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v, rv: 1 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token({ v, rv: 1, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token({ v, rv: 1, start: '../a' }), '../a'],
    [token({ v, rv: 1, start: 'a/../b' }), 'a/../b'],
  ]
  for (const [text, problem] of cases) {
    const error = t.throws(() => decodeContinueToken(text), { name: 'SyntaxError' }) as unknown as Error
    t.equal(error.message, `continue key is not valid: ${problem}`)
  }
  t.equal(decodeContinueToken(token({ v, rv: 1, start: 'a..b/c' })).start, 'a..b/c')
})
