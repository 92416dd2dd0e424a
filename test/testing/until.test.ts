import t from 'tap'
import { systemClock } from '../../src/runtime/clock.ts'
import { until } from '../../src/testing/until.ts'

t.test('a probe that throws is retried', async (t) => {
  const answers = [
    () => {
      throw new Error('not there')
    },
    () => undefined,
    () => Promise.resolve(false as const),
    () => 0,
  ]
  t.equal(await until('it is there', () => answers.shift()!()), 0)
  t.strictSame(answers, [])
})

t.test('at the timeout, the last error of the probe is the cause, and its message is shown', async (t) => {
  const cause = new Error('not there')
  await t.rejects(
    until('it is there', () => Promise.reject(cause), 0),
    { message: 'it is there: not within 0 ms: not there', cause },
  )
  const silent = await until('it is there', () => false, 0).catch((error: unknown) => error)
  t.equal((silent as Error).cause, undefined)
})

t.test('the default timeout is 20 s, and an error of an earlier probe is not the cause', async (t) => {
  let now = 1_000_000
  t.intercept(systemClock, 'monotonicNow', { value: () => now, configurable: true, writable: true })
  const times = [1_000_000, 1_020_000, 1_020_001]
  const probe = (): false => {
    now = times.shift()!
    if (now === 1_000_000) throw new Error('not there')
    return false
  }
  const error = (await until('it is there', probe).catch((reason: unknown) => reason)) as Error
  t.equal(error.message, 'it is there: not within 20000 ms')
  t.equal(error.cause, undefined)
  t.strictSame(times, [])
})
