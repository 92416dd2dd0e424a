/** The interface between the store of objects, which serves reads and watches, and what keeps the objects beyond the process. */
import type { Change } from './object-store.ts'

export interface Persistence {
  /**
   * Keeps all changes, or none of them. The changes are in the order of their revisions. When the call returns, they survive the end of the
   * process.
   *
   * @throws an error when the changes cannot be kept.
   */
  commit(changes: readonly Change[]): void
}
