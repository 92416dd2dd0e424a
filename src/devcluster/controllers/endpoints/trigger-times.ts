/** `TriggerTimes`: finds the time of the change that caused an update of EndpointSlices or Endpoints. */
import { findCondition } from '../../../api/conditions.ts'
import { formatKey } from '../../../api/object.ts'
import type { ReadonlyPod, ReadonlyService } from '../api-types.ts'

/**
 * The annotation with the time of the change that caused the latest update of an EndpointSlice or an Endpoints object. Two events count as
 * changes: the Service is created, or one of its Pods becomes ready or unready. Clients use this time to measure the delay between the
 * change and the arrival of the update at the client.
 */
export const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** The trigger times of all Services, keyed by namespace and name (k8s.io/endpointslice/util: TriggerTimeTracker). */
export class TriggerTimes {
  /**
   * The times at which Pods last became ready or unready. The outer key is the Service, the inner key is the name of the Pod. `next` stores
   * these times.
   */
  readonly #known = new Map<string, ReadonlyMap<string, string>>()

  /**
   * Returns the time of the earliest change since the previous call for this Service. Two events count as changes: the Service is created,
   * or one of its Pods becomes ready or unready. Returns undefined when there was no change.
   */
  next(service: ReadonlyService, pods: readonly ReadonlyPod[]): string | undefined {
    const key = formatKey(service.metadata)
    const before = this.#known.get(key)
    const times = new Map<string, string>()
    for (const { metadata, status } of pods) {
      const time = findCondition(status?.conditions, 'Ready')?.lastTransitionTime
      if (time) times.set(metadata.name, time)
    }
    this.#known.set(key, times)
    if (before === undefined) return service.metadata.creationTimestamp
    // All times have the same format and time zone, so their alphabetical order is their order in time.
    return [...times]
      .filter(([name, time]) => time > (before.get(name) ?? ''))
      .map(([, time]) => time)
      .sort()[0]
  }

  /** Removes the times of a deleted Service. */
  forget(key: string): void {
    this.#known.delete(key)
  }
}
