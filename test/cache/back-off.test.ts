import t from 'tap'
import { BackOff } from '../../src/cache/back-off.ts'

t.test('the back-off doubles from 0.8 s to 30 s', async (t) => {
  const backOff = new BackOff(() => 0)
  t.strictSame(
    Array.from({ length: 8 }, () => backOff.next()),
    [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000],
  )
  t.equal(backOff.failures, 8)
  backOff.reset()
  t.equal(backOff.next(), 800)
})

t.test('the back-off is reduced by up to a half at random, and respects a lower bound', async (t) => {
  const backOff = new BackOff(() => 0.999)
  t.equal(backOff.next(), 400)
  for (let i = 0; i < 2000; i += 1) backOff.next()
  t.equal(backOff.next(5000), 2502)
})

t.test('a maximum applies before the random part, and failures keep counting', async (t) => {
  const backOff = new BackOff(() => 0.5)
  t.strictSame([backOff.next(1000), backOff.next(1000), backOff.next()], [600, 750, 2400])
  t.equal(backOff.failures, 3)
  backOff.reset()
  t.equal(backOff.failures, 0)
})
