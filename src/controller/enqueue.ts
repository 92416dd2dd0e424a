/** From an event to the keys that it asks to reconcile, and from there into the queue. */
import type { GroupVersionKind, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { EventHandler } from '../cache/informer.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ObjectEvent, Predicate } from './predicates.ts'
import type { WorkQueue } from './queue.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { formatKey } from '../api/object.ts'
import { controllerOf, refersTo } from '../api/owner-reference.ts'

/** Which objects to reconcile because of this one. */
export type MapFunction<T extends KubernetesObject = KubernetesObject> = (object: DeepReadonly<T>) => readonly ObjectKey[]

/** What was there before the watch began can wait: changes that happen now come first. As controller-runtime's `LowPriority`. */
const initialPriority = -100

/** The object itself. */
export const toItself: MapFunction = ({ metadata: { namespace, name } }) => [{ namespace, name }]

/**
 * The object of type `owner` that controls this one. `find` looks into the cache: a reference to a former owner of the same name,
 * that is with another uid than the cached one, asks for nothing.
 */
export function toController(
  owner: Pick<GroupVersionKind, 'group' | 'kind'> & { readonly namespaced: boolean },
  find: (key: ObjectKey) => DeepReadonly<KubernetesObject> | undefined,
): MapFunction {
  return (object) => {
    const reference = controllerOf(object)
    if (reference === undefined || !refersTo(reference, owner)) return []
    const { namespace } = object.metadata
    const key = owner.namespaced && namespace !== undefined ? { namespace, name: reference.name } : { name: reference.name }
    const cached = find(key)
    return cached === undefined || cached.metadata.uid === reference.uid ? [key] : []
  }
}

export interface EnqueueOptions {
  readonly type: ResourceType
  readonly map: MapFunction
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
