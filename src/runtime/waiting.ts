/** Promises that settle when a signal aborts or some time has passed. */
import type { Clock } from './clock.ts'

/**
 * Resolves after `ms` milliseconds. If the signal aborts first, rejects with the signal's reason. A pending sleep keeps the process alive.
 * An aborted sleep leaves no timer or listener in memory.
 *
 * @example
 * while (!signal.aborted) {
 *   await importAll()
 *   await sleep(clock, 60_000, signal)
 * }
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

/** Resolves when the signal aborts, or immediately if it has already aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Returns a promise with the result or error of `promise`. If the signal aborts first, the returned promise rejects with the signal's
 * reason. A result of `promise` that arrives after the abort is passed to `discard`.
 *
 * The function is for promises that ignore the signal. For example, undici does not check the signal of a request while the request waits
 * for a connection.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, discard: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    promise
      .then((value) => (signal.aborted ? discard(value) : resolve(value)), reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
    if (signal.aborted) onAbort()
  })
}

export const timedOut = Symbol('timed out')

/**
 * Returns a promise with the result or error of `work`. If `work` has not settled after `ms` milliseconds, the returned promise resolves to
 * `timedOut`, and a later result or error of `work` is ignored. With `keepAlive`, the timer keeps the process alive.
 */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, { keepAlive = false } = {}): Promise<T | typeof timedOut> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(timedOut), keepAlive)
    work.then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error as Error)
      },
    )
  })
}
