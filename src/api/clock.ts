/** Time as a parameter: everything that waits or compares times takes a `Clock`, so that tests can own it. */

/** A timer that was asked for; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number
  /** Calls `callback` once after `ms` milliseconds (any length; negative means at once). The timer does not keep the process alive. */
  after(ms: number, callback: () => void): Timer
}

/** The longest delay that Node's `setTimeout` takes; a longer one would fire at once. */
const longestTimeout = 2 ** 31 - 1

/** The real clock. Delays beyond 24.8 days are split, which `setTimeout` alone would turn into "now". */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const due = Date.now() + ms
    let handle: NodeJS.Timeout
    const arm = (): void => {
      const left = Math.max(0, due - Date.now())
      handle = left > longestTimeout ? setTimeout(arm, longestTimeout) : setTimeout(callback, left)
      handle.unref()
    }
    arm()
    return { cancel: () => clearTimeout(handle) }
  },
}

/**
 * Resolves after `ms` milliseconds, or rejects with the signal's reason when it aborts first.
 *
 * Unlike a bare `clock.after`, a pending sleep keeps nothing alive after the abort.
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
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
