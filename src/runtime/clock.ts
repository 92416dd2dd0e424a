/** `Clock`: the source of time. All code that waits or compares times takes a `Clock` as a parameter, so tests can control the time. */

/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since an arbitrary point in time, for measuring durations. This time does not jump when the machine's clock is set. */
  monotonicNow(): number
  /**
   * Calls `callback` once after `ms` milliseconds. `ms` may exceed the maximum delay of `setTimeout`. If `ms` is negative, `callback` is
   * called as soon as possible. If `keepAlive` is true, the timer keeps the process alive.
   */
  after(ms: number, callback: () => void, keepAlive?: boolean): Timer
}

/** The longest delay of the function `setTimeout` in Node.js. With a longer delay, the timer fires immediately. */
const longestTimeout = 2 ** 31 - 1

/** The clock of the system. It splits a delay of more than 24.8 days, because `setTimeout` with such a delay fires immediately. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  after(ms, callback, keepAlive = false) {
    const due = performance.now() + ms
    let handle: NodeJS.Timeout
    const arm = (): void => {
      const left = Math.max(0, due - performance.now())
      handle = left > longestTimeout ? setTimeout(arm, longestTimeout) : setTimeout(callback, left)
      if (!keepAlive) handle.unref()
    }
    arm()
    return { cancel: () => clearTimeout(handle) }
  },
}
