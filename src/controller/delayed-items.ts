/** `DelayedItems`: items that become due at given times. All items share one timer. */
import type { Clock, Timer } from '../runtime/clock.ts'
import type { HeapItem } from './heap.ts'
import { Heap } from './heap.ts'

export interface DelayedItem extends HeapItem {
  /** The time at which the item is due, in milliseconds of `clock.monotonicNow()`. */
  readyAt: number
  /** If two items are due at the same time, the item with the lower `order` comes first. */
  order: number
}

export class DelayedItems<Item extends DelayedItem> {
  readonly #clock: Clock
  readonly #onDue: (item: Item) => void
  readonly #heap = new Heap<Item>((a, b) => (a.readyAt === b.readyAt ? a.order < b.order : a.readyAt < b.readyAt))
  #timer: { readonly due: number; readonly timer: Timer } | undefined

  /** @param onDue is called with each due item, after the item has been removed. */
  constructor(clock: Clock, onDue: (item: Item) => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  /** Adds an item. If it is due already, `onDue` is called immediately. */
  add(item: Item): void {
    if (item.readyAt <= this.#clock.monotonicNow()) {
      this.#onDue(item)
      return
    }
    this.#heap.push(item)
    this.#armTimer()
  }

  /** Removes an item if it is delayed; otherwise does nothing. */
  remove(item: Item): void {
    if (item.position === -1) return
    this.#heap.remove(item)
    this.#armTimer()
  }

  /** Cancels the timer. Afterwards, no item becomes due. */
  stop(): void {
    this.#timer?.timer.cancel()
    this.#timer = undefined
  }

  /** Sets the timer to the earliest `readyAt`. */
  #armTimer(): void {
    const due = this.#heap.first?.readyAt
    if (due === this.#timer?.due) return
    this.#timer?.timer.cancel()
    this.#timer = due === undefined ? undefined : { due, timer: this.#clock.after(due - this.#clock.monotonicNow(), () => this.#wake(due)) }
  }

  #wake(due: number): void {
    this.#timer = undefined
    // `due` counts as reached even if `monotonicNow()` is slightly earlier, because a timer may fire early.
    const now = Math.max(this.#clock.monotonicNow(), due)
    for (let item = this.#heap.first; item !== undefined && item.readyAt <= now; item = this.#heap.first) {
      this.#heap.remove(item)
      this.#onDue(item)
    }
    this.#armTimer()
  }
}
