/** Computes the delays after which failed keys are reconciled again. */

/** Computes the delays of failed keys. A key is `namespace/name`, or the name for an object of a cluster-scoped type. */
export interface RateLimiter<Key extends string = string> {
  /** Counts a failure of `key`, and returns the delay until its next reconcile in milliseconds. */
  delayMs(key: Key): number
  /** Forgets the failures of `key`, after a success. */
  forget(key: Key): void
  /** Returns the number of failures of `key` that count, for the debug endpoint. */
  failuresOf?(key: Key): number
}

export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds. Default 5. */
  readonly baseMs?: number
  /** Maximum delay, in milliseconds. Default 1,000,000, which is 16 minutes and 40 seconds. */
  readonly maxMs?: number
}

/**
 * Returns a rate limiter that delays each key by `baseMs` × 2^failures, at most `maxMs`. It has no rate limit for all keys together, so one
 * failing object does not delay others.
 *
 * @example
 * defineController(site, { rateLimiter: () => exponentialBackoff({ maxMs: 60_000 }), reconcile })
 */
export function exponentialBackoff<Key extends string = string>(options: BackoffOptions = {}): RateLimiter<Key> {
  const { baseMs: base = 5, maxMs: max = 1_000_000 } = options
  const failures = new Map<Key, number>()
  return {
    delayMs(key) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      return Math.min(base * 2 ** count, max)
    },
    forget(key) {
      failures.delete(key)
    },
    failuresOf: (key) => failures.get(key) ?? 0,
  }
}
