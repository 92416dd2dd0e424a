/**
 * `OwnRemovals`: remembers the objects that write requests of this process have deleted, and the objects that a view no longer contains
 * because a write request of this process has changed them. The watch may still send states of these objects from before the write request.
 * The informer ignores these older states.
 */
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'

/**
 * Maximum number of entries in `#deletions`, and in `#departures`. If a map exceeds the maximum, its oldest entry is removed.
 *
 * Usually, a DELETED event of the watch removes the entry of an object. The following entries are not removed by a DELETED event. Most of
 * them stay in their map until the next list, so the maps could become too large without a maximum:
 *
 * - an entry of `#deletions` in a view with a selector
 * - an entry of `#departures` for an object that matched the selector neither before nor after the write
 * - an entry of either map, if the DELETED event of the object arrived before the response to the write request
 */
const maxRemembered = 10_000

/** An object that no longer exists: this process has deleted it, or another object with the same key has replaced it. */
interface Deletion {
  readonly namespace: string | undefined
  /**
   * True if the informer has requested a list after the removal of the object. Such a list contains no state that the object had before the
   * removal.
   */
  precedesList: boolean
}

/**
 * An object that a write request of this process has removed from the view. The informer ignores a state with the namespace and the name of
 * this object if the state is not newer than `resourceVersion`.
 */
interface Departure extends Deletion {
  readonly resourceVersion: string
}

type State = DeepReadonly<Pick<ObjectMeta, 'namespace' | 'name' | 'uid' | 'resourceVersion'>>

/**
 * Remembers which objects this process has deleted, and which objects its writes have removed from the view (departures). When the watch or
 * a list confirms a removal, the removal is forgotten.
 */
export class OwnRemovals {
  /**
   * True for a view with a selector. An existing object can leave such a view and return, so a DELETED event does not prove that the object
   * was deleted.
   */
  readonly #isSelection: boolean
  /**
   * The deletions, keyed by the uid of the deleted object. The response to a deletion contains no resourceVersion. Therefore, an old state
   * of a deleted object is recognized by its uid, not by its resourceVersion.
   */
  readonly #deletions = new Map<string, Deletion>()
  /**
   * The departures, keyed by namespace and name. A departure also applies to earlier objects with this namespace and name, although their
   * uids differ.
   */
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

  /**
   * Called after a write request of this process has removed an object from the view. Remembers the removal.
   *
   * @param state a state of the object. After the removal, the view must contain neither this state nor an older state with the same
   *   namespace and name.
   */
  left(state: State): void {
    const { namespace, resourceVersion } = state
    // The response to an earlier write can arrive after the response to a later write. If `#departures` already contains a departure with
    // the namespace and name of `state`, and `state` is not newer than this departure, the departure is therefore kept.
    if ((this.#sinceDeparture(state) ?? 1) <= 0) return
    remember(this.#departures, formatKey(state), { namespace, precedesList: false, resourceVersion })
  }

  /**
   * Returns true if the informer must ignore `state`. There are two cases:
   *
   * - The object with the uid of `state` was deleted.
   * - A write request of this process has removed an object with the same namespace and name from the view, and `state` is not newer than
   *   this removal.
   */
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

  /**
   * Called before a list is requested. Marks the removals that precede this list. If `namespace` is given, the list contains only objects
   * in this namespace, and only removals in this namespace are marked. Otherwise, all removals are marked.
   */
  beginList(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const removal of removals.values()) if (namespace === undefined || namespace === removal.namespace) removal.precedesList = true
  }

  /**
   * Called when a list of `namespace` is complete. Forgets the removals in this namespace that happened before the list was requested. If
   * `namespace` is undefined, the list contains the objects of all namespaces.
   */
  listed(namespace: string | undefined): void {
    for (const removals of [this.#deletions, this.#departures])
      for (const [id, removal] of removals)
        if (removal.precedesList && (namespace === undefined || namespace === removal.namespace)) removals.delete(id)
  }

  /**
   * Compares a state with the departure that has the same key. Returns:
   *
   * - a positive number if the state is newer, or if the resourceVersions cannot be compared
   * - 0 if the resourceVersions are equal
   * - a negative number if the state is older
   * - undefined if no departure has this key
   */
  #sinceDeparture(state: State): number | undefined {
    // Formatting a key allocates a string, so a key is formatted only if departures are remembered.
    const departure = this.#departures.size === 0 ? undefined : this.#departures.get(formatKey(state))
    return departure && (compareResourceVersions(state.resourceVersion, departure.resourceVersion) ?? 1)
  }
}

function remember<Removal>(removals: Map<string, Removal>, id: string, removal: Removal): void {
  // If an existing entry of a Map is set again, the entry keeps its position. The entry is therefore deleted before it is set, and becomes
  // the newest entry.
  removals.delete(id)
  removals.set(id, removal)
  for (const oldest of removals.keys()) {
    if (removals.size <= maxRemembered) break
    removals.delete(oldest)
  }
}
