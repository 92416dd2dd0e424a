/** `Informer`: keeps a store up to date, and notifies handlers of changes. The store has the objects of one type or view. */
import type { Clock } from '../runtime/clock.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf, groupResourceOf } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey, ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { compareResourceVersions } from '../api/resource-version.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { systemClock } from '../runtime/clock.ts'
import { Gate } from './gate.ts'
import { forEachInSlices } from './in-slices.ts'
import type { Cause, Origin } from './origin.ts'
import { OwnRemovals } from './own-removals.ts'
import { isOwnState } from './own-state.ts'
import type { SentWrite } from './read-your-writes.ts'
import type { FullList } from './reflector.ts'
import { Reflector } from './reflector.ts'
import { Store, metadataOf } from './store.ts'
import type { Index } from './store.ts'
import { Selector, storedCopy, storedForm } from './stored-form.ts'
import type { Overtaken } from './unconfirmed-writes.ts'
import { UnconfirmedWrites } from './unconfirmed-writes.ts'
import { namespacesOf } from './view.ts'

/**
 * Receives the changes of an informer's store. The methods are called synchronously after the store has changed. If a method throws an
 * error, the error is logged and otherwise ignored.
 *
 * A handler that ignores changes because of their `cause` must also implement `overtaken`.
 */
export interface EventHandler<T extends KubernetesObject = KubernetesObject> {
  /** `initial` is true when the object existed before the handler was added, or before the informer had synced. */
  added?(object: DeepReadonly<T>, initial: boolean, cause?: Cause): void
  updated?(object: DeepReadonly<T>, old: DeepReadonly<T>, cause?: Cause): void
  /** `object` is the last known state of the object. */
  deleted?(object: DeepReadonly<T>): void
  /**
   * The informer calls this method in two cases:
   *
   * - A reconcile has written the object, but has not seen an earlier change of the object by another client or another reconcile.
   * - After an interruption of the watch, such an earlier change is possible but not certain.
   *
   * @param object the state that the reconcile has written. The handler has already received this state in `added` or `updated`, with this
   *   reconcile as the `cause`.
   * @param old the state in the store before the first of the unconfirmed writes to the object; undefined when the store did not contain
   *   the object at that time. When this process has written the object, the writes are unconfirmed until the watch has sent the state of
   *   the latest of these writes.
   */
  overtaken?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined): void
}

export interface InformerOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list' | 'watch'>
  /** The type or the view whose objects the informer stores. */
  readonly type: ResourceType<T>
  /** The namespaces to watch; all namespaces when absent or empty. Ignored if `type` is a view with its own namespaces. */
  readonly namespaces?: readonly string[]
  readonly logger: Logger
  readonly clock?: Clock
  readonly random?: () => number
}

