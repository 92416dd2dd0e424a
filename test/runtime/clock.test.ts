import t from 'tap'
import { systemClock } from '../../src/runtime/clock.ts'
import { messageOf, ProreusError } from '../../src/api/errors.ts'

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

t.test('the message of an error includes each cause once', async (t) => {
  t.equal(messageOf(new Error('a', { cause: new Error('b') })), 'a: b')
  t.equal(messageOf(new Error('a: b', { cause: new Error('b') })), 'a: b')
  t.equal(messageOf(new AggregateError([new Error('x'), new Error('y')], '')), 'x; y')
  t.equal(messageOf('text'), 'text')
  t.match(new ProreusError('PRO_INPUT', 'm'), { code: 'PRO_INPUT', name: 'ProreusError' })
})

t.test('the system clock has the time of day and a monotonic time', async (t) => {
  const [before, monotonic] = [Date.now(), performance.now()]
  const [now, steady] = [systemClock.now(), systemClock.monotonicNow()]
  t.ok(now >= before && now <= Date.now())
  t.ok(steady >= monotonic && steady <= performance.now())
})

t.test('a timer that is cancelled never fires', async (t) => {
  const fired: string[] = []
  const timer = systemClock.after(5, () => void fired.push('cancelled'))
  timer.cancel()
  timer.cancel()
  await new Promise<void>((resolve) => systemClock.after(5, resolve, true))
  t.strictSame(fired, [])
})

t.test('only a timer with keepAlive keeps the process running', async (t) => {
  const refs = (keepAlive?: boolean): boolean[] => {
    const original = globalThis.setTimeout
    const seen: boolean[] = []
    globalThis.setTimeout = ((callback: () => void, ms: number) => {
      const handle = original(callback, ms)
      seen.push(true)
      const { unref } = handle
      handle.unref = () => {
        seen.push(false)
        return unref.call(handle)
      }
      return handle
    }) as typeof setTimeout
    try {
      systemClock.after(60_000, () => undefined, keepAlive).cancel()
    } finally {
      globalThis.setTimeout = original
    }
    return seen
  }
  t.strictSame([refs(), refs(false), refs(true)], [[true, false], [true, false], [true]])
})

t.test('a delay beyond the limit of setTimeout is split', async (t) => {
  const original = { setTimeout: globalThis.setTimeout, now: performance.now }
  const longest = 2 ** 31 - 1
  let now = 0
  const delays: number[] = []
  let fire: () => void = () => undefined
  globalThis.setTimeout = ((callback: () => void, ms: number) => {
    delays.push(ms)
    fire = callback
    return { unref: () => undefined }
  }) as unknown as typeof setTimeout
  performance.now = () => now
  let fired = 0
  try {
    systemClock.after(-5, () => undefined)
    systemClock.after(longest, () => (fired += 1))
    systemClock.after(2 * longest + 5, () => (fired += 1))
    for (const passed of [longest, longest]) {
      now += passed
      fire()
    }
    t.equal(fired, 0)
    now += 5
    fire()
  } finally {
    globalThis.setTimeout = original.setTimeout
    performance.now = original.now
  }
  t.strictSame(delays, [0, longest, longest, longest, 5])
  t.equal(fired, 1)
})
