/** Following a type's changes from inside the API server, also when all watches are ended. */
import type { Change, ObjectStore } from './storage/object-store.ts'

/**
 * Calls `changed` for each change of a type; without one when the store has ended its subscriptions, for then some may have been missed.
 * Returns the function that ends it.
 */
export function followType(store: ObjectStore, storageKey: string, changed: (change: Change | undefined) => void): () => void {
  let ended = false
  let unsubscribe = (): void => undefined
  const subscribe = (): void => {
    unsubscribe = store.subscribe(storageKey, {
      change: changed,
      end() {
        // The store forgets its subscribers when all have been told: only then a new one stays.
        queueMicrotask(() => {
          if (ended) return
          subscribe()
          changed(undefined)
        })
      },
    })
  }
  subscribe()
  return () => {
    ended = true
    unsubscribe()
  }
}
