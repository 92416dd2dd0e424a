/** A clock that moves only when a test says so. */
import type { Clock, Timer } from '../api/clock.ts'

interface PendingTimer {
  readonly due: number
  /** Timers of the same time fire in the order in which they were asked for. */
  readonly order: number
  readonly callback: () => void
}

/** How many turns of the event loop promises get between two timers; chains of promises are served within one turn. */
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
  /** How far `set` has moved the time, in all. */
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

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size
  }

  /** When the next timer fires, undefined when none waits. */
  get nextDue(): number | undefined {
    return this.#next()?.due
  }

  /**
   * Moves time forward by `ms`, firing each timer at its own time and letting promises settle in between,
   * so that a timer that is asked for by what an earlier one woke fires too.
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

  /** Moves time without firing a timer, as when the machine's clock is set; backwards too. */
  set(now: number | string): void {
    const before = this.#now
    this.#now = typeof now === 'number' ? now : Date.parse(now)
    this.#setBy += this.#now - before
  }

  /** Resolves once `count` timers wait: the code under test has come to its sleep. Rejects when that never happens. */
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
