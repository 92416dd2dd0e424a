/**
 * The garbage collector: deletes objects if none of their owners exists, and completes foreground and orphaning deletions
 * (k8s.io/kubernetes/pkg/controller/garbagecollector).
 */
import type { Clock } from '../../runtime/clock.ts'
import { within } from '../../runtime/waiting.ts'
import { messageOf } from '../../api/errors.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { ObjectKey } from '../../api/object.ts'
import { formatKey, parseKey } from '../../api/object.ts'
import { isConflict, isNotFound } from '../../client/api-error.ts'
import type { Client } from '../../client/client.ts'
import { WorkQueue } from '../../controller/queue.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { EventRecorder } from '../../telemetry/event-recorder.ts'
import type { ReadonlyObject } from './api-types.ts'
import { AbsentOwners } from './absent-owners.ts'
import type { GraphObject } from './dependency-graph.ts'
import { DependencyGraph } from './dependency-graph.ts'
import type { Reference } from './owners.ts'
import {
  findOwners,
  foregroundFinalizer,
  isBeingDeleted,
  isOrphaning,
  isServed,
  isWaitingForDependents,
  orphanFinalizer,
} from './owners.ts'
import type { TypeSource } from './type-source.ts'

export interface GarbageCollectorOptions {
  readonly client: Client
  readonly source: TypeSource
  readonly logger: Logger
  readonly clock: Clock
  readonly events: EventRecorder
  /** Calls `listener` before each restore of a snapshot, which may bring back deleted objects. Absent when there are no restores. */
  readonly onRestore?: (listener: () => void) => void
}

const workers = 4
/**
 * Maximum time in milliseconds for which the workers wait until the objects of all types have been listed
 * (k8s.io/kubernetes/pkg/controller/garbagecollector: Run). If the workers did not wait, they would send a request for each owner that has
 * not been listed yet.
 */
const firstListsMs = 30_000
/** Maximum number of entries in `#reported`, the set of owner references for which an event has been recorded. */
const maxReported = 500

/** Runs the garbage collector until the signal is aborted. Resolves when the last worker has ended. */
export async function runGarbageCollector(options: GarbageCollectorOptions, signal: AbortSignal): Promise<void> {
  const { client, source, logger, clock } = options
  const queue = new WorkQueue<string>({ clock })
  const enqueue = (type: ResourceType, key: ObjectKey): void => queue.add(`${type.group}/${type.kind} ${formatKey(key)}`)
  const graph = new DependencyGraph({
    client,
    source,
    logger,
    clock,
    changed: enqueue,
  })
  const collector = new Collector({ ...options, graph, enqueue }, signal)

  async function work(): Promise<void> {
    for (let item = await queue.get(signal); item !== undefined; item = await queue.get(signal)) {
      const space = item.indexOf(' ')
      const [group = '', kind = ''] = item.slice(0, space).split('/')
      try {
        const type = source.byKind(group, kind)
        const outcome = type === undefined ? 'done' : await collector.process(type, parseKey(item.slice(space + 1)))
        if (outcome === 'again') queue.addRateLimited(item)
        else queue.forget(item)
      } catch (error) {
        if (!signal.aborted) {
          // A conflict is not logged. A conflict is expected when the object has changed and the cache has not received the change yet.
          if (!isConflict(error)) logger.warn(`${item} could not be garbage-collected, retrying: ${messageOf(error)}`)
          queue.addRateLimited(item)
        }
      }
      queue.done(item)
    }
  }

  const stop = (): void => queue.shutDown()
  signal.addEventListener('abort', stop, { once: true })
  const watching = graph.run(signal)
  await within(clock, firstListsMs, graph.whenSynced(signal)).catch(() => undefined)
  await Promise.all([watching, ...Array.from({ length: workers }, work)])
}

/**
 * Thrown during the processing of an object if some types have not been listed yet. The graph may then lack dependents of the object. The
 * garbage collector catches the error, and queues the object again.
 */
class NotSynced extends Error {
  override readonly message = 'not all types have been listed yet'
}

interface CollectorOptions extends GarbageCollectorOptions {
  readonly graph: DependencyGraph
  readonly enqueue: (type: ResourceType, key: ObjectKey) => void
}

