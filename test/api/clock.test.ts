import { getEventListeners } from 'node:events'
import t from 'tap'
import { aborted, sleep, systemClock } from '../../src/api/clock.ts'
import { messageOf, ProreusError } from '../../src/api/errors.ts'

t.test('a sleep ends early with the reason of the abort', async (t) => {
  const controller = new AbortController()
  const pending = sleep(systemClock, 60_000, controller.signal)
  controller.abort(new Error('stop'))
  await t.rejects(pending, { message: 'stop' })
  await t.rejects(sleep(systemClock, 1, controller.signal), { message: 'stop' })
})

t.test('a sleep leaves nothing on a signal that outlives it', async (t) => {
  const { signal } = new AbortController()
  await sleep(systemClock, 0, signal)
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('an abort is waited for, and one that has been is no wait', async (t) => {
  const controller = new AbortController()
  let over = false
  const pending = aborted(controller.signal).then(() => (over = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(over)
  controller.abort()
  await pending
  await aborted(controller.signal)
})

t.test('a delay that setTimeout cannot hold does not fire at once', async (t) => {
  let fired = false
  const timer = systemClock.after(2 ** 31 + 1000, () => {
    fired = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise<void>((resolve) => {
    const keepAlive = setInterval(() => undefined, 1000)
    systemClock.after(5, () => {
      clearInterval(keepAlive)
      resolve()
    })
  })
  t.notOk(fired)
  timer.cancel()
})

t.test('the message of an error tells its causes once', async (t) => {
  t.equal(messageOf(new Error('a', { cause: new Error('b') })), 'a: b')
  t.equal(messageOf(new Error('a: b', { cause: new Error('b') })), 'a: b')
  t.equal(messageOf(new AggregateError([new Error('x'), new Error('y')], '')), 'x; y')
  t.equal(messageOf('text'), 'text')
  t.match(new ProreusError('PRO_INPUT', 'm'), { code: 'PRO_INPUT', name: 'ProreusError' })
})
