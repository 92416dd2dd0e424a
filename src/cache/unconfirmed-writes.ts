/** `UnconfirmedWrites`: remembers own writes until the watch sends them, to detect that other clients have changed the same objects. */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectMeta } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'
import type { Origin } from './origin.ts'
import type { Store } from './store.ts'
import { metadataOf } from './store.ts'

/** An object that this process has written, and that another client has changed, too. */
export interface Overtaken<T> {
  /** The state in the store before the own writes; undefined when the store did not have the object. */
  readonly before: DeepReadonly<T> | undefined
  /** The result of the latest own write. */
  readonly latest: DeepReadonly<T>
}

/** The own writes to one object. */
interface Writes<T> extends Overtaken<T> {
  latest: DeepReadonly<T>
  /** The reconcile that has made the latest write. */
  origin: Origin
  /** The resourceVersions of all own writes since `before`. */
  readonly versions: Set<string>
}

/**
 * Finds the changes of other clients that an own write hides. The result of an own write enters the store with the response, before the
 * watch sends it. The controller does not call the reconcile again for its own write. But another client may have changed the object after
 * the reconcile has read it, and before the reconcile has written it. A patch or an apply request then succeeds, and its response contains
 * both changes. The reconcile has not seen the change of the other client. The event of that change is older than the stored state, so the
 * store ignores the event.
 *
 * The resourceVersions before and after the write do not show such a change, because they are not consecutive. The watch does, because it
 * sends the states of an object in order: if another state arrives before the own one, another client has changed the object. If the own
 * state arrives first, the own write is the only change. After an interruption of the watch, a list replaces the events. It does not
 * contain the states in between, so the own write counts as overtaken, unless the list contains exactly the state before the own write.
 */
export class UnconfirmedWrites<T extends KubernetesObject> {
  readonly #writes = new Map<string, Writes<T>>()

  /** The number of objects with unconfirmed writes. */
  get size(): number {
    return this.#writes.size
  }

  /** Remembers an own write that has replaced `before` in the store. */
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
   * Remembers an own write whose response has arrived after the response to a later own write. If another reconcile has made the later
   * write, returns the own writes to the object, because that reconcile has not seen this write.
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
   * Handles a state that the watch has sent. Returns the own writes to the object if another client has made the state; otherwise
   * undefined. If the state is also newer than the stored state, the caller reports it as an ordinary change.
   */
  watched(object: DeepReadonly<T>): Overtaken<T> | undefined {
    const { uid, resourceVersion } = metadataOf(object)
    const writes = this.#writes.get(uid)
    if (writes === undefined || !isNewer(resourceVersion, writes.before)) return undefined
    const isOwn = writes.versions.has(resourceVersion)
    if (!isOwn || resourceVersion === metadataOf(writes.latest).resourceVersion) this.#writes.delete(uid)
    return isOwn ? undefined : writes
  }

  /** Handles a list that replaces the events of an interrupted watch. Returns the own writes that another client may have overtaken. */
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
