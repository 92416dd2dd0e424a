/**
 * Limits the memory of all requests in flight. A request waits when the budget has no room for it. Meanwhile, the server does not read from
 * the connection of this request, so TCP flow control makes the client wait as well.
 *
 * A part of the budget is a reserve for the request that has waited longest. The reserve has room for any request, so at least one request
 * can always finish.
 */
import type { Clock, Timer } from '../../runtime/clock.ts'

/**
 * Maximum size of a small body in bytes. `JSON.parse` usually takes 1 ms for a body of this size, and about 15 ms for the worst content.
 */
export const smallBytes = 128 * 1024

/**
 * Maximum memory of a small request in bytes. Most reviews are small requests. Small requests may use all memory outside the reserve.
 * Larger requests, and bodies that arrive in chunks, may use only three quarters of the memory outside the reserve.
 */
export const smallCost = 8 * smallBytes

/**
 * Memory in bytes that a request needs without its body: headers, the objects of Node.js and fastify, and the data of one read from the
 * socket.
 */
export const requestCost = 16 * 1024

/**
 * Limits for slow clients. The limits apply only while other requests wait for memory. A client has `patienceMs` to send the body or to
 * read the response, and one additional millisecond for each `bytesPerMs` bytes of memory that the request has reserved. An API server
 * needs less time.
 */
const patienceMs = 500
const bytesPerMs = 1024
const checkMs = 250

/** The memory that a request needs in addition to the memory that it has already reserved. */
interface Wanted {
  readonly bytes: number
  /**
   * True when the bytes are for one chunk of a body. Chunks may use only three quarters of the memory outside the reserve, because the
   * remaining chunks of a body may never arrive.
   */
  readonly isPart?: boolean
}

/**
 * The ranks of requests for memory. A new request must wait if another request that has the same rank number as the new request, or a lower
 * one, is already waiting.
 */
const Rank = { small: 0, smallPart: 1, large: 2 } as const
type Rank = (typeof Rank)[keyof typeof Rank]

interface Waiting extends Wanted {
  readonly charge: Charge
  readonly onRoom: () => void
}

interface BudgetOptions {
  /** The budget in bytes, including the reserve. */
  readonly total: number
  /** The bytes that are reserved for the request that has waited longest. */
  readonly reserve: number
  readonly clock: Clock
}

export class MemoryBudget {
  readonly total: number
  readonly reserve: number
  readonly #clock: Clock
  readonly #shared: number
  /** Bytes in use, without those of the request that holds the reserve. */
  #used = 0
  /** The request that holds the reserve. */
  #holder: Charge | undefined
  /** The waiting requests in order of arrival. A small request can get memory before a large request that arrived earlier. */
  readonly #waiting: Waiting[] = []
  readonly #withPeers = new Set<Charge>()
  #check: Timer | undefined

  constructor({ total, reserve, clock }: BudgetOptions) {
    this.total = total
    this.reserve = Math.min(reserve, total)
    this.#shared = total - this.reserve
    this.#clock = clock
  }

  /** The bytes in use, including those of the request that holds the reserve. */
  get used(): number {
    return this.#used + (this.#holder?.bytes ?? 0)
  }

  /** The number of requests that wait for memory. */
  get waiting(): number {
    return this.#waiting.length
  }

  open(): Charge {
    return new Charge(this)
  }

