/** `ConcurrencyLimit`: the number of objects that all controllers of a process together may reconcile at the same time. */

/** Takes free places with `tryTake`, as many as can be used. */
type Wake = () => void

/**
 * A number of places that work queues share. A queue takes a place for each key before it hands out the key, so a key that waits for a place
 * stays in its queue, where its priority counts. Queues that wait for a place get one in turn.
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

  /** Gives a place back. The callers that have waited longest may take it first. */
  release(): void {
    this.#free += 1
    for (const wake of this.#waiting) {
      if (this.#free === 0) return
      this.#waiting.delete(wake)
      wake()
    }
  }

  /** Removes a waiting caller. */
  cancel(wake: Wake): void {
    this.#waiting.delete(wake)
  }
}
