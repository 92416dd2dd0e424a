import t from 'tap'
import { sleep } from '../../src/runtime/waiting.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

t.test('time stands still until it is advanced', async (t) => {
  const clock = new FakeClock('2026-02-03T04:05:06Z')
  t.equal(new Date(clock.now()).toISOString(), '2026-02-03T04:05:06.000Z')
  let fired = 0
  clock.after(100, () => fired++)
  await clock.advance(99)
  t.equal(fired, 0)
  await clock.advance(1)
  t.equal(fired, 1)
  t.equal(clock.pending, 0)
})

t.test('timers fire in order of time, then of creation, each at its own time', async (t) => {
  const clock = new FakeClock(0)
  const seen: string[] = []
  const note = (name: string) => () => seen.push(`${name}@${clock.now()}`)
  clock.after(20, note('c'))
  clock.after(10, note('a'))
  clock.after(10, note('b'))
  clock.after(-5, note('now'))
  t.equal(clock.nextDue, 0)
  await clock.advance(30)
  t.strictSame(seen, ['now@0', 'a@10', 'b@10', 'c@20'])
  t.equal(clock.now(), 30)
})

t.test('a fired timer may start the next one', async (t) => {
  const clock = new FakeClock(0)
  const times: number[] = []
  const loop = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await sleep(clock, 10)
      times.push(clock.now())
    }
  }
  const done = loop()
  await clock.advance(100)
  await done
  t.strictSame(times, [10, 20, 30])
})

t.test('a cancelled timer never fires, and may be cancelled twice', async (t) => {
  const clock = new FakeClock()
  const timer = clock.after(5, () => t.fail('was cancelled'))
  timer.cancel()
  timer.cancel()
  await clock.advance(10)
  t.equal(clock.nextDue, undefined)
})

t.test('an aborted sleep leaves no timer', async (t) => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const done = sleep(clock, 1000, stop.signal)
  await clock.untilPending()
  stop.abort(new Error('enough'))
  await t.rejects(done, { message: 'enough' })
  t.equal(clock.pending, 0)
})

t.test('promises settle before the time is advanced', async (t) => {
  const clock = new FakeClock(0)
  const seen: number[] = []
  void Promise.resolve().then(() => clock.after(10, () => seen.push(clock.now())))
  await clock.advance(10)
  t.strictSame(seen, [10])
})

t.test('setting the time neither fires a timer nor delays it', async (t) => {
  for (const time of [0, 1_000_000]) {
    const clock = new FakeClock(1000)
    let firedAt: number | undefined
    clock.after(10, () => (firedAt = clock.now()))
    clock.set(time)
    t.equal(clock.nextDue, time + 10)
    await clock.advance(9)
    t.equal(firedAt, undefined)
    await clock.advance(1)
    t.equal(firedAt, time + 10)
    t.equal(clock.now(), time + 10)
  }
})

t.test('the monotonic time follows advance, not set', async (t) => {
  const clock = new FakeClock(1000)
  t.strictSame([clock.now(), clock.monotonicNow()], [1000, 1000])
  await clock.advance(50)
  clock.set('1970-01-01T00:00:05Z')
  clock.set(2000)
  t.strictSame([clock.now(), clock.monotonicNow()], [2000, 1050])
  await clock.advance(10)
  t.strictSame([clock.now(), clock.monotonicNow()], [2010, 1060])
  t.equal(new Date(new FakeClock().now()).toISOString(), '2026-01-01T00:00:00.000Z')
})

t.test('waiting for too many pending timers is an error', async (t) => {
  const clock = new FakeClock()
  clock.after(1, () => undefined)
  await clock.untilPending()
  await t.rejects(clock.untilPending(2), { message: 'waited for 2 pending timers, found 1' })
})

t.test('waiting for pending timers ends with the last of them', async (t) => {
  const clock = new FakeClock()
  clock.after(1, () => undefined)
  const waiting = clock.untilPending(2).then(() => clock.pending)
  setImmediate(() => setImmediate(() => clock.after(2, () => undefined)))
  t.equal(await waiting, 2)
})
