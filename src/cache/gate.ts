/** `Gate`: an event that happens at most once, and that many callers wait for. */

/**
 * An aborted wait leaves nothing behind. With a bare promise that never settles, the reactions of every aborted wait would stay in memory:
 * one for each review that waited for a type which does not sync.
 */
export class Gate {
  readonly #waiters = new Set<() => void>()
  #open = false

  /** Resolves all current and later waits. */
  open(): void {
    this.#open = true
    for (const pass of this.#waiters) pass()
  }

  /** Resolves when the gate is open; rejects with the signal's reason when it aborts first. */
  passed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(pass)
        signal?.removeEventListener('abort', onAbort)
      }
      const pass = (): void => {
        leave()
        resolve()
      }
      const onAbort = (): void => {
        leave()
        reject(signal?.reason as Error)
      }
      if (signal?.aborted === true) onAbort()
      else if (this.#open) resolve()
      else {
        this.#waiters.add(pass)
        signal?.addEventListener('abort', onAbort, { once: true })
      }
    })
  }
}
