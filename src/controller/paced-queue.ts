/** `PacedQueue`: a work queue that hands out the same key at most once in each interval of `minIntervalMs`. */
import type { WorkQueueOptions } from './queue.ts'
import { WorkQueue } from './queue.ts'

export interface PacedQueueOptions<Key extends string> extends WorkQueueOptions<Key> {
  /** The minimum interval in milliseconds between handing out a key and handing out the same key again. */
  readonly minIntervalMs: number
}

/**
 * If a key was handed out less than `minIntervalMs` ago, a timer delays the key until the rest of the interval has passed. Calls of `add`
 * for the key do not shorten this delay. A retry waits for its back-off or for the rest of the interval, whichever is longer.
 */
export class PacedQueue<Key extends string> extends WorkQueue<Key> {
  readonly #options: PacedQueueOptions<Key>
  /**
   * The time at which each key was last handed out, in milliseconds of `clock.monotonicNow()`. The entries of the map are in the order of
   * their times, the oldest first.
   */
  readonly #handedOut = new Map<Key, number>()

  constructor(options: PacedQueueOptions<Key>) {
    super(options)
    this.#options = options
  }

  override async get(signal?: AbortSignal): Promise<Key | undefined> {
    for (;;) {
      const taken = signal?.aborted ? undefined : this.take()
      if (taken !== undefined) return taken
      const key = await super.get(signal)
      if (key === undefined || this.#keep(key)) return key
    }
  }

  override take(): Key | undefined {
    for (;;) {
      const key = super.take()
      if (key === undefined || this.#keep(key)) return key
    }
  }

  /**
   * Returns true if the key may be processed now. If the key must wait, adds the key again with the rest of the interval as the delay, and
   * returns false.
   */
  #keep(key: Key): boolean {
    const restMs = this.#restOf(key)
    if (restMs <= 0) return true
    this.add(key, { after: restMs, priority: this.priorityOf(key) })
    this.done(key)
    return false
  }

  /**
   * Returns the time in milliseconds for which the key must still wait. If this time is 0, the function also stores the current time as the
   * time at which the key was handed out.
   */
  #restOf(key: Key): number {
    const { clock, minIntervalMs } = this.#options
    const now = clock.monotonicNow()
    for (const [oldest, at] of this.#handedOut) {
      if (now - at < minIntervalMs) break
      this.#handedOut.delete(oldest)
    }
    const at = this.#handedOut.get(key)
    if (at !== undefined) return at + minIntervalMs - now
    this.#handedOut.set(key, now)
    return 0
  }
}
