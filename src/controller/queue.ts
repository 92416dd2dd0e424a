/** `WorkQueue`: the work queue of a controller. It contains the keys to reconcile, with priorities and delays. */
import { ProreusError } from '../api/errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { QueueMetrics } from '../telemetry/metrics.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { DelayedItem } from './delayed-items.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { DelayedItems } from './delayed-items.ts'
import { Heap } from './heap.ts'
import { IdleKeys } from './idle-keys.ts'
import { QueueDepths } from './queue-depths.ts'
import { exponentialBackoff } from './rate-limiter.ts'

export interface AddOptions {
  /**
   * Delay in milliseconds until the key is ready. Default 0. If a key is added with a delay, the key gets a timer. The timer does not
   * change when the key is retried, processed, or added without a delay. Before the timer is due, only `forget` and `drop` remove the
   * timer.
   */
  readonly after?: number
  /**
   * The priority of the key. A key with a higher priority is processed earlier: a priority of 1 has the same effect as {@link stepMs}
   * milliseconds of waiting. Default 0.
   */
  readonly priority?: number | undefined
}

/**
 * The waiting time in milliseconds that is equivalent to a priority of 1. No key waits forever: a key with priority -100 is processed
 * before any key with priority 0 that becomes ready more than 10 s later (100 × 100 ms).
 */
const stepMs = 100
/**
 * A priority above 600 counts as 600, and a priority below -600 counts as -600. A key with priority 600 is treated like a key with priority
 * 0 that became ready one minute earlier (600 × 100 ms).
 */
const maxPriority = 600

export interface WorkQueueOptions<Key extends string> {
  readonly clock: Clock
  /** Computes the delays of `addRateLimited`. Default: 5 ms × 2^failures, at most 1000 s. */
  readonly rateLimiter?: RateLimiter<Key> | undefined
  readonly metrics?: QueueMetrics
  /** The limit of concurrent reconciles that this queue shares with the queues of other controllers. Default: no limit. */
  readonly limit?: ConcurrencyLimit | undefined
}

interface Item<Key extends string> extends DelayedItem {
  readonly key: Key
  priority: number
  /** The time at which the key becomes ready, in milliseconds of `clock.monotonicNow()`. */
  readyAt: number
  /**
   * For a `delayed` item: the same as `readyAt`. For a `ready` or `held` item: the last time at which the key was added without a delay, or
   * the last time at which a delay of the key ended, whichever is later.
   */
  addedAt: number
  /**
   * `readyAt` minus `stepMs` × the priority, where the priority is limited to the range from -`maxPriority` to `maxPriority`. The ready
   * item with the lowest rank is processed first.
   */
  rank: number
  /** If two items have the same rank or the same `readyAt`, the item with the lower `order` comes first. */
  order: number
  /**
   * A retry or a timer is `delayed` until `readyAt`. A `ready` item waits for a worker. A `held` item becomes `ready` when the worker that
   * processes the same key calls `done`.
   */
  state: 'delayed' | 'ready' | 'held'
}

/** One key of a queue, for the debug endpoint. */
export interface QueueEntry<Key extends string = string> {
  readonly key: Key
  /** A key that a worker is processing is `working`. If the key is added again in the meantime, a second entry of the key is `held`. */
  readonly state: 'delayed' | 'ready' | 'held' | 'working'
  readonly priority: number
  /** The number of consecutive failures. Absent if the rate limiter does not count failures. */
  readonly failures?: number
  /**
   * For `delayed`: seconds until the key is ready. For `ready` and `held`: seconds of waiting. For `working`: seconds since the worker
   * started.
   */
  readonly seconds: number
}

interface Work {
  readonly priority: number
  readonly startedAt: number
}

type Waiter<Key extends string> = (key: Key | undefined) => void

/**
 * Contains the keys to reconcile.
 *
 * - A key has at most two entries: a timer, and an entry that is ready, held, or waits for a retry.
 * - Keys with a higher priority are processed earlier. Keys with the same priority are processed in FIFO order.
 * - A key that has waited long enough is processed before newer keys with a higher priority (see `stepMs`).
 * - After `get` or `take` has returned a key, the queue does not return this key again before `done` is called. Two workers therefore never
 *   process one key at the same time.
 */
