/** `WorkQueue`: the work queue of a controller. It contains the keys to reconcile, with priorities and delays. */
import type { Clock, Timer } from '../runtime/clock.ts'
import type { QueueMetrics } from '../telemetry/metrics.ts'
import type { HeapItem } from './heap.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { Heap } from './heap.ts'
import { exponentialBackoff } from './rate-limiter.ts'

export interface AddOptions {
  /** Delay in milliseconds until the key is ready. Default 0. */
  readonly after?: number
  /**
   * The priority of the key. A key with a higher priority is processed earlier: each step counts as {@link stepMs} milliseconds of waiting.
   * Default 0.
   */
  readonly priority?: number
}

/**
 * Priorities are relative to waiting time, so no key waits for ever: a key with priority -100 is processed before a key with priority 0 that
 * became ready more than ten seconds later.
 */
const stepMs = 100
/** The highest priority, and the lowest one as a negative number. A priority therefore counts as at most a minute of waiting. */
const maxPriority = 600

export interface WorkQueueOptions<Key extends string> {
  readonly clock: Clock
  /** Computes the delays of `addRateLimited`. Default: 5 ms × 2^failures, at most 1000 s. */
  readonly rateLimiter?: RateLimiter<Key> | undefined
  readonly metrics?: QueueMetrics
}

interface Item<Key extends string> extends HeapItem {
  readonly key: Key
  priority: number
  /** The time at which the key becomes ready, in milliseconds of `clock.monotonicNow()`. */
  readyAt: number
  /** Ready items are processed in the order of their ranks: `readyAt`, less the time for which the priority counts. */
  rank: number
  /** Breaks ties: of two items with the same rank or the same `readyAt`, the one with the lower `order` comes first. */
  order: number
  /**
   * The item is `delayed` until `readyAt`, and `ready` afterwards. It is `held` instead of `ready` while a worker processes the same key.
   */
  state: 'delayed' | 'ready' | 'held'
}

interface Work {
  readonly priority: number
  readonly startedAt: number
}

type Waiter<Key extends string> = (key: Key | undefined) => void

/**
 * A queue with one entry for each key. Keys with the same priority come in FIFO order. Keys with a higher priority come earlier, but a key
 * that has waited long comes before them. Two workers never process the same key at the same time: after `get` has returned a key, it
 * returns this key again only when `done` has been called.
 */
export class WorkQueue<Key extends string> {
  readonly #clock: Clock
  readonly #rateLimiter: RateLimiter<Key>
  readonly #metrics: QueueMetrics | undefined
  readonly #items = new Map<Key, Item<Key>>()
  readonly #ready = new Heap<Item<Key>>((a, b) => (a.rank === b.rank ? a.order < b.order : a.rank < b.rank))
  readonly #delayed = new Heap<Item<Key>>((a, b) => (a.readyAt === b.readyAt ? a.order < b.order : a.readyAt < b.readyAt))
  readonly #working = new Map<Key, Work>()
  /** The number of ready and held items for each priority, which `workqueue_depth` reports. */
  readonly #depths = new Map<number, number>()
  readonly #waiters = new Set<Waiter<Key>>()
  /** The callbacks that are called at the next `done` of a key. */
  readonly #idle = new Map<Key, Set<() => void>>()
  #order = 0
  #timer: { readonly due: number; readonly timer: Timer } | undefined
  #paused = false
  #shutDown = false

  constructor(options: WorkQueueOptions<Key>) {
    this.#clock = options.clock
    this.#rateLimiter = options.rateLimiter ?? exponentialBackoff()
    this.#metrics = options.metrics
    this.#metrics?.observeRunning(() => [...this.#working.values()].map(({ startedAt }) => this.#secondsSince(startedAt)))
  }

