/** `until`: waits for what an API server or a controller will do some time soon. */
import { sleep, systemClock } from '../api/clock.ts'

const defaultTimeoutMs = 20_000
const pollMs = 25

/**
 * Calls `probe` every 25 ms until it gives something else than `undefined` or `false`, and gives that.
 * What the probe throws counts as not yet; the last such error is the `cause` when `timeoutMs` (default 20 s) are over.
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
  const deadline = systemClock.now() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const value = await probe()
      if (value !== undefined && value !== false) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (systemClock.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last })
    await sleep(systemClock, pollMs)
  }
}
