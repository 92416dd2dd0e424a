/**
 * The in-memory store of all objects, with one revision counter and a log of recent changes. The log makes it possible to list objects at
 * an older revision.
 *
 * - A write checks for a conflict and records the change synchronously. If a caller reads an object and writes it without an `await` in
 *   between, no other write can happen in between.
 * - With a `Persistence`, a write resolves when it is committed. Only `latest` and the conflict check of a write see uncommitted writes.
 *   Readers and watches do not see them.
 * - Objects are frozen, because all readers share them.
 */
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze, isObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import { GroupCommit, objectAfter } from './group-commit.ts'
import type { Persistence } from './persistence.ts'
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
  /**
   * Called for each change. This function must not throw. If this function throws, the store calls `end`, because the subscriber may have
   * missed the change.
   */
  change(change: Change): void
  /**
   * Called by `endSubscriptions`, and each time `change` has thrown an error. The store does not unsubscribe the subscriber. After a call
   * of `end`, the store still calls `change` for each change until the subscriber unsubscribes.
   */
  end(): void
}

/** The objects of one type at one revision, ordered by key. */
export interface Snapshot {
  readonly revision: number
  readonly keys: readonly string[]
  get(key: string): JsonObject | undefined
}

/** An object that a `Persistence` has stored. */
export interface StoredObject {
  readonly storageKey: string
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly key: string
  readonly object: JsonObject
}

export interface ObjectStoreOptions {
  /** Number of latest changes that the log keeps. Default 10,000. */
  readonly historyLimit?: number
  /** The initial revision. A list or watch from an older revision fails with 410. Default 1. */
  readonly firstRevision?: number
  /** The initial objects. Their order is irrelevant. Default none. */
  readonly objects?: Iterable<StoredObject>
  /** Stores all writes permanently. By default, the objects are lost when the process ends. */
  readonly persistence?: Persistence
  /**
   * Called with the error when a subscriber throws, which is a bug of the subscriber. The write and the other subscribers are not affected.
   * By default, the error becomes an uncaught exception after the write.
   */
  readonly onSubscriberError?: (error: unknown) => void
}

interface Shelf {
  readonly objects: Map<string, JsonObject>
  /** The keys of `objects`, sorted. */
  readonly keys: string[]
}

