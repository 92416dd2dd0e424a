/**
 * The in-memory store of all objects, with one revision counter and a log of recent changes. The log makes it possible to list objects at
 * an older revision.
 *
 * All methods are synchronous. Several calls without an `await` between them are therefore a transaction. Objects are frozen, because all
 * readers share them.
 */
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze, isObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import { firstAtOrAfter, insertSorted, removeSorted } from './sorted-keys.ts'

/** A change of one object, as an entry of the log. */
export interface Change {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly storageKey: string
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly key: string
  /** The object after the write. For a deletion, this is the last state of the object, with the resourceVersion of the deletion. */
  readonly object: JsonObject
  readonly previous: JsonObject | undefined
}

export interface Subscriber {
  change(change: Change): void
  /** Called by `endSubscriptions`. The subscription itself continues: `change` is called until the subscriber unsubscribes. */
  end(): void
}

/** The objects of one type at one revision, ordered by key. */
export interface Snapshot {
  readonly revision: number
  readonly keys: readonly string[]
  get(key: string): JsonObject | undefined
}

interface Shelf {
  readonly objects: Map<string, JsonObject>
  /** The keys of `objects`, sorted. */
  readonly keys: string[]
}

/**
 * Number of latest changes that the log keeps, for all types together. Older changes are dropped only when the log has a tenth more changes
 * than this number. kube-apiserver's watch caches keep up to 102,400 changes per type (k8s.io/apiserver/pkg/storage/cacher:
 * defaultUpperBoundCapacity).
 */
const defaultHistoryLimit = 10_000

export class ObjectStore {
  readonly #shelves = new Map<string, Shelf>()
  readonly #subscribers = new Map<string, Set<Subscriber>>()
  /** Callbacks of `whenReached`, for revisions that the store has not reached yet. */
  readonly #waiting = new Set<{ readonly revision: number; readonly reached: () => void }>()
  readonly #historyLimit: number
  /** The changes with revisions `#compacted + 1` … `#revision`, without gaps. */
  readonly #log: Change[] = []
  #revision: number
  #compacted: number

  /**
   * @param options `historyLimit` is the number of latest changes that the log keeps, default 10,000; `firstRevision` is the initial
   * revision, default 1
   */
  constructor(options: { readonly historyLimit?: number; readonly firstRevision?: number } = {}) {
    this.#revision = this.#compacted = options.firstRevision ?? 1
    this.#historyLimit = options.historyLimit ?? defaultHistoryLimit
  }

  /** Revision of the latest write. */
  get revision(): number {
    return this.#revision
  }

  /** The oldest revision of the history. A list or watch from an older revision fails with 410. */
  get compactedRevision(): number {
    return this.#compacted
  }

  get(storageKey: string, key: ObjectKey): JsonObject | undefined {
    return this.#shelves.get(storageKey)?.objects.get(storeKey(key))
  }

