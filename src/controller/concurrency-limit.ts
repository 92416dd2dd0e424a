/** `ConcurrencyLimit`: limits the number of objects that the controllers of a process reconcile at the same time. */

/** Called when a place becomes free. The function calls `tryTake` for each free place that it can use. */
type Wake = () => void

/**
 * The places that the work queues of a process share. A place is the permission to reconcile one object. A queue takes a place only when
 * the queue hands out a key, so a waiting key can still be overtaken by a key with a higher priority. Queues that wait for a place get a
 * place in the order in which they began to wait.
 */
export class ConcurrencyLimit {
  #free: number
  readonly #waiting = new Set<Wake>()

  constructor(places: number) {
    this.#free = places
  }

  /** Takes a place, and returns true. If no place is free, returns false, and calls `wake` once when a place becomes free. */
  tryTake(wake: Wake): boolean {
    if (this.#free > 0) {
      this.#free -= 1
      return true
    }
    this.#waiting.add(wake)
    return false
  }

  /**
   * Releases a place, and calls the `wake` functions of waiting callers until no place is free. The caller that has waited longest comes
   * first.
   */
  release(): void {
    this.#free += 1
    for (const wake of this.#waiting) {
      if (this.#free === 0) return
      this.#waiting.delete(wake)
      wake()
    }
  }

  /** Removes a caller that waits for a place. Its `wake` is not called. */
  cancel(wake: Wake): void {
    this.#waiting.delete(wake)
  }
}
