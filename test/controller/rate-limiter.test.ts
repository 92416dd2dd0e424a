import t from 'tap'
import { exponentialBackoff, slowest, tokenBucket } from '../../src/controller/rate-limiter.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

t.test('a key waits 5 ms × 2^failures, at most 1000 s', async (t) => {
  const limiter = exponentialBackoff()
  t.strictSame(
    Array.from({ length: 20 }, () => limiter.delayMs('a')),
    [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960, 81920, 163840, 327680, 655360, 1_000_000, 1_000_000],
  )
  for (let i = 0; i < 2000; i++) limiter.delayMs('a')
  t.equal(limiter.delayMs('a'), 1_000_000, 'no overflow')
})

t.test('keys back off independently, and a forgotten key starts over', async (t) => {
  const limiter = exponentialBackoff({ baseMs: 10, maxMs: 30 })
  t.strictSame([limiter.delayMs('a'), limiter.delayMs('a'), limiter.delayMs('a'), limiter.delayMs('b')], [10, 20, 30, 10])
  limiter.forget('a')
  t.equal(limiter.delayMs('a'), 10)
  t.equal(limiter.delayMs('b'), 20, 'other keys are not forgotten')
})

t.test('a token bucket delays all keys together when its burst is used up', async (t) => {
  const clock = new FakeClock()
  const limiter = tokenBucket({ perSecond: 10, burst: 3, clock })
  t.strictSame(
    ['a', 'b', 'a', 'c', 'a'].map((key) => limiter.delayMs(key)),
    [0, 0, 0, 100, 200],
  )
  limiter.forget('a')
  await clock.advance(50)
  t.equal(limiter.delayMs('a'), 250, 'the delay counts from now')
  await clock.advance(300)
  t.equal(limiter.delayMs('a'), 50)
  await clock.advance(60_000)
  t.strictSame(
    Array.from({ length: 5 }, () => limiter.delayMs('a')),
    [0, 0, 0, 100, 200],
    'the bucket contains at most its burst',
  )
})

t.test('a token bucket may have less than one token a second, and ignores the time of day', async (t) => {
  const clock = new FakeClock()
  const limiter = tokenBucket({ perSecond: 0.1, burst: 1, clock })
  t.equal(limiter.delayMs('a'), 0)
  clock.set(clock.now() + 3_600_000)
  t.equal(limiter.delayMs('a'), 10_000)
  await clock.advance(15_000)
  t.equal(limiter.delayMs('a'), 5_000)
})

t.test('invalid options of a token bucket are refused', async (t) => {
  const clock = new FakeClock()
  for (const [options, problem] of [
    [{ burst: 1, clock }, 'perSecond: is missing'],
    [{ perSecond: 0, burst: 1, clock }, 'perSecond: must be a finite number above 0, found 0'],
    [{ perSecond: Infinity, burst: 1, clock }, 'perSecond: must be a finite number above 0, found Infinity'],
    [{ perSecond: 1, burst: 0.5, clock }, 'burst: must be a whole number of at least 1, found 0.5'],
    [{ perSecond: 1, burst: 1 }, 'clock: is missing'],
  ] as const) {
    t.throws(() => tokenBucket(options as never), {
      code: 'PRO_CONFIG_INVALID',
      message: `The options of tokenBucket are invalid: ${problem}.`,
    })
  }
})

t.test('the slowest of several limiters counts, and each counts every failure', async (t) => {
  const clock = new FakeClock()
  const limiter = slowest(exponentialBackoff({ baseMs: 80 }), tokenBucket({ perSecond: 10, burst: 1, clock }))
  t.strictSame(
    ['a', 'b', 'a', 'a'].map((key) => limiter.delayMs(key)),
    [80, 100, 200, 320],
  )
  t.strictSame([limiter.failuresOf?.('a'), slowest({ delayMs: () => 0, forget: () => undefined }).failuresOf?.('a')], [3, 0])
  limiter.forget('a')
  t.equal(limiter.delayMs('a'), 400, 'the bucket does not forget')
  await clock.advance(1000)
  t.equal(limiter.delayMs('a'), 160, 'the back-off of the key has started again')
})
