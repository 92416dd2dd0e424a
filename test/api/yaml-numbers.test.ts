/** Tests of the numbers in YAML documents. The results are those of kube-apiserver 1.36. */
import t from 'tap'
import type { ScalarTag } from 'yaml'
import { parse } from 'yaml'
import { goNumberTags } from '../../src/api/yaml-numbers.ts'

const read = (text: string, exact = true): unknown =>
  parse(text, { version: '1.1', intAsBigInt: exact, customTags: goNumberTags, logLevel: 'silent' }) as unknown

t.test('integers are exact up to 64 bits, decimal ones are floats beyond, and strings beyond the range of a float', async (t) => {
  const nines = '9'.repeat(400)
  const cases: readonly (readonly [string, unknown])[] = [
    ['12', 12n],
    ['-017', -15n],
    ['1_000', 1000n],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', -(2 ** 63)],
    ['18446744073709551615', 2n ** 64n - 1n],
    ['18446744073709551616', 2 ** 64],
    ['1_000000000000000000000000000000', 1e30],
    ['+999999999999999999999999999999', 1e30],
    ['9'.repeat(100), 1e100],
    [nines, nines],
    [`-${nines}`, `-${nines}`],
    ['0xffffffffffffffff', 2n ** 64n - 1n],
    [`-0b1${'0'.repeat(63)}`, -(2n ** 63n)],
    ['0xffffffffffffffffffff', '0xffffffffffffffffffff'],
    [`-0b${'1'.repeat(63)}`, -(2n ** 63n) + 1n],
    [`0b${'1'.repeat(80)}`, `0b${'1'.repeat(80)}`],
    ['0777777777777777777777777777777', 777777777777777777777777777777],
    ['1e3', 1000],
    ['1e400', '1e400'],
    ['-1e400', '-1e400'],
    ['.inf', Infinity],
    ['-.inf', -Infinity],
    ['.nan', NaN],
  ]
  for (const [text, value] of cases) {
    t.strictSame(read(text), value, text)
    t.strictSame(read(text, false), typeof value === 'bigint' ? Number(value) : value, `${text}, not exact`)
  }
})

t.test('an integer with more digits than 64 bits have is not given to the parser of integers', async (t) => {
  const given: string[] = []
  const resolve = (text: string): bigint => BigInt(given.push(text))
  const [tag] = goNumberTags([{ tag: 'tag:yaml.org,2002:int', resolve }])
  const read = (text: string): unknown => (tag as ScalarTag).resolve(text, t.fail, {})
  const digits = '9'.repeat(8_000_000)
  t.equal(read(digits), digits)
  t.equal(read(`0x${digits}`), `0x${digits}`)
  t.strictSame(given, [])
  t.equal(read('12'), 1)
  t.strictSame(given, ['12'])
})
