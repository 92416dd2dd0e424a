/**
 * Commits the writes of one iteration of the event loop in one transaction. A transaction for each write would cost more time than the
 * write itself.
 */
import { messageOf } from '../../api/errors.ts'
import type { JsonObject } from '../../api/json.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { internalError } from '../apimachinery/status-error.ts'
import type { Change } from './object-store.ts'
import type { Persistence } from './persistence.ts'

/** The writes that the next transaction commits. */
interface Batch {
  readonly changes: Change[]
  /** The last change of each object, keyed by `idOf`. */
  readonly last: Map<string, Change>
  readonly done: PromiseWithResolvers<void>
}

export class GroupCommit {
  readonly #persistence: Persistence
  readonly #publish: (change: Change) => void
  #batch: Batch | undefined

  /**
   * @param publish is called with each committed change, in order. The promises of `add` and `committed` resolve after these calls.
   *   `publish` must not throw.
   */
  constructor(persistence: Persistence, publish: (change: Change) => void) {
    this.#persistence = persistence
    this.#publish = publish
  }

  /** Number of changes that are not committed yet. */
  get size(): number {
    return this.#batch?.changes.length ?? 0
  }

  /** Returns the last uncommitted change of an object; undefined when the object has no uncommitted change. */
  pending(storageKey: string, key: string): Change | undefined {
    return this.#batch?.last.get(idOf(storageKey, key))
  }

  /**
   * Adds a change to the next transaction. Resolves when the change is committed and published. Rejects with the same error as `committed`.
   */
  add(change: Change): Promise<void> {
    const batch = (this.#batch ??= this.#begin())
    batch.changes.push(change)
    batch.last.set(idOf(change.storageKey, change.key), change)
    return batch.done.promise
  }

  /**
   * Resolves when all changes so far are committed and published.
   *
   * @throws {StatusError} 500 when the changes cannot be stored. In this case, none of the changes is published.
   */
  committed(): Promise<void> {
    return this.#batch?.done.promise ?? Promise.resolve()
  }

  #begin(): Batch {
    const batch: Batch = { changes: [], last: new Map(), done: Promise.withResolvers() }
    // Prevents an unhandled rejection when nothing waits for this promise. Writers that wait for this promise still receive the error.
    batch.done.promise.catch(() => undefined)
    void endOfTurn().then(() => this.#commit(batch))
    return batch
  }

  #commit({ changes, done }: Batch): void {
    this.#batch = undefined
    try {
      this.#persistence.commit(changes)
    } catch (error) {
      done.reject(internalError(`the write cannot be stored: ${messageOf(error)}`))
      return
    }
    for (const change of changes) this.#publish(change)
    done.resolve()
  }
}

/** Returns the state of the object after a change; undefined after its deletion. */
export function objectAfter({ type, object }: Change): JsonObject | undefined {
  return type === 'DELETED' ? undefined : object
}

/** Returns the key of an object in `Batch.last`. A NUL character separates the two parts, because neither part contains a NUL character. */
function idOf(storageKey: string, key: string): string {
  return `${storageKey}\0${key}`
}
