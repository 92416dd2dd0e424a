/** The graph of owners and dependents, built from informers for all types. */
import type { Clock, Timer } from '../../api/clock.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { ObjectKey } from '../../api/object.ts'
import { Informer } from '../../cache/informer.ts'
import type { Index } from '../../cache/store.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ReadonlyObject } from './owners.ts'
import type { TypeSource } from './type-source.ts'

/** An object and its type. */
export interface GraphObject {
  readonly type: ResourceType
  readonly object: ReadonlyObject
}

export interface DependencyGraphOptions {
  readonly client: Client
  readonly source: TypeSource
  readonly logger: Logger
  readonly clock: Clock
  /** Called for each object that may have to be garbage-collected. */
  readonly changed: (type: ResourceType, key: ObjectKey) => void
}

interface Followed {
  readonly informer: Informer
  readonly stop: AbortController
  readonly ended: Promise<void>
  /** Set while the type is no longer served. */
  leaving?: Timer | undefined
}

const byOwner: Index = { name: 'owner', keysOf: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) }
const byUid: Index = { name: 'uid', keysOf: ({ metadata }) => metadata.uid }
/** Time that an informer outlives its type, to receive the type's last deletions. */
const leaveAfterMs = 1_000
/** Maximum number of cached deleted owners, as in Kubernetes. */
const maxGone = 500

export class DependencyGraph {
  readonly #options: DependencyGraphOptions
  readonly #followed = new Map<string, Followed>()
  /** Uids of deleted objects that had dependents, the oldest first. */
  readonly #gone = new Set<string>()
  #stopListening: () => void = () => undefined
  #ended = false

  constructor(options: DependencyGraphOptions) {
    this.#options = options
  }

  /** Watches all types until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const follow = (): void => this.#follow()
    this.#stopListening = this.#options.source.onChange(follow)
    follow()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    this.#ended = true
    this.#stopListening()
    for (const { stop, leaving } of this.#followed.values()) {
      leaving?.cancel()
      stop.abort()
    }
    await Promise.all([...this.#followed.values()].map(({ ended }) => ended))
  }

  /** True when all types are listed; before that, dependents may be missing. */
  get synced(): boolean {
    return [...this.#followed.values()].every(({ informer }) => informer.synced)
  }

  get(type: ResourceType, key: ObjectKey): ReadonlyObject | undefined {
    return this.#followed.get(idOf(type))?.informer.store.get(key)
  }

  /** True when an object with this uid had dependents and was deleted. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid)
  }

  /** Returns the object of a type with this uid, in any namespace. */
  find(type: ResourceType, uid: string): ReadonlyObject | undefined {
    return this.#followed.get(idOf(type))?.informer.store.list({ index: [byUid, uid] })[0]
  }

  /** Returns the dependents of the object with this uid. */
  dependentsOf(uid: string): readonly GraphObject[] {
    return [...this.#followed.values()].flatMap(({ informer }) =>
      informer.store.list({ index: [byOwner, uid] }).map((object) => ({ type: informer.type, object })),
    )
  }

  #follow(): void {
    if (this.#ended) return
    const wanted = new Map(this.#options.source.types().map((type) => [idOf(type), type]))
    for (const [id, followed] of this.#followed) {
      if (!wanted.has(id)) {
        followed.leaving ??= this.#options.clock.after(leaveAfterMs, () => this.#leave(id))
      } else if (followed.leaving !== undefined) {
        followed.leaving.cancel()
        followed.leaving = undefined
      }
    }
    for (const [id, type] of wanted) if (!this.#followed.has(id)) this.#followed.set(id, this.#start(type))
  }

  #leave(id: string): void {
    this.#followed.get(id)?.stop.abort()
    this.#followed.delete(id)
  }

  /** Records a deleted owner, and reports its dependents. */
  #lost(uid: string): void {
    const dependents = this.dependentsOf(uid)
    if (dependents.length === 0) return
    this.#gone.add(uid)
    const [oldest] = this.#gone
    if (this.#gone.size > maxGone && oldest !== undefined) this.#gone.delete(oldest)
    for (const { type, object } of dependents) this.#options.changed(type, object.metadata)
  }

  #ownersChanged({ namespace, ownerReferences = [] }: ReadonlyObject['metadata']): void {
    for (const { apiVersion, kind, name } of ownerReferences) {
      const owner = this.#options.source.byKind(parseApiVersion(apiVersion).group, kind)
      if (owner !== undefined) this.#options.changed(owner, owner.namespaced ? { name, namespace } : { name })
    }
  }

  #start(type: ResourceType): Followed {
    const { client, clock, changed } = this.#options
    // Warnings are expected while a type is added or removed.
    const logger = this.#options.logger.child({ resource: groupResourceOf(type) }, { level: 'error' })
    const informer = new Informer({ client, clock, type, logger })
    informer.addIndex(byOwner)
    informer.addIndex(byUid)
    informer.addHandler({
      added: ({ metadata }) => changed(type, metadata),
      updated: ({ metadata }, { metadata: before }) => {
        changed(type, metadata)
        // A terminating owner may have waited for this dependent, which no longer references or blocks it.
        if (metadata.ownerReferences !== before.ownerReferences) this.#ownersChanged(before)
      },
      deleted: ({ metadata }) => {
        this.#lost(metadata.uid)
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
