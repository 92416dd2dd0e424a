/**
 * Measures the longest iteration of the event loop in processor time. Wall time would include the time of other processes on a busy
 * machine.
 */
export class Turns {
  /** The processor time of the longest iteration so far, in milliseconds. */
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

  /** Stops the measurement, and returns `longest`. */
  stop(): number {
    clearInterval(this.#timer)
    return this.longest
  }
}

/**
 * Returns the processor time that this thread has used so far, in milliseconds. Unlike elapsed time, it does not depend on other processes
 * of the machine.
 */
export function processorTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