export class Informer<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType<T>
  readonly store: Store<T>
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #reflectors: readonly Reflector<T>[]
  /** The watched namespaces. `[undefined]` when the informer watches all namespaces or a cluster-scoped type. */
  readonly #namespaces: readonly (string | undefined)[]
  readonly #removals: OwnRemovals
  readonly #unconfirmed = new UnconfirmedWrites<T>()
  readonly #selector: Selector
  /** The lists whose objects `#replace` is storing, keyed by their namespace. The key is undefined for a list of all namespaces. */
  readonly #replacing = new Map<string | undefined, { readonly listed: Store<T>; readonly resourceVersion: string }>()
  readonly #firstSync = new Gate()
  /** If a handler is added or removed, a new array replaces the old array. A loop that is running over the old array is not affected. */
  #handlers: readonly EventHandler<T>[] = []
  #running: Promise<void> | undefined
  #hasWarned = false

  constructor(options: InformerOptions<T>) {
    const { type, logger } = options
    this.type = type
    this.#logger = logger
    this.#clock = options.clock ?? systemClock
    this.store = new Store<T>({
      onIndexError: (index, key, err) =>
        logger.error(
          { err, resource: groupResourceOf(type), object: formatKey(key) },
          `the index "${index}" failed: the object is not in it`,
        ),
    })
    this.#selector = new Selector(type)
    this.#removals = new OwnRemovals(this.#selector)
    const limited = [...new Set(namespacesOf(type, options.namespaces))]
    this.#namespaces = limited.length > 0 ? limited : [undefined]
    this.#reflectors = this.#namespaces.map((namespace) => {
      const reflector: Reflector<T> = new Reflector({
        ...options,
        namespace,
        prepare: (object) => this.#prepare(object),
        sink: {
          listing: () => this.#removals.beginList(namespace),
          replace: (list) => this.#replace(namespace, list, !reflector.synced),
          change: (event, object) => (event === 'DELETED' ? this.#removed(object) : this.#watched(object)),
          omit: (event, metadata) => this.#omit(event, metadata),
          synced: () => {
            if (this.synced) this.#firstSync.open()
          },
        },
      })
      return reflector
    })
  }

  /** True when the first lists of all watched namespaces are complete. */
  get synced(): boolean {
    return this.#reflectors.every((reflector) => reflector.synced)
  }

  /** The error that currently prevents updates of the store; undefined when there is none. */
  get lastError(): string | undefined {
    return this.#reflectors.find((reflector) => reflector.lastError !== undefined)?.lastError
  }

  /** The number of objects with an unconfirmed write. A write of a reconcile is unconfirmed until the watch has sent the written state. */
  get unconfirmedWrites(): number {
    return this.#unconfirmed.size
  }

  /** Resolves when the informer has synced; rejects with the signal's reason when the signal aborts first. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (!this.synced) await this.#firstSync.passed(signal)
  }

  /**
   * Calls `added` of the handler for every object in the store. From then on, the handler is notified of every change. The returned
   * function removes the handler.
   */
  addHandler(handler: EventHandler<T>): () => void {
    this.#handlers = [...this.#handlers, handler]
    for (const object of this.store.list()) this.#deliver(object, () => handler.added?.(object, true))
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler)
    }
  }

  addIndex(index: Index<T>): void {
    this.store.addIndex(index)
  }

  /**
   * Lists and watches until the signal aborts; resolves when the last request has ended. Later calls return the same promise and have no
   * other effect.
   */
  start(signal: AbortSignal): Promise<void> {
    this.#running ??= Promise.all(this.#reflectors.map((reflector) => reflector.run(signal))).then(() => undefined)
    return this.#running
  }

  /**
   * Stores the API server's response to a write request of this process. The next read then returns the written state, even if the watch
   * has not sent this state yet. If the write has deleted the object or removed the object from the view, the object is removed from the
   * store. The response is ignored in these cases:
   *
   * - The informer has not synced, or does not watch the type or the namespace of the object.
   * - The store has the same or a newer state.
   * - The object was deleted, or removed from the view, before the response arrived.
   * - The resourceVersion is not a decimal number.
   * - Only the API server can evaluate whether the view contains the object.
   *
   * If the response cannot be stored, the error is logged and not thrown, because the write has succeeded.
   *
   * @param object the response.
   * @param origin the reconcile that has written the object; undefined when no reconcile has written the object.
   * @param sent the write request; when absent, the response is not checked for changes of other clients.
   * @returns false when the response could not be stored because of an error, or when the response may contain a change of another client
   *   (`isOwnState`). A response that may contain such a change is stored without `origin`.
   */
  written(object: KubernetesObject, origin?: Origin, sent?: SentWrite): boolean {
    try {
      return this.#take(object, origin, sent)
    } catch (err) {
      this.#logger[this.#hasWarned ? 'debug' : 'warn'](
        { err, resource: groupResourceOf(this.type) },
        'the response to a write cannot be stored: the cache has an older state of the object until the watch sends it',
      )
      this.#hasWarned = true
      return false
    }
  }

  /**
   * Stores the response to a write request. If the write has deleted the object or removed it from the view, removes the object from the
   * store.
   */
  #take(object: KubernetesObject, origin: Origin | undefined, sent: SentWrite | undefined): boolean {
    const { apiVersion, kind, metadata } = object as Partial<KubernetesObject>
    // The response to a write of a subresource may have another kind, e.g. Scale. Such a response is not stored.
    if (kind !== this.type.kind || apiVersion !== apiVersionOf(this.type) || !metadata?.uid || !metadata.resourceVersion) return true
    const { namespace, uid, finalizers = [], deletionTimestamp, deletionGracePeriodSeconds } = metadata
    // A response whose resourceVersion cannot be compared is ignored, because the store could have a newer state. The watch sends the
    // written state later.
    if (!this.#watches(namespace) || compareResourceVersions(metadata.resourceVersion, '0') === undefined) return true
    // If the object is being deleted and the write has removed the last finalizer, the API server has deleted the object. The response
    // contains the object nevertheless.
    if (deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0) {
      this.deleted(metadata, uid, this.#olderThan(metadata))
      this.#removals.left(metadata)
    } else if (!this.#isGone(metadata)) {
      const selected = this.#selector.selects(object)
      if (selected === false) this.#left(metadata)
      else if (selected === true) return this.#written(object, origin, sent)
    }
    return true
  }

  #written(response: KubernetesObject, writer: Origin | undefined, sent: SentWrite | undefined): boolean {
    const { metadata } = response
    const isNews = this.#isNews(metadata)
    // The caller can change the response later, so the store needs its own copy.
    const object = isNews || writer !== undefined ? this.#prepare(response, storedCopy) : undefined
    const isOwn = writer === undefined || object === undefined || sent === undefined || this.#isOwn(object, metadata, sent)
    const origin = isOwn ? writer : undefined
    if (!isNews) {
      const overtaken = isOwn ? this.#unconfirmed.addLate(metadata, origin) : undefined
      if (overtaken !== undefined) this.#notifyOvertaken(overtaken)
      return isOwn
    }
    if (object === undefined) {
      this.#left(metadata)
      return isOwn
    }
    const old = this.store.get(metadata)
    const before = old !== undefined && metadataOf(old).uid === metadata.uid ? old : undefined
    // A handler can ignore a write only if the write has an origin, i.e. the reconcile that has made the write. The response to such a
    // write can contain changes of other clients, and `#unconfirmed` finds these changes. A write without an origin is not remembered,
    // because no handler ignores its response.
    if (origin !== undefined && !this.#removals.have(metadata)) this.#unconfirmed.add(object, before, origin)
    this.#store(object, false, origin)
    return isOwn
  }

  #isOwn(after: DeepReadonly<T>, { managedFields }: ObjectMeta, { content, before }: SentWrite): boolean {
    try {
      return isOwnState({ content, before: before.get(this.type), after: after as DeepReadonly<KubernetesObject>, managedFields })
    } catch {
      return false // The objects are nested too deeply to be compared.
    }
  }

  /**
   * Handles the response to a write, if the selector of the view does not select the written state, or if the `transform` of the view fails
   * for this state. Removes the older state from the store. Does nothing if the store has the same or a newer state.
   *
   * @param metadata the metadata of the response.
   */
  #left(metadata: ObjectMeta): void {
    if (!this.#isNews(metadata)) return
    this.#removals.left(metadata)
    const stored = this.store.get(metadata)
    if (stored !== undefined) this.#drop(stored)
  }

  /** Returns a list with the uid of the stored object if `metadata` is newer than the stored state; otherwise an empty list. */
  #olderThan(metadata: ObjectMeta): readonly string[] {
    const stored = this.store.get(metadata)
    return stored !== undefined && this.#isNews(metadata) ? [metadataOf(stored).uid] : []
  }

  /** Returns an object in the form in which the store keeps it; undefined when the `transform` of the view fails. */
  #prepare(object: KubernetesObject, form = storedForm): DeepReadonly<T> | undefined {
    const { namespace, name } = object.metadata
    try {
      return form(this.type, object) as DeepReadonly<T>
    } catch (err) {
      this.#logger.error(
        { err, resource: groupResourceOf(this.type), object: formatKey({ namespace, name }) },
        'the transform of a view failed: the object is not in it',
      )
      return undefined
    }
  }

  /**
   * Removes an object that this process has deleted. The watch may still send states of this object, or of earlier objects with the same
   * key. The informer ignores these states:
   *
   * - all states of this object and of the objects in `before`
   * - if the store contains one of these objects at the time of the call: all states with the same key that are not newer than the stored
   *   state
   *
   * The second rule uses the resourceVersion of the stored state, because the response to a deletion contains no resourceVersion.
   *
   * @param before the uids of earlier objects with the same key. These objects no longer exist, because only one object at a time can have
   *   the key.
   */
  deleted(key: ObjectKey, uid: string, before: readonly string[] = []): void {
    if (!this.#watches(key.namespace)) return
    const uids = [uid, ...before]
    for (const each of uids) this.#removals.deleted(each, key.namespace)
    const stored = this.store.get(key)
    if (stored === undefined || !uids.includes(metadataOf(stored).uid)) return
    this.#removals.left(metadataOf(stored))
    this.#drop(stored)
  }

  /**
   * Returns true if the object in a late response was deleted, or removed from the view, before the response arrived. The function
   * recognizes such an object by two conditions:
   *
   * - Neither the store nor a list that is being stored contains the object.
   * - The list or the watch has already sent all changes up to the resourceVersion of the response.
   *
   * @param metadata the metadata of the object in the response.
   */
  #isGone(metadata: DeepReadonly<ObjectMeta>): boolean {
    const stored = this.store.get(metadata)
    if (stored !== undefined && metadataOf(stored).uid === metadata.uid) return false
    const at = Math.max(0, this.#namespaces.indexOf(metadata.namespace))
    const replacing = this.#replacing.get(this.#namespaces[at])
    if (replacing?.listed.get(metadata) !== undefined) return false
    const known = replacing?.resourceVersion ?? this.#reflectors[at]?.resourceVersion
    return known !== undefined && (compareResourceVersions(metadata.resourceVersion, known) ?? 1) <= 0
  }

  #watches(namespace: string | undefined): boolean {
    return this.synced && (this.#namespaces.includes(undefined) || this.#namespaces.includes(namespace))
  }

  /** Replaces the objects of a namespace, or of all namespaces, with those of a list. */
  async #replace(namespace: string | undefined, list: FullList<T>, initial: boolean): Promise<void> {
    const { objects, resourceVersion, restored } = list
    const listed = new Store<T>()
    await forEachInSlices(objects, this.#clock, (object) => listed.set(object))
    this.#removals.listed(namespace)
    // The stored state is newer than the list if this process has written the object after the API server created the list.
    const isNewer = (stored: DeepReadonly<T>): boolean =>
      !restored && (compareResourceVersions(metadataOf(stored).resourceVersion, resourceVersion) ?? 0) > 0
    this.#replacing.set(namespace, { listed, resourceVersion })
    try {
      await forEachInSlices(this.store.list({ namespace }), this.#clock, (object) => {
        // An object stays in the store if the list contains it, or if its state has changed since the loop began.
        if (this.store.get(metadataOf(object)) !== object || listed.get(metadataOf(object)) !== undefined) return
        if (!isNewer(object)) this.#drop(object)
      })
      await forEachInSlices(objects, this.#clock, (object) => {
        const stored = this.store.get(metadataOf(object))
        if (stored !== undefined && isNewer(stored)) return
        // After a restore of etcd, two different states can have the same resourceVersion. The listed state is therefore always stored.
        const isSame = stored !== undefined && metadataOf(stored).resourceVersion === metadataOf(object).resourceVersion
        if (!isSame || restored) this.#store(object, initial)
      })
      for (const overtaken of this.#unconfirmed.listed(namespace, listed)) this.#notifyOvertaken(overtaken)
    } finally {
      this.#replacing.delete(namespace)
    }
  }

  /** Handles the ADDED and MODIFIED events of a watch. */
  #watched(object: DeepReadonly<T>): void {
    const overtaken = this.#unconfirmed.watched(object)
    if (this.#isNews(metadataOf(object))) this.#store(object, false, 'unknown')
    else if (overtaken !== undefined) this.#notifyOvertaken(overtaken)
  }

  /** Returns false when the store has the same or a newer state of the object. */
  #isNews(metadata: ObjectKey & Pick<ObjectMeta, 'resourceVersion'>): boolean {
    const old = this.store.get(metadata)
    const order = old && compareResourceVersions(metadata.resourceVersion, metadataOf(old).resourceVersion)
    return order === undefined || order > 0
  }

  /** Handles a watch event of an object for which the `transform` of the view fails: removes the older state from the store. */
  #omit(event: 'ADDED' | 'MODIFIED' | 'DELETED', metadata: ObjectMeta): void {
    const stored = this.store.get(metadata)
    if (event === 'DELETED') this.#removals.confirm(metadata)
    if (stored !== undefined && metadataOf(stored).uid === metadata.uid && this.#isNews(metadata)) this.#drop(stored)
  }

  /**
   * Stores a state of an object in the store, and notifies the handlers. Ignores the state in two cases:
   * - The informer knows that the object with this uid no longer exists.
   * - A write of this process has removed an object with the same namespace and name from the view, and the state is not newer than the
   *   result of this write.
   */
  #store(object: DeepReadonly<T>, initial: boolean, cause?: Cause): void {
    const { uid } = metadataOf(object)
    if (this.#removals.have(metadataOf(object))) return
    this.#removals.returned(metadataOf(object))
    let old = this.store.get(metadataOf(object))
    if (old !== undefined && metadataOf(old).uid !== uid) {
      // `old` was deleted, and another object was created with the same name, e.g. while the watch was interrupted. Handlers must be
      // notified of both changes.
      this.#removals.deleted(metadataOf(old).uid, metadataOf(old).namespace)
      this.#drop(old)
      old = undefined
    }
    this.store.set(object)
    this.#notify(object, old, initial, cause)
  }

  #notify(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, initial: boolean, cause: Cause): void {
    for (const handler of this.#handlers) {
      this.#deliver(object, () => (old === undefined ? handler.added?.(object, initial, cause) : handler.updated?.(object, old, cause)))
    }
  }

  /**
   * Calls `overtaken` of the handlers. The reason for the call: another client or another reconcile may have changed the object, and the
   * reconcile that wrote `latest` may not have seen this change.
   *
   * If the store no longer contains `latest`, this method does nothing, because the handlers were already notified of the change that
   * replaced or removed `latest`.
   */
  #notifyOvertaken({ latest, before }: Overtaken<T>): void {
    if (this.store.get(metadataOf(latest)) !== latest) return
    for (const handler of this.#handlers) this.#deliver(latest, () => handler.overtaken?.(latest, before))
  }

  /**
   * Handles the DELETED event of a watch. `object` is the last state that the view contained. The resourceVersion of `object` is that of
   * the change that deleted the object or removed the object from the view.
   */
  #removed(object: DeepReadonly<T>): void {
    const metadata = metadataOf(object)
    const overtaken = this.#unconfirmed.watched(object)
    this.#removals.confirm(metadata)
    const stored = this.store.get(metadata)
    // If the store no longer contains the object, there is nothing to remove. If this process has already created another object with the
    // same name, the new object stays in the store.
    if (stored === undefined || metadataOf(stored).uid !== metadata.uid) return
    // A DELETED event can mean that the object has left the view. If a later write of this process has returned the object to the view, the
    // store can already contain the state from the response to this write. The stored state is then newer than the DELETED event, and stays
    // in the store.
    const order = compareResourceVersions(metadata.resourceVersion, metadataOf(stored).resourceVersion)
    if (order === undefined || order >= 0) this.#drop(object)
    else if (overtaken !== undefined) this.#notifyOvertaken(overtaken)
  }

  #drop(object: DeepReadonly<T>): void {
    this.store.delete(metadataOf(object))
    this.#unconfirmed.forget(metadataOf(object).uid)
    for (const handler of this.#handlers) this.#deliver(object, () => handler.deleted?.(object))
  }

  #deliver(object: DeepReadonly<T>, call: () => void): void {
    try {
      call()
    } catch (err) {
      this.#logger.error({ err, resource: groupResourceOf(this.type), object: formatKey(metadataOf(object)) }, 'an event handler failed')
    }
  }
}
