import t from 'tap'
import { exponentialBackoff } from '../../src/controller/rate-limiter.ts'

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