  /**
   * Allocates `wanted.bytes` to a request. The request that holds the budget's reserve always gets the memory. For any other request, the
   * function returns false and allocates nothing if the budget has no room, or if a request with the same or a lower rank number is
   * waiting.
   */
  take(charge: Charge, wanted: Wanted): boolean {
    if (charge !== this.#holder) {
      const rank = rankOf(charge, wanted)
      if (!this.#fits(wanted.bytes, rank) || this.#waiting.some((other) => rankOf(other.charge, other) <= rank)) return false
      this.#used += wanted.bytes
    }
    return true
  }

  /** Counts bytes that have already been allocated, even if the budget has no room for them. */
  force(charge: Charge, bytes: number): void {
    if (charge !== this.#holder) this.#used += bytes
  }

  wait(charge: Charge, wanted: Wanted, onRoom: () => void): void {
    this.#waiting.push({ ...wanted, charge, onRoom })
    this.#admit()
    this.#watchPeers()
  }

  /** Releases the memory of a request, and removes the request from the queue. */
  give(charge: Charge): void {
    const index = this.#waiting.findIndex((other) => other.charge === charge)
    if (index >= 0) this.#waiting.splice(index, 1)
    if (this.#withPeers.size > 0) this.#withPeers.delete(charge)
    if (charge === this.#holder) this.#holder = undefined
    else this.#used -= charge.bytes
    if (this.#waiting.length > 0) this.#admit()
  }

  /** Marks a request as waiting for its client: the client must send the body or read the response. */
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
    // The lowest rank number of the requests for which this loop has found no room; Infinity if there is no such request. Later requests
    // with this rank number or a higher one must keep waiting.
    let blocked = Infinity
    for (const waiting of [...this.#waiting]) {
      const rank = rankOf(waiting.charge, waiting)
      // `onRoom` of an earlier request in this loop may have removed this request from the queue.
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
   * If other requests wait, and the memory outside the reserve has room for the request that holds the reserve, this request gives the
   * reserve back. The bytes of this request then count as memory outside the reserve, and the reserve is free for the request that has
   * waited longest. Without this step, even a small request of a slow client would hold the whole reserve until the request ends.
   */
  #freeReserve(): void {
    const bytes = this.#holder?.bytes ?? Infinity
    if (this.#waiting.length === 0 || !this.#fits(bytes, Rank.large)) return
    this.#used += bytes
    this.#holder = undefined
  }

  /** While other requests wait for memory, evicts requests of slow clients. */
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

/** The memory that one request has reserved in a `MemoryBudget`. */
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

  /**
   * Reserves `bytes` additional bytes, and returns true. If the request has to wait, reserves nothing, and returns false. The caller then
   * calls `growLater`. `isPart` is true when the bytes are for one chunk of a body.
   */
  grow(bytes: number, isPart = false): boolean {
    if (!this.#budget.take(this, { bytes, isPart })) return false
    this.#bytes += bytes
    return true
  }

  /**
   * Reserves `bytes` additional bytes as soon as the budget has room, and then calls `onRoom`. After a call of `release`, `onRoom` is never
   * called.
   */
  growLater(bytes: number, onRoom: () => void, isPart = false): void {
    this.#budget.wait(this, { bytes, isPart }, onRoom)
  }

  /** Counts bytes that have already been allocated, even if the budget has no room for them. */
  force(bytes: number): void {
    if (this.#released) return
    this.#budget.force(this, bytes)
    this.#bytes += bytes
  }

  /** Adds `bytes` to the memory of this request. The budget calls this method after it has reserved the bytes. */
  add(bytes: number): void {
    this.#bytes += bytes
  }

  /**
   * Marks the request as waiting for its client to send or to read. `onEvicted` is called when other requests need the memory and the
   * client is too slow.
   */
  waitsForPeer(onEvicted: () => void): void {
    if (this.#released) return
    this.#peerSince = this.#budget.now()
    this.#onEvicted = onEvicted
    this.#budget.waitsForPeer(this)
  }

  /** Marks the request as no longer waiting for its client. */
  peerDone(): void {
    this.#onEvicted = undefined
  }

  /** Returns true if the client has taken longer than the time that `patienceMs` and `bytesPerMs` allow. */
  isSlow(now: number): boolean {
    return this.#onEvicted !== undefined && now - this.#peerSince > patienceMs + this.#bytes / bytesPerMs
  }

  evict(): void {
    this.#onEvicted?.()
  }

  /** Releases all memory of the request. Further calls have no effect. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#budget.give(this)
    this.#bytes = 0
  }
}
