import t from 'tap'
import { defaultResyncPeriodMs, resync } from '../../src/controller/resync.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('all objects are enqueued every 10 hours, 10 % earlier or later', async (t) => {
  const clock = new FakeClock(0)
  const stop = new AbortController()
  const at: number[] = []
  const randoms = [0, 0.5, 0.999]
  const { logger, entries } = recordingLogger('debug')
  const enqueueAll = async (): Promise<void> => {
    at.push(clock.now() / 3_600_000)
    if (at.length === 2) throw new Error('cannot list')
  }
  const done = resync({ periodMs: defaultResyncPeriodMs, clock, random: () => randoms.shift() ?? 0.5, logger, enqueueAll }, stop.signal)
  await clock.advance(31 * 3_600_000)
  t.strictSame(
    at.map((hours) => Math.round(hours * 10) / 10),
    [9, 19, 30],
  )
  t.match(entries, [{ level: 'error', err: { message: 'cannot list' } }])
  stop.abort()
  await done
  t.strictSame([at.length, clock.pending], [3, 0])
})

t.test('a period of 0 means no resync', async (t) => {
  const clock = new FakeClock()
  const enqueueAll = async (): Promise<void> => void t.fail('no resync')
  const { logger } = recordingLogger('debug')
  await resync({ periodMs: 0, clock, random: () => 0, logger, enqueueAll }, new AbortController().signal)
  t.equal(clock.pending, 0)
})
