/** A clock that a test advances. */
import type { Clock, Timer } from '../runtime/clock.ts'

interface PendingTimer {
  readonly due: number
  /** Timers of the same time fire in the order in which they were created. */
  readonly order: number
  readonly callback: () => void
}

/** Number of turns of the event loop between two timers, in which promises settle. A chain of promises settles within one turn. */
const settlingTurns = 2

/**
 * A `Clock` for tests: time stands still until `advance`.
 *
 * @example
 * const clock = new FakeClock()
 * const done = sleep(clock, 60_000)
 * await clock.advance(60_000)
 * await done
 */
export class FakeClock implements Clock {
  #now: number
  /** The sum of all changes of the time by `set`. */
  #setBy = 0
  #order = 0
  readonly #timers = new Set<PendingTimer>()

  /** Starts at `now`, by default 2026-01-01T00:00:00Z. */
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
    const timer = { due: this.#now + Math.max(0, ms), order: this.#order++, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** The time of the next timer; undefined when no timer is pending. */
  get nextDue(): number | undefined {
    return this.#next()?.due
  }

  /**
   * Advances the time by `ms`. Fires each timer at its own time, and lets promises settle in between. Timers that an earlier timer creates
   * fire, too.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await settle()
    for (let timer = this.#next(); timer !== undefined && timer.due <= target; timer = this.#next()) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.due)
      timer.callback()
      await settle()
    }
    this.#now = Math.max(this.#now, target)
  }

  /** Sets the time, even to an earlier one, without firing a timer, as when the machine's clock is set. */
  set(now: number | string): void {
    const before = this.#now
    this.#now = typeof now === 'number' ? now : Date.parse(now)
    this.#setBy += this.#now - before
  }

  /** Resolves once `count` timers are pending, i.e. the code under test has reached its sleep. Rejects when the timers do not appear. */
  async untilPending(count = 1): Promise<void> {
    for (let turn = 0; this.#timers.size < count; turn++) {
      if (turn === 10_000) throw new Error(`waited for ${count} pending timers, found ${this.#timers.size}`)
      await settle()
    }
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