  /** Adds `key`. If the key is already in the queue, its entry gets the higher of the two priorities and the earlier of the two times. */
  add(key: Key, options: AddOptions = {}): void {
    if (this.#shutDown) return
    const { after = 0, priority = 0 } = options
    const delayed = after > 0
    if (delayed) this.#metrics?.retried()
    const readyAt = this.#clock.monotonicNow() + (delayed ? after : 0)
    const item = this.#items.get(key)
    if (item === undefined) this.#insert({ key, priority, readyAt, rank: 0, order: this.#order++, state: 'delayed', position: -1 }, delayed)
    else this.#raise(item, priority, readyAt, delayed)
  }

  /**
   * Counts a failure of `key`, and adds the key with the delay of the rate limiter. The default priority is `priorityOf(key)`.
   */
  addRateLimited(key: Key, options: Pick<AddOptions, 'priority'> = {}): void {
    this.add(key, { after: this.#rateLimiter.delayMs(key), priority: options.priority ?? this.priorityOf(key) })
  }

  /** Returns the priority with which a worker is processing `key`; 0 when no worker is processing it. */
  priorityOf(key: Key): number {
    return this.#working.get(key)?.priority ?? 0
  }

  /** Forgets the failures of `key`, so its next delay is the shortest one. */
  forget(key: Key): void {
    this.#rateLimiter.forget(key)
  }

  /**
   * Resolves to the next key. No other caller gets this key until `done` is called for it. While the queue is paused, the call waits.
   * Resolves to undefined when the queue is shut down, or the signal aborts first.
   */
  get(signal?: AbortSignal): Promise<Key | undefined> {
    if (this.#shutDown || signal?.aborted) return Promise.resolve(undefined)
    const item = this.#paused ? undefined : this.#ready.pop()
    if (item !== undefined) return Promise.resolve(this.#handOut(item))
    return new Promise((resolve) => {
      const waiter: Waiter<Key> = (key) => {
        this.#waiters.delete(waiter)
        signal?.removeEventListener('abort', onAbort)
        resolve(key)
      }
      const onAbort = (): void => waiter(undefined)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiters.add(waiter)
    })
  }

  /** Must be called when a key from `get` has been processed. If the key was added meanwhile, it becomes ready again. */
  done(key: Key): void {
    const work = this.#working.get(key)
    if (work === undefined) return
    this.#working.delete(key)
    this.#metrics?.worked(this.#secondsSince(work.startedAt))
    const idle = this.#idle.get(key)
    this.#idle.delete(key)
    for (const resolve of idle ?? []) resolve()
    const item = this.#items.get(key)
    if (item?.state === 'held') this.#offer(item)
  }

  /**
   * Stops handing out keys until `resume` is called. Calls of `get` wait. Keys are still added, and delayed keys still become ready. Keys
   * that workers are processing are not affected.
   */
  pause(): void {
    this.#paused = true
  }

  /** Hands out keys again after `pause`. */
  resume(): void {
    this.#paused = false
    for (const waiter of this.#waiters) {
      const item = this.#ready.pop()
      if (item === undefined) return
      waiter(this.#handOut(item))
    }
  }

  /**
   * Removes the entries for which `filter` returns true, whether they are ready or delayed, and forgets the failures of their keys. If a
   * worker is processing such a key, it continues, and the failures of the key are kept.
   *
   * @param filter gets the key, and the time since the key became ready in milliseconds. The time of a delayed key is 0.
   */
  drop(filter: (key: Key, waitedMs: number) => boolean): void {
    if (this.#shutDown) return
    const now = this.#clock.monotonicNow()
    const dropped = [...this.#items.values()].filter(({ key, state, readyAt }) =>
      filter(key, state === 'delayed' ? 0 : Math.max(0, now - readyAt)),
    )
    for (const item of dropped) {
      this.#items.delete(item.key)
      if (item.state === 'delayed') this.#delayed.remove(item)
      else this.#count(item.priority, -1)
      if (item.state === 'ready') this.#ready.remove(item)
      if (!this.#working.has(item.key)) this.forget(item.key)
    }
    this.#armTimer()
  }

  /**
   * Resolves when no worker is processing `key`, and immediately if none is. A queued entry of the key may be handed out right afterwards,
   * unless the queue is paused or the entry is dropped first.
   *
   * @throws the reason of `signal` when the signal aborts first.
   */
  whenIdle(key: Key, signal?: AbortSignal): Promise<void> {
    if (!this.#working.has(key)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error)
        return
      }
      const waiting = this.#idle.get(key) ?? new Set()
      this.#idle.set(key, waiting)
      const onIdle = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        waiting.delete(onIdle)
        if (waiting.size === 0) this.#idle.delete(key)
        reject(signal?.reason as Error)
      }
      waiting.add(onIdle)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /**
   * Shuts the queue down: all current and later calls of `get` resolve to undefined, and queued keys are dropped. `done` may still be
   * called.
   */
  shutDown(): void {
    this.#shutDown = true
    this.#timer?.timer.cancel()
    this.#timer = undefined
    this.#items.clear()
    for (const priority of this.#depths.keys()) this.#metrics?.depth(0, priority)
    for (const waiter of this.#waiters) waiter(undefined)
  }

  #insert(item: Item<Key>, delayed: boolean): void {
    this.#items.set(item.key, item)
    if (delayed) this.#delay(item)
    else this.#becomeReady(item)
  }

  #raise(item: Item<Key>, priority: number, readyAt: number, delayed: boolean): void {
    if (item.state === 'delayed') {
      item.priority = Math.max(item.priority, priority)
      if (readyAt >= item.readyAt && delayed) return
      this.#delayed.remove(item)
      item.readyAt = Math.min(item.readyAt, readyAt)
      if (delayed) this.#delay(item)
      else this.#becomeReady(item)
    } else if (priority > item.priority) {
      this.#count(item.priority, -1)
      this.#count(priority, 1)
      if (item.state === 'ready') this.#ready.remove(item)
      item.priority = priority
      item.rank = rankOf(item)
      if (item.state === 'ready') this.#ready.push(item)
    }
  }

  #delay(item: Item<Key>): void {
    item.state = 'delayed'
    this.#delayed.push(item)
    this.#armTimer()
  }

  #becomeReady(item: Item<Key>): void {
    item.order = this.#order++
    item.rank = rankOf(item)
    this.#metrics?.added()
    this.#count(item.priority, 1)
    if (this.#working.has(item.key)) item.state = 'held'
    else this.#offer(item)
  }

  /** Gives a ready item to the worker that has waited longest. If no worker waits, or the queue is paused, the item stays in the queue. */
  #offer(item: Item<Key>): void {
    item.state = 'ready'
    const [waiter] = this.#paused ? [] : this.#waiters
    if (waiter === undefined) this.#ready.push(item)
    else waiter(this.#handOut(item))
  }

  #handOut(item: Item<Key>): Key {
    this.#items.delete(item.key)
    this.#count(item.priority, -1)
    this.#metrics?.waited(this.#secondsSince(item.readyAt))
    this.#working.set(item.key, { priority: item.priority, startedAt: this.#clock.monotonicNow() })
    return item.key
  }

  /** Sets the timer, which all delayed items share, to the earliest `readyAt`. */
  #armTimer(): void {
    const due = this.#delayed.first?.readyAt
    if (due === this.#timer?.due) return
    this.#timer?.timer.cancel()
    this.#timer = due === undefined ? undefined : { due, timer: this.#clock.after(due - this.#clock.monotonicNow(), () => this.#wake(due)) }
  }

  #wake(due: number): void {
    this.#timer = undefined
    // `due` counts as reached even if `monotonicNow()` is slightly earlier, because a timer may fire early.
    const now = Math.max(this.#clock.monotonicNow(), due)
    for (let item = this.#delayed.first; item !== undefined && item.readyAt <= now; item = this.#delayed.first) {
      this.#delayed.remove(item)
      this.#becomeReady(item)
    }
    this.#armTimer()
  }

  #count(priority: number, change: number): void {
    const depth = (this.#depths.get(priority) ?? 0) + change
    this.#depths.set(priority, depth)
    this.#metrics?.depth(depth, priority)
  }

  #secondsSince(ms: number): number {
    return Math.max(0, this.#clock.monotonicNow() - ms) / 1000
  }
}

function rankOf({ readyAt, priority }: Pick<Item<string>, 'readyAt' | 'priority'>): number {
  return readyAt - stepMs * Math.max(-maxPriority, Math.min(maxPriority, priority))
}
