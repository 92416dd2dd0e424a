/**
 * `OwnRemovals`: remembers the objects that write requests of this process have deleted, or have removed from a view. The watch may still
 * send older states of these objects. The informer ignores such states.
 */
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'

/**
 * Maximum number of remembered deletions, and maximum number of remembered departures. When a maximum is exceeded, the oldest entry is
 * forgotten. Without a maximum, the entries could become too many, because some entries are forgotten only at the next list. Such entries
 * belong to objects whose DELETED event arrived before the response to the own write, to objects that were never in the view, and to all
 * deletions in a view with a selector.
 */
const maxRemembered = 10_000

/** An object that no longer exists: this process has deleted it, or another object with the same key has replaced it. */
interface Deletion {
  readonly namespace: string | undefined
  /** True when a list was requested after the object was removed. This list contains no older state of the object. */
  precedesList: boolean
}

/**
 * The removal of an object from the view by an own write. The view does not contain the states with the same key up to `resourceVersion`.
 * It may contain a newer state.
 */
interface Departure extends Deletion {
  readonly resourceVersion: string
}

type State = DeepReadonly<Pick<ObjectMeta, 'namespace' | 'name' | 'uid' | 'resourceVersion'>>

/** Remembers own deletions, and removals of objects from a view by own writes (departures), until the watch or a list confirms them. */
export class OwnRemovals {
  /**
   * True for a view with a selector: an existing object can leave the view and return. A DELETED event then does not prove that the object
   * was deleted.
   */
  readonly #isSelection: boolean
  /** The deletions by uid, because the response to a deletion has no resourceVersion. */
  readonly #deletions = new Map<string, Deletion>()
  /** The departures by key, because a departure also covers the older states of earlier objects with the same key. */
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

  /** Remembers that an own write has removed `state` from the view, together with all older states of the same key. */
  left(state: State): void {
    const { namespace, resourceVersion } = state
    // If the response to a later write has arrived first, the remembered departure is newer than `state`.
    if ((this.#sinceDeparture(state) ?? 1) <= 0) return
    remember(this.#departures, formatKey(state), { namespace, precedesList: false, resourceVersion })
  }

  /** Returns true when the object was deleted, or when an own write has removed this state or a newer one from the view. */
  have(state: State): boolean {
    return this.#deletions.has(state.uid) || (this.#sinceDeparture(state) ?? 1) <= 0
  }

  /** Called when the watch has sent a DELETED event with this state. Forgets the removals that the event confirms. */
  confirm(state: State): void {
    if (!this.#isSelection) this.#deletions.delete(state.uid)
    if ((this.#sinceDeparture(state) ?? -1) >= 0) this.#departures.delete(formatKey(state))
  }

  /** Called when the view gets a state that is newer than the departure with the same key. Forgets the departure. */
  returned(state: State): void {
    if (this.#departures.size > 0) this.#departures.delete(formatKey(state))
  }

  /** Called before a list of `namespace` is requested; undefined for all namespaces. Marks the removals that happened before the list. */
  beginList(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const removal of removals.values()) if (namespace === undefined || namespace === removal.namespace) removal.precedesList = true
  }

  /** Called when a list of `namespace` is complete. Forgets the removals that happened before the list was requested. */
  listed(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const [id, removal] of removals)
        if (removal.precedesList && (namespace === undefined || namespace === removal.namespace)) removals.delete(id)
  }

  /**
   * Compares a state with the departure that has the same key. Returns a positive number when the state is newer or the resourceVersions
   * cannot be compared; otherwise 0 or a negative number. Returns undefined when no departure has this key.
   */
  #sinceDeparture(state: State): number | undefined {
    // Most of the time, no departures are remembered. The key is then not formatted, because this would allocate a string for each event.
    const departure = this.#departures.size === 0 ? undefined : this.#departures.get(formatKey(state))
    return departure && (compareResourceVersions(state.resourceVersion, departure.resourceVersion) ?? 1)
  }
}

function remember<Removal>(removals: Map<string, Removal>, id: string, removal: Removal): void {
  // A Map keeps the position of an entry that is set again. The entry is deleted first, so that it becomes the newest.
  removals.delete(id)
  removals.set(id, removal)
  for (const oldest of removals.keys()) {
    if (removals.size <= maxRemembered) break
    removals.delete(oldest)
  }
}
