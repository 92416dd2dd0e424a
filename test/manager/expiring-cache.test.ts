import t from 'tap'
import { ExpiringCache } from '../../src/manager/expiring-cache.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

t.test('entries expire, and the oldest one is removed when the cache is full', async (t) => {
  const clock = new FakeClock()
  const cache = new ExpiringCache<number>(clock, 2)
  cache.set('a', 1, 10)
  await clock.advance(9)
  t.equal(cache.get('a'), 1)
  await clock.advance(1)
  t.equal(cache.get('a'), undefined)
  t.equal(cache.size, 0)
  cache.set('a', 1, 10)
  cache.set('b', 2, 10)
  cache.set('a', 3, 10)
  cache.set('c', 4, 10)
  t.strictSame(['a', 'b', 'c'].map((key) => cache.get(key)), [3, undefined, 4]) // prettier-ignore
  cache.set('c', 5, 10)
  t.strictSame(['a', 'c'].map((key) => cache.get(key)), [3, 5], 'an entry that is renewed displaces no other one') // prettier-ignore
})
