/** The longest turn of the event loop in processor time: on a busy machine, wall time includes other processes. */
export class Turns {
  /** Milliseconds of processor time of the longest turn so far. */
  longest = 0
  readonly #timer: NodeJS.Timeout

  constructor() {
    let before = processorTimeMs()
    this.#timer = setInterval(() => {
      const now = processorTimeMs()
      this.longest = Math.max(this.longest, now - before)
      before = now
    }, 1)
  }

  /** Stops measuring and returns `longest`. */
  stop(): number {
    clearInterval(this.#timer)
    return this.longest
  }
}

/** Returns the processor time of this thread so far in milliseconds, for limits that must hold on a busy machine. */
export function processorTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
