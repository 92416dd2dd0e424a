/** `retryOnConflict`: read, change and write again when someone else was faster. */
import type { Clock } from '../api/clock.ts'
import { sleep, systemClock } from '../api/clock.ts'
import { isConflict } from './api-error.ts'

export interface RetryOptions {
  /** How often to try altogether. Default 5, as client-go. */
  readonly attempts?: number
  /** The pause between tries, made up to twice as long at random. Default 10 ms. */
  readonly delayMs?: number
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  readonly random?: () => number
}

/**
 * Calls `attempt` until it no longer fails with a conflict; it must read the object anew each time.
 *
 * @example
 * await retryOnConflict(async () => {
 *   const lease = await client.get(coordination.lease, key)
 *   await client.update(coordination.lease, { ...lease, spec: { ...lease.spec, holderIdentity: 'me' } })
 * })
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { attempts = 5, delayMs = 10, signal, clock = systemClock, random = Math.random } = options
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error) || tried >= attempts) throw error
      await sleep(clock, delayMs * (1 + random()), signal)
    }
  }
}
