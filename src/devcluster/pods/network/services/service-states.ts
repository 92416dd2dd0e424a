/** `ServiceStates`: the states of all Services, and the changes of these states. */
import type { Service } from '../../../../api/builtin.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { jsonEqual } from '../../../../api/json.ts'
import type { discovery } from '../../../../api/kubernetes/discovery.ts'
import type { ObjectKey } from '../../../../api/object.ts'
import { formatKey } from '../../../../api/object.ts'
import type { ServiceState } from './service-state.ts'
import { serviceNameLabel, serviceState } from './service-state.ts'

type ReadonlyService = DeepReadonly<Service>
type ReadonlySlice = DeepReadonly<discovery.EndpointSlice>

/** The states that are new or have changed, and the keys of the Services that have been deleted. */
export interface ServiceChanges {
  readonly changed: readonly ServiceState[]
  /** The keys of the deleted Services, as `NAMESPACE/NAME`. */
  readonly removed: readonly string[]
}

/**
 * Stores the states of all Services. The state of a Service is computed again only when the Service or one of its EndpointSlices has
 * changed.
 */
export class ServiceStates {
  readonly #services = new Map<string, ReadonlyService>()
  /** The EndpointSlices, keyed by the key of the Service and then by the key of the slice. A slice can exist before its Service exists. */
  readonly #slices = new Map<string, Map<string, ReadonlySlice>>()
  readonly #serviceOfSlice = new Map<string, string>()
  readonly #states = new Map<string, ServiceState>()
  readonly #outdated = new Set<string>()

  /** The states of all Services at the time of the last call of `changes`. */
  get current(): readonly ServiceState[] {
    return [...this.#states.values()]
  }

  setService(service: ReadonlyService): void {
    const key = formatKey(service.metadata)
    this.#services.set(key, service)
    this.#outdated.add(key)
  }

  removeService(service: ObjectKey): void {
    const key = formatKey(service)
    if (this.#services.delete(key)) this.#outdated.add(key)
  }

  setEndpointSlice(slice: ReadonlySlice): void {
    const key = formatKey(slice.metadata)
    const { namespace, labels } = slice.metadata
    const name = labels?.[serviceNameLabel]
    const owner = name ? formatKey({ namespace, name }) : undefined
    if (this.#serviceOfSlice.get(key) !== owner) this.removeEndpointSlice(slice.metadata)
    if (owner === undefined) return
    this.#serviceOfSlice.set(key, owner)
    const slices = this.#slices.get(owner) ?? new Map<string, ReadonlySlice>()
    this.#slices.set(owner, slices.set(key, slice))
    this.#outdated.add(owner)
  }

  removeEndpointSlice(slice: ObjectKey): void {
    const key = formatKey(slice)
    const owner = this.#serviceOfSlice.get(key)
    if (owner === undefined) return
    this.#serviceOfSlice.delete(key)
    const slices = this.#slices.get(owner)
    slices?.delete(key)
    if (slices?.size === 0) this.#slices.delete(owner)
    this.#outdated.add(owner)
  }

  /**
   * Returns the changes since the previous call. Changes that do not affect the network, for example changes of annotations, are omitted.
   */
  changes(): ServiceChanges {
    const changed: ServiceState[] = []
    const removed: string[] = []
    for (const key of this.#outdated) {
      const service = this.#services.get(key)
      const before = this.#states.get(key)
      if (service === undefined) {
        if (this.#states.delete(key)) removed.push(key)
        continue
      }
      const state = serviceState(service, [...(this.#slices.get(key)?.values() ?? [])])
      if (jsonEqual(state, before)) continue
      this.#states.set(key, state)
      changed.push(state)
    }
    this.#outdated.clear()
    return { changed, removed }
  }
}
