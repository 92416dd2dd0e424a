/** Time slices: work that could block the event loop yields to timers and sockets after some milliseconds. */

/**
 * The slices of one kind of work, however many tasks share it: one slice in each turn of the event loop. A task calls `next` between two
 * steps.
 */
export class TimeSlices {
  readonly #sliceMs: number
  /** The time at which the first task of this turn of the event loop started; undefined before that. */
  #startedAt: number | undefined
  readonly #waiting: { readonly resume: () => void; readonly now: () => number }[] = []

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /**
   * Returns undefined while there is time left in this turn of the event loop. Otherwise returns a promise that resolves in a later turn;
   * tasks that wait resume in the order of their calls, one in each turn.
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
