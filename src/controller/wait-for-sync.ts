/** Waits for caches to sync, and logs which ones are missing. */
import type { Clock, Timer } from '../runtime/clock.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { EventHandler } from '../cache/informer.ts'
import type { Logger } from '../telemetry/logger.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'

/** The parts of an informer that a controller uses. */
export interface WatchedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType
  /** True when the first list is complete and handlers were notified of its objects. */
  readonly synced: boolean
  whenSynced(signal?: AbortSignal): Promise<void>
  /** Returns the function that removes the handler. */
  addHandler(handler: EventHandler<T>): () => void
}

/** The first warning is logged after this time, in which caches of a healthy cluster have synced. */
const firstWordMs = 5_000
const nextWordMs = 60_000

/**
 * Resolves with true once all informers have synced, and with false when the signal aborts first. There is no time limit: while a CRD or
 * permission is missing, it keeps waiting, and logs that every minute.
 */
export async function whenAllSynced(
  informers: readonly WatchedInformer[],
  { clock, logger }: { clock: Clock; logger: Logger },
  signal: AbortSignal,
): Promise<boolean> {
  const say = (): void => {
    const missing = informers.filter(({ synced }) => !synced).map(({ type }) => groupResourceOf(type))
    logger.warn(
      { missing },
      `still waiting for the first list of ${missing.join(', ')}: is the CustomResourceDefinition installed, and may this user list and watch it?`,
    )
    timer = clock.after(nextWordMs, say)
  }
  let timer: Timer = clock.after(firstWordMs, say)
  try {
    await Promise.all(informers.map((informer) => informer.whenSynced(signal)))
    return !signal.aborted
  } catch (error) {
    if (signal.aborted) return false
    throw error
  } finally {
    timer.cancel()
  }
}