  /**
   * Writes an object if no other write has changed it since the caller read it. `expected` is the object that was read; undefined if it did
   * not exist. Returns the stored object with its new resourceVersion; undefined after a concurrent write.
   */
  put(storageKey: string, key: ObjectKey, object: JsonObject, expected: JsonObject | undefined): JsonObject | undefined {
    const shelf = this.#shelfOf(storageKey)
    const text = storeKey(key)
    if (shelf.objects.get(text) !== expected) return undefined
    const stored = deepFreeze(withRevision(object, this.#revision + 1))
    shelf.objects.set(text, stored)
    if (expected === undefined) insertSorted(shelf.keys, text)
    this.#record({ type: expected === undefined ? 'ADDED' : 'MODIFIED', storageKey, key: text, object: stored, previous: expected })
    return stored
  }

  /**
   * Deletes an object if no other write has changed it since the caller read it as `expected`. Returns the last state of the object, with
   * the resourceVersion of the deletion; undefined after a concurrent write.
   */
  delete(storageKey: string, key: ObjectKey, expected: JsonObject): JsonObject | undefined {
    const shelf = this.#shelfOf(storageKey)
    const text = storeKey(key)
    if (shelf.objects.get(text) !== expected) return undefined
    const last = deepFreeze(withRevision(expected, this.#revision + 1))
    shelf.objects.delete(text)
    removeSorted(shelf.keys, text)
    this.#record({ type: 'DELETED', storageKey, key: text, object: last, previous: expected })
    return last
  }

  /** Returns the objects of a type, in one namespace or in all. `revision` must not be compacted; default: the current revision. */
  snapshot(storageKey: string, namespace?: string, revision = this.#revision): Snapshot {
    const shelf = this.#shelfOf(storageKey)
    if (revision >= this.#revision) {
      return { revision: this.#revision, keys: inNamespace(shelf.keys, namespace), get: (key) => shelf.objects.get(key) }
    }
    const undone = new Map<string, JsonObject | undefined>()
    for (const change of this.changesSince(revision).reverse()) {
      if (change.storageKey === storageKey) undone.set(change.key, change.previous)
    }
    const get = (key: string): JsonObject | undefined => (undone.has(key) ? undone.get(key) : shelf.objects.get(key))
    const keys = [...new Set([...shelf.keys, ...undone.keys()])].filter((key) => get(key) !== undefined).sort()
    return { revision, keys: inNamespace(keys, namespace), get }
  }

  /** Returns the changes after a revision, oldest first. The revision must not be compacted. */
  changesSince(revision: number): Change[] {
    return this.#log.slice(Math.max(0, revision - this.#compacted))
  }

  /** Calls `subscriber.change` for each later change of a type, in order. Returns a function to unsubscribe. */
  subscribe(storageKey: string, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(storageKey) ?? new Set()
    this.#subscribers.set(storageKey, subscribers.add(subscriber))
    return () => subscribers.delete(subscriber)
  }

  /**
   * Calls `reached` once, when the store has reached the revision; immediately if it already has. Returns a function to cancel the call.
   */
  whenReached(revision: number, reached: () => void): () => void {
    if (revision <= this.#revision) {
      reached()
      return () => undefined
    }
    const waiter = { revision, reached }
    this.#waiting.add(waiter)
    return () => this.#waiting.delete(waiter)
  }

  /** Calls `end` of all subscribers. This ends the watches of all clients, as a restart of the server would. */
  endSubscriptions(): void {
    for (const subscribers of this.#subscribers.values()) for (const subscriber of [...subscribers]) subscriber.end()
  }

  /** Drops the changes up to `revision` from the log. Continue tokens and watches from an older revision then fail with 410. */
  compact(revision = this.#revision): void {
    const upTo = Math.min(revision, this.#revision)
    if (upTo <= this.#compacted) return
    this.#log.splice(0, upTo - this.#compacted)
    this.#compacted = upTo
  }

  #shelfOf(storageKey: string): Shelf {
    let shelf = this.#shelves.get(storageKey)
    if (shelf === undefined) {
      shelf = { objects: new Map(), keys: [] }
      this.#shelves.set(storageKey, shelf)
    }
    return shelf
  }

  #record(write: Omit<Change, 'revision'>): void {
    this.#revision += 1
    const change: Change = { ...write, revision: this.#revision }
    this.#log.push(change)
    // A compaction moves all remaining entries of the log, and so costs more than a write. Each compaction therefore drops a tenth of the
    // log, instead of one change per write.
    const slack = Math.ceil(this.#historyLimit / 10)
    if (this.#log.length >= this.#historyLimit + slack) this.compact(this.#compacted + slack)
    for (const subscriber of [...(this.#subscribers.get(write.storageKey) ?? [])]) subscriber.change(change)
    for (const waiter of [...this.#waiting]) {
      if (waiter.revision > this.#revision) continue
      this.#waiting.delete(waiter)
      waiter.reached()
    }
  }
}

/** Returns the key of an object within its type. */
function storeKey(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

/** Returns a copy of the object with `revision` as its resourceVersion. */
export function withRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  return { ...object, metadata: { ...metadata, resourceVersion: String(revision) } }
}

function inNamespace(keys: readonly string[], namespace: string | undefined): readonly string[] {
  if (namespace === undefined || namespace === '') return keys.slice()
  // In ASCII, '0' is the character after '/'. All keys that begin with `NAMESPACE/` are therefore less than `NAMESPACE0`.
  return keys.slice(firstAtOrAfter(keys, `${namespace}/`), firstAtOrAfter(keys, `${namespace}0`))
}
