/** From an event to the keys that it asks to reconcile, and from there into the queue. */
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
 * Called for each event, so that what it looks for in the cache should have a `cacheIndex`.
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
 * The object of type `owner` that controls this one. `find` looks into the cache: a reference to a former owner of the same name,
 * that is with another uid than the cached one, asks for nothing.
 */
export function toController(
  owner: Pick<GroupVersionKind, 'group' | 'kind'> & { readonly namespaced: boolean },
  find: (key: ObjectKey) => DeepReadonly<KubernetesObject> | undefined,
): KeysOf {
  return (object) => {
    const reference = controllerOf(object)
    if (reference === undefined || !refersTo(reference, owner)) return []
    const { namespace } = object.metadata
    // What has no namespace cannot be owned by what has one.
    if (owner.namespaced && namespace === undefined) return []
    const key = owner.namespaced ? { namespace, name: reference.name } : { name: reference.name }
    const cached = find(key)
    return cached === undefined || cached.metadata.uid === reference.uid ? [key] : []
  }
}

/**
 * What a map function names, as keys of objects of `type` that can be there and that this process watches. It may look at another namespace
 * than those: what is there is somebody else's.
 */
export function toMapped(type: ResourceType, map: MapFunction, cache: CacheReader & { readonly namespaces: readonly string[] }): KeysOf {
  const { namespaces } = cache
  const context: MapContext = { cache }
  return (object) =>
    map(object, context).flatMap(({ namespace, name }) => {
      if (!type.namespaced) return [{ name }]
      if (namespace === undefined || namespace === '') {
        const advice = `${groupResourceOf(type)} have one, which the map function must name`
        throw new ProreusError('PRO_INPUT', `The key of ${quote(name)} has no namespace: ${advice}.`)
      }
      return namespaces.length === 0 || namespaces.includes(namespace) ? [{ namespace, name }] : []
    })
}

export interface EnqueueOptions {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly queue: WorkQueue<string>
  readonly logger: Logger
}

/** The informer's handler that puts into the queue what an event asks for. An update is mapped as it was and as it is. */
export function enqueueHandler(options: EnqueueOptions): EventHandler {
  const { type, map, predicates, queue, logger } = options

  function handle(event: ObjectEvent): void {
    try {
      if (!predicates.every((predicate) => predicate(event))) return
      const priority = event.type === 'added' && event.initial ? initialPriority : 0
      const keys = event.type === 'updated' ? [...map(event.object), ...map(event.old)] : map(event.object)
      // Each once: a waiting worker takes the first at once, and a second would be a second reconcile.
      for (const key of new Set(keys.map(formatKey))) queue.add(key, { priority })
    } catch (error) {
      logger.error(
        { err: error, object: formatKey(event.object.metadata) },
        `a predicate or map function for ${groupResourceOf(type)} threw; this event asks for no reconcile`,
      )
    }
  }

  return {
    added: (object, initial) => handle({ type: 'added', object, initial }),
    updated: (object, old) => handle({ type: 'updated', object, old }),
    deleted: (object) => handle({ type: 'deleted', object }),
  }
}
