/** The graph of owners and dependents in the cluster, built from informers for all types. */
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { ObjectKey } from '../../api/object.ts'
import { Informer } from '../../cache/informer.ts'
import type { Index } from '../../cache/store.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ReadonlyObject } from './owners.ts'
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
  /** Timer that stops the informer after the type is no longer served; undefined while the type is served. */
  leaving?: Timer | undefined
}

const byOwner: Index = { name: 'owner', keysOf: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) }
const byUid: Index = { name: 'uid', keysOf: ({ metadata }) => metadata.uid }
/** Time in milliseconds before an informer stops when its type is no longer served. The informer receives the last deletions meanwhile. */
const leaveAfterMs = 1_000
/** Maximum number of deleted owners that are remembered (k8s.io/kubernetes/pkg/controller/garbagecollector: absentOwnerCache). */
const maxDeletedOwners = 500

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

  /** True when the objects of all types have been listed. Before that, dependents may be missing from the graph. */
  get synced(): boolean {
    return [...this.#watched.values()].every(({ informer }) => informer.synced)
  }

  get(type: ResourceType, key: ObjectKey): ReadonlyObject | undefined {
    return this.#watched.get(idOf(type))?.informer.store.get(key)
  }

  /** True when an object with this UID had dependents and has been deleted. */
  isGone(uid: string): boolean {
    return this.#deletedOwners.has(uid)
  }

  /** Returns the object with this UID, in any namespace; undefined if the type has no such object. */
  find(type: ResourceType, uid: string): ReadonlyObject | undefined {
    return this.#watched.get(idOf(type))?.informer.store.list({ index: [byUid, uid] })[0]
  }

  /** Returns the objects that reference the object with this UID as an owner. */
  dependentsOf(uid: string): readonly GraphObject[] {
    return [...this.#watched.values()].flatMap(({ informer }) =>
      informer.store.list({ index: [byOwner, uid] }).map((object) => ({ type: informer.type, object })),
    )
  }

  #watchTypes(): void {
    if (this.#ended) return
    const wanted = new Map(this.#options.source.types().map((type) => [idOf(type), type]))
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

  /** Remembers the UID of a deleted object that has dependents, and calls `changed` with each dependent. */
  #ownerDeleted(uid: string): void {
    const dependents = this.dependentsOf(uid)
    if (dependents.length === 0) return
    this.#deletedOwners.add(uid)
    const [oldest] = this.#deletedOwners
    if (this.#deletedOwners.size > maxDeletedOwners && oldest !== undefined) this.#deletedOwners.delete(oldest)
    for (const { type, object } of dependents) this.#options.changed(type, object.metadata)
  }

  #ownersChanged({ namespace, ownerReferences = [] }: ReadonlyObject['metadata']): void {
    for (const { apiVersion, kind, name } of ownerReferences) {
      const owner = this.#options.source.byKind(parseApiVersion(apiVersion).group, kind)
      if (owner !== undefined) this.#options.changed(owner, owner.namespaced ? { name, namespace } : { name })
    }
  }

  #start(type: ResourceType): WatchedType {
    const { client, clock, changed } = this.#options
    // An informer logs warnings while its type is being added or removed. These warnings are expected, so only errors are logged.
    const logger = this.#options.logger.child({ resource: groupResourceOf(type) }, { level: 'error' })
    const informer = new Informer({ client, clock, type, logger })
    informer.addIndex(byOwner)
    informer.addIndex(byUid)
    informer.addHandler({
      added: ({ metadata }) => changed(type, metadata),
      updated: ({ metadata }, { metadata: before }) => {
        changed(type, metadata)
        // A former owner that is being deleted may have waited for this object, so the owner is processed again.
        if (metadata.ownerReferences !== before.ownerReferences) this.#ownersChanged(before)
      },
      deleted: ({ metadata }) => {
        this.#ownerDeleted(metadata.uid)
        this.#ownersChanged(metadata)
      },
    })
    const stop = new AbortController()
    return { informer, stop, ended: informer.start(stop.signal) }
  }
}

function idOf({ group, version, plural }: ResourceType): string {
  return `${group}/${version}/${plural}`
}
