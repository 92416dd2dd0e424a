/** `PacedQueue`: a work queue that hands out each key at most once in an interval. */
import type { WorkQueueOptions } from './queue.ts'
import { WorkQueue } from './queue.ts'

export interface PacedQueueOptions<Key extends string> extends WorkQueueOptions<Key> {
  /** The shortest time between two hand-outs of one key in milliseconds. */
  readonly minIntervalMs: number
}

/**
 * A key that was handed out less than `minIntervalMs` ago waits for the rest of the interval, with a timer. Calls of `add` for the key do
 * not shorten this time. A retry waits for its back-off or for the rest of the interval, whichever is longer.
 */
export class PacedQueue<Key extends string> extends WorkQueue<Key> {
  readonly #options: PacedQueueOptions<Key>
  /** The times at which keys were last handed out, oldest first, in milliseconds of `clock.monotonicNow()`. */
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
   * Returns true if the key may be processed now. Otherwise, adds the key again with the rest of the interval as the delay, and returns
   * false.
   */
  #keep(key: Key): boolean {
    const restMs = this.#restOf(key)
    if (restMs <= 0) return true
    this.add(key, { after: restMs, priority: this.priorityOf(key) })
    this.done(key)
    return false
  }

  /**
   * Returns the milliseconds for which a key must wait. Before it returns 0, it stores the current time as the time at which the key was
   * handed out.
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
