/** `defineController(type, { reconcile, … })`: builds a controller from its sources and its reconciler. */
import type { Clock } from '../api/clock.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KeyOf, KubernetesObject } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { KeysOf, MapFunction } from './enqueue.ts'
import type { Predicate } from './predicates.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { CacheReader, ReconcileContext, Reconciler, Result } from './reconciler.ts'
import type { WatchedInformer } from './sync.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isDuration, isFunction, isListOf, isResourceType, isText, isType, isWholeNumber } from '../api/option-checks.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { isSameType } from '../api/group-version-kind.ts'
import { indexProblems, isCacheIndex } from '../cache/cache-index.ts'
import { DeclaredCache } from '../cache/declared-cache.ts'
import { Controller } from './controller.ts'
import { withLogContext } from '../telemetry/log-context.ts'
import { EnqueueHandler, toController, toItself, toMapped } from './enqueue.ts'
import { objectReconciler } from './object-reconciler.ts'
import { WorkQueue } from './queue.ts'
import { whenAllSynced } from './sync.ts'
import { traced } from './traced-reconciler.ts'

/** A type of dependents; `predicates` filter its events. */
export interface OwnedType<R extends ResourceType = ResourceType> {
  readonly type: R
  readonly predicates?: readonly Predicate<ObjectOf<R>>[]
}

/** A watched type, with a map from its objects to the primary objects to enqueue. */
export interface WatchedType<R extends ResourceType = ResourceType> extends OwnedType<R> {
  /** May read the cache, for example by an index. */
  readonly map: MapFunction<ObjectOf<R>>
}

export interface ControllerSettings<T extends KubernetesObject, Watched extends readonly ResourceType[] = readonly ResourceType[]> {
  /** Name of the controller in metrics and logs, unique in the process. Default: the lower-case kind. */
  readonly name?: string
  /** Called with the cached object when it, a dependent or a watched object may have changed. Must be idempotent. */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
  /**
   * Called instead when the object is gone: its deletion was seen, or the API server answered 404. May be called again, and for objects
   * that were never seen.
   */
  deleted?(key: KeyOf<T>, context: ReconcileContext): Promise<Result>
  /** Types of dependents, whose controller reference points to an object of the primary type. */
  readonly owns?: readonly (ResourceType | OwnedType)[]
  readonly watches?: { readonly [Index in keyof Watched]: WatchedType<Watched[Index]> }
  /** Indexes that the reconciler and the map functions list by, on the primary type or on owned or watched types. */
  readonly indexes?: readonly CacheIndex[]
  /** Filters for events of the primary type. Default: all events. */
  readonly predicates?: readonly Predicate<T>[]
  /** Number of objects reconciled at the same time: at least 1, which is the default. */
  readonly workers?: number
  /**
   * Creates the back-off of failed reconciles and of `requeue`; called once for each start of the controller. Default:
   * `exponentialBackoff()`, 5 ms × 2^failures, at most 1000 s.
   */
  readonly rateLimiter?: () => RateLimiter
  /** RBAC rules that the reconciler needs; those for watching are added. */
  readonly rbac?: readonly PolicyRule[]
  /** Time after which the signal of a reconcile aborts. Default: no limit. */
  readonly reconciliationTimeoutMs?: number
}

/** The parts of the cache that a controller uses. */
export interface ControllerCache extends CacheReader {
  informer<R extends ResourceType>(type: R): WatchedInformer<ObjectOf<R>>
  addIndex(index: CacheIndex): void
  /** Namespaces that the cache is limited to; empty: all. */
  readonly namespaces: readonly string[]
}

/** The dependencies of a controller at its start. */
export interface ControllerEnvironment {
  readonly client: Client
  readonly cache: ControllerCache
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly events: EventRecorder
  /** Time that running reconciles have after the stop until their signals abort. Default 30 s. */
  readonly graceMs?: number
}

export interface ControllerDefinition {
  readonly name: string
  /** The primary type. */
  readonly type: ResourceType
  /** All types that it watches, the primary one first. */
  readonly types: readonly ResourceType[]
  readonly rbac: readonly PolicyRule[]
  /**
   * Watches and reconciles until the signal aborts; resolves when the last worker has stopped.
   * @internal
   */
  start(environment: ControllerEnvironment, signal: AbortSignal): Promise<void>
}

const defaultGraceMs = 30_000

const ownedOptions = { type: isResourceType, predicates: isListOf(isFunction) } satisfies Record<keyof OwnedType, OptionCheck>
const watchedOptions = { ...ownedOptions, map: isFunction } satisfies Record<keyof WatchedType, OptionCheck>
const isOwned: OptionCheck = (value, path) =>
  typeof value === 'object' && value !== null && 'type' in value
    ? hasOptions(ownedOptions, ['type'])(value, path)
    : isType(value)
      ? []
      : isResourceType(value, path)
