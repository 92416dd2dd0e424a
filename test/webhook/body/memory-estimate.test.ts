import t from 'tap'
import { costOf, costOfMarks, maxReviewCost } from '../../../src/webhook/body/memory-estimate.ts'
import { hostileReviews, reviewOfSpec } from '../../support/hostile/reviews.ts'

/**
 * Strings, each with the number of bytes of heap that `JSON.parse` uses in addition to the string. The numbers were measured with
 * `process.memoryUsage` after garbage collections.
 */
const measured: readonly (readonly [string, string, number])[] = [
  ['empty objects', reviewOfSpec(`{"open":[${'{},'.repeat(43_000)}1]}`), 2_757_034],
  ['empty lists', reviewOfSpec(`{"open":[${'[],'.repeat(43_000)}1]}`), 1_725_034],
  ['lists in lists', reviewOfSpec(`{"open":[${'[[[[[[[[]]]]]]]],'.repeat(8_000)}1]}`), 3_461_433],
  ['floats', reviewOfSpec(`{"open":[${'0.5,[],'.repeat(19_000)}1]}`), 1_221_327],
  ['400,000 keys', textOf('400,000 keys'), 37_879_816],
  ['new names', textOf('1 MB of new names'), 11_490_458],
  ['unknown fields', textOf('half a million unknown fields'), 36_827_688],
]

function textOf(name: string): string {
  return hostileReviews.find((review) => review.name === name)!.text()
}

t.test('a body is charged at least what parsing it takes', (t) => {
  for (const [name, text, heap] of measured) {
    const cost = costOf(Buffer.from(text))
    const needed = heap + text.length
    // The estimate is based on random samples of the body. The proportion of brackets, commas and colons can be lower in the samples than
    // in the rest of the body. The estimate may therefore be up to a quarter too low.
    t.ok(cost > 0.75 * needed, `${name}: ${cost} for ${needed}`)
  }
  t.end()
})

t.test('an ordinary body is charged three to ten times its bytes', (t) => {
  const text = JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${i}-of-the-container` })))
  const cost = costOf(Buffer.from(text)) / text.length
  t.ok(cost > 3 && cost < 10, `${cost}`)
  t.equal(costOf(Buffer.alloc(0)), 0)
  t.end()
})

t.test(
  'a body that fits into the sample costs three times its bytes and 48 bytes for each bracket, comma and colon, up to the maximum',
  (t) => {
    const never = (): number => t.fail('the sample is the whole body') as never
    t.equal(costOf(Buffer.from('{"a":[1,2]}'), never), 3 * 11 + 48 * 4)
    t.equal(costOf(Buffer.from(']}"x'), never), 12)
    t.equal(costOf(Buffer.alloc(24 * 64, ','), never), 51 * 24 * 64)
    t.equal(costOfMarks(10, 0.51), 30 + 25)
    t.equal(costOf(Buffer.alloc(2 ** 21, ',')), maxReviewCost)
    t.equal(costOf(Buffer.alloc(2 ** 20, ',')), 51 * 2 ** 20)
    t.end()
  },
)

t.test('a long body is sampled in 24 places', (t) => {
  const length = 5000
  const bytes = Buffer.alloc(length, 'x')
  bytes.fill(',', 0, 64)
  bytes.fill(',', length - 64 - 1)
  t.equal(
    costOf(bytes, () => 0),
    51 * length,
  )
  t.equal(
    costOf(bytes, () => 0.9999999),
    51 * length,
  )
  t.equal(
    costOf(bytes, () => 0.5),
    3 * length,
  )
  const starts = Array.from({ length: 24 }, (_, place) => place / 24)
  bytes.fill('x').fill(',', 0, 64)
  t.equal(
    costOf(bytes, () => starts.shift()!),
    3 * length + Math.ceil((48 * length) / 24),
    'in 24 places',
  )
  t.strictSame(starts, [])
  t.end()
})

t.test('no review is charged more than 60 MiB', (t) => {
  t.equal(maxReviewCost, 62_914_560)
  t.equal(costOf(Buffer.alloc(7 * 2 ** 20, '{')), 62_914_560)
  t.end()
})
