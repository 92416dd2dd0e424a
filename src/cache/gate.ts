/** `Gate`: lets callers wait for an event that happens at most once. */

/**
 * Lets callers wait until `open` is called. An aborted wait leaves nothing in memory.
 *
 * A promise that all waits share would keep the callbacks of aborted waits in memory until the promise settles. If a type never syncs, each
 * admission request that waits for the sync would leave a callback in memory.
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
