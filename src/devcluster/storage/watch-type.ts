/** Watches a type inside the embedded API server, without a watch request. */
import type { Change, ObjectStore } from './object-store.ts'

/**
 * Calls `changed` for each change of a type. `endSubscriptions` ends only the watches of clients, so `changed` is called after it, too.
 * Returns a function to unsubscribe.
 */
export function watchType(store: ObjectStore, storageKey: string, changed: (change: Change) => void): () => void {
  return store.subscribe(storageKey, { change: changed, end: () => undefined })
}
