/** `defineController(type, { reconcile, … })`: a controller from what it watches and what it does. */
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

/** A type whose objects are controlled by the primary one; `predicates` narrow down which events count. */
export interface OwnedType<R extends ResourceType = ResourceType> {
  readonly type: R
  readonly predicates?: readonly Predicate<ObjectOf<R>>[]
}

/** Another type, and which primary objects to reconcile because of one of its objects. */
export interface WatchedType<R extends ResourceType = ResourceType> extends OwnedType<R> {
  /** May read the cache, by an index for example. */
  readonly map: MapFunction<ObjectOf<R>>
}

export interface ControllerSettings<T extends KubernetesObject, Watched extends readonly ResourceType[] = readonly ResourceType[]> {
  /** Unique in the process; names the controller in metrics and logs. Default: the lower-case kind. */
  readonly name?: string
  /** Called with the cached object, whenever something about it or what it owns has changed. Must bear to be called for nothing. */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Result>
  /**
   * Called instead when the object is gone: its deletion was seen, or the API server has said so. May be called again, and for objects that
   * were never seen.
   */
  deleted?(key: KeyOf<T>, context: ReconcileContext): Promise<Result>
  /** Types of which this one's objects are the controller. */
  readonly owns?: readonly (ResourceType | OwnedType)[]
  readonly watches?: { readonly [Index in keyof Watched]: WatchedType<Watched[Index]> }
  /** What the reconciler and the map functions list by: indexes of the primary type, and of what is owned or watched. */
  readonly indexes?: readonly CacheIndex[]
  /** Which events of the primary type count. Default: all. */
  readonly predicates?: readonly Predicate<T>[]
  /** How many objects are reconciled at the same time: at least 1, which is the default. */
  readonly workers?: number
  /**
   * How long an object waits after a reconcile that failed or asked for `requeue`; called once for each start of the controller.
   * Default: `exponentialBackoff()`, 5 ms × 2^failures, at most 1000 s.
   */
  readonly rateLimiter?: () => RateLimiter
  /** What the reconciler needs to be allowed to do; reading what is watched is added. */
  readonly rbac?: readonly PolicyRule[]
  /** A reconcile that runs longer has its signal aborted. Default: no limit. */
  readonly reconciliationTimeoutMs?: number
}

/** What a controller needs of the cache. */
export interface ControllerCache extends CacheReader {
  informer<R extends ResourceType>(type: R): WatchedInformer<ObjectOf<R>>
  addIndex(index: CacheIndex): void
  /** The namespaces that it is limited to; empty: all. */
  readonly namespaces: readonly string[]
}

/** What a controller is started with. */
export interface ControllerEnvironment {
  readonly client: Client
  readonly cache: ControllerCache
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly events: EventRecorder
  /** How long after the stop running reconciles may go on before their signals abort. Default 30 s. */
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
   * Watches and reconciles until the signal aborts; resolves when the last worker has ended.
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

/** One type that is watched. */
interface Source {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly seenGone?: Set<string>
}

/**
 * Defines a controller: watches objects of `type` and what belongs to them, and reconciles one object at a time.
 *
 * @example
 * defineController(memcached, {
 *   owns: [deployment],
 *   reconcile: async (object, { client }) => {
 *     await client.apply(deployment, deploymentFor(object))
 *   },
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all options that are wrong or unknown, or when an index is of a type that the controller
 * does not watch.
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
    // Before the first event: a map function may read any of the types, by any of the indexes.
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

/** Each run of the reconciler is found by `logContext`. */
function inLogContext(owner: string, reconcile: Reconciler): Reconciler {
  return (request, context) => withLogContext({ owner, logger: context.logger }, () => reconcile(request, context))
}

function readRule(type: ResourceType): PolicyRule {
  return { apiGroups: [type.group], resources: [type.plural], verbs: ['get', 'list', 'watch'] }
}

function uniqueTypes(types: readonly ResourceType[]): readonly ResourceType[] {
  return types.filter((type, index) => types.findIndex((other) => isSameType(other, type)) === index)
}