export class WorkQueue<Key extends string> {
  readonly #clock: Clock
  readonly #rateLimiter: RateLimiter<Key>
  readonly #metrics: QueueMetrics | undefined
  readonly #limit: ConcurrencyLimit | undefined
  /** The items that are ready or held, and the items that wait for a retry. Timers are not in this map, but in `#timers`. */
  readonly #items = new Map<Key, Item<Key>>()
  /**
   * The timers that `add` creates when the option `after` is set. While a worker processes a key, the timer of this key stays in this map,
   * but is not in `#delayed`. The timer therefore cannot become due during the processing.
   */
  readonly #timers = new Map<Key, Item<Key>>()
  readonly #ready = new Heap<Item<Key>>((a, b) => (a.rank === b.rank ? a.order < b.order : a.rank < b.rank))
  /** All retries, and some of the timers. The timer of a key is not in `#delayed` while a worker processes the key. */
  readonly #delayed: DelayedItems<Item<Key>>
  readonly #working = new Map<Key, Work>()
  readonly #depths: QueueDepths
  readonly #waiters = new Set<Waiter<Key>>()
  readonly #idle = new IdleKeys<Key>()
  #order = 0
  #paused = false
  #shutDown = false

  constructor(options: WorkQueueOptions<Key>) {
    this.#clock = options.clock
    this.#rateLimiter = options.rateLimiter ?? exponentialBackoff()
    this.#metrics = options.metrics
    this.#limit = options.limit
    this.#delayed = new DelayedItems(options.clock, (item) => this.#onDue(item))
    this.#depths = new QueueDepths(options.metrics)
    this.#metrics?.observeRunning(() => [...this.#working.values()].map(({ startedAt }) => this.#secondsSince(startedAt)))
  }

