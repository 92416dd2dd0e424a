/** Allocates IP addresses for Pods: each Pod gets the lowest free address in 10.244.0.0/16. */

/** The first and the last address, as offsets in 10.244.0.0/16. The address 10.244.0.1 belongs to the bridge of the node. */
const first = 2
const last = 0xfffe
/** The range of Pod addresses as text. The error message contains this text when no address is free. */
export const podAddressRange = `${format(first)}-${format(last)}`

export class PodAddresses {
  readonly #byOwner = new Map<string, number>()
  readonly #taken = new Set<number>()
  #next = first

  /**
   * Returns the address of the Pod with the uid `pod`. Until `release` is called, all calls for the Pod return the same address. Returns
   * undefined when no address is free.
   *
   * @param known the address in the Pod's status. If this address is in the range, and no other Pod has it, the Pod gets this address.
   */
  addressOf(pod: string, known?: string): string | undefined {
    const before = this.#byOwner.get(pod)
    if (before !== undefined) return format(before)
    const parsed = parse(known)
    const number = parsed === undefined || this.#taken.has(parsed) ? this.#lowestFree() : parsed
    if (number === undefined) return undefined
    this.#byOwner.set(pod, number)
    this.#taken.add(number)
    return format(number)
  }

  release(pod: string): void {
    const number = this.#byOwner.get(pod)
    if (number === undefined) return
    this.#byOwner.delete(pod)
    this.#taken.delete(number)
    this.#next = Math.min(this.#next, number)
  }

  #lowestFree(): number | undefined {
    while (this.#taken.has(this.#next)) this.#next += 1
    return this.#next > last ? undefined : this.#next
  }
}

function format(number: number): string {
  return `10.244.${number >> 8}.${number & 0xff}`
}

function parse(address: string | undefined): number | undefined {
  const match = /^10\.244\.(\d{1,3})\.(\d{1,3})$/.exec(address ?? '')
  const [high, low] = [Number(match?.[1]), Number(match?.[2])]
  const number = high * 256 + low
  return low <= 0xff && number >= first && number <= last ? number : undefined
}
