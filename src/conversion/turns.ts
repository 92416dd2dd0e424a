/** Time slices: a batch yields to the event loop after some milliseconds. */
import { setImmediate } from 'node:timers/promises'

/** Maximum time that other requests wait for a batch: a fifth of what the API server considers slow for a conversion webhook (50 ms). */
const sliceMs = 10

/** The slices of all batches of a server: one slice in each turn of the event loop, however many batches there are. */
export class LoopTurns {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves when it is the caller's turn, in the order of the calls. */
  next(): Promise<unknown> {
    this.#last = this.#last.then(() => setImmediate())
    return this.#last
  }
}

/** The slices of one batch. It measures elapsed time, not the time of day, and therefore uses no `Clock`, which a test may have stopped. */
export class Turns {
  readonly #loop: LoopTurns
  #since = performance.now()

  constructor(loop: LoopTurns) {
    this.#loop = loop
  }

  /** True when the slice is used up; then call `await turns.give()`. */
  get due(): boolean {
    return performance.now() - this.#since >= sliceMs
  }

  async give(): Promise<void> {
    await this.#loop.next()
    this.#since = performance.now()
  }
}
