/** `Heap`: a binary heap. Each item stores its position, so any item can be removed efficiently. */

/** An item that is in at most one heap. `position` is the item's index in this heap, or -1 when the item is in no heap. */
export interface HeapItem {
  position: number
}

export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = []
  readonly #before: (a: Item, b: Item) => boolean

  /** @param before returns whether `a` comes before `b`. The function must define a strict order. */
  constructor(before: (a: Item, b: Item) => boolean) {
    this.#before = before
  }

  /** Returns the first item without removing it; undefined when the heap is empty. */
  get first(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  /** Removes the first item, and returns it; undefined when the heap is empty. */
  pop(): Item | undefined {
    const first = this.#items[0]
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Removes `item`, which must be in this heap. */
  remove(item: Item): void {
    const { position } = item
    const last = this.#items.pop()
    item.position = -1
    if (last === undefined || last === item) return
    this.#rise(last, position)
    this.#sink(last, last.position)
  }

  #rise(item: Item, from: number): void {
    let position = from
    while (position > 0) {
      const parentPosition = (position - 1) >> 1
      const parent = this.#items[parentPosition]!
      if (!this.#before(item, parent)) break
      this.#put(parent, position)
      position = parentPosition
    }
    this.#put(item, position)
  }

  #sink(item: Item, from: number): void {
    let position = from
    for (;;) {
      const leftPosition = 2 * position + 1
      const left = this.#items[leftPosition]
      if (left === undefined) break
      const right = this.#items[leftPosition + 1]
      const child = right !== undefined && this.#before(right, left) ? right : left
      if (!this.#before(child, item)) break
      const childPosition = child.position
      this.#put(child, position)
      position = childPosition
    }
    this.#put(item, position)
  }

  #put(item: Item, position: number): void {
    this.#items[position] = item
    item.position = position
  }
}
