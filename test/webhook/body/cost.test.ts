import t from 'tap'
import { costOf } from '../../../src/webhook/body/cost.ts'
import { hostileReviews, reviewOfSpec } from '../../support/hostile-reviews.ts'

/** What `JSON.parse` makes of a text takes so much of the heap, by `process.memoryUsage` after garbage collections, beside its bytes. */
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

t.test('no body costs more than is charged for it', (t) => {
  for (const [name, text, heap] of measured) {
    const cost = costOf(Buffer.from(text))
    const needed = heap + text.length
    // By chance, a sample has fewer marks than most.
    t.ok(cost > 0.75 * needed, `${name}: ${cost} for ${needed}`)
  }
  t.end()
})

t.test('an ordinary body costs about as much', (t) => {
  const text = JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${i}-of-the-container` })))
  const cost = costOf(Buffer.from(text)) / text.length
  t.ok(cost > 3 && cost < 10, `${cost}`)
  t.equal(costOf(Buffer.alloc(0)), 0)
  t.end()
})
