/** Work in slices: after some milliseconds the event loop gets its turn, so that one large batch does not hold up everything else. */
import { setImmediate } from 'node:timers/promises'

/** How long other requests wait for a batch: a fifth of what the API server thinks is slow for a webhook of a list (50 ms). */
const sliceMs = 10

/** Measures time on the processor, not of the day: no `Clock`, which a test may have stopped. */
export class Turns {
  #since = performance.now()

  /** Whether the slice is used up; then `await turns.give()`. */
  get due(): boolean {
    return performance.now() - this.#since >= sliceMs
  }

  async give(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
