/** A `Clock` whose time changes only when a test calls `advance` or `set`. */
import type { Clock, Timer } from '../runtime/clock.ts'

interface PendingTimer {
  /** The time at which the timer fires, in milliseconds of `monotonicNow()`. */
  readonly due: number
  /** The number of timers that were created before this timer. Timers that are due at the same time fire in the order of their creation. */
  readonly order: number
  readonly callback: () => void
}

/**
 * Number of event loop iterations that the clock waits after each timer, so that the promises of the code under test settle. A chain of
 * promises without I/O settles within one iteration.
 */
const settlingTurns = 2

/**
 * A `Clock` for tests. Its time changes only when `advance` or `set` is called.
 *
 * @example
 * const clock = new FakeClock()
 * const done = sleep(clock, 60_000)
 * await clock.advance(60_000)
 * await done
 */
export class FakeClock implements Clock {
  #now: number
  /** The sum in milliseconds of all changes that `set` has made to the time. These changes do not affect `monotonicNow`. */
  #setBy = 0
  #order = 0
  readonly #timers = new Set<PendingTimer>()

  /** Starts the clock at `now`, in milliseconds since 1970 or as a date string. Default: 2026-01-01T00:00:00Z. */
  constructor(now: number | string = '2026-01-01T00:00:00Z') {
    this.#now = typeof now === 'number' ? now : Date.parse(now)
  }

  now(): number {
    return this.#now
  }

  monotonicNow(): number {
    return this.#now - this.#setBy
  }

  after(ms: number, callback: () => void): Timer {
    const timer = { due: this.monotonicNow() + Math.max(0, ms), order: this.#order++, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** The time at which the next timer fires; undefined when no timer is pending. */
  get nextDue(): number | undefined {
    const next = this.#next()
    return next === undefined ? undefined : next.due + this.#setBy
  }

  /**
   * Advances the time by `ms` milliseconds. The clock stops at the time of each pending timer, calls the callback of the timer, and waits
   * for promises to settle. Timers that are created during the call also fire when they are due.
   */
  async advance(ms: number): Promise<void> {
    const target = this.monotonicNow() + ms
    await settle()
    for (let timer = this.#next(); timer !== undefined && timer.due <= target; timer = this.#next()) {
      this.#timers.delete(timer)
      this.#elapse(timer.due)
      timer.callback()
      await settle()
    }
    this.#elapse(target)
  }

  /**
   * Sets the time of day, like a change of the system clock. The new time may be earlier. `monotonicNow` does not change, and neither does
   * the time that remains until each pending timer fires.
   */
  set(now: number | string): void {
    const before = this.#now
    this.#now = typeof now === 'number' ? now : Date.parse(now)
    this.#setBy += this.#now - before
  }

  /**
   * Resolves when `count` timers are pending, for example because the code under test sleeps. Rejects when there are still fewer timers
   * after many iterations of the event loop.
   */
  async untilPending(count = 1): Promise<void> {
    for (let turn = 0; this.#timers.size < count; turn++) {
      if (turn === 10_000) throw new Error(`waited for ${count} pending timers, found ${this.#timers.size}`)
      await settle()
    }
  }

  /**
   * Advances `now()` and `monotonicNow()` until `monotonicNow()` is `target`. If a callback has already advanced the clock beyond `target`,
   * nothing changes.
   */
  #elapse(target: number): void {
    this.#now += Math.max(0, target - this.monotonicNow())
  }

  #next(): PendingTimer | undefined {
    let next: PendingTimer | undefined
    for (const timer of this.#timers) {
      if (next === undefined || timer.due < next.due || (timer.due === next.due && timer.order < next.order)) next = timer
    }
    return next
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < settlingTurns; turn++) await new Promise((resolve) => setImmediate(resolve))
}
