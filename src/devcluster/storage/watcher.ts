/**
 * The events of one watch. If the watch starts after a revision, the watch first sends the changes that the store has logged since this
 * revision. Otherwise, the watch first sends the existing objects. After that, the watch sends each new change.
 */
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'
import type { Status } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Change, ObjectStore } from './object-store.ts'
import { withRevision } from './object-store.ts'

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: JsonObject
}

export interface WatcherOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly storageKey: string
  readonly namespace?: string | undefined
  /**
   * The watch sends the changes after this revision. If `since` is undefined, the watch first sends an ADDED event for each existing
   * object.
   */
  readonly since: number | undefined
  readonly matches: (object: JsonObject) => boolean
  /** Converts an object to the version that the client watches. */
  readonly present: (object: JsonObject) => JsonObject
  /**
   * Prepares objects for `matches` and `present`, e.g. converts the objects with a webhook. The watcher waits for this function before it
   * calls `matches` and `present`. If this function retries after errors, it must reject as soon as the signal of the `Watcher` aborts.
   */
  readonly prepare?: ((objects: readonly JsonObject[]) => Promise<void>) | undefined
  /**
   * Returns the object of a BOOKMARK event. Without this function, the watch sends no bookmarks. If `since` is undefined, the watch sends a
   * bookmark after the existing objects. `initialEventsEnd` is true only for this bookmark.
   */
  readonly bookmark?: ((revision: number, initialEventsEnd: boolean) => JsonObject) | undefined
  /** Time in milliseconds after which the watch ends. Default: no limit. */
  readonly timeoutMs?: number | undefined
  /**
   * Maximum number of events that the client has not read yet. If more events are unread, the watch ends. The client must then watch again
   * from the last resourceVersion that it received. Default 10,000.
   */
  readonly queueLimit?: number
}

/** Interval of bookmarks in milliseconds, about the same as kube-apiserver's. */
const bookmarkIntervalMs = 60_000
/**
 * The last bookmark is sent this many milliseconds before the timeout (k8s.io/apiserver/pkg/storage/cacher: cache_watcher.go,
 * nextBookmarkTime).
 */
const lastBookmarkMs = 2_000
const defaultQueueLimit = 10_000

/** The sequence of watch events for one client. The watcher starts to queue events in its constructor, before the first call of `next`. */
export class Watcher implements AsyncIterableIterator<WatchEvent> {
  readonly #options: WatcherOptions
  #queue: WatchEvent[] = []
  #head = 0
  #ended = false
  /**
   * A promise that resolves when all steps so far have run. A step is a function that queues events or ends the watch. A step runs after
   * all previous steps, and after `prepare` has resolved for the objects of the step.
   */
  #steps: Promise<void> = Promise.resolve()
  #waiting = 0
  #wake: ((result: IteratorResult<WatchEvent>) => void) | undefined
  #unsubscribe: () => void = () => {}
  #timers: Timer[] = []
  readonly #signal: AbortSignal
  #onEnd: () => void = () => {}
  readonly #onAbort = (): void => this.#end('now')

  constructor(options: WatcherOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    if (signal.aborted) {
      this.#ended = true
      return
    }
    signal.addEventListener('abort', this.#onAbort, { once: true })
    if (!this.#replay()) return
    this.#unsubscribe = options.store.subscribe(options.storageKey, {
      change: (change) => this.#onChange(change),
      end: () => this.#end('now'),
    })
    if (options.timeoutMs !== undefined) this.#timers.push(options.clock.after(options.timeoutMs, () => this.#end('when read')))
    if (options.bookmark === undefined) return
    this.#bookmarkLater()
    if (options.timeoutMs !== undefined && options.timeoutMs > lastBookmarkMs)
      this.#timers.push(options.clock.after(options.timeoutMs - lastBookmarkMs, () => this.#sendBookmark()))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<WatchEvent>> {
    const event = this.#queue[this.#head]
    if (event !== undefined) {
      this.#head += 1
      if (this.#head === this.#queue.length) {
        this.#queue = []
        this.#head = 0
      }
      return Promise.resolve({ done: false, value: event })
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  return(): Promise<IteratorResult<WatchEvent>> {
    this.#end('now')
    return Promise.resolve({ done: true, value: undefined })
  }

  /**
   * Ends the watch after the client has read all previous changes. This method is called when the type is no longer served. The client must
   * then still receive the deletions of the type's objects.
   */
  end(): void {
    this.#inOrder([], () => this.#end('when read'))
  }

  /** Calls `listener` when the watch ends; immediately if it has already ended. */
  onEnd(listener: () => void): void {
    if (this.#ended) listener()
    else this.#onEnd = listener
  }

  /**
   * If `since` is undefined, queues the existing objects. Otherwise, queues the changes that the store has logged after the revision
   * `since`. If `since` is older than the compacted revision of the store, queues an ERROR event, ends the watch, and returns false.
   */
  #replay(): boolean {
    const { store, storageKey, namespace, since, matches, present } = this.#options
    if (since === undefined) {
      const snapshot = store.snapshot(storageKey, namespace)
      const objects = snapshot.keys.map((key) => snapshot.get(key)!)
      this.#inOrder(objects, () => {
        for (const object of objects) if (matches(object)) this.#push({ type: 'ADDED', object: present(object) })
        this.#pushBookmark(true, snapshot.revision)
      })
      return true
    }
    if (since < store.compactedRevision) return this.#expire(`too old resource version: ${since} (${store.compactedRevision})`)
    for (const change of store.changesSince(since)) {
      if (change.storageKey !== storageKey) continue
      this.#queueChange(change)
    }
    return true
  }

