/** `Informers`: the informers of a cache. When the last `InformerLease` of an informer is released, the informer stops. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { aborted } from '../runtime/waiting.ts'
import type { Informer } from './informer.ts'
import { describeType, isSameView } from './view.ts'

/** A lease of the informer of a type or view. The informer runs at least until the lease is released. */
export interface InformerLease<R extends ResourceType = ResourceType> {
  /** @throws {ProreusError} `PRO_INPUT` when the lease has been released. */
  readonly informer: Informer<ObjectOf<R>>
  /**
   * Resolves when the informer has synced. Rejects with the signal's reason when the signal aborts first, and with `PRO_ABORTED` when the
   * lease is released first. Rejects with `PRO_INPUT` when the lease was released before the call.
   */
  whenSynced(signal?: AbortSignal): Promise<void>
  /**
   * Releases the lease; later calls have no effect. When the last lease is released, the informer stops, and its objects are removed from
   * memory.
   */
  release(): void
}

interface Entry {
  readonly informer: Informer
  readonly stop: AbortController
  leases: number
}

export class Informers {
  readonly #create: (type: ResourceType) => Informer
  readonly #entries = new Set<Entry>()
  /** The entries for which `keep` was called. `keep` acquires one lease of each entry, and never releases this lease. */
  readonly #kept = new Set<Entry>()
  /**
   * Maps a type object to the entry that `#find` has found for it. Most callers pass the same type object in each call, so `#find` need not
   * search again.
   */
  #known = new WeakMap<ResourceType, Entry>()
  readonly #running = new Set<Promise<void>>()
  /** Rejects when an informer fails. */
  readonly #failed = Promise.withResolvers<never>()
  #signal: AbortSignal | undefined

  constructor(create: (type: ResourceType) => Informer) {
    this.#create = create
  }

  *[Symbol.iterator](): Generator<Informer> {
    for (const { informer } of this.#entries) yield informer
  }

  /** Returns the informer of a type or view; undefined when no informer exists. */
  find(type: ResourceType): Informer | undefined {
    return this.#find(type)?.informer
  }

  /**
   * Returns the informer of a type or view. If the informer does not exist, `keep` creates it. After a call of `keep`, the release of
   * leases no longer stops the informer. The informer then stops only when the signal of `start` aborts.
   */
  keep(type: ResourceType): Informer {
    const entry = this.#entryOf(type)
    if (!this.#kept.has(entry)) entry.leases += 1
    this.#kept.add(entry)
    return entry.informer
  }

  /**
   * Creates a lease. The first lease of a type or view creates the informer. If `start` has been called, the first lease also starts the
   * informer.
   */
  acquire<R extends ResourceType>(type: R): InformerLease<R> {
    let held: Entry | undefined = this.#entryOf(type)
    held.leases += 1
    const end = new AbortController()
    const released = `The lease of ${describeType(type)} was released`
    const holding = (): Entry => {
      if (held !== undefined) return held
      throw new ProreusError('PRO_INPUT', `${released}: acquire another one.`)
    }
    return {
      get informer() {
        return holding().informer as unknown as Informer<ObjectOf<R>>
      },
      whenSynced: async (signal) => this.#whenSynced(holding(), signal === undefined ? end.signal : AbortSignal.any([signal, end.signal])),
      release: () => {
        end.abort(new ProreusError('PRO_ABORTED', `${released}.`))
        if (held !== undefined) this.#release(held)
        held = undefined
      },
    }
  }

  /**
   * Starts all informers. Resolves when the signal has aborted and all informers, including released informers, have stopped. Rejects when
   * an informer fails; the liveness probe of the process then fails, too. An informer retries all requests, so only a programming error can
   * make it fail.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const entry of this.#entries) this.#run(entry, signal)
    // When one informer fails, the other informers continue until the signal aborts.
    const stopped = aborted(signal).then(() => {
      for (const { stop } of this.#entries) stop.abort(signal.reason)
    })
    await Promise.race([stopped, this.#failed.promise])
    await Promise.all(this.#running)
  }

  /**
   * Resolves when all informers that exist at the time of the call have synced. Informers that are released before they sync are ignored.
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    const all = [...this.#entries].map((entry) =>
      this.#whenSynced(entry, signal).catch((error: unknown) => {
        if (this.#entries.has(entry)) throw error
      }),
    )
    await Promise.all(all)
  }

  async #whenSynced({ informer, stop }: Entry, signal: AbortSignal | undefined): Promise<void> {
    await informer.whenSynced(signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]))
  }

  #find(type: ResourceType): Entry | undefined {
    const known = this.#known.get(type)
    if (known !== undefined) return known
    for (const entry of this.#entries) {
      if (!isSameView(entry.informer.type, type)) continue
      this.#known.set(type, entry)
      return entry
    }
    return undefined
  }

  #entryOf(type: ResourceType): Entry {
    const existing = this.#find(type)
    if (existing !== undefined) return existing
    const entry: Entry = { informer: this.#create(type), stop: new AbortController(), leases: 0 }
    this.#entries.add(entry)
    if (this.#signal !== undefined) this.#run(entry, this.#signal)
    return entry
  }

  #release(entry: Entry): void {
    entry.leases -= 1
    if (entry.leases > 0) return
    this.#entries.delete(entry)
    // `#known` can still map type objects to the released entry, and then `#find` would return a stopped informer. The keys of a WeakMap
    // cannot be listed, so the whole map is replaced.
    this.#known = new WeakMap()
    entry.stop.abort(new ProreusError('PRO_ABORTED', `The last lease of ${describeType(entry.informer.type)} was released.`))
  }

  #run({ informer, stop }: Entry, signal: AbortSignal): void {
    if (signal.aborted) stop.abort(signal.reason)
    const running = informer.start(stop.signal)
    this.#running.add(running)
    running.then(() => this.#running.delete(running), this.#failed.reject)
  }
}
