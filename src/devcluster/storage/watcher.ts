/** One watch: replays the log from a revision (or shows the present state first), then follows the store. */
import type { Clock, Timer } from '../../api/clock.ts'
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
  /** Later changes than this revision; undefined: first an ADDED for each object that is there. */
  readonly since: number | undefined
  readonly matches: (object: JsonObject) => boolean
  /** The object as the watcher's version of the type shows it. */
  readonly present: (object: JsonObject) => JsonObject
  /** To be waited for before objects can be matched and presented; absent: nothing. Rejects when the watch is over. */
  readonly prepare?: ((objects: readonly JsonObject[]) => Promise<void>) | undefined
  /** Makes bookmarks; without it there are none. `initialEventsEnd`: the one that follows the objects that were there, with `since` undefined. */
  readonly bookmark?: ((revision: number, initialEventsEnd: boolean) => JsonObject) | undefined
  /** Ends the watch after this time. */
  readonly timeoutMs?: number | undefined
  /** Live events that may wait for a slow reader before the watch is ended; the reader comes back with its last resourceVersion. */
  readonly queueLimit?: number
}

/** About as often as kube-apiserver. */
const bookmarkIntervalMs = 60_000
/** So long before its timeout a watch gets a last bookmark. */
const lastBookmarkMs = 2_000
const defaultQueueLimit = 10_000

/** An endless sequence of events, for one reader. It follows the store from its construction on, whether it is read or not. */
export class Watcher implements AsyncIterableIterator<WatchEvent> {
  readonly #options: WatcherOptions
  #queue: WatchEvent[] = []
  #head = 0
  #ended = false
  /** Steps that wait for objects to be prepared, in order. */
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
      change: (change) => this.#follow(change),
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

  /** Ends the watch after what has happened so far, e.g. because its type is no longer served: its last deletions are still told. */
  end(): void {
    this.#inOrder([], () => this.#end('when read'))
  }

  /** Calls `listener` when the watch has ended, at once if it has already. */
  onEnd(listener: () => void): void {
    if (this.#ended) listener()
    else this.#onEnd = listener
  }

  /** Queues what happened before now. Returns false when that is not known. */
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
      this.#tell(change)
    }
    return true
  }

  /** Takes a step when the objects that it needs are prepared, and after all steps before it. */
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
      // Nothing can be told any more.
      .catch(() => this.#end('when read'))
  }

  #tell(change: Change): void {
    const { object, previous, key } = change
    const { namespace } = this.#options
    if (namespace && !key.startsWith(`${namespace}/`)) return
    this.#inOrder(previous === undefined ? [object] : [object, previous], () => {
      const event = this.#translate(change)
      if (event !== undefined) this.#push(event)
    })
  }

  /** Sends the reader back to a list. */
  #expire(text: string): false {
    this.#push({ type: 'ERROR', object: statusObject(failure(410, 'Expired', text)) })
    this.#end('when read')
    return false
  }

  #follow(change: Change): void {
    // A watch may begin at a revision that is yet to come.
    if (change.revision <= (this.#options.since ?? 0)) return
    this.#tell(change)
    if (this.#waiting + this.#queue.length - this.#head > (this.#options.queueLimit ?? defaultQueueLimit)) this.#end('now')
  }

  /** What a change means to somebody who sees only the selected objects: one that comes into view is ADDED, one that leaves it DELETED. */
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

  /** Says how far the watch has come; where nothing was written, that the connection is alive. */
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
    // The timer that has just fired needs no cancelling any more: its place is taken by the next one.
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
