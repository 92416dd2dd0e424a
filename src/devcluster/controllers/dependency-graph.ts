/** The graph of owners and dependents in the cluster, built from informers for all types. */
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import { jsonEqual } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import { Informer } from '../../cache/informer.ts'
import type { Index } from '../../cache/store.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ReadonlyObject } from './api-types.ts'
import { maxAbsentOwners } from './absent-owners.ts'
import type { OwnerPlace, Reference } from './owners.ts'
import { isOrphaning, isWaitingForDependents, placeOf } from './owners.ts'
import type { TypeSource } from './type-source.ts'

export interface GraphObject {
  readonly type: ResourceType
  readonly object: ReadonlyObject
}

export interface DependencyGraphOptions {
  readonly client: Client
  readonly source: TypeSource
  readonly logger: Logger
  readonly clock: Clock
  /** Called with each object that the garbage collector must process. */
  readonly changed: (type: ResourceType, key: ObjectKey) => void
}

interface WatchedType {
  readonly informer: Informer
  readonly stop: AbortController
  readonly ended: Promise<void>
  /** The timer that stops the informer after the type has been removed. The delay is `leaveAfterMs`. Undefined while the type is served. */
  leaving?: Timer | undefined
}

const byOwner: Index = { name: 'owner', keysOf: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) }
const byUid: Index = { name: 'uid', keysOf: ({ metadata }) => metadata.uid }
/**
 * If a type is no longer served, its informer stops after this time in milliseconds. Until then, the informer can receive the deletions of
 * the last objects.
 */
const leaveAfterMs = 1_000

export class DependencyGraph {
  readonly #options: DependencyGraphOptions
  readonly #watched = new Map<string, WatchedType>()
  /** UIDs of deleted objects that had dependents, oldest first. */
  readonly #deletedOwners = new Set<string>()
  #stopListening: () => void = () => undefined
  #ended = false

  constructor(options: DependencyGraphOptions) {
    this.#options = options
  }