const controllerOptions = {
  name: isText,
  reconcile: isFunction,
  deleted: isFunction,
  owns: isListOf(isOwned),
  watches: isListOf(hasOptions(watchedOptions, ['type', 'map'])),
  indexes: isListOf(isCacheIndex),
  predicates: isListOf(isFunction),
  workers: isWholeNumber(1),
  rateLimiter: isFunction,
  rbac: isListOf(isPolicyRule),
  reconciliationTimeoutMs: isDuration,
} satisfies Record<keyof ControllerSettings<KubernetesObject>, OptionCheck>
const checkController = hasOptions(controllerOptions, ['reconcile'])

function refuseController(name: string, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_CONFIG_INVALID', `The controller "${name}" is not well defined: ${problems.join('; ')}.`)
}

/** One watched type. */
interface Source {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly seenGone?: Set<string>
}

/**
 * Defines a controller, which watches objects of `type`, their dependents and other types, and reconciles one object at a time.
 *
 * @example
 * defineController(memcached, {
 * owns: [deployment],
 * reconcile: async (object, { client }) => {
 * await client.apply(deployment, deploymentFor(object))
 * },
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all invalid and unknown options, or when an index is on a type that the controller does
 * not watch.
 */
export function defineController<R extends ResourceType, const Watched extends readonly ResourceType[] = []>(
  type: R,
  settings: ControllerSettings<ObjectOf<R>, Watched>,
): ControllerDefinition {
  refuseController(settings.name ?? type.kind.toLowerCase(), checkController(settings, ''))
  const owned = (settings.owns ?? []).map((entry): OwnedType => ('type' in entry ? entry : { type: entry }))
  const watched = (settings.watches ?? []) as readonly WatchedType[]
  const types = uniqueTypes([type, ...owned.map((entry) => entry.type), ...watched.map((entry) => entry.type)])
  const name = settings.name ?? type.kind.toLowerCase()
  const indexes = settings.indexes ?? []
  const { workers = 1, reconciliationTimeoutMs } = settings
  refuseController(name, indexProblems(indexes, types, 'name it in `owns` or `watches`'))

  async function start(environment: ControllerEnvironment, signal: AbortSignal): Promise<void> {
    const { cache, clock, metrics } = environment
    const logger = environment.logger.child({ controller: name, controllerGroup: type.group, controllerKind: type.kind })
    const queue = new WorkQueue<string>({ clock, metrics: metrics.queue(name), rateLimiter: settings.rateLimiter?.() })
    const declared = new DeclaredCache(cache, types, (unknown) => {
      const advice = 'name it in its `owns` or `watches`, or read it with the client'
      return `${unknown} is not watched by the controller ${quote(name)}: ${advice}.`
    })
    const mapOptions = { cache: declared, namespaces: cache.namespaces, logger }
    const seenGone = new Set<string>()
    const sources: Source[] = [
      { type, map: toItself, predicates: (settings.predicates ?? []) as readonly Predicate[], seenGone },
      ...owned.map((entry) => ({ type: entry.type, map: toController(type), predicates: entry.predicates ?? [] })),
      ...watched.map((entry) => ({ type: entry.type, map: toMapped(type, entry.map, mapOptions), predicates: entry.predicates ?? [] })),
    ]
    // Before the first event, because a map function may read any of the types by any of the indexes.
    for (const each of types) cache.informer(each)
    for (const index of indexes) cache.addIndex(index)
    const stops = sources.flatMap((source) => {
      const handler = new EnqueueHandler({ ...source, queue, clock, logger })
      return [cache.informer(source.type).addHandler(handler), () => handler.stop()]
    })
    const options = {
      ...environment,
      cache: declared,
      queue,
      logger,
      reconcile: inLogContext(name, traced(name, type, objectReconciler(type, settings, seenGone))),
      workers,
      reconciliationTimeoutMs,
      graceMs: environment.graceMs ?? defaultGraceMs,
      metrics: metrics.controller(name),
    }
    try {
      if (
        !(await whenAllSynced(
          types.map((each) => cache.informer(each)),
          { clock, logger },
          signal,
        ))
      )
        return
      logger.info({ workers: options.workers }, 'starting workers')
      await new Controller(options).run(signal)
    } finally {
      for (const stop of stops) stop()
      queue.shutDown()
    }
  }

  return Object.freeze({ name, type, types, rbac: [...types.map(readRule), ...(settings.rbac ?? [])], start })
}

/** Runs the reconciler within `logContext`. */
function inLogContext(owner: string, reconcile: Reconciler): Reconciler {
  return (request, context) => withLogContext({ owner, logger: context.logger }, () => reconcile(request, context))
}

function readRule(type: ResourceType): PolicyRule {
  return { apiGroups: [type.group], resources: [type.plural], verbs: ['get', 'list', 'watch'] }
}

function uniqueTypes(types: readonly ResourceType[]): readonly ResourceType[] {
  return types.filter((type, index) => types.findIndex((other) => isSameType(other, type)) === index)
}
