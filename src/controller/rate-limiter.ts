/** The back-off of failed keys. */

/** Computes the delays of failed keys. Keys are `namespace/name`, or the name for cluster-scoped types. */
export interface RateLimiter<Key extends string = string> {
  /** Counts a failure of `key` and returns its delay in milliseconds. */
  delayMs(key: Key): number
  /** Forgets the failures of `key`. */
  forget(key: Key): void
}

export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds. Default 5. */
  readonly baseMs?: number
  /** Maximum delay. Default 1,000,000 ms: 16 minutes and 40 seconds. */
  readonly maxMs?: number
}

/**
 * `baseMs` × 2^failures for each key, at most `maxMs`. There is no limit over all keys: one failing object does not delay others.
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
  }
}
