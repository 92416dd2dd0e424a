import { getEventListeners } from 'node:events'
import t from 'tap'
import { systemClock } from '../../src/runtime/clock.ts'
import { aborted, sleep, timedOut, untilAborted, within } from '../../src/runtime/waiting.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

const unexpected = (): never => {
  throw new Error('nothing was to be discarded')
}

t.test('a wait settles like the promise, and leaves no listener on the signal', async (t) => {
  const { signal } = new AbortController()
  t.equal(await untilAborted(Promise.resolve(7), signal, unexpected), 7)
  await t.rejects(untilAborted(Promise.reject(new Error('broken')), signal, unexpected), new Error('broken'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('a wait rejects as soon as the signal aborts, and discards a later value', async (t) => {
  const abort = new AbortController()
  const { promise, resolve } = Promise.withResolvers<number>()
  const discarded: number[] = []
  const result = untilAborted(promise, abort.signal, (value) => void discarded.push(value))
  abort.abort(new Error('enough'))
  await t.rejects(result, new Error('enough'))
  t.strictSame(discarded, [])
  resolve(7)
  await new Promise((done) => setImmediate(done))
  t.strictSame(discarded, [7])
  t.strictSame(getEventListeners(abort.signal, 'abort'), [])
})

t.test('a wait rejects at once when the signal has aborted before', async (t) => {
  const { promise, reject } = Promise.withResolvers<number>()
  await t.rejects(untilAborted(promise, AbortSignal.abort(new Error('before')), unexpected), new Error('before'))
  reject(new Error('too late to be noticed'))
})

t.test('a sleep ends early with the reason of the abort', async (t) => {
  const controller = new AbortController()
  const pending = sleep(systemClock, 60_000, controller.signal)
  controller.abort(new Error('stop'))
  await t.rejects(pending, { message: 'stop' })
  await t.rejects(sleep(systemClock, 1, controller.signal), { message: 'stop' })
})

t.test('a sleep leaves nothing on a signal that goes on', async (t) => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const slept = sleep(clock, 1000, controller.signal)
  await clock.advance(1000)
  await slept
  t.strictSame(getEventListeners(controller.signal, 'abort'), [])
  const pending = sleep(clock, 1000, controller.signal)
  controller.abort(new Error('stop'))
  await t.rejects(pending, { message: 'stop' })
  t.strictSame([getEventListeners(controller.signal, 'abort').length, clock.pending], [0, 0])
})

t.test('a wait for an abort ends with it, at once when the signal has aborted', async (t) => {
  const controller = new AbortController()
  let over = false
  const pending = aborted(controller.signal).then(() => (over = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(over)
  controller.abort()
  await pending
  await aborted(controller.signal)
})

t.test('a sleep keeps the process alive', async (t) => {
  const clock = new FakeClock()
  const asked: unknown[] = []
  const recording = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    after: (ms: number, callback: () => void, keepAlive?: boolean) => {
      asked.push(ms, keepAlive)
      return clock.after(ms, callback)
    },
  }
  const slept = sleep(recording, 1000)
  await clock.advance(1000)
  await slept
  t.strictSame(asked, [1000, true])
})

t.test('a wait for work ends after some time, and leaves no timer behind', async (t) => {
  const clock = new FakeClock()
  t.equal(await within(clock, 1000, Promise.resolve(7)), 7)
  await t.rejects(within(clock, 1000, Promise.reject(new Error('broken'))), { message: 'broken' })
  t.equal(clock.pending, 0)
  const never = within(clock, 1000, new Promise<number>(() => undefined))
  await clock.advance(1000)
  t.equal(await never, timedOut)
})

t.test('a wait for work keeps the process alive on demand only', async (t) => {
  const kept: unknown[] = []
  const recording = {
    ...systemClock,
    after: (ms: number, callback: () => void, keepAlive?: boolean) => {
      kept.push(keepAlive)
      return systemClock.after(ms, callback, keepAlive)
    },
  }
  await within(recording, 1000, Promise.resolve())
  await within(recording, 1000, Promise.resolve(), { keepAlive: true })
  t.strictSame(kept, [false, true])
})
