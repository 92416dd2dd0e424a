import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { timedOut } from '../../../src/runtime/waiting.ts'
import { deadlineFrom, timeoutLeft, withDeadline } from '../../../src/webhook/review/handler-deadline.ts'

t.test('the deadline is a tenth of a second before the timeout, or half of a short timeout', async (t) => {
  for (const [timeout, ms] of [
    ['10s', 9900],
    ['30s', 29_900],
    ['1m', 59_900],
    ['201ms', 101],
    ['200ms', 100],
    ['199ms', 99.5],
    ['100ms', 50],
    ['0s', 0],
    ['1.5s', 1400],
    ['1h', 3_599_900],
    ['1m30s', 89_900],
    ['1h0.5s2us', 3_600_400.002],
    ['', 10_000],
    ['-1s', 10_000],
    ['1s500ms', 1400],
    ['1000000us', 900],
    ['1000000µs', 900],
    ['1000000000ns', 900],
    [undefined, 10_000],
    [['1s', '2s'], 10_000],
    ['s', 10_000],
    ['1', 10_000],
    ['1d', 10_000],
    ['1.s', 10_000],
    [' 1s', 10_000],
    ['1s ', 10_000],
  ] as const) {
    t.equal(deadlineFrom(timeout), ms, String(timeout))
    t.equal(deadlineFrom(timeout), ms, `${timeout} again`)
  }
})

t.test('time that a request has waited is taken off its timeout, from ten milliseconds on', async (t) => {
  for (const [timeout, passed, left] of [
    ['10s', 0, '10s'],
    ['10s', 9.9, '10s'],
    ['10s', 10, '9990ms'],
    ['10s', 2500.4, '7500ms'],
    ['10s', 2500.6, '7499ms'],
    ['10s', 9999, '1ms'],
    ['10s', 12_000, '1ms'],
    [undefined, 9, undefined],
    [undefined, 1000, '9000ms'],
    ['soon', 1000, '9000ms'],
    [['1s'], 1000, '9000ms'],
  ] as const)
    t.strictSame(timeoutLeft(timeout, passed), left, `${timeout} less ${passed} ms`)
})

t.test('work that ends in time returns its result, and leaves no timer', async (t) => {
  const clock = new FakeClock(0)
  const controller = new AbortController()
  t.equal(await withDeadline(clock, 10, controller, Promise.resolve('done')), 'done')
  const error = new Error('broken')
  await t.rejects(withDeadline(clock, 10, controller, Promise.reject(error)), error)
  t.equal(clock.pending, 0)
  t.equal(controller.signal.aborted, false)
})

t.test('work that takes too long is aborted at its deadline, and its late result is ignored', async (t) => {
  for (const end of ['resolve', 'reject'] as const) {
    const clock = new FakeClock(0)
    const controller = new AbortController()
    const work = Promise.withResolvers<unknown>()
    const result = withDeadline(clock, 10, controller, work.promise)
    await clock.advance(9)
    t.equal(controller.signal.aborted, false)
    await clock.advance(1)
    t.equal(await result, timedOut)
    const { name, message } = controller.signal.reason as DOMException
    t.strictSame([name, message], ['TimeoutError', 'the deadline of the request has passed'])
    work[end](new Error('late'))
    t.equal(await result, timedOut)
  }
})
