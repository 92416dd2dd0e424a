/** `untilAborted`: rejects as soon as a signal aborts, even if the work itself reacts late. */

/**
 * Settles like `promise`, or rejects with the signal's reason as soon as it aborts; a value that arrives after that is passed to `discard`.
 * undici, for example, checks the signal of a request that waits for a connection only once it has one.
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
