/** How long the event loop was held up, in processor time: on a busy machine the clock says more about the others. */
export class Turns {
  /** The processor time of the longest turn until now, in milliseconds. */
  longest = 0
  readonly #timer: NodeJS.Timeout

  constructor() {
    let before = used()
    this.#timer = setInterval(() => {
      const now = used()
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

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
