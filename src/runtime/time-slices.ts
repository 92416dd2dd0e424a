/**
 * `TimeSlices`: divides work that could block the event loop into slices of some milliseconds, between which timers and sockets are served.
 */

/**
 * Limits one kind of work to one time slice in each iteration of the event loop, however many tasks share the slice. A task calls `next`
 * between two steps of its work.
 */
export class TimeSlices {
  readonly #sliceMs: number
  /** The time at which the slice of this iteration of the event loop started; undefined before it has started. */
  #startedAt: number | undefined
  readonly #waiting: { readonly resume: () => void; readonly now: () => number }[] = []

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /**
   * Returns undefined while the time slice of this iteration of the event loop is not used up. Otherwise it returns a promise that resolves
   * in a later iteration: waiting tasks resume in the order of their calls, one in each iteration.
   *
   * @param now - Returns elapsed milliseconds.
   */
  next(now: () => number = elapsed): Promise<void> | undefined {
    if (this.#startedAt === undefined) {
      this.#start(now)
      return undefined
    }
    if (now() - this.#startedAt < this.#sliceMs) return undefined
    return new Promise((resume) => this.#waiting.push({ resume, now }))
  }

  #start(now: () => number): void {
    this.#startedAt = now()
    setImmediate(() => {
      this.#startedAt = undefined
      const task = this.#waiting.shift()
      if (task === undefined) return
      this.#start(task.now)
      task.resume()
    })
  }
}

function elapsed(): number {
  return performance.now()
}
