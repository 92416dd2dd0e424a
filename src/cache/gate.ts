/** `Gate`: something that many wait for, that happens once, and perhaps never. */

/**
 * Nothing is left of a wait that was aborted. A promise that never settles would keep every reaction to it:
 * each review that gave up waiting for a type that does not sync would stay in memory.
 */
export class Gate {
  readonly #waiters = new Set<() => void>()
  #open = false

  /** Lets all pass, now and from now on. */
  open(): void {
    this.#open = true
    for (const pass of this.#waiters) pass()
  }

  /** Resolves when the gate is open; rejects with the signal's reason when it aborts first, or has. */
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
