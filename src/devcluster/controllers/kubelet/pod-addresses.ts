/** Allocates IP addresses for simulated Pods: each Pod gets the lowest free address in 10.244.0.0/16. */

/** The first address is 10.244.0.2. In a real cluster, 10.244.0.1 belongs to the node. */
const first = 2
const last = 0xfffe

export class PodAddresses {
  readonly #byOwner = new Map<string, number>()
  readonly #taken = new Set<number>()
  #next = first

  /**
   * Returns the address of a Pod. All calls with the same UID return the same address.
   *
   * @param known the address in the Pod's status. The Pod keeps this address.
   */
  addressOf(uid: string, known?: string): string {
    const before = this.#byOwner.get(uid)
    if (before !== undefined) return format(before)
    const number = parse(known) ?? this.#lowestFree()
    this.#byOwner.set(uid, number)
    this.#taken.add(number)
    return format(number)
  }

  release(uid: string): void {
    const number = this.#byOwner.get(uid)
    if (number === undefined) return
    this.#byOwner.delete(uid)
    this.#taken.delete(number)
    this.#next = Math.min(this.#next, number)
  }

  #lowestFree(): number {
    while (this.#taken.has(this.#next) && this.#next < last) this.#next += 1
    return this.#next
  }
}

function format(number: number): string {
  return `10.244.${number >> 8}.${number & 0xff}`
}

function parse(address: string | undefined): number | undefined {
  const match = /^10\.244\.(\d+)\.(\d+)$/.exec(address ?? '')
  return match === null ? undefined : Number(match[1]) * 256 + Number(match[2])
}
