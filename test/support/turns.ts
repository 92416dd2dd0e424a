/** How long the event loop was held up, in processor time: on a busy machine the clock says more about the others. */
export class Turns {
  /** The processor time of the longest turn until now, in milliseconds. */
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

  /** The processor time of the longest turn of this thread's event loop, in milliseconds. */
  stop(): number {
    clearInterval(this.#timer)
    return this.longest
  }
}

/** The processor time of this thread until now, in milliseconds: what a limit is about that must hold on a busy machine. */
export function processorTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