/**
 * Number of latest changes that the log keeps, for all types together. When the log exceeds this number by a tenth, the oldest changes are
 * dropped. kube-apiserver's watch caches keep up to 102,400 changes per type (k8s.io/apiserver/pkg/storage/cacher:
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
  readonly #commits: GroupCommit | undefined
  readonly #onSubscriberError: (error: unknown) => void
  #revision: number
  #compacted: number

  constructor({
    historyLimit = defaultHistoryLimit,
    firstRevision = 1,
    objects = [],
    persistence,
    onSubscriberError = throwLater,
  }: ObjectStoreOptions = {}) {
    this.#revision = this.#compacted = firstRevision
    this.#historyLimit = historyLimit
    this.#onSubscriberError = onSubscriberError
    this.#commits = persistence && new GroupCommit(persistence, (change) => this.#publish(change))
    for (const { storageKey, key, object } of objects) this.#shelfOf(storageKey).objects.set(key, deepFreeze(object))
    for (const shelf of this.#shelves.values()) for (const key of [...shelf.objects.keys()].sort()) shelf.keys.push(key)
  }

  /** Revision of the latest committed write. */
  get revision(): number {
    return this.#revision
  }

  /** The oldest revision of the history. A list or watch from an older revision fails with 410. */
  get compactedRevision(): number {
    return this.#compacted
  }

  /**
   * Returns the storage keys of all types that have been written, loaded or listed. The list includes types that have no objects, e.g.
   * because all objects have been deleted.
   */
  storageKeys(): string[] {
    return [...this.#shelves.keys()]
  }

  get(storageKey: string, key: ObjectKey): JsonObject | undefined {
    return this.#shelves.get(storageKey)?.objects.get(storeKey(key))
  }

  /** Returns the number of objects of a type. */
  count(storageKey: string): number {
    return this.#shelves.get(storageKey)?.objects.size ?? 0
  }

  /**
   * Returns an object as the latest write has left it, even if this write is not committed yet. A writer must read this state, because
   * `put` and `delete` change nothing if `expected` is an older state of the object.
   */
  latest(storageKey: string, key: ObjectKey): JsonObject | undefined {
    return this.#latest(storageKey, storeKey(key))
  }

  /**
   * Resolves when all writes so far are committed. A response that is based on `latest` must not be sent earlier.
   *
   * @throws {StatusError} 500 when a write cannot be stored.
   */
  committed(): Promise<void> {
    return this.#commits?.committed() ?? Promise.resolve()
  }

  /**
   * Creates or updates an object. Resolves with:
   *
   * - the stored object, which has a new resourceVersion, when the write is committed.
   * - undefined if another write has changed the object since the caller read it. Nothing is written.
   *
   * @param expected the object that the caller read from the store; undefined if the object did not exist.
   * @throws {StatusError} 500 when the write cannot be stored. The object is then unchanged.
   */
  async put(storageKey: string, key: ObjectKey, object: JsonObject, expected: JsonObject | undefined): Promise<JsonObject | undefined> {
    const text = storeKey(key)
    if (this.#latest(storageKey, text) !== expected) return undefined
    const revision = this.#nextRevision()
    const stored = deepFreeze(withRevision(object, revision))
    const type = expected === undefined ? 'ADDED' : 'MODIFIED'
    await this.#write({ type, storageKey, key: text, object: stored, previous: expected, revision })
    return stored
  }

  /**
   * Deletes an object. If another write has changed or deleted the object since the caller read it, nothing is deleted, and the method
   * resolves to undefined. Otherwise, the method resolves as soon as the deletion is committed. The result is then the last state of the
   * object, with the resourceVersion of the deletion.
   *
   * @param expected the object that the caller read from the store.
   * @throws {StatusError} 500 when the deletion cannot be stored. The object is then unchanged.
   */
  async delete(storageKey: string, key: ObjectKey, expected: JsonObject): Promise<JsonObject | undefined> {
    const text = storeKey(key)
    if (this.#latest(storageKey, text) !== expected) return undefined
    const revision = this.#nextRevision()
    const last = deepFreeze(withRevision(expected, revision))
    await this.#write({ type: 'DELETED', storageKey, key: text, object: last, previous: expected, revision })
    return last
  }

  /**
   * Returns the objects of a type at `revision`, in one namespace or in all namespaces.
   *
   * @param revision must not be less than `compactedRevision`. Default: the current revision.
   */
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

  /**
   * Returns the changes after `revision`, oldest first.
   *
   * @param revision must not be less than `compactedRevision`.
   */
  changesSince(revision: number): Change[] {
    return this.#log.slice(Math.max(0, revision - this.#compacted))
  }

  /**
   * Subscribes to the changes of the objects of a type. The store calls `subscriber.change` for each later change, in the order of the
   * changes. Returns a function to unsubscribe.
   */
  subscribe(storageKey: string, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(storageKey) ?? new Set()
    this.#subscribers.set(storageKey, subscribers.add(subscriber))
    return () => subscribers.delete(subscriber)
  }

  /**
   * Calls `reached` once, when the store reaches the revision. If the store has already reached the revision, calls `reached` immediately.
   * Returns a function to cancel the call.
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

  #latest(storageKey: string, key: string): JsonObject | undefined {
    const pending = this.#commits?.pending(storageKey, key)
    return pending === undefined ? this.#shelves.get(storageKey)?.objects.get(key) : objectAfter(pending)
  }

  #nextRevision(): number {
    return this.#revision + (this.#commits?.size ?? 0) + 1
  }

  #write(change: Change): Promise<void> | undefined {
    if (this.#commits !== undefined) return this.#commits.add(change)
    this.#publish(change)
    return undefined
  }

  #publish(change: Change): void {
    this.#apply(change)
    this.#revision = change.revision
    this.#log.push(change)
    // A compaction moves all remaining entries of the log, and therefore takes longer than a write. To make compactions rare, each
    // compaction drops a tenth of the log.
    const slack = Math.ceil(this.#historyLimit / 10)
    if (this.#log.length >= this.#historyLimit + slack) this.compact(this.#compacted + slack)
    for (const subscriber of [...(this.#subscribers.get(change.storageKey) ?? [])]) {
      try {
        subscriber.change(change)
      } catch (error) {
        subscriber.end()
        this.#onSubscriberError(error)
      }
    }
    for (const waiter of [...this.#waiting]) {
      if (waiter.revision > this.#revision) continue
      this.#waiting.delete(waiter)
      waiter.reached()
    }
  }

  #apply({ type, storageKey, key, object }: Change): void {
    const shelf = this.#shelfOf(storageKey)
    if (type === 'ADDED') insertSorted(shelf.keys, key)
    if (type === 'DELETED') {
      shelf.objects.delete(key)
      removeSorted(shelf.keys, key)
    } else {
      shelf.objects.set(key, object)
    }
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
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
