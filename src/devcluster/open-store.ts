/** Opens the store of an embedded cluster, with the objects that an earlier run has stored. */
import { ProreusError } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'
import { deleteExpiredEvents } from './expired-events.ts'
import { openObjectDatabase } from './storage/object-database.ts'
import { ObjectStore } from './storage/object-store.ts'

export interface StoreOptions {
  readonly directory?: string
  readonly keepObjects?: boolean
  readonly reset?: boolean
  readonly logger: Logger
}

export interface OpenedStore {
  readonly store: ObjectStore
  readonly found: FoundObjects
  /** Commits the last writes, and closes the database. */
  close(): Promise<void>
}

/** The number of objects, and the number of their types, that an embedded cluster has found in its directory at the start. */
export interface FoundObjects {
  readonly objects: number
  readonly types: number
}

/**
 * Opens the store. The first revision is the current time in milliseconds, or the last revision in the database if that is higher.
 *
 * Normally, the time in milliseconds increases faster than the revisions. After a restart, the first revision is then higher than every
 * resourceVersion that clients have. Their watches fail with 410, and the clients list again.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when `keepObjects` is true without a `directory`.
 * @throws {ProreusError} `PRO_STATE_FILE` when the objects in the directory cannot be read or written, or when another process uses them.
 */
export async function openStore(
  { directory, keepObjects = false, reset = false, logger }: StoreOptions,
  now: number,
): Promise<OpenedStore> {
  const onSubscriberError = (err: unknown): void => logger.error({ err }, 'a watch of stored objects has failed')
  if (!keepObjects) {
    const store = new ObjectStore({ firstRevision: now, onSubscriberError })
    return { store, found: { objects: 0, types: 0 }, close: () => Promise.resolve() }
  }
  if (directory === undefined) throw new ProreusError('PRO_CONFIG_INVALID', 'keepObjects needs a directory, in which the objects are kept.')
  const { database, objects, revision } = await openObjectDatabase(directory, { reset, firstRevision: now })
  const store = new ObjectStore({ firstRevision: revision, objects, persistence: database, onSubscriberError })
  await deleteExpiredEvents(store, now)
  const sizes = [...new Set(objects.map(({ storageKey }) => storageKey))]
    .map((storageKey) => store.snapshot(storageKey).keys.length)
    .filter((size) => size > 0)
  return {
    store,
    found: { objects: sizes.reduce((sum, size) => sum + size, 0), types: sizes.length },
    async close() {
      // If a write could not be committed, the request of this write has already reported the error.
      await store.committed().catch(() => undefined)
      database.close()
    },
  }
}
