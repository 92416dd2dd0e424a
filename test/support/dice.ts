/** Random choices that a seed determines. With the same seed, a test generates the same cases. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** Returns the next number of the generator mulberry32, in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns a random integer from 0 to `max`, including both. */
  upTo(max: number): number {
    return Math.floor(this.next() * (max + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('nothing to pick from')
    return items[this.upTo(items.length - 1)]!
  }

  times<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.upTo(max) }, make)
  }
}
