/** `retryOnConflict`: repeats an attempt to read, change and write an object while the write fails with a conflict. */
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { sleep } from '../runtime/waiting.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isClock, isDelay, isFunction, isSignal, isWholeNumber, refuseOptions } from '../api/option-checks.ts'
import { isConflict } from './api-error.ts'

export interface RetryOptions {
  /** Maximum number of attempts. Default 5, as in client-go. */
  readonly attempts?: number
  /** Minimum pause between two attempts in milliseconds. Random jitter lengthens the pause, at most to twice this time. Default 10. */
  readonly delayMs?: number
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  readonly random?: () => number
}

const checkRetry = hasOptions({
  attempts: isWholeNumber(1),
  delayMs: isDelay,
  signal: isSignal,
  clock: isClock,
  random: isFunction,
} satisfies Record<keyof RetryOptions, OptionCheck>)

/**
 * Calls `attempt` until it does not fail with a conflict, at most `attempts` times. `attempt` must read the object again each time. Rejects
 * with the error of the last attempt, or with the signal's reason if the signal aborts between attempts.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` for an invalid or unknown option.
 *
 * @example
 * await retryOnConflict(async () => {
 *   const lease = await client.get(coordination.lease, key)
 *   await client.update(coordination.lease, { ...lease, spec: { ...lease.spec, holderIdentity: 'me' } })
 * })
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  refuseOptions('retryOnConflict', checkRetry(options, ''))
  return retryWhile(isConflict, attempt, options)
}

/**
 * Calls `attempt` again while it fails with an error for which `isRetried` is true. Unlike `retryOnConflict`, the function does not
 * validate the options.
 */
export async function retryWhile<T>(
  isRetried: (error: unknown) => boolean,
  attempt: () => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { attempts = 5, delayMs = 10, signal, clock = systemClock, random = systemRandom } = options
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetried(error) || tried >= attempts) throw error
      await sleep(clock, delayMs * (1 + random()), signal)
    }
  }
}
