/** Work in slices: after some milliseconds the event loop gets its turn, so that one large batch does not hold up everything else. */
import { setImmediate } from 'node:timers/promises'

/** How long other requests wait for a batch: a fifth of what the API server thinks is slow for a webhook of a list (50 ms). */
const sliceMs = 10

/** The turns of all batches of a server: one slice in each turn of the event loop, however many batches there are. */
export class LoopTurns {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves when it is the caller's turn, after all who have asked before. */
  next(): Promise<unknown> {
    this.#last = this.#last.then(() => setImmediate())
    return this.#last
  }
}

/** The slices of one batch. Measures time on the processor, not of the day: no `Clock`, which a test may have stopped. */
export class Turns {
  readonly #loop: LoopTurns
  #since = performance.now()

  constructor(loop: LoopTurns) {
    this.#loop = loop
  }

  /** Whether the slice is used up; then `await turns.give()`. */
  get due(): boolean {
    return performance.now() - this.#since >= sliceMs
  }

  async give(): Promise<void> {
    await this.#loop.next()
    this.#since = performance.now()
  }
}
