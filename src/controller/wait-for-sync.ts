/** Waits until informers have synced, and logs the types whose informers have not synced. */
import type { Clock, Timer } from '../runtime/clock.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { EventHandler } from '../cache/informer.ts'
import type { Logger } from '../telemetry/logger.ts'
import { describeType } from '../cache/view.ts'

/** The part of the `Informer` interface that a controller uses. */
export interface WatchedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType
  /** True when the first list is complete, and its objects have been passed to the handlers. */
  readonly synced: boolean
  whenSynced(signal?: AbortSignal): Promise<void>
  /** Adds a handler, and returns a function that removes it. */
  addHandler(handler: EventHandler<T>): () => void
}

/** Time in milliseconds before the first warning. In a healthy cluster, informers sync within this time. */
const firstWordMs = 5_000
const nextWordMs = 60_000

/**
 * Resolves to true when all informers have synced, and to false when the signal aborts first. There is no time limit: while a CRD or a
 * permission is missing, the function keeps waiting. After 5 s, and then every minute, a warning lists the types whose informers have not
 * synced.
 */
export async function whenAllSynced(
  informers: readonly WatchedInformer[],
  { clock, logger }: { clock: Clock; logger: Logger },
  signal: AbortSignal,
): Promise<boolean> {
  const say = (): void => {
    const missing = informers.filter(({ synced }) => !synced).map(({ type }) => describeType(type))
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
