/** `UnconfirmedWrites`: detects that other clients have changed the objects that this process writes. */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectMeta } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'
import type { Origin } from './origin.ts'
import type { Store } from './store.ts'
import { metadataOf } from './store.ts'

/**
 * An object that a reconcile of this process wrote without knowledge of an earlier change. Another client or another reconcile of this
 * process made the earlier change.
 *
 * After an interruption of the watch, `UnconfirmedWrites` does not know the states that the watch missed. Therefore, `UnconfirmedWrites`
 * also returns an `Overtaken` for an object that another client may have changed during the interruption.
 */
export interface Overtaken<T> {
  /** The state in the store before the first unconfirmed write of this process; undefined when the store did not contain the object. */
  readonly before: DeepReadonly<T> | undefined
  /** The result of the latest write of this process to the object. */
  readonly latest: DeepReadonly<T>
}

/** The writes of this process to one object. */
interface Writes<T> extends Overtaken<T> {
  latest: DeepReadonly<T>
  /** The reconcile that has made the latest write. */
  origin: Origin
  /** The resourceVersions of all own writes after the state `before`. */
  readonly versions: Set<string>
}

/**
 * Detects that a write of this process hides a change that another client has made to the same object. In this description, an own write is
 * a write by a reconcile of this process. When the response to an own write arrives, the store gets the written state from the response.
 * The watch sends this state later. An own write does not cause a new reconcile by the controller that made the write.
 *
 * An own write hides a change of another client in these steps:
 *
 * - A reconcile reads the object.
 * - Another client changes the object.
 * - The reconcile sends a patch or an apply request. The request succeeds, and the response contains both changes. The store gets the
 *   response, although the reconcile has not seen the change of the other client.
 * - The watch sends the state with only the change of the other client. This state is older than the stored state, so the informer does not
 *   store it.
 *
 * The resourceVersions before and after an own write do not show such a change, because resourceVersions are not consecutive. The watch
 * shows the change, because the watch sends the states of an object in order. An own write is unconfirmed until the watch has sent the
 * result of the write. While an object has unconfirmed writes, this class checks the states of the object that the watch sends. A state is
 * ignored if it is not newer than the state before these writes. For each other state, there are two cases:
 *
 * - If the state is the result of an own write, no other client has made the state. The result of the latest own write confirms all own
 *   writes to the object.
 * - If the state is not the result of an own write, another client has made the state. The own writes to the object then count as
 *   overtaken.
 *
 * After an interruption of the watch, a list replaces the missed events. There are two cases:
 *
 * - If the list contains exactly the state before the own writes, the list is older than the writes, and the writes are still unconfirmed.
 * - Otherwise, the own writes count as overtaken, because another client may have made a state that the list does not show.
 */
export class UnconfirmedWrites<T extends KubernetesObject> {
  readonly #writes = new Map<string, Writes<T>>()

  /** The number of objects with unconfirmed writes. */
  get size(): number {
    return this.#writes.size
  }

  /**
   * Remembers a write of a reconcile of this process. `object` is the result of the write. `before` is the state that the write has
   * replaced in the store; undefined if the store did not contain the object.
   */
  add(object: DeepReadonly<T>, before: DeepReadonly<T> | undefined, origin: Origin): void {
    const { uid, resourceVersion } = metadataOf(object)
    const writes = this.#writes.get(uid)
    if (writes === undefined) this.#writes.set(uid, { before, latest: object, origin, versions: new Set([resourceVersion]) })
    else {
      writes.versions.add(resourceVersion)
      writes.latest = object
      writes.origin = origin
    }
  }

  /**
   * Handles a late response: the response to a write of this process has arrived after the response to a later write of this process to the
   * same object. If the object has no unconfirmed writes, or if the earlier write is not newer than the state before the unconfirmed
   * writes, the method does nothing and returns undefined. Otherwise, there are two cases:
   *
   * - If the same reconcile sent the earlier write and the latest write, the method remembers the earlier write and returns undefined.
   * - Otherwise, the reconcile of the latest write has not seen the earlier write. The method returns the unconfirmed writes to the object,
   *   and forgets these writes.
   *
   * @param origin the reconcile that sent the earlier write; undefined when no reconcile sent the earlier write.
   */
  addLate({ uid, resourceVersion }: Pick<ObjectMeta, 'uid' | 'resourceVersion'>, origin: Origin | undefined): Overtaken<T> | undefined {
    const writes = this.#writes.get(uid)
    if (writes === undefined || !isNewer(resourceVersion, writes.before)) return undefined
    writes.versions.add(resourceVersion)
    if (writes.origin === origin) return undefined
    this.#writes.delete(uid)
    return writes
  }

  /** Forgets the writes to an object that has left the store. */
  forget(uid: string): void {
    this.#writes.delete(uid)
  }

  /**
   * Handles a state of an object that the watch has sent. There are three cases:
   *
   * - If the state is not newer than the state before the unconfirmed own writes to the object, the method does nothing and returns
   *   undefined.
   * - If the state is the result of an own write, the method returns undefined. The result of the latest own write confirms all own writes
   *   to the object, so the method then forgets them.
   * - Otherwise, another client has made the state. The method returns the unconfirmed own writes to the object, and forgets these writes.
   *   If the object has no such writes, the method returns undefined.
   *
   * If the state is newer than the state in the store, the caller ignores the result, because the caller notifies the handlers of the newer
   * state anyway.
   */
  watched(object: DeepReadonly<T>): Overtaken<T> | undefined {
    const { uid, resourceVersion } = metadataOf(object)
    const writes = this.#writes.get(uid)
    if (writes === undefined || !isNewer(resourceVersion, writes.before)) return undefined
    const isOwn = writes.versions.has(resourceVersion)
    if (!isOwn || resourceVersion === metadataOf(writes.latest).resourceVersion) this.#writes.delete(uid)
    return isOwn ? undefined : writes
  }

  /**
   * Handles a list that was requested after an interruption of the watch. During the interruption, another client may have changed an
   * object that has unconfirmed writes. For each object with unconfirmed writes, there are two cases:
   *
   * - If the list contains exactly the state before these writes, the method keeps the writes, and does not return them. The same applies
   *   if the list does not contain the object, and the store did not contain the object before these writes.
   * - Otherwise, the method returns the writes, and forgets these writes.
   *
   * @param namespace the namespace of the list; undefined for a list of all namespaces. Writes to objects in other namespaces are ignored.
   * @param objects the objects of the list.
   */
  listed(namespace: string | undefined, objects: Store<T>): readonly Overtaken<T>[] {
    const overtaken: Overtaken<T>[] = []
    for (const [uid, writes] of this.#writes) {
      const written = metadataOf(writes.latest)
      if (namespace !== undefined && written.namespace !== namespace) continue
      const listed = objects.get(written)
      if (versionOf(listed) === versionOf(writes.before)) continue
      this.#writes.delete(uid)
      overtaken.push(writes)
    }
    return overtaken
  }
}

function versionOf(object: unknown): string | undefined {
  return object === undefined ? undefined : metadataOf(object).resourceVersion
}

function isNewer(resourceVersion: string, than: unknown): boolean {
  return than === undefined || (compareResourceVersions(resourceVersion, metadataOf(than).resourceVersion) ?? 1) > 0
}
