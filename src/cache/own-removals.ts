/** `OwnRemovals`: the objects that own writes have deleted or removed from a view, although the watch may still send older states of them. */
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'

/**
 * Maximum number of remembered deletions, and of remembered departures. A deletion is remembered in vain when the watch has confirmed it
 * before the response to the request arrived, and both are when the object was never in the view. In a selection, only a list confirms a
 * deletion.
 */
const maxRemembered = 10_000

/** An object that this process has deleted, so it no longer exists. */
interface Deletion {
  readonly namespace: string | undefined
  /** True when a list that began after the own write has been requested: the list does not contain an older state. */
  precedesList: boolean
}

/** A state that is no longer in the view, because of an own write. A newer state may be in the view again. */
interface Departure extends Deletion {
  readonly resourceVersion: string
}

type State = DeepReadonly<Pick<ObjectMeta, 'namespace' | 'name' | 'uid' | 'resourceVersion'>>

/** Remembers deletions and departures until the watch or a list confirms them. */
export class OwnRemovals {
  /** True when objects can leave the view, and return to it, while they exist. A DELETED event is then sent for each departure, too. */
  readonly #isSelection: boolean
  /** By uid, because the response to a deletion has no resourceVersion. */
  readonly #deletions = new Map<string, Deletion>()
  /** By key, because an earlier object with this key is older, too. */
  readonly #departures = new Map<string, Departure>()

  constructor({ isSelection }: { readonly isSelection: boolean }) {
    this.#isSelection = isSelection
  }

  /** The number of removals that are not confirmed. */
  get size(): number {
    return this.#deletions.size + this.#departures.size
  }

  deleted(uid: string, namespace: string | undefined): void {
    remember(this.#deletions, uid, { namespace, precedesList: false })
  }

  /** Because of an own write, neither this state nor an older one with the same key is in the view. */
  left(state: State): void {
    const { namespace, resourceVersion } = state
    // The response to a later write may have arrived earlier.
    if ((this.#sinceDeparture(state) ?? 1) <= 0) return
    remember(this.#departures, formatKey(state), { namespace, precedesList: false, resourceVersion })
  }

  /** Returns true for a state that an own write has removed, or that is older than it. */
  have(state: State): boolean {
    return this.#deletions.has(state.uid) || (this.#sinceDeparture(state) ?? 1) <= 0
  }

  /** The watch has sent the DELETED event with this state. */
  confirm(state: State): void {
    if (!this.#isSelection) this.#deletions.delete(state.uid)
    if ((this.#sinceDeparture(state) ?? -1) >= 0) this.#departures.delete(formatKey(state))
  }

  /** A state that is newer than all removals is in the view. */
  returned(state: State): void {
    if (this.#departures.size > 0) this.#departures.delete(formatKey(state))
  }

  /** A list of the namespace is requested; of all namespaces when undefined. */
  beginList(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const removal of removals.values()) if (namespace === undefined || namespace === removal.namespace) removal.precedesList = true
  }

  /** The list of the namespace is complete. It confirms the removals from before its request. */
  listed(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const [id, removal] of removals)
        if (removal.precedesList && (namespace === undefined || namespace === removal.namespace)) removals.delete(id)
  }

  /** Compares a state with the departure of its key: 0 or less when it is not newer; undefined when nothing has left the view. */
  #sinceDeparture(state: State): number | undefined {
    // No string is built for the key in the usual case.
    const departure = this.#departures.size === 0 ? undefined : this.#departures.get(formatKey(state))
    return departure && (compareResourceVersions(state.resourceVersion, departure.resourceVersion) ?? 1)
  }
}

function remember<Removal>(removals: Map<string, Removal>, id: string, removal: Removal): void {
  removals.set(id, removal)
  for (const oldest of removals.keys()) {
    if (removals.size <= maxRemembered) break
    removals.delete(oldest)
  }
}
