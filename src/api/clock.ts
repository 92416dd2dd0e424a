/** Time as a parameter: everything that waits or compares times takes a `Clock`, so that tests can control it. */

/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since an arbitrary moment, for measuring durations: unaffected when the machine's clock is set. */
  monotonicNow(): number
  /**
   * Calls `callback` once after `ms` milliseconds (any length; negative means at once). The timer keeps the process alive only when
   * `keepAlive` is true.
   */
  after(ms: number, callback: () => void, keepAlive?: boolean): Timer
}

/** The longest delay of Node's `setTimeout`; a longer one would fire at once. */
const longestTimeout = 2 ** 31 - 1

/** The real clock. Delays beyond 24.8 days are split, because `setTimeout` would fire at once. */
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

/**
 * Resolves after `ms` milliseconds, or rejects with the signal's reason when it aborts first. A pending sleep keeps the process alive; an
 * aborted one leaves no timer or listener behind.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const onAbort = (): void => {
      timer.cancel()
      reject(signal?.reason as Error)
    }
    const wake = (): void => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const timer = clock.after(ms, wake, true)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves when the signal aborts, at once if it has already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