/** `again` means that the object must be processed again later, even if the graph observes no change of the object. */
type Outcome = 'done' | 'again'

class Collector {
  readonly #client: Client
  readonly #source: TypeSource
  readonly #graph: DependencyGraph
  readonly #enqueue: CollectorOptions['enqueue']
  readonly #signal: AbortSignal
  readonly #events: EventRecorder
  /** Owner references for which an event has been recorded, oldest first. Each reference gets only one event. */
  readonly #reported = new Set<string>()
  /**
   * The owners that do not exist. Before each restore, a new `AbsentOwners` replaces this one. A lookup that began before the restore adds
   * its result to the replaced `AbsentOwners`, so the result has no effect.
   */
  #absent = new AbsentOwners()

  constructor({ client, source, events, graph, enqueue, onRestore }: CollectorOptions, signal: AbortSignal) {
    this.#events = events
    this.#client = client
    this.#source = source
    this.#graph = graph
    this.#enqueue = enqueue
    this.#signal = signal
    onRestore?.(() => {
      this.#absent = new AbsentOwners()
      graph.forgetDeletions()
    })
  }

  async process(type: ResourceType, key: ObjectKey): Promise<Outcome> {
    const object = this.#graph.get(type, key)
    if (object === undefined) return 'done'
    if (isOrphaning(object)) await this.#orphan(type, object)
    else if (isWaitingForDependents(object)) await this.#deleteDependents(type, object)
    else if (!isBeingDeleted(object) && (object.metadata.ownerReferences?.length ?? 0) > 0) return this.#attemptToDelete(type, object)
    return 'done'
  }

