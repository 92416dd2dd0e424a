import t from 'tap'
import { humanDuration } from '../../../src/devcluster/resources/human-duration.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** The durations and expected strings of `duration_test.go` in k8s.io/apimachinery/pkg/util/duration. */
const cases: readonly (readonly [number, string])[] = [
  [-2 * second, '<invalid>'],
  [-second, '0s'],
  [0, '0s'],
  [second - 1, '0s'],
  [second, '1s'],
  [2 * minute - 1, '119s'],
  [2 * minute, '2m'],
  [2 * minute + second, '2m1s'],
  [10 * minute - second, '9m59s'],
  [10 * minute, '10m'],
  [10 * minute + second, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [3 * hour + minute, '3h1m'],
  [8 * hour - 1, '7h59m'],
  [8 * hour, '8h'],
  [8 * hour + 59 * minute, '8h'],
  [2 * day - 1, '47h'],
  [2 * day, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day - 1, '7d23h'],
  [8 * day, '8d'],
  [8 * day + 23 * hour, '8d'],
  [2 * year - 1, '729d'],
  [2 * year, '2y'],
  [2 * year + day, '2y1d'],
  [8 * year - 1, '7y364d'],
  [8 * year, '8y'],
  [8 * year + 364 * day, '8y'],
]

t.test('durations are formatted as by kubectl', async (t) => {
  for (const [ms, text] of cases) t.equal(humanDuration(ms), text)
})
