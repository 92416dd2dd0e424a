import t from 'tap'
import { formatIndexes, parseIndexes, pendingIndexes } from '../../../../../src/devcluster/controllers/workloads/job/indexes.ts'

t.test('indexes are written as intervals', async (t) => {
  const cases = [
    [[], ''],
    [[4], '4'],
    [[0, 1], '0,1'],
    [[2, 0, 1], '0-2'],
    [[0, 1, 2, 5, 7, 8, 10, 11, 12], '0-2,5,7,8,10-12'],
  ] as const
  for (const [indexes, text] of cases) {
    t.equal(formatIndexes(indexes), text)
    t.strictSame(
      [...parseIndexes(text, 100)],
      indexes.toSorted((a, b) => a - b),
      text,
    )
  }
})

t.test('what is no index, or too high, is omitted', async (t) => {
  t.strictSame([...parseIndexes('1,x,3-,-2,4-5', 5)], [1, 4])
  t.strictSame([...parseIndexes('0-4294967295', 3)], [0, 1, 2])
  t.strictSame([...parseIndexes(undefined, 3)], [])
})

t.test('the lowest free indexes come first', async (t) => {
  t.strictSame(pendingIndexes(2, 6, new Set([0, 2]), new Set([3])), [1, 4])
  t.strictSame(pendingIndexes(9, 3, new Set([1])), [0, 2])
  t.strictSame(pendingIndexes(0, 3), [])
})
