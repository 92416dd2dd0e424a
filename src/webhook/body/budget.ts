/** How much of the bodies that are being handled may be in memory at a time. */

/** Nine of the largest bodies. */
export const defaultInFlightBytes = 64 * 1024 * 1024

/**
 * Up to this size, whatever is in a body, `JSON.parse` takes no more than some 15 ms, and mostly one. Such bodies may use the whole
 * budget; larger ones leave a quarter of it free, so that they cannot keep ordinary reviews out.
 */
export const smallBytes = 128 * 1024

export class ByteBudget {
  readonly total: number
  #used = 0

  constructor(total: number = defaultInFlightBytes) {
    this.total = total
  }

  /** The bytes that are taken now. */
  get used(): number {
    return this.#used
  }

  /** Takes `bytes` more for a body that has `size` in all then; false when there is no room for them. */
  take(bytes: number, size: number = bytes): boolean {
    if (this.#used + bytes > (size <= smallBytes ? this.total : this.total * (3 / 4))) return false
    this.#used += bytes
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}
