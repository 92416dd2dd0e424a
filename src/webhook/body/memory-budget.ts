/**
 * The memory budget of requests in flight. When there is no room for a request, it waits and its connection is not read; TCP then holds the
 * sender back. The request that has waited longest gets the reserve, which has room for any request. One request can therefore always
 * finish.
 */
import type { Clock, Timer } from '../../runtime/clock.ts'

/** Up to this size `JSON.parse` takes at most some 15 ms, and usually 1 ms, whatever the body contains. */
export const smallBytes = 128 * 1024

/**
 * Usual cost limit of a small review. Requests up to this cost may use the whole shared memory. Larger ones, and bodies that arrive in
 * parts, leave a quarter of it free for ordinary reviews.
 */
export const smallCost = 8 * smallBytes

/** Cost of a request without its body: headers, the objects of Node.js and fastify, one read of the socket. */
export const requestCost = 16 * 1024

/**
 * While other requests wait for memory, a request may wait this long for its peer to send the rest of its body or to read the response;
 * after that, its peer must keep up this speed. The API server is faster.
 */
const patienceMs = 500
const bytesPerMs = 1024
const checkMs = 250

/** Memory that a charge requests in addition to what it has. */
interface Wanted {
  readonly bytes: number
  /** True when the bytes are only a part of a body; the rest may never arrive. */
  readonly isPart?: boolean
}

/** A request waits behind requests of its own rank and of lower ranks. */
const Rank = { small: 0, smallPart: 1, large: 2 } as const
type Rank = (typeof Rank)[keyof typeof Rank]

interface Waiting extends Wanted {
  readonly charge: Charge
  readonly onRoom: () => void
}

interface BudgetOptions {
  /** The whole budget, in bytes. */
  readonly total: number
  /** The part reserved for the request that has waited longest. */
  readonly reserve: number
  readonly clock: Clock
}

export class MemoryBudget {
  readonly total: number
  readonly reserve: number
  readonly #clock: Clock
  readonly #shared: number
  /** Bytes in use of the shared part. */
  #used = 0
  /** The charge that holds the reserve. */
  #holder: Charge | undefined
  /** The waiting requests in order of arrival; small requests do not wait behind large ones. */
  readonly #waiting: Waiting[] = []
  readonly #withPeers = new Set<Charge>()
  #check: Timer | undefined

  constructor({ total, reserve, clock }: BudgetOptions) {
    this.total = total
    this.reserve = Math.min(reserve, total)
    this.#shared = total - this.reserve
    this.#clock = clock
  }

  /** The bytes in use now. */
  get used(): number {
    return this.#used + (this.#holder?.bytes ?? 0)
  }

  /** Number of requests that wait for memory. */
  get waiting(): number {
    return this.#waiting.length
  }

  open(): Charge {
    return new Charge(this)
  }

