/** `BackOff`: returns the pauses between retries. The pauses grow exponentially and have jitter. */

const firstMs = 800
const longestMs = 30_000

/**
 * The pause after the first failure is 0.8 s. Each further failure before a reset doubles the pause, up to 30 s. A random share of the
 * pause, at most one half, is subtracted, so that replicas do not all retry at the same time.
 */
export class BackOff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number) {
    this.#random = random
  }

  /** The number of failures since the last reset. */
  get failures(): number {
    return this.#failures
  }

  /** Counts a failure. Returns the pause before the next retry in milliseconds, at most `maxMs`. */
  next(maxMs = longestMs): number {
    const pause = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 16))
    this.#failures += 1
    return Math.round(pause * (1 - this.#random() / 2))
  }

  reset(): void {
    this.#failures = 0
  }
}
