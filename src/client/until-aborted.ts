/** `untilAborted`: an abort takes effect at once, also where the work itself notices it late. */

/**
 * Settles as `promise`, or rejects with the signal's reason as soon as it aborts; a value that comes after that goes to `discard`.
 * undici, above all, looks at the signal of a request that waits for a connection only when there is one.
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