  /** Adds `wanted.bytes` to a charge if there is room and no request of the same or a lower rank is waiting. */
  take(charge: Charge, wanted: Wanted): boolean {
    if (charge !== this.#holder) {
      const rank = rankOf(charge, wanted)
      if (!this.#fits(wanted.bytes, rank) || this.#waiting.some((other) => rankOf(other.charge, other) <= rank)) return false
      this.#used += wanted.bytes
    }
    return true
  }

  /** Adds `bytes` that are allocated already, even if there is no room. */
  force(charge: Charge, bytes: number): void {
    if (charge !== this.#holder) this.#used += bytes
  }

  wait(charge: Charge, wanted: Wanted, onRoom: () => void): void {
    this.#waiting.push({ ...wanted, charge, onRoom })
    this.#admit()
    this.#watchPeers()
  }

  /** Releases the memory of a charge, and removes it from the queue. */
  give(charge: Charge): void {
    const index = this.#waiting.findIndex((other) => other.charge === charge)
    if (index >= 0) this.#waiting.splice(index, 1)
    if (this.#withPeers.size > 0) this.#withPeers.delete(charge)
    if (charge === this.#holder) this.#holder = undefined
    else this.#used -= charge.bytes
    if (this.#waiting.length > 0) this.#admit()
  }

  /** Marks the charge as waiting for its peer. */
  waitsForPeer(charge: Charge): void {
    this.#withPeers.add(charge)
    this.#watchPeers()
  }

  #fits(bytes: number, rank: Rank): boolean {
    return this.#used + bytes <= (rank === Rank.small ? this.#shared : this.#shared * (3 / 4))
  }

  #admit(): void {
    this.#freeReserve()
    const first = this.#waiting[0]
    if (first !== undefined && this.#holder === undefined) {
      this.#waiting.shift()
      this.#used -= first.charge.bytes
      this.#holder = first.charge
      first.charge.add(first.bytes)
      first.onRoom()
    }
    // A request never overtakes one of the same or a lower rank.
    let blocked = Infinity
    for (const waiting of [...this.#waiting]) {
      const rank = rankOf(waiting.charge, waiting)
      // A callback may have removed the request meanwhile.
      const index = this.#waiting.indexOf(waiting)
      if (index < 0 || rank >= blocked) continue
      if (!this.#fits(waiting.bytes, rank)) {
        blocked = rank
        continue
      }
      this.#waiting.splice(index, 1)
      this.#used += waiting.bytes
      waiting.charge.add(waiting.bytes)
      waiting.onRoom()
    }
  }

  /**
   * Moves the request that holds the reserve to the shared part as soon as there is room there: it may be small and slow, and large
   * requests need the reserve.
   */
  #freeReserve(): void {
    const bytes = this.#holder?.bytes ?? Infinity
    if (this.#waiting.length === 0 || !this.#fits(bytes, Rank.large)) return
    this.#used += bytes
    this.#holder = undefined
  }

  /** Evicts requests with slow peers while other requests wait for memory. */
  #watchPeers(): void {
    if (this.#check !== undefined || this.#waiting.length === 0 || this.#withPeers.size === 0) return
    this.#check = this.#clock.after(checkMs, () => {
      this.#check = undefined
      const now = this.#clock.monotonicNow()
      if (this.#waiting.length > 0) for (const charge of this.#withPeers) if (charge.isSlow(now)) charge.evict()
      this.#watchPeers()
    })
  }

  now(): number {
    return this.#clock.monotonicNow()
  }
}

function rankOf(charge: Charge, { bytes, isPart = false }: Wanted): Rank {
  if (charge.bytes + bytes > smallCost) return Rank.large
  return isPart ? Rank.smallPart : Rank.small
}

/** The memory of one request. */
export class Charge {
  readonly #budget: MemoryBudget
  #bytes = 0
  #released = false
  #peerSince = 0
  #onEvicted: (() => void) | undefined

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  get released(): boolean {
    return this.#released
  }

  /** Adds `bytes` for a part of a body or for all of it; returns false when the request has to wait. */
  grow(bytes: number, isPart = false): boolean {
    if (!this.#budget.take(this, { bytes, isPart })) return false
    this.#bytes += bytes
    return true
  }

  /** Adds `bytes` and calls `onRoom` as soon as there is room; never calls it after `release`. */
  growLater(bytes: number, onRoom: () => void, isPart = false): void {
    this.#budget.wait(this, { bytes, isPart }, onRoom)
  }

  /** Adds `bytes` that are allocated already. */
  force(bytes: number): void {
    if (this.#released) return
    this.#budget.force(this, bytes)
    this.#bytes += bytes
  }

  /** Called by the budget when it has reserved `bytes` for this charge. */
  add(bytes: number): void {
    this.#bytes += bytes
  }

  /** Marks the request as waiting for its peer; `onEvicted` is called when other requests need the memory and the peer is too slow. */
  waitsForPeer(onEvicted: () => void): void {
    if (this.#released) return
    this.#peerSince = this.#budget.now()
    this.#onEvicted = onEvicted
    this.#budget.waitsForPeer(this)
  }

  /** Marks the request as no longer waiting for its peer. */
  peerDone(): void {
    this.#onEvicted = undefined
  }

  /** Returns whether the peer has been slower than `patienceMs` and the minimum speed allow. */
  isSlow(now: number): boolean {
    return this.#onEvicted !== undefined && now - this.#peerSince > patienceMs + this.#bytes / bytesPerMs
  }

  evict(): void {
    this.#onEvicted?.()
  }

  /** Releases all memory of the request; idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#budget.give(this)
    this.#bytes = 0
  }
}
