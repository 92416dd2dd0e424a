import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError, isConflict } from '../../src/client/api-error.ts'
import { retryOnConflict } from '../../src/client/retry-on-conflict.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

const conflict = new ApiError(failure(409, 'Conflict', 'changed'))

t.test('conflicts are retried with pauses', async (t) => {
  const clock = new FakeClock()
  const at: number[] = []
  const started = clock.now()
  const result = retryOnConflict(
    async () => {
      at.push(clock.now() - started)
      if (at.length < 3) throw conflict
      return 'done'
    },
    { clock, random: () => 0.5 },
  )
  await clock.advance(100)
  t.equal(await result, 'done')
  t.strictSame(at, [0, 15, 30])
})

t.test('retries are limited, and other errors are not retried', async (t) => {
  let tries = 0
  const fail = (error: Error) => () => ((tries += 1), Promise.reject(error))
  const clock = new FakeClock()
  const rejected = t.rejects(retryOnConflict(fail(conflict), { attempts: 3, clock }), conflict)
  await clock.advance(100)
  await rejected
  t.equal(tries, 3)
  tries = 0
  await t.rejects(retryOnConflict(fail(new Error('other'))), new Error('other'))
  t.equal(tries, 1)
  t.ok(isConflict(conflict))
})

t.test('the default is five attempts, 10 to 20 ms apart', async (t) => {
  const clock = new FakeClock()
  const at: number[] = []
  const started = clock.now()
  const fail = (): Promise<never> => {
    at.push(clock.now() - started)
    return Promise.reject(conflict)
  }
  const rejected = t.rejects(retryOnConflict(fail, { clock }), conflict)
  await clock.advance(1000)
  await rejected
  t.equal(at.length, 5)
  for (const [index, time] of at.slice(1).entries()) {
    const pause = time - at[index]!
    t.ok(pause >= 10 && pause < 20, `${pause} ms`)
  }
})

t.test('the pause is configurable, and ends with the signal', async (t) => {
  const clock = new FakeClock()
  const abort = new AbortController()
  let tries = 0
  const fail = (): Promise<never> => ((tries += 1), Promise.reject(conflict))
  const started = clock.now()
  const rejected = t.rejects(retryOnConflict(fail, { clock, delayMs: 300, random: () => 0, signal: abort.signal }), new Error('enough'))
  await clock.untilPending()
  t.equal(clock.nextDue, started + 300)
  abort.abort(new Error('enough'))
  await rejected
  t.equal(clock.pending, 0)
  t.equal(tries, 1)
})
