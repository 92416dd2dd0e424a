/** `ExpiringCache`: a map with a limited number of entries. Each entry expires. */
import type { Clock } from '../runtime/clock.ts'

interface Entry<Value> {
  readonly value: Value
  readonly until: number
}

export class ExpiringCache<Value> {
  readonly #clock: Clock
  readonly #maxEntries: number
  /** The entries in insertion order: the oldest entry comes first. */
  readonly #entries = new Map<string, Entry<Value>>()

  constructor(clock: Clock, maxEntries: number) {
    this.#clock = clock
    this.#maxEntries = maxEntries
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.until > this.#clock.monotonicNow()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Adds an entry that expires after `ms` milliseconds. When the cache is full, the oldest entry is removed. */
  set(key: string, value: Value, ms: number): void {
    // The old entry is deleted first, so that the new entry is the last one in insertion order.
    this.#entries.delete(key)
    if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!)
    this.#entries.set(key, { value, until: this.#clock.monotonicNow() + ms })
  }

  /** The number of entries, including expired ones. */
  get size(): number {
    return this.#entries.size
  }
}
