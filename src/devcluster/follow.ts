/** Following a type's changes from inside the API server. */
import type { Change, ObjectStore } from './storage/object-store.ts'

/** Calls `changed` for each change of a type, also after all watches were ended: those are for clients. Returns the function that ends it. */
export function followType(store: ObjectStore, storageKey: string, changed: (change: Change) => void): () => void {
  return store.subscribe(storageKey, { change: changed, end: () => undefined })
}
