/**
 * A clock of a machine whose time differs from that of other machines: the time is ahead or behind, it runs faster or slower, or the
 * machine is suspended.
 */
import type { Clock, Timer } from '../../../src/runtime/clock.ts'

export class SkewedClock implements Clock {
  readonly #base: Clock
  readonly #offsetMs: number
  readonly #rate: number
  /** The total time for which the machine was suspended, in milliseconds of the base clock. A suspension is added when it ends. */
  #suspendedMs = 0
  #suspendedAt: number | undefined
  readonly #missed: (() => void)[] = []

  /** @param rate the number of milliseconds that this clock counts in one millisecond of `base`. */
  constructor(base: Clock, { offsetMs = 0, rate = 1 } = {}) {
    this.#base = base
    this.#offsetMs = offsetMs
    this.#rate = rate
  }

  now(): number {
    return this.#base.now() * this.#rate + this.#offsetMs
  }

  /** As on Linux, the monotonic time stands still while the machine is suspended. */
  monotonicNow(): number {
    const running = (this.#suspendedAt ?? this.#base.monotonicNow()) - this.#suspendedMs
    return running * this.#rate
  }

  after(ms: number, callback: () => void): Timer {
    let cancelled = false
    const due = this.monotonicNow() + Math.max(0, ms)
    const check = (): void => {
      if (cancelled) return
      if (this.#suspendedAt !== undefined) {
        this.#missed.push(check)
        return
      }
      const left = due - this.monotonicNow()
      // The timer of the base clock continues while the machine is suspended, but the monotonic time of this clock stands still. If the
      // monotonic time has not reached the end of the delay, a new timer waits for the rest of the delay.
      if (left > 1e-6) timer = this.#base.after(left / this.#rate, check)
      else callback()
    }
    let timer = this.#base.after(Math.max(0, ms) / this.#rate, check)
    return {
      cancel: () => {
        cancelled = true
        timer.cancel()
      },
    }
  }

  get suspended(): boolean {
    return this.#suspendedAt !== undefined
  }

  suspend(): void {
    this.#suspendedAt ??= this.#base.monotonicNow()
  }

  resume(): void {
    if (this.#suspendedAt === undefined) return
    this.#suspendedMs += this.#base.monotonicNow() - this.#suspendedAt
    this.#suspendedAt = undefined
    for (const check of this.#missed.splice(0)) check()
  }
}
