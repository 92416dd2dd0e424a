/** `Gate`: an event that happens at most once, and that many callers wait for. */

/**
 * Lets callers wait until `open` is called. An aborted wait leaves nothing in memory. With a plain promise that never settles, the
 * callbacks of every aborted wait would stay in memory: one for each admission request that waited for a type that does not sync.
 */
export class Gate {
  readonly #waiters = new Set<() => void>()
  #open = false

  /** Opens the gate: all current and later waits resolve. */
  open(): void {
    this.#open = true
    for (const pass of this.#waiters) pass()
  }

  /** Waits until the gate is open. Rejects with the signal's reason when the signal aborts first. */
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
