/**
 * `Persistence`: the interface of a permanent storage for the objects of an `ObjectStore`. Stored objects survive the end of the process.
 */
import type { Change } from './object-store.ts'

export interface Persistence {
  /**
   * Stores all changes, or none of them. The changes are in the order of their revisions. When the call returns, the changes survive the
   * end of the process.
   *
   * @throws an error when the changes cannot be stored.
   */
  commit(changes: readonly Change[]): void
}
