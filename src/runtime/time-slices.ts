/** Divides work that could block the event loop into slices of some milliseconds. Timers and sockets can run between two slices. */

/**
 * Limits one kind of work to one time slice in each iteration of the event loop. All tasks of this kind share the slice. A task calls
 * `next` between two steps of its work.
 */
export class TimeSlices {
  readonly #sliceMs: number
  /** Start time of the slice in this iteration of the event loop; undefined until the slice starts. */
  #startedAt: number | undefined
  readonly #waiting: { readonly resume: () => void; readonly now: () => number }[] = []

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /**
   * Returns undefined while the time slice of the current iteration of the event loop is not used up. If the time slice is used up, returns
   * a promise that resolves in a later iteration. Each iteration resumes one waiting task. The tasks are resumed in the order in which they
   * called `next`.
   *
   * @param now returns the elapsed time in milliseconds, like `monotonicNow` of a clock.
   */
  next(now: () => number): Promise<void> | undefined {
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

/**
 * Lets waiting tasks continue one after the other: one task in each iteration of the event loop, in the order in which the tasks have
 * called `next`.
 */
export class LoopTurns {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}

/**
 * The time slices of one task. The first slice starts immediately, even if other tasks are waiting. Before each further slice, the task
 * waits for its turn. A short task needs only the first slice, and therefore never waits for long tasks.
 */
export class TaskSlices {
  readonly #turns: LoopTurns
  readonly #sliceMs: number
  #startedAt = elapsed()

  /** `turns` must be the same object for all tasks that take turns in the event loop. */
  constructor(turns: LoopTurns, sliceMs: number) {
    this.#turns = turns
    this.#sliceMs = sliceMs
  }

  /** Returns undefined while the slice is not used up. After that, returns a promise that resolves when the next slice starts. */
  next(): Promise<void> | undefined {
    return elapsed() - this.#startedAt < this.#sliceMs ? undefined : this.renew()
  }

  /** Waits for the next slice, even if the current slice is not used up. */
  async renew(): Promise<void> {
    await this.#turns.next()
    this.#startedAt = elapsed()
  }
}

function elapsed(): number {
  return performance.now()
}