  /**
   * Adds `key`, immediately or after a delay:
   *
   * - With `after`: adds a timer for `key`. If the key already has a timer, no timer is added. The existing timer gets the higher of the
   *   two priorities and the earlier of the two times.
   * - Without `after`: adds an entry that waits only for a worker. If the key already has an entry that is ready, held or waiting for a
   *   retry, no entry is added. The existing entry gets the higher of the two priorities. If the existing entry is waiting for a retry, the
   *   wait ends immediately.
   */
  add(key: Key, options: AddOptions = {}): void {
    if (this.#shutDown) return
    const { after = 0, priority = 0 } = options
    const now = this.#clock.monotonicNow()
    if (after > 0) this.#addTimer(key, priority, now + after)
    else this.#addReady(key, priority, now)
  }

  /**
   * Counts a failure of `key`, and adds a retry with the delay of the rate limiter. If an entry of the key is already ready or held, no
   * retry is added. If `priority` is higher than the priority of that entry, the entry gets `priority`. The default of `priority` is
   * `priorityOf(key)`.
   */
  addRateLimited(key: Key, options: Pick<AddOptions, 'priority'> = {}): void {
    if (this.#shutDown) return
    const delayMs = this.#rateLimiter.delayMs(key)
    if (Number.isNaN(delayMs))
      throw new ProreusError('PRO_INPUT', `The rate limiter returned NaN as the delay of ${key}: expected milliseconds.`)
    const priority = options.priority ?? this.priorityOf(key)
    const now = this.#clock.monotonicNow()
    if (delayMs > 0) this.#addRetry(key, priority, now + delayMs)
    else this.#addReady(key, priority, now)
  }

  /** Returns the priority with which a worker is processing `key`; 0 when no worker is processing it. */
  priorityOf(key: Key): number {
    return this.#working.get(key)?.priority ?? 0
  }

  /** Resets the failures of `key` in the rate limiter, and removes the timer of `key`. */
  forget(key: Key): void {
    this.#rateLimiter.forget(key)
    const timer = this.#timers.get(key)
    if (timer !== undefined) this.#removeTimer(timer)
  }

  /**
   * Resolves to the next key. No other caller gets this key until `done` is called for the key. While the queue is paused, the call waits.
   * If the queue is shut down or the signal aborts before a key is available, the call resolves to undefined.
   */
  get(signal?: AbortSignal): Promise<Key | undefined> {
    if (this.#shutDown || signal?.aborted) return Promise.resolve(undefined)
    const key = this.take()
    if (key !== undefined) return Promise.resolve(key)
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

  /** Like `get`, but returns undefined instead of waiting. */
  take(): Key | undefined {
    const item = this.#shutDown ? undefined : this.#takeReady()
    return item && this.#handOut(item)
  }

  /**
   * Must be called when a key from `get` or `take` has been processed. If the key was added during the processing, it becomes ready again.
   */
  done(key: Key): void {
    const work = this.#working.get(key)
    if (work === undefined) return
    this.#working.delete(key)
    this.#metrics?.worked(this.#secondsSince(work.startedAt))
    this.#idle.resolve(key)
    // The timer is added to `#delayed` before `#offer` is called. `#offer` may hand out the key immediately, and `#handOut` must then find
    // the timer in `#delayed` to remove it.
    const timer = this.#timers.get(key)
    if (timer !== undefined) this.#delayed.add(timer)
    const item = this.#items.get(key)
    if (item?.state === 'held') this.#offer(item)
    this.#limit?.release()
  }

  /**
   * Stops handing out keys until `resume` is called. Calls of `get` wait. Keys are still added, and delayed keys still become ready. Keys
   * that workers are processing are not affected.
   */
  pause(): void {
    this.#paused = true
  }

  /** Ends a pause that `pause` has started. The queue hands out keys again. */
  resume(): void {
    this.#paused = false
    this.#serve()
  }

  /**
   * Removes each entry for which `filter` returns true. An entry is a ready key, a held key, a retry or a timer. If no worker is processing
   * the key of a removed entry, the failures of the key are reset.
   *
   * @param filter gets the key and the waiting time of an entry, in milliseconds. The waiting time of a retry or a timer is 0. The waiting
   *   time of a ready or held entry begins at the later of two times: the last time at which the key was added without a delay, and the
   *   last time at which a delay of the key ended. If a key has a timer and another entry, `filter` is called once for each of the two.
   */
  drop(filter: (key: Key, waitedMs: number) => boolean): void {
    if (this.#shutDown) return
    const now = this.#clock.monotonicNow()
    const matches = ({ key, state, addedAt }: Item<Key>): boolean => filter(key, state === 'delayed' ? 0 : Math.max(0, now - addedAt))
    const items = [...this.#items.values()].filter(matches)
    const timers = [...this.#timers.values()].filter(matches)
    for (const item of items) {
      this.#items.delete(item.key)
      if (item.state === 'delayed') this.#delayed.remove(item)
      else this.#depths.count(item.priority, -1)
      if (item.state === 'ready') this.#ready.remove(item)
    }
    for (const timer of timers) this.#removeTimer(timer)
    for (const { key } of [...items, ...timers]) if (!this.#working.has(key)) this.#rateLimiter.forget(key)
  }

  /**
   * Resolves when no worker is processing `key`. Immediately afterwards, the queue can hand out another entry of the key. To prevent this,
   * pause the queue or drop the entry.
   *
   * @throws the reason of `signal` when the signal aborts first.
   */
  whenIdle(key: Key, signal?: AbortSignal): Promise<void> {
    return this.#working.has(key) ? this.#idle.next(key, signal) : Promise.resolve()
  }

  /**
   * Shuts the queue down: all current and later calls of `get` resolve to undefined, and queued keys are dropped. `done` may still be
   * called.
   */
  shutDown(): void {
    this.#shutDown = true
    this.#delayed.stop()
    this.#limit?.cancel(this.#serve)
    this.#items.clear()
    this.#timers.clear()
    this.#depths.clear()
    for (const waiter of this.#waiters) waiter(undefined)
  }

  /** Returns at most `limit` entries of the queue. The keys that workers are processing come first. */
  entries(limit: number): readonly QueueEntry<Key>[] {
    const now = this.#clock.monotonicNow()
    const entries: QueueEntry<Key>[] = []
    const add = (key: Key, state: QueueEntry['state'], priority: number, ms: number): void => {
      const failures = this.#rateLimiter.failuresOf?.(key)
      entries.push({ key, state, priority, ...(failures !== undefined && { failures }), seconds: Math.abs(ms) / 1000 })
    }
    for (const [key, { priority, startedAt }] of this.#working) {
      if (entries.length >= limit) return entries
      add(key, 'working', priority, now - startedAt)
    }
    for (const { key, state, priority, readyAt } of [...this.#items.values(), ...this.#timers.values()]) {
      if (entries.length >= limit) return entries
      add(key, state, priority, readyAt - now)
    }
    return entries
  }

  /** The number of all entries of the queue, including the keys that workers are processing. */
  get size(): number {
    return this.#working.size + this.#items.size + this.#timers.size
  }

  #addReady(key: Key, priority: number, readyAt: number): void {
    const item = this.#items.get(key)
    if (item === undefined) {
      const added = this.#newItem(key, priority, readyAt)
      this.#items.set(key, added)
      this.#becomeReady(added)
    } else if (item.state === 'delayed') {
      this.#delayed.remove(item)
      item.priority = Math.max(item.priority, priority)
      item.readyAt = Math.min(item.readyAt, readyAt)
      item.addedAt = readyAt
      this.#becomeReady(item)
    } else {
      item.addedAt = Math.max(item.addedAt, readyAt)
      this.#raise(item, priority)
    }
  }

  #addRetry(key: Key, priority: number, readyAt: number): void {
    this.#metrics?.retried()
    const item = this.#items.get(key)
    if (item === undefined) {
      const added = this.#newItem(key, priority, readyAt)
      this.#items.set(key, added)
      this.#delayed.add(added)
    } else if (item.state === 'delayed') this.#improve(item, priority, readyAt)
    else this.#raise(item, priority)
  }

  #addTimer(key: Key, priority: number, readyAt: number): void {
    this.#metrics?.retried()
    const timer = this.#timers.get(key)
    if (timer === undefined) {
      const added = this.#newItem(key, priority, readyAt)
      this.#timers.set(key, added)
      if (!this.#working.has(key)) this.#delayed.add(added)
    } else this.#improve(timer, priority, readyAt)
  }

  #newItem(key: Key, priority: number, readyAt: number): Item<Key> {
    return { key, priority, readyAt, addedAt: readyAt, rank: 0, order: this.#order++, state: 'delayed', position: -1 }
  }

  /** Raises the priority of a delayed item to at least `priority`, and ensures that the item becomes ready at `readyAt` or earlier. */
  #improve(item: Item<Key>, priority: number, readyAt: number): void {
    item.priority = Math.max(item.priority, priority)
    if (readyAt >= item.readyAt) return
    item.readyAt = readyAt
    item.addedAt = readyAt
    if (item.position === -1) return
    this.#delayed.remove(item)
    this.#delayed.add(item)
  }

  /** Raises the priority of a ready or held item. */
  #raise(item: Item<Key>, priority: number): void {
    if (priority <= item.priority) return
    this.#depths.count(item.priority, -1)
    this.#depths.count(priority, 1)
    if (item.state === 'ready') this.#ready.remove(item)
    item.priority = priority
    item.rank = rankOf(item)
    if (item.state === 'ready') this.#ready.push(item)
  }

  #removeTimer(timer: Item<Key>): void {
    this.#timers.delete(timer.key)
    this.#delayed.remove(timer)
  }

  /**
   * Handles a delayed item that is due. If the item is a retry, it becomes ready. If the item is a timer, the timer is removed, and its key
   * is added to the queue without a delay.
   */
  #onDue(item: Item<Key>): void {
    if (this.#items.get(item.key) === item) {
      this.#becomeReady(item)
    } else {
      this.#timers.delete(item.key)
      this.#addReady(item.key, item.priority, item.readyAt)
    }
  }

  #becomeReady(item: Item<Key>): void {
    item.order = this.#order++
    item.rank = rankOf(item)
    this.#metrics?.added()
    this.#depths.count(item.priority, 1)
    if (this.#working.has(item.key)) item.state = 'held'
    else this.#offer(item)
  }

  #offer(item: Item<Key>): void {
    item.state = 'ready'
    this.#ready.push(item)
    this.#serve()
  }

  /** Hands out ready items to the waiting workers. The worker that has waited longest gets the first item. */
  readonly #serve = (): void => {
    if (this.#waiters.size === 0) return
    for (const waiter of this.#waiters) {
      const item = this.#takeReady()
      if (item === undefined) return
      waiter(this.#handOut(item))
    }
  }

  /**
   * Removes and returns the first ready item. The item counts towards the concurrency limit. Returns undefined when the queue is paused,
   * when no item is ready, or when the concurrency limit is reached.
   */
  #takeReady(): Item<Key> | undefined {
    if (this.#paused || this.#ready.first === undefined) return undefined
    return this.#limit === undefined || this.#limit.tryTake(this.#serve) ? this.#ready.pop() : undefined
  }

  #handOut(item: Item<Key>): Key {
    this.#items.delete(item.key)
    this.#depths.count(item.priority, -1)
    this.#metrics?.waited(this.#secondsSince(item.readyAt))
    this.#working.set(item.key, { priority: item.priority, startedAt: this.#clock.monotonicNow() })
    const timer = this.#timers.get(item.key)
    if (timer !== undefined) this.#delayed.remove(timer)
    return item.key
  }

  #secondsSince(ms: number): number {
    return Math.max(0, this.#clock.monotonicNow() - ms) / 1000
  }
}

function rankOf({ readyAt, priority }: Pick<Item<string>, 'readyAt' | 'priority'>): number {
  return readyAt - stepMs * Math.max(-maxPriority, Math.min(maxPriority, priority))
}
