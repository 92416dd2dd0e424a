/** Computes the delays after which failed keys are reconciled again. */
import type { Clock } from '../runtime/clock.ts'
import { expect, hasOptions, isAnything, isWholeNumber, refuseOptions } from '../api/option-checks.ts'

/**
 * Computes the delays after which failed keys are reconciled again. A key identifies an object. The key of a namespaced object is
 * `namespace/name`, and the key of a cluster-scoped object is only the name.
 */
export interface RateLimiter<Key extends string = string> {
  /** Counts a failure of `key`, and returns the delay in milliseconds until the key is reconciled again. */
  delayMs(key: Key): number
  /**
   * Forgets the failures of `key`. Called when a reconcile succeeds, returns `requeueAfterMs` or throws a `TerminalError`, and when the key
   * is dropped from the queue.
   */
  forget(key: Key): void
  /** Returns the number of consecutive failures of `key`, for the debug endpoint. */
  failuresOf?(key: Key): number
}

export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds. Default 5. */
  readonly baseMs?: number
  /** Maximum delay, in milliseconds. Default 1,000,000, which is 16 minutes and 40 seconds. */
  readonly maxMs?: number
}

/**
 * Returns a rate limiter that delays each key by `baseMs` × 2^failures, at most `maxMs`. The delay of a key depends only on the failures of
 * this key, so one failing object does not delay others.
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

export interface TokenBucketOptions {
  /** The average number of retries per second, for all keys of the controller together. A fraction is allowed. */
  readonly perSecond: number
  /** The size of the bucket. When the bucket is full, the next `burst` retries are not delayed. */
  readonly burst: number
  readonly clock: Clock
}

const isRate = expect('a finite number above 0', (value) => typeof value === 'number' && value > 0 && Number.isFinite(value))
const checkTokenBucket = hasOptions({ perSecond: isRate, burst: isWholeNumber(1), clock: isAnything }, ['perSecond', 'burst', 'clock'])

/**
 * Returns a rate limiter for all keys together. Each retry takes a token from a bucket. The bucket holds at most `burst` tokens, and gets
 * `perSecond` new tokens a second. When the bucket is empty, the retry waits for a new token. The delay does not grow with the failures of
 * a key. Therefore, `tokenBucket` is usually combined with `exponentialBackoff`, as in client-go's default rate limiter.
 *
 * @example
 * defineController(site, {
 *   rateLimiter: ({ clock }) => slowest(exponentialBackoff(), tokenBucket({ perSecond: 10, burst: 100, clock })),
 *   reconcile,
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when an option is missing or invalid.
 */
export function tokenBucket<Key extends string = string>(options: TokenBucketOptions): RateLimiter<Key> {
  refuseOptions('tokenBucket', checkTokenBucket(options, ''))
  const { perSecond, burst, clock } = options
  // The number of tokens is negative while retries wait for new tokens.
  let tokens = burst
  let countedAt = clock.monotonicNow()
  return {
    delayMs() {
      const now = clock.monotonicNow()
      tokens = Math.min(burst, tokens + ((now - countedAt) / 1000) * perSecond) - 1
      countedAt = now
      return Math.max(0, (-tokens / perSecond) * 1000)
    },
    forget() {},
  }
}

/** Returns a rate limiter that counts each failure in all of `limiters`, and delays a key by the longest of their delays. */
export function slowest<Key extends string = string>(...limiters: readonly [RateLimiter<Key>, ...RateLimiter<Key>[]]): RateLimiter<Key> {
  return {
    delayMs: (key) => Math.max(...limiters.map((limiter) => limiter.delayMs(key))),
    forget: (key) => limiters.forEach((limiter) => limiter.forget(key)),
    failuresOf: (key) => Math.max(0, ...limiters.map((limiter) => limiter.failuresOf?.(key) ?? 0)),
  }
}
