import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { timedOut } from '../../../src/runtime/waiting.ts'
import { deadlineFrom, withDeadline } from '../../../src/webhook/review/handler-deadline.ts'

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
    ['', 9900],
    ['-1s', 9900],
    ['1s500ms', 1400],
    ['1000000us', 900],
    ['1000000µs', 900],
    ['1000000000ns', 900],
    [undefined, 9900],
    [['1s', '2s'], 9900],
    ['s', 9900],
    ['1', 9900],
    ['1d', 9900],
    ['1.s', 900],
    [' 1s', 9900],
    ['1s ', 9900],
  ] as const) {
    t.equal(deadlineFrom(timeout), ms, String(timeout))
  }
})

t.test('time that a request has waited is subtracted from its timeout', async (t) => {
  for (const [timeout, passed, ms] of [
    ['10s', 0, 9900],
    ['10s', 1, 9899],
    ['10s', 2500.5, 7399.5],
    ['10s', 9900, 50],
    ['10s', 9999, 0.5],
    ['10s', 12_000, 0],
    [undefined, 1000, 8900],
    ['soon', 1000, 8900],
    [['1s'], 1000, 8900],
  ] as const)
    t.equal(deadlineFrom(timeout, passed), ms, `${timeout} less ${passed} ms`)
})

t.test('a request without a valid timeout has the given default', async (t) => {
  t.equal(deadlineFrom(undefined, 0, 30_000), 29_900)
  t.equal(deadlineFrom('1d', 1000, 30_000), 28_900)
  t.equal(deadlineFrom('3s', 1000, 30_000), 1900)
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
