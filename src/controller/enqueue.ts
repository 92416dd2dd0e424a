/** From an event to the keys that it asks to reconcile, and from there into the queue. */
import type { Clock } from '../api/clock.ts'
import type { GroupVersionKind, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { EventHandler } from '../cache/informer.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ObjectEvent, Predicate } from './predicates.ts'
import type { WorkQueue } from './queue.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { formatKey } from '../api/object.ts'
import { controllerOf, refersTo } from '../api/owner-reference.ts'
import { Remapping } from './remapping.ts'

/** What a map function works with. */
export interface MapContext {
  /**
   * What the informers of the controller's types hold. Before the first lists are complete it may not have all: what is found then is
   * reconciled all the same, and so is each object of the primary type when it arrives.
   */
  readonly cache: CacheReader
}

/**
 * Which objects to reconcile because of this one; keys in namespaces that the process does not watch are left out.
 * Called for each event, so that what it looks for in the cache should have a `CacheIndex`.
 */
export type MapFunction<T extends KubernetesObject = KubernetesObject> = (
  object: DeepReadonly<T>,
  context: MapContext,
) => readonly ObjectKey[]

/** As a map function; what it needs of the cache it has. */
export type KeysOf = (object: DeepReadonly<KubernetesObject>) => readonly ObjectKey[]

/** What was there before the watch began can wait: changes that happen now come first. As controller-runtime's `LowPriority`. */
const initialPriority = -100

/** The object itself. */
export const toItself: KeysOf = ({ metadata: { namespace, name } }) => [{ namespace, name }]

/**
 * The object of type `owner` that controls this one, by group, kind and name, as controller-runtime's `EnqueueRequestForOwner` has it.
 * Not by uid: a child of a former owner of that name may be what keeps the present one waiting.
 */
export function toController(owner: Pick<GroupVersionKind, 'group' | 'kind'> & { readonly namespaced: boolean }): KeysOf {
  return (object) => {
    const reference = controllerOf(object)
    if (reference === undefined || !refersTo(reference, owner)) return []
    const { namespace } = object.metadata
    if (!owner.namespaced) return [{ name: reference.name }]
    // What has no namespace cannot be owned by what has one.
    return namespace === undefined ? [] : [{ namespace, name: reference.name }]
  }
}

export interface MapOptions {
  /** What the map function may read. */
  readonly cache: CacheReader
  /** Those that the process is limited to; empty: all. */
  readonly namespaces: readonly string[]
  readonly logger: Logger
}

/**
 * What a map function names, as keys of objects of `type` that can be there and that this process watches. It may look at another namespace
 * than those: what is there is somebody else's. A key that is none is logged and left out.
 */
export function toMapped(type: ResourceType, map: MapFunction, { cache, namespaces, logger }: MapOptions): KeysOf {
  const context: MapContext = { cache }
  return (object) =>
    map(object, context).flatMap((key) => {
      const problem = keyProblem(type, key)
      if (problem !== undefined) {
        const source = formatKey(object.metadata)
        logger.error({ err: new ProreusError('PRO_INPUT', problem), object: source }, 'a map function gave a key that is none')
        return []
      }
      const { namespace, name } = key
      if (!type.namespaced) return [{ name }]
      return namespaces.length === 0 || namespaces.includes(namespace!) ? [{ namespace, name }] : []
    })
}

/** What is wrong with a key of an object of `type`, which a program without types may have made of anything. */
function keyProblem(type: ResourceType, key: ObjectKey): string | undefined {
  const { namespace, name } = (key ?? {}) as Partial<ObjectKey>
  if (typeof name !== 'string' || name === '') return `A key of ${groupResourceOf(type)} has no name: the map function must name an object.`
  if (!type.namespaced || (namespace !== undefined && namespace !== '')) return undefined
  return `The key of ${quote(name)} has no namespace: ${groupResourceOf(type)} have one, which the map function must name.`
}

export interface EnqueueOptions {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly queue: WorkQueue<string>
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the keys of objects of `type` whose deletion was seen, and counts. */
  readonly seenGone?: Set<string>
}

/** The informer's handler that puts into the queue what an event asks for. An update is mapped as it was and as it is. */
export class EnqueueHandler implements EventHandler {
  readonly #options: EnqueueOptions
  readonly #remapping: Remapping

  constructor(options: EnqueueOptions) {
    const { type, map, queue, clock, logger } = options
    this.#options = options
    this.#remapping = new Remapping({ type, clock, logger, map: (object) => map(object).forEach((key) => queue.add(formatKey(key))) })
  }

  added(object: DeepReadonly<KubernetesObject>, initial: boolean): void {
    this.#handle({ type: 'added', object, initial })
  }

  updated(object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>): void {
    this.#handle({ type: 'updated', object, old })
  }

  deleted(object: DeepReadonly<KubernetesObject>): void {
    this.#handle({ type: 'deleted', object })
  }

  /** Ends the tries that are still to come. */
  stop(): void {
    this.#remapping.stop()
  }

  #handle(event: ObjectEvent): void {
    if (!this.#counts(event)) return
    const { map, queue, seenGone } = this.#options
    if (event.type === 'deleted') seenGone?.add(formatKey(event.object.metadata))
    const priority = event.type === 'added' && event.initial ? initialPriority : 0
    // Each once: a waiting worker takes the first at once, and a second would be a second reconcile.
    const keys = new Set<string>()
    const failed: DeepReadonly<KubernetesObject>[] = []
    let problem: unknown
    for (const object of event.type === 'updated' ? [event.object, event.old] : [event.object]) {
      try {
        for (const key of map(object)) keys.add(formatKey(key))
      } catch (error) {
        problem = error
        failed.unshift(object)
      }
    }
    for (const key of keys) queue.add(key, { priority })
    const [oldest] = failed
    if (oldest !== undefined) this.#remapping.add(oldest, failed.at(-1)!, problem)
  }

  /** An event about which a predicate cannot tell counts: a reconcile for nothing does less harm than one that is missing. */
  #counts(event: ObjectEvent): boolean {
    const { type, predicates, logger } = this.#options
    return predicates.every((predicate) => {
      try {
        return predicate(event)
      } catch (err) {
        logger.error({ err, object: formatKey(event.object.metadata) }, `a predicate for ${groupResourceOf(type)} threw; the event counts`)
        return true
      }
    })
  }
}