  /** Runs `step` after all previous steps, and after `prepare` has resolved for `objects`. */
  #inOrder(objects: readonly JsonObject[], step: () => void): void {
    const { prepare } = this.#options
    if (prepare === undefined) return step()
    this.#waiting += 1
    this.#steps = this.#steps
      .then(() => (this.#ended ? undefined : prepare(objects)))
      .then(() => {
        this.#waiting -= 1
        if (!this.#ended) step()
      })
      // When `prepare` has failed, no more events can be sent.
      .catch(() => this.#end('when read'))
  }

  #queueChange(change: Change): void {
    const { object, previous, key } = change
    const { namespace } = this.#options
    if (namespace && !key.startsWith(`${namespace}/`)) return
    this.#inOrder(previous === undefined ? [object] : [object, previous], () => {
      const event = this.#translate(change)
      if (event !== undefined) this.#push(event)
    })
  }

  /** Sends an ERROR event with the code 410, after which the client lists again. */
  #expire(text: string): false {
    this.#push({ type: 'ERROR', object: statusObject(failure(410, 'Expired', text)) })
    this.#end('when read')
    return false
  }

  #onChange(change: Change): void {
    // A watch can start at a revision that the store has not reached yet. Changes up to that revision are not sent.
    if (change.revision <= (this.#options.since ?? 0)) return
    this.#queueChange(change)
    if (this.#waiting + this.#queue.length - this.#head > (this.#options.queueLimit ?? defaultQueueLimit)) this.#end('now')
  }

  /**
   * Returns the event for a change. With selectors, an object that begins to match is ADDED, and an object that ceases to match is DELETED.
   */
  #translate(change: Change): WatchEvent | undefined {
    const { matches, present } = this.#options
    const before = change.previous !== undefined && matches(change.previous)
    const now = change.type !== 'DELETED' && matches(change.object)
    if (now) return { type: before ? 'MODIFIED' : 'ADDED', object: present(change.object) }
    if (!before) return undefined
    if (change.type === 'DELETED') return { type: 'DELETED', object: present(change.object) }
    return { type: 'DELETED', object: deepFreeze(withRevision(present(change.previous!), change.revision)) }
  }

  #push(event: WatchEvent): void {
    const wake = this.#wake
    if (wake === undefined) {
      this.#queue.push(event)
    } else {
      this.#wake = undefined
      wake({ done: false, value: event })
    }
  }

  /** Sends a bookmark with the current revision. The client can resume from this revision. */
  #sendBookmark(): void {
    const { revision } = this.#options.store
    this.#inOrder([], () => this.#pushBookmark(false, revision))
  }

  #pushBookmark(initialEventsEnd: boolean, revision: number): void {
    const { bookmark } = this.#options
    if (bookmark === undefined || this.#ended) return
    this.#push({ type: 'BOOKMARK', object: bookmark(revision, initialEventsEnd) })
  }

  #bookmarkLater(): void {
    // Each new timer replaces the previous timer in `#timers`. The previous timer has already fired, so `#end` need not cancel it.
    const index = this.#timers.length
    const arm = (): void => {
      this.#timers[index] = this.#options.clock.after(bookmarkIntervalMs, () => {
        this.#sendBookmark()
        if (!this.#ended) arm()
      })
    }
    arm()
  }

  #end(how: 'now' | 'when read'): void {
    if (how === 'now') {
      this.#queue = []
      this.#head = 0
    }
    if (this.#ended) return
    this.#ended = true
    this.#unsubscribe()
    this.#signal.removeEventListener('abort', this.#onAbort)
    for (const timer of this.#timers) timer.cancel()
    this.#onEnd()
    this.#wake?.({ done: true, value: undefined })
    this.#wake = undefined
  }
}

function statusObject(status: Status): JsonObject {
  return status as unknown as JsonObject
}
