/** `TriggerTimes`: finds the change that an update of EndpointSlices or Endpoints follows. */
import type { Pod, Service } from '../../../api/builtin.ts'
import { findCondition } from '../../../api/conditions.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { formatKey } from '../../../api/object.ts'

/** The annotation with the time of that change. Clients measure with it how long it took until they saw the endpoints. */
export const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** The trigger times of all Services, keyed by namespace and name (k8s.io/endpointslice/util: TriggerTimeTracker). */
export class TriggerTimes {
  /** The time of each Pod's last change of readiness at the last call of `next`, keyed by the name of the Pod. */
  readonly #known = new Map<string, ReadonlyMap<string, string>>()

  /**
   * Returns the earliest change since the last call for this Service: its creation, or a changed readiness of a Pod. Returns undefined when
   * there was no such change.
   */
  next(service: DeepReadonly<Service>, pods: readonly DeepReadonly<Pod>[]): string | undefined {
    const key = formatKey(service.metadata)
    const before = this.#known.get(key)
    const times = new Map<string, string>()
    for (const { metadata, status } of pods) {
      const time = findCondition(status?.conditions, 'Ready')?.lastTransitionTime
      if (time) times.set(metadata.name, time)
    }
    this.#known.set(key, times)
    if (before === undefined) return service.metadata.creationTimestamp
    // The times have one format, so their order as texts is their order in time.
    return [...times]
      .filter(([name, time]) => time > (before.get(name) ?? ''))
      .map(([, time]) => time)
      .sort()[0]
  }

  /** Forgets a deleted Service. */
  forget(key: string): void {
    this.#known.delete(key)
  }
}
