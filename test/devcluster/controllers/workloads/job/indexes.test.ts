import t from 'tap'
import { IndexSet } from '../../../../../src/devcluster/controllers/workloads/job/index-set.ts'
import { parseIndexes } from '../../../../../src/devcluster/controllers/workloads/job/indexes.ts'

t.test('indexes are written as intervals', async (t) => {
  const cases = [
    [[], ''],
    [[4], '4'],
    [[0, 1], '0,1'],
    [[2, 0, 1, 1], '0-2'],
    [[0, 1, 2, 5, 7, 8, 10, 11, 12], '0-2,5,7,8,10-12'],
  ] as const
  for (const [indexes, text] of cases) {
    const set = IndexSet.of(indexes)
    t.equal(String(set), text)
    t.equal(String(parseIndexes(text, 100)), text)
    t.equal(set.size, new Set(indexes).size)
    for (let index = 0; index < 15; index += 1) t.equal(set.has(index), new Set<number>(indexes).has(index), `${index} in ${text}`)
  }
})

t.test('what is no index, or too high, is omitted', async (t) => {
  t.equal(String(parseIndexes('1,x,3-,-2,4-5,5-3', 5)), '1,4')
  t.equal(String(parseIndexes('0-4294967295', 3)), '0-2')
  t.equal(String(parseIndexes(undefined, 3)), '')
})

t.test('the lowest free indexes come first', async (t) => {
  t.strictSame(parseIndexes('0,2,3', 6).missing(2, 6), [1, 4])
  t.strictSame(parseIndexes('1', 3).missing(9, 3), [0, 2])
  t.strictSame(parseIndexes('', 3).missing(0, 3), [])
  t.strictSame(parseIndexes('1,8', 9).missing(9, 3), [0, 2], 'the index 8 is above the end')
})

t.test('sets are united, and common indexes are counted', async (t) => {
  const [one, other] = [parseIndexes('0-9,20-29', 99), parseIndexes('5-24,40', 99)]
  t.equal(String(one.union(other)), '0-29,40')
  t.equal(one.overlap(other), 10)
})

t.test('the time and memory do not depend on the number of indexes', async (t) => {
  const completions = 2 ** 31 - 1
  const large = parseIndexes('0-2147483640', completions)
  t.equal(large.size, 2147483641)
  t.strictSame(large.missing(2, completions), [2147483641, 2147483642])
  t.equal(large.overlap(parseIndexes('7-2147483646', completions)), 2147483634)
  t.equal(String(parseIndexes('0-99998,'.repeat(20_000), 99_999)), '0-99998')
})
