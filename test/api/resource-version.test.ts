import t from 'tap'
import { compareResourceVersions } from '../../src/api/resource-version.ts'
import { fc } from '../support/property.ts'

t.test('resourceVersions are compared as numbers of any length', async (t) => {
  for (const [a, b, sign] of [
    ['1', '1', 0],
    ['9', '10', -1],
    ['10', '9', 1],
    ['0', '1', -1],
    ['18446744073709551616', '18446744073709551615', 1],
  ] as const)
    t.equal(Math.sign(compareResourceVersions(a, b)!), sign, `${a} ${b}`)
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n }),
      fc.bigInt({ min: 0n }),
      (a, b) => Math.sign(compareResourceVersions(String(a), String(b))!) === (a < b ? -1 : a > b ? 1 : 0),
    ),
  )
})

t.test('other resourceVersions can only be equal', async (t) => {
  t.equal(compareResourceVersions('abc', 'abc'), 0)
  for (const other of ['', '01', '-1', '1.5', '1e3', 'abc', ' 1']) {
    t.equal(compareResourceVersions(other, '1'), undefined, other)
    t.equal(compareResourceVersions('1', other), undefined, other)
  }
})
