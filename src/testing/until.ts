/** `until`: waits until the API server or a controller has reached the state that a test expects. */
import { messageOf } from '../api/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'

const defaultTimeoutMs = 20_000
const pollMs = 25

/**
 * Calls `probe` every 25 ms until the result is a value other than `undefined` and `false`. Resolves to this value. If `probe` throws,
 * `probe` is called again.
 *
 * @param timeoutMs the time limit in milliseconds. Default 20,000.
 * @throws {Error} when the time limit has passed. If the last call of `probe` has thrown, its error is the `cause`, and the message ends
 *   with the message of the `cause`.
 *
 * @example
 * const object = await until('it says so', async () => {
 *   const found = await client.get(hello, { namespace: 'test', name: 'a' })
 *   return found.status?.said === 'hi' && found
 * })
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs: number = defaultTimeoutMs,
): Promise<T> {
  const deadline = systemClock.monotonicNow() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const value = await probe()
      if (value !== undefined && value !== false) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (systemClock.monotonicNow() > deadline) {
      const why = last === undefined ? '' : `: ${messageOf(last)}`
      throw new Error(`${what}: not within ${timeoutMs} ms${why}`, { cause: last })
    }
    await sleep(systemClock, pollMs)
  }
}
