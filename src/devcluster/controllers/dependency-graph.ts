/** Who depends on whom: all objects of all types, by informers that come and go with the types. */
import type { Clock } from '../../api/clock.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupResourceOf } from '../../api/group-version-kind.ts'
import type { ObjectKey } from '../../api/object.ts'
import { Informer } from '../../cache/informer.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ReadonlyObject } from './owners.ts'
import type { TypeSource } from './type-source.ts'

/** An object, and the type under which it is read and written. */
export interface GraphObject {
  readonly type: ResourceType
  readonly object: ReadonlyObject
}

export interface DependencyGraphOptions {
  readonly client: Client
  readonly source: TypeSource
  readonly logger: Logger
  readonly clock: Clock
  /** Called for each object that may have become somebody's business. */
  readonly changed: (type: ResourceType, key: ObjectKey) => void
}

interface Followed {
  readonly informer: Informer
  readonly stop: AbortController
  readonly ended: Promise<void>
}

const byOwner = 'owner'

export class DependencyGraph {
  readonly #options: DependencyGraphOptions
  readonly #followed = new Map<string, Followed>()
  #stopListening: () => void = () => undefined
  #ended = false

  constructor(options: DependencyGraphOptions) {
    this.#options = options
  }

  /** Follows all types until the signal aborts. */
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
    for (const { stop } of this.#followed.values()) stop.abort()
    await Promise.all([...this.#followed.values()].map(({ ended }) => ended))
  }

  /** Whether every type has been listed: before that, "no dependents" means nothing. */
  get synced(): boolean {
    return [...this.#followed.values()].every(({ informer }) => informer.synced)
  }

  get(type: ResourceType, key: ObjectKey): ReadonlyObject | undefined {
    return this.#followed.get(idOf(type))?.informer.store.get(key)
  }

  /** The objects that name this uid as an owner. */
  dependentsOf(uid: string): readonly GraphObject[] {
    return [...this.#followed.values()].flatMap(({ informer }) =>
      informer.store.byIndex(byOwner, uid).map((object) => ({ type: informer.type, object })),
    )
  }

  #follow(): void {
    if (this.#ended) return
    const wanted = new Map(this.#options.source.types().map((type) => [idOf(type), type]))
    for (const [id, { stop }] of this.#followed) {
      if (wanted.has(id)) continue
      stop.abort()
      this.#followed.delete(id)
    }
    for (const [id, type] of wanted) if (!this.#followed.has(id)) this.#followed.set(id, this.#start(type))
  }

  #start(type: ResourceType): Followed {
    const { client, clock, changed } = this.#options
    // A type that goes away, or that is not there yet, is no news to anybody here.
    const logger = this.#options.logger.child({ resource: groupResourceOf(type) }, { level: 'error' })
    const informer = new Informer({ client, clock, type, logger })
    informer.addIndex({ name: byOwner, keysOf: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [] })
    informer.addHandler({
      added: ({ metadata }) => changed(type, metadata),
      updated: ({ metadata }) => changed(type, metadata),
      deleted: ({ metadata }) => {
        for (const { type: dependentType, object } of this.dependentsOf(metadata.uid)) changed(dependentType, object.metadata)
        for (const { apiVersion, kind, name } of metadata.ownerReferences ?? []) {
          const owner = this.#options.source.byKind(apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '', kind)
          if (owner !== undefined) changed(owner, owner.namespaced ? { name, namespace: metadata.namespace } : { name })
        }
      },
    })
    const stop = new AbortController()
    return { informer, stop, ended: informer.start(stop.signal) }
  }
}

function idOf({ group, version, plural }: ResourceType): string {
  return `${group}/${version}/${plural}`
}