  /**
   * Deletes an object if all its owners are missing or in foreground deletion (k8s.io/kubernetes/pkg/controller/garbagecollector:
   * attemptToDeleteItem). If an owner exists and is not in foreground deletion, the object is kept, and its references to owners that are
   * missing or in foreground deletion are removed.
   */
  async #attemptToDelete(type: ResourceType, object: ReadonlyObject): Promise<Outcome> {
    const { solid, waiting, absent, unknown, unobserved } = await findOwners(
      object,
      {
        client: this.#client,
        source: this.#source,
        observed: (place) => this.#graph.owner(place),
        absent: this.#absent,
        isGone: (uid) => this.#graph.isGone(uid),
      },
      this.#signal,
    )
    for (const reference of [...absent, ...unknown]) this.#reportForeign(object, reference)
    if (solid.length > 0) {
      if (waiting.length + absent.length > 0) await this.#dropReferences(type, object, [...waiting, ...absent])
      // It is possible that an owner exists, but that the graph does not contain this owner yet. If such an owner is deleted while the
      // watch of its type is being re-established, the graph never observes the deletion. Therefore, the object is processed again later
      // (https://issue.k8s.io/56121).
      return unobserved ? 'again' : 'done'
    }
    // If the existence of an owner is unknown, the object is kept. If the type of such an owner is not served, the object is processed
    // again later, because the type may be served by then.
    if (unknown.length > 0) return unknown.every((reference) => isServed(reference, this.#source)) ? 'done' : 'again'
    const dependents = waiting.length > 0 ? this.#graph.dependentsOf(object.metadata.uid) : []
    if (dependents.length === 0) return this.#delete(type, object, policyOf(object))
    // The object has dependents, and an owner of the object is in foreground deletion. The object is therefore also deleted in the
    // foreground. If a dependent is already in foreground deletion, the owner references may form a cycle, in which each object waits for
    // the deletion of another object. In this case, the garbage collector first sets `blockOwnerDeletion: false` in the owner references of
    // the object, so that the owners do not wait for the object.
    const circle = dependents.some((dependent) => isWaitingForDependents(dependent.object))
    const current = circle ? await this.#unblockOwners(type, object) : object
    return current === undefined ? 'done' : this.#delete(type, current, 'Foreground')
  }

  /** Records an event about an owner reference to an object in another namespace. Such references are not allowed. */
  #reportForeign(object: ReadonlyObject, { apiVersion, kind, name, uid }: Reference): void {
    const type = this.#source.byKind(parseApiVersion(apiVersion).group, kind)
    const owner = type === undefined ? undefined : this.#graph.find(type, uid)
    const namespace = object.metadata.namespace ?? ''
    if (owner?.metadata.namespace === undefined || owner.metadata.namespace === namespace) return
    const report = `${object.metadata.uid} ${uid}`
    if (this.#reported.has(report)) return
    this.#reported.add(report)
    const [oldest] = this.#reported
    if (this.#reported.size > maxReported && oldest !== undefined) this.#reported.delete(oldest)
    const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
    const text = `ownerRef ${reference} does not exist in namespace "${namespace}"`
    this.#events.event(object, 'Warning', 'OwnerRefInvalidNamespace', text)
  }

  async #delete(
    type: ResourceType,
    { metadata }: ReadonlyObject,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<Outcome> {
    // If the object has changed since its owners were looked up, it may have a new owner. The preconditions then make the request fail.
    const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
    await ignoringMissing(this.#client.delete(type, metadata, { propagationPolicy, preconditions, signal: this.#signal }))
    return 'done'
  }

  /**
   * Performs a foreground deletion (k8s.io/kubernetes/pkg/controller/garbagecollector: processDeletingDependentsItem). Queues the
   * dependents that block the deletion of the owner. If no dependent blocks the deletion, removes the finalizer from the owner.
   */
  async #deleteDependents(type: ResourceType, owner: ReadonlyObject): Promise<void> {
    if (!this.#graph.synced) throw new NotSynced()
    const blocks = ({ object }: GraphObject): boolean =>
      object.metadata.ownerReferences?.some(({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true) ===
      true
    const blocking = this.#graph.dependentsOf(owner.metadata.uid).filter(blocks)
    if (blocking.length === 0) return this.#dropFinalizer(type, owner, foregroundFinalizer)
    for (const dependent of blocking) if (!isBeingDeleted(dependent.object)) this.#enqueue(dependent.type, dependent.object.metadata)
  }

  async #orphan(type: ResourceType, owner: ReadonlyObject): Promise<void> {
    if (!this.#graph.synced) throw new NotSynced()
    for (const { type: dependentType, object } of this.#graph.dependentsOf(owner.metadata.uid)) {
      const references = object.metadata.ownerReferences?.filter(({ uid }) => uid === owner.metadata.uid) ?? []
      await this.#dropReferences(dependentType, object, references)
    }
    await this.#dropFinalizer(type, owner, orphanFinalizer)
  }

  async #dropReferences(type: ResourceType, { metadata }: ReadonlyObject, dropped: readonly Reference[]): Promise<void> {
    const gone = new Set(dropped.map(({ uid }) => uid))
    const left = metadata.ownerReferences?.filter(({ uid }) => !gone.has(uid)) ?? []
    await this.#patchMetadata(type, metadata, { ownerReferences: left.length === 0 ? null : left })
  }

  /** Sets `blockOwnerDeletion` to false in all owner references. Returns the updated object; undefined when the object no longer exists. */
  async #unblockOwners(type: ResourceType, { metadata }: ReadonlyObject): Promise<ReadonlyObject | undefined> {
    const ownerReferences = metadata.ownerReferences?.map((reference) => ({ ...reference, blockOwnerDeletion: false })) ?? []
    return this.#patchMetadata(type, metadata, { ownerReferences })
  }

  async #dropFinalizer(type: ResourceType, { metadata }: ReadonlyObject, dropped: string): Promise<void> {
    const left = metadata.finalizers?.filter((finalizer) => finalizer !== dropped) ?? []
    await this.#patchMetadata(type, metadata, { finalizers: left.length === 0 ? null : left })
  }

  async #patchMetadata(
    type: ResourceType,
    { name, namespace, uid, resourceVersion }: ReadonlyObject['metadata'],
    changes: object,
  ): Promise<ReadonlyObject | undefined> {
    const patch = { metadata: { uid, resourceVersion, ...changes } }
    return ignoringMissing(this.#client.patch(type, { name, namespace }, patch, { signal: this.#signal }))
  }
}

/** Returns the propagation policy that corresponds to the finalizers of the object. */
function policyOf({ metadata }: ReadonlyObject): 'Background' | 'Foreground' | 'Orphan' {
  if (metadata.finalizers?.includes(orphanFinalizer) === true) return 'Orphan'
  return metadata.finalizers?.includes(foregroundFinalizer) === true ? 'Foreground' : 'Background'
}

async function ignoringMissing<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}
