/** Maps events to the keys to reconcile, and adds the keys to the work queue. */
import type { Clock } from '../runtime/clock.ts'
import type { GroupVersionKind, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import type { CacheReader } from '../cache/cache.ts'
import type { EventHandler } from '../cache/informer.ts'
import type { Cause } from '../cache/origin.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ObjectEvent } from '../cache/object-event.ts'
import type { Predicate } from './predicates.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { formatKey } from '../api/object.ts'
import { pathSegmentName } from '../api/name-syntax.ts'
import { controllerOf, refersTo } from '../api/owner-reference.ts'
import type { Enqueue, KeysOf } from './map-calls.ts'
import { isPromise, MapCalls } from './map-calls.ts'

/** The second argument of a map function. */
export interface MapContext {
  /**
   * The cache of the types that the controller watches. Until the first list of each type is complete, existing objects can be missing from
   * the cache. When a missing object is added to the cache later, the controller receives an event for this object, and maps the object to
   * keys.
   */
  readonly cache: CacheReader
  /** Aborts when the controller stops. */
  readonly signal: AbortSignal
}

/**
 * Returns the keys of the objects to reconcile when `object` changes. For an update, the function is called twice: once with the old
 * object, and once with the new object.
 *
 * - Keys in namespaces that the process does not watch are ignored.
 * - The function is called for each event. It should therefore pass a `CacheIndex` to `cache.list`, and not iterate over all objects.
 * - The function may be asynchronous. Calls for different objects run at the same time. If an object changes while a call for the same
 *   object runs, the function is called for the change after the running call has ended. If there are several such changes, they are
 *   combined into one change.
 * - If the function throws, or its promise rejects, the function is called again later.
 */
export type MapFunction<T extends KubernetesObject = KubernetesObject> = (
  object: DeepReadonly<T>,
  context: MapContext,
) => readonly ObjectKey[] | Promise<readonly ObjectKey[]>

/**
 * A map function that Proreus defines itself, for the primary type and the types in `owns`. The map functions of operators have the type
 * `MapFunction`.
 */
type Keys = (object: DeepReadonly<KubernetesObject>) => readonly ObjectKey[]

/**
 * The priority of objects that existed before the watch began. Later changes have a higher priority. controller-runtime's `LowPriority` has
 * the same value.
 */
const initialPriority = -100

/** Maximum length of the name of an object. */
const maxNameLength = 253

/** Maps an object to its key. */
export const toItself: Keys = ({ metadata: { namespace, name } }) => [{ namespace, name }]

/**
 * Maps an object to its controller if the controller is of type `owner`. Like controller-runtime's `EnqueueRequestForOwner`, the function
 * uses the group, kind and name in the owner reference, but not the uid.
 *
 * An owner reference may contain the uid of a deleted owner, while a new owner with the same name exists. The reconcile of the new owner
 * may wait for the deletion of the object with this owner reference. Therefore, an event of this object must enqueue the new owner.
 */
export function toController(owner: Pick<GroupVersionKind, 'group' | 'kind'> & { readonly namespaced: boolean }): Keys {
  return (object) => {
    const reference = controllerOf(object)
    return reference !== undefined && refersTo(reference, owner) ? ownerKey(owner, object.metadata.namespace, reference.name) : []
  }
}

/**
 * Maps an object to all owners of type `owner` in its owner references, not only to its controller. Like `toController`, the function does
 * not compare uids.
 */
export function toOwners(owner: Pick<GroupVersionKind, 'group' | 'kind'> & { readonly namespaced: boolean }): Keys {
  return ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences.filter((reference) => refersTo(reference, owner)).flatMap(({ name }) => ownerKey(owner, namespace, name))
}

function ownerKey({ namespaced }: { readonly namespaced: boolean }, namespace: string | undefined, name: string): readonly ObjectKey[] {
  // The API server accepts any text as the name in an owner reference. If the name is empty, too long or malformed, no object can have this
  // name.
  if (name === '' || name.length > maxNameLength || pathSegmentName(name).length > 0) return []
  if (!namespaced) return [{ name }]
  // A cluster-scoped object cannot have a namespaced owner.
  return namespace === undefined ? [] : [{ namespace, name }]
}

export interface MapOptions {
  /** The cache that is passed to the map function. */
  readonly cache: CacheReader
  /** The namespaces to which the process is limited; empty for all namespaces. */
  readonly namespaces: readonly string[]
  readonly logger: Logger
}

/** Wraps a map function. Keys in namespaces that this process does not watch are ignored. Invalid keys are logged and dropped. */
export function toMapped(type: ResourceType, map: MapFunction, { cache, namespaces, logger }: MapOptions): KeysOf {
  const valid = ({ metadata }: DeepReadonly<KubernetesObject>, keys: readonly ObjectKey[]): readonly ObjectKey[] =>
    validKeys(type, keys, namespaces, (err) => logger.error({ err, object: formatKey(metadata) }, 'a map function returned an invalid key'))
  return (object, signal) => {
    const keys = map(object, { cache, signal })
    return isPromise(keys) ? keys.then((resolved) => valid(object, resolved)) : valid(object, keys)
  }
}

/**
 * Returns the keys that may be enqueued. Invalid keys are dropped, and `onInvalid` is called with an error for each invalid key. Keys in
 * namespaces that this process does not watch are dropped without a call.
 */
export function validKeys(
  type: ResourceType,
  keys: readonly ObjectKey[],
  namespaces: readonly string[],
  onInvalid: (error: ProreusError) => void,
): readonly ObjectKey[] {
  return keys.flatMap((key) => {
    const problem = keyProblem(type, key)
    if (problem !== undefined) {
      onInvalid(new ProreusError('PRO_INPUT', problem))
      return []
    }
    const { namespace, name } = key
    if (!type.namespaced) return [{ name }]
    return namespaces.length === 0 || namespaces.includes(namespace!) ? [{ namespace, name }] : []
  })
}

/**
 * Returns the error message for an invalid key; undefined for a valid key. A map function or source that is not type-checked may return any
 * value.
 */
function keyProblem(type: ResourceType, key: ObjectKey): string | undefined {
  const { namespace, name } = (key ?? {}) as Partial<ObjectKey>
  if (typeof name !== 'string' || name === '') return `A key of ${groupResourceOf(type)} has no name: a key must name an object.`
  if (!type.namespaced || (namespace !== undefined && namespace !== '')) return undefined
  return `The key of ${quote(name)} has no namespace: ${groupResourceOf(type)} have one, which the key must name.`
}

export interface EnqueueOptions {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly enqueue: Enqueue
  readonly clock: Clock
  readonly logger: Logger
  /** The keys of deleted objects. If the predicates accept the deletion event of an object, the key of the object is added. */
  readonly seenGone?: Set<string>
}

/**
 * Handles the events of an informer: maps the object of an event to keys, and enqueues the keys. For an update, both the old and the new
 * object are mapped.
 */
export class EnqueueHandler implements EventHandler {
  readonly #options: EnqueueOptions
  readonly #calls: MapCalls

  constructor(options: EnqueueOptions) {
    const { type, map, enqueue, clock, logger } = options
    this.#options = options
    this.#calls = new MapCalls({ type, map, enqueue, clock, logger })
  }

  added(object: DeepReadonly<KubernetesObject>, initial: boolean, cause?: Cause): void {
    this.#handle({ type: 'added', object, initial }, cause)
  }

  updated(object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>, cause?: Cause): void {
    this.#handle({ type: 'updated', object, old }, cause)
  }

  deleted(object: DeepReadonly<KubernetesObject>): void {
    this.#handle({ type: 'deleted', object })
  }

  overtaken(object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject> | undefined): void {
    this.#handle(old === undefined ? { type: 'added', object, initial: false } : { type: 'updated', object, old })
  }

  /** Stops calling the map function, and aborts its signal. Resolves when the running calls have settled. */
  stop(): Promise<void> {
    return this.#calls.stop()
  }

  #handle(event: ObjectEvent, cause?: Cause): void {
    if (!this.#counts(event)) return
    const { seenGone } = this.#options
    const { object } = event
    if (event.type === 'deleted') seenGone?.add(formatKey(object.metadata))
    const priority = event.type === 'added' && event.initial ? initialPriority : 0
    this.#calls.map({ newest: object, oldest: event.type === 'updated' ? event.old : object, priority, cause })
  }

  /**
   * Returns whether all predicates accept the event. A predicate that throws counts as accepting the event, because an unnecessary
   * reconcile does less harm than a missing reconcile.
   */
  #counts(event: ObjectEvent): boolean {
    const { type, predicates, logger } = this.#options
    if (predicates.length === 0) return true
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
