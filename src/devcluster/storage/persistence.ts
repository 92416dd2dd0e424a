/** `Persistence`: the interface of a storage that keeps the objects of an `ObjectStore` after the end of the process. */
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
