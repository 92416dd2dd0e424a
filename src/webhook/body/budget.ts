/**
 * What requests that wait for an answer may take of the memory. A request that finds no room waits, and nothing is read from its connection:
 * TCP holds its sender back. Whoever has waited longest gets the reserve, which is large enough for any request, and so can always finish.
 */
import type { Clock, Timer } from '../../api/clock.ts'

/** Up to this size, whatever is in a body, `JSON.parse` takes no more than some 15 ms, and mostly one. */
export const smallBytes = 128 * 1024

/**
 * What the body of such a review costs at most, mostly. Requests of up to that cost may use all that is shared; larger ones, and bodies that
 * come in parts, leave a quarter of it free, so that they cannot keep ordinary reviews out.
 */
export const smallCost = 8 * smallBytes

/** What a request takes beside its body: its headers, the objects of Node and fastify for it, what is read of the socket in one go. */
export const requestCost = 16 * 1024

/**
 * While others wait for memory, a request that waits for its peer (for the rest of its body, or to fetch its answer) may do so for this
 * long, and for longer only at this speed. The API server is quicker than that.
 */
const patienceMs = 500
const bytesPerMs = 1024
const checkMs = 250

/** The memory that a charge asks for, beyond what it has. */
interface Wanted {
  readonly bytes: number
  /** Whether it is for a part of a body, the rest of which may never come. */
  readonly isPart?: boolean
}

/** Who waits for whom: a request for those of its own rank and of lower ones. */
const Rank = { small: 0, smallPart: 1, large: 2 } as const
type Rank = (typeof Rank)[keyof typeof Rank]

interface Waiting extends Wanted {
  readonly charge: Charge
  readonly onRoom: () => void
}

interface BudgetOptions {
  /** All of it, in bytes. */
  readonly total: number
  /** The part of it for whoever has waited longest. */
  readonly reserve: number
  readonly clock: Clock
}

export class MemoryBudget {
  readonly total: number
  readonly reserve: number
  readonly #clock: Clock
  readonly #shared: number
  /** What is taken of the shared part. */
  #used = 0
  /** Who has the reserve. */
  #holder: Charge | undefined
  /** First come, first served; small ones do not wait for large ones. */
  readonly #waiting: Waiting[] = []
  readonly #withPeers = new Set<Charge>()
  #check: Timer | undefined

  constructor({ total, reserve, clock }: BudgetOptions) {
    this.total = total
    this.reserve = Math.min(reserve, total)
    this.#shared = total - this.reserve
    this.#clock = clock
  }

  /** The bytes that are taken now. */
  get used(): number {
    return this.#used + (this.#holder?.bytes ?? 0)
  }

  /** How many requests wait for room. */
  get waiting(): number {
    return this.#waiting.length
  }

  open(): Charge {
    return new Charge(this)
  }

  /** Takes `bytes` more for a charge, when there is room and nobody has waited for longer. */
  take(charge: Charge, wanted: Wanted): boolean {
    if (charge !== this.#holder) {
      const rank = rankOf(charge, wanted)
      if (!this.#fits(wanted.bytes, rank) || this.#waiting.some((other) => rankOf(other.charge, other) <= rank)) return false
      this.#used += wanted.bytes
    }
    return true
  }

  /** Takes `bytes`, whether there is room or not: they are there already. */
  force(charge: Charge, bytes: number): void {
    if (charge !== this.#holder) this.#used += bytes
  }

  wait(charge: Charge, wanted: Wanted, onRoom: () => void): void {
    this.#waiting.push({ ...wanted, charge, onRoom })
    this.#admit()
    this.#watchPeers()
  }

  /** What a charge has taken is free again, and it waits for nothing any more. */
  give(charge: Charge): void {
    const index = this.#waiting.findIndex((other) => other.charge === charge)
    if (index >= 0) this.#waiting.splice(index, 1)
    if (this.#withPeers.size > 0) this.#withPeers.delete(charge)
    if (charge === this.#holder) this.#holder = undefined
    else this.#used -= charge.bytes
    if (this.#waiting.length > 0) this.#admit()
  }

  /** From now on the charge waits for its peer. */
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
    // Nobody overtakes one of the same rank, or of a lower one.
    let blocked = Infinity
    for (const waiting of [...this.#waiting]) {
      const rank = rankOf(waiting.charge, waiting)
      // It may have gone meanwhile.
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

  /** Counts its holder to the shared part as soon as there is room: it may be a small request that lasts, and the reserve is for large ones, too. */
  #freeReserve(): void {
    const bytes = this.#holder?.bytes ?? Infinity
    if (this.#waiting.length === 0 || !this.#fits(bytes, Rank.large)) return
    this.#used += bytes
    this.#holder = undefined
  }

  /** While somebody waits for memory, those whose peers are slow have to go. */
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

/** What one request takes. */
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

  /** Takes `bytes` more, for a part of a body or for all of it; false where it would have to wait for them. */
  grow(bytes: number, isPart = false): boolean {
    if (!this.#budget.take(this, { bytes, isPart })) return false
    this.#bytes += bytes
    return true
  }

  /** Takes `bytes` more as soon as there is room, and calls `onRoom` then; never once it is released. */
  growLater(bytes: number, onRoom: () => void, isPart = false): void {
    this.#budget.wait(this, { bytes, isPart }, onRoom)
  }

  /** Takes `bytes` for what is in memory already. */
  force(bytes: number): void {
    if (this.#released) return
    this.#budget.force(this, bytes)
    this.#bytes += bytes
  }

  /** For the budget. */
  add(bytes: number): void {
    this.#bytes += bytes
  }

  /** Tells that the request waits for its peer from now on; `onEvicted` is called when others cannot wait for that. */
  waitsForPeer(onEvicted: () => void): void {
    if (this.#released) return
    this.#peerSince = this.#budget.now()
    this.#onEvicted = onEvicted
    this.#budget.waitsForPeer(this)
  }

  /** Tells that the request waits for its peer no more. */
  peerDone(): void {
    this.#onEvicted = undefined
  }

  /** Whether it has waited for its peer for too long, for what it has got from it. */
  isSlow(now: number): boolean {
    return this.#onEvicted !== undefined && now - this.#peerSince > patienceMs + this.#bytes / bytesPerMs
  }

  evict(): void {
    this.#onEvicted?.()
  }

  /** Gives all of it back; idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#budget.give(this)
    this.#bytes = 0
  }
}
