/** `BackOff`: pauses between tries that grow, and differ from process to process. */

const firstMs = 800
const longestMs = 30_000

/** 0.8 s × 2^n, at most 30 s, of which a random part of up to a half is left out: replicas must not come back all at once. */
export class BackOff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number) {
    this.#random = random
  }

  /** Failures since the last reset. */
  get failures(): number {
    return this.#failures
  }

  /** Counts a failure and gives the pause after it. */
  next(maxMs = longestMs): number {
    const pause = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 16))
    this.#failures += 1
    return Math.round(pause * (1 - this.#random() / 2))
  }

  reset(): void {
    this.#failures = 0
  }
}
