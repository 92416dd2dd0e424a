/** Watches the objects of a type from inside the embedded API server, without a watch request. */
import type { Change, ObjectStore } from './object-store.ts'

/**
 * Calls `changed` whenever an object of a type is created, updated or deleted. Returns a function that ends the watch. Unlike the watch of
 * a client, this watch does not end when `endSubscriptions` is called.
 */
export function watchType(store: ObjectStore, storageKey: string, changed: (change: Change) => void): () => void {
  return store.subscribe(storageKey, { change: changed, end: () => undefined })
}