  /** Watches the objects of all types until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const watchTypes = (): void => this.#watchTypes()
    this.#stopListening = this.#options.source.onChange(watchTypes)
    watchTypes()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    this.#ended = true
    this.#stopListening()
    for (const { stop, leaving } of this.#watched.values()) {
      leaving?.cancel()
      stop.abort()
    }
    await Promise.all([...this.#watched.values()].map(({ ended }) => ended))
  }

  /** True when the objects of all types have been listed. If false, dependents may be missing from the graph. */
  get synced(): boolean {
    return [...this.#watched.values()].every(({ informer }) => informer.synced)
  }

  /**
   * Resolves when the objects of all currently watched types have been listed. Types that are added after the call are ignored. If the
   * signal is aborted first, rejects with the signal's reason.
   */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ informer }) => informer.whenSynced(signal)))
  }

  get(type: ResourceType, key: ObjectKey): ReadonlyObject | undefined {
    return this.#watched.get(idOf(type))?.informer.store.get(key)
  }

  /** True when an object with this UID had dependents and has been deleted. */
  isGone(uid: string): boolean {
    return this.#deletedOwners.has(uid)
  }

  /** Returns the owner. Returns undefined if the graph contains no object with the owner's type, key and UID. */
  owner({ type, key, uid }: OwnerPlace): ReadonlyObject | undefined {
    const object = this.get(type, key)
    return object?.metadata.uid === uid ? object : undefined
  }

  /**
   * Forgets all deletions that `isGone` reports. This is necessary before a restore of a snapshot, because the restore may create the
   * deleted objects again with the same UIDs.
   */
  forgetDeletions(): void {
    this.#deletedOwners.clear()
  }

  /** Returns the object with this UID, in any namespace; undefined if the type has no such object. */
  find(type: ResourceType, uid: string): ReadonlyObject | undefined {
    return this.#watched.get(idOf(type))?.informer.store.list({ index: [byUid, uid] })[0]
  }

  /** Returns the dependents of an owner: all objects that have an owner reference with this UID. */
  dependentsOf(uid: string): readonly GraphObject[] {
    return [...this.#watched.values()].flatMap(({ informer }) =>
      informer.store.list({ index: [byOwner, uid] }).map((object) => ({ type: informer.type, object })),
    )
  }

  #watchTypes(): void {
    if (this.#ended) return
    const wanted = new Map(this.#options.source.types().flatMap((type) => (isIgnored(type) ? [] : [[idOf(type), type]])))
    for (const [id, watched] of this.#watched) {
      if (!wanted.has(id)) {
        watched.leaving ??= this.#options.clock.after(leaveAfterMs, () => this.#leave(id))
      } else if (watched.leaving !== undefined) {
        watched.leaving.cancel()
        watched.leaving = undefined
      }
    }
    for (const [id, type] of wanted) if (!this.#watched.has(id)) this.#watched.set(id, this.#start(type))
  }

  #leave(id: string): void {
    this.#watched.get(id)?.stop.abort()
    this.#watched.delete(id)
  }

  /**
   * Calls `changed` for the objects that the garbage collector must process after a change of `object`
   * (k8s.io/kubernetes/pkg/controller/garbagecollector: processGraphChanges). `before` is the object before the change.
   */
  #observed(type: ResourceType, object: ReadonlyObject, before?: ReadonlyObject): void {
    const { changed } = this.#options
    const { metadata } = object
    const stage = deletionStage(object)
    if (stage !== undefined && stage !== (before && deletionStage(before))) {
      if (stage === 'foreground') this.#reportDependents(this.dependentsOf(metadata.uid))
      changed(type, metadata)
    }
    if (jsonEqual(metadata.ownerReferences, before?.metadata.ownerReferences)) return
    if (metadata.ownerReferences?.some((reference) => !this.#isKept(reference, metadata.namespace)) === true) changed(type, metadata)
    if (before !== undefined) this.#reportWaitingOwners(before.metadata)
  }

  #deleted({ metadata }: ReadonlyObject): void {
    const dependents = this.dependentsOf(metadata.uid)
    if (dependents.length > 0) this.#rememberDeleted(metadata.uid)
    this.#reportDependents(dependents)
    this.#reportWaitingOwners(metadata)
  }

  #rememberDeleted(uid: string): void {
    this.#deletedOwners.add(uid)
    const [oldest] = this.#deletedOwners
    if (this.#deletedOwners.size > maxAbsentOwners && oldest !== undefined) this.#deletedOwners.delete(oldest)
  }

  /** Returns true when the owner has been observed, and is not in foreground deletion. */
  #isKept(reference: Reference, namespace: string | undefined): boolean {
    const place = placeOf(reference, namespace, this.#options.source)
    const owner = place && this.owner(place)
    return owner !== undefined && !isWaitingForDependents(owner)
  }

  #reportDependents(dependents: readonly GraphObject[]): void {
    for (const { type, object } of dependents) this.#options.changed(type, object.metadata)
  }

  /**
   * Calls `changed` for each owner of a dependent if the owner is in foreground deletion. Such an owner may have waited for the deletion of
   * the dependent. The parameter is the metadata of the dependent:
   *
   * - If the dependent was deleted: its last known metadata.
   * - If the owner references of the dependent were changed: its metadata before the change.
   */
  #reportWaitingOwners({ namespace, ownerReferences = [] }: ReadonlyObject['metadata']): void {
    for (const reference of ownerReferences) {
      const place = placeOf(reference, namespace, this.#options.source)
      const owner = place && this.owner(place)
      if (place !== undefined && owner !== undefined && isWaitingForDependents(owner)) this.#options.changed(place.type, place.key)
    }
  }

  #start(type: ResourceType): WatchedType {
    const { client, clock } = this.#options
    // An informer logs warnings while its type is being added to or removed from the API. These warnings are expected, so only errors are
    // logged.
    const logger = this.#options.logger.child({ resource: groupResourceOf(type) }, { level: 'error' })
    const informer = new Informer({ client, clock, type, logger })
    informer.addIndex(byOwner)
    informer.addIndex(byUid)
    informer.addHandler({
      added: (object) => this.#observed(type, object),
      updated: (object, before) => this.#observed(type, object, before),
      deleted: (object) => this.#deleted(object),
    })
    const stop = new AbortController()
    return { informer, stop, ended: informer.start(stop.signal) }
  }
}

function idOf({ group, version, plural }: ResourceType): string {
  return `${group}/${version}/${plural}`
}

/**
 * Returns `orphan` if the object is being deleted and its dependents must be orphaned first. Returns `foreground` if the object is being
 * deleted and its dependents must be deleted first. Returns undefined in all other cases.
 */
function deletionStage(object: ReadonlyObject): 'orphan' | 'foreground' | undefined {
  if (isOrphaning(object)) return 'orphan'
  return isWaitingForDependents(object) ? 'foreground' : undefined
}

/** Returns true for Events, which are not garbage-collected (k8s.io/kubernetes/pkg/controller/garbagecollector: ignoredResources). */
function isIgnored({ group, plural }: ResourceType): boolean {
  return plural === 'events' && (group === '' || group === 'events.k8s.io')
}
