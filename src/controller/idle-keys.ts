/** `IdleKeys`: promises that resolve when the processing of a key ends. */

export class IdleKeys<Key> {
  /** The callbacks that are called when the processing of a key ends. */
  readonly #waiting = new Map<Key, Set<() => void>>()

  /**
   * Resolves at the next call of `resolve` for `key`.
   *
   * @throws the reason of `signal` when the signal aborts first.
   */
  next(key: Key, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error)
        return
      }
      const waiting = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, waiting)
      const onIdle = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        waiting.delete(onIdle)
        if (waiting.size === 0) this.#waiting.delete(key)
        reject(signal?.reason as Error)
      }
      waiting.add(onIdle)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Resolves the promises for `key`. */
  resolve(key: Key): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    for (const onIdle of waiting) onIdle()
  }
}
