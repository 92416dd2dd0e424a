import t from 'tap'
import { jsonHash } from '../../src/api/json-hash.ts'
import { labelValue } from '../../src/api/name-syntax.ts'

t.test('a hash has always the same 32 digits', async (t) => {
  // The hash must never change: it is stored in the cluster, and later releases compare it.
  t.equal(jsonHash({ b: [1, 'x'], a: null }), 'c22cb7b0353770e2b38094af641143eb')
  t.strictSame(labelValue(jsonHash({})), [])
  t.match(jsonHash(undefined), /^[0-9a-f]{32}$/)
})

t.test('equal values have the same hash, and others have another one', async (t) => {
  const value = { a: 1, b: { c: [1, 2], d: 'x' } }
  const hash = jsonHash(value)
  for (const equal of [
    { b: { d: 'x', c: [1, 2] }, a: 1 },
    { ...value, e: undefined },
  ])
    t.equal(jsonHash(equal), hash)
  for (const other of [
    { ...value, b: { c: [2, 1], d: 'x' } },
    { ...value, a: '1' },
    { ...value, e: null },
    { ...value, a: 1n + 2n ** 60n },
    [value],
  ])
    t.not(jsonHash(other), hash)
})
