/** `defineController(type, { reconcile, … })`: defines a controller, i.e. its reconciler and the types that it watches. */
import type { Clock } from '../runtime/clock.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { KeysOf } from './map-calls.ts'
import type { Predicate } from './predicates.ts'
import type { CacheReader, Reconciler } from './reconciler.ts'
import type { WatchedInformer } from './wait-for-sync.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import {
  hasOptions,
  isBoolean,
  isDelay,
  isDuration,
  isFunction,
  isListOf,
  isResourceType,
  isText,
  isType,
  isWholeNumber,
} from '../api/option-checks.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { systemRandom } from '../runtime/random.ts'
import { indexProblems, isCacheIndex } from '../cache/cache-index.ts'
import { DeclaredCache } from '../cache/declared-cache.ts'
import type { OwnWrites } from '../cache/read-your-writes.ts'
import { isSameView } from '../cache/view.ts'
import type { WorkSignals } from './controller.ts'
import { Controller } from './controller.ts'
import { withLogContext } from '../telemetry/log-context.ts'
import { EnqueueHandler, toController, toItself, toMapped, toOwners } from './enqueue.ts'
import { finalizerRules, isFinalizer, withFinalizer } from './finalizer.ts'
import { defaultResyncPeriodMs, resync } from './resync.ts'
import { runSources } from './run-sources.ts'
import { objectReconciler } from './object-reconciler.ts'
import { WorkQueue } from './queue.ts'
import { RunningReconciles } from './running-reconciles.ts'
import { replay, Standby } from './standby.ts'
import { whenAllSynced } from './wait-for-sync.ts'
import { traced } from './traced-reconciler.ts'
import type { OwnedType, WatchedType, ControllerSettings } from './settings.ts'

/** The part of the `Cache` interface that a controller uses. */
export interface ControllerCache extends CacheReader, OwnWrites {
  informer<R extends ResourceType>(type: R): WatchedInformer<ObjectOf<R>>
  addIndex(index: CacheIndex): void
  /** The namespaces to which the cache is limited; empty for all namespaces. */
  readonly namespaces: readonly string[]
}

/** The dependencies that a controller gets when it starts. */
export interface ControllerEnvironment {
  readonly client: Client
  readonly cache: ControllerCache
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly events: EventRecorder
  /**
   * The grace period of a shutdown in milliseconds. Reconciles may run until it ends; then their signals abort. Default: 30 s.
   */
  readonly graceMs?: number
  /** The limit of concurrent reconciles that this controller shares with the others of the process. Default: no limit. */
  readonly limit?: ConcurrencyLimit
  /** Called with the work queue of the controller, for the debug endpoint. */
  readonly onQueue?: (controller: string, queue: Pick<WorkQueue<string>, 'entries' | 'size'>) => void
  /** Returns a number in [0, 1), for jitter and `reconcileID`. Default: `Math.random`. */
  readonly random?: () => number
}

/** A controller whose informers and queue exist. It reconciles only during calls of `work`. */
export interface PreparedController {
  /**
   * Reconciles until one of the signals aborts. It may be called again afterwards, and then reconciles all objects again. It rejects when a
   * worker fails.
   */
  work(signals: WorkSignals): Promise<void>
  /** Stops watching. Running reconciles are not aborted. Resolves when the running calls of map functions have settled. */
  close(): Promise<void> | void
}

export interface ControllerDefinition {
  readonly name: string
  /** The primary type, whose objects the controller reconciles. */
  readonly type: ResourceType
  /** All types that the controller watches; the first one is the primary type. */
  readonly types: readonly ResourceType[]
  readonly rbac: readonly PolicyRule[]
  /** True when the controller reconciles on every replica, and not only on the leader. */
  readonly everyReplica: boolean
  /**
   * Begins to watch, and to queue keys. Nothing is reconciled before `work` is called.
   * @internal
   */
  prepare(environment: ControllerEnvironment): PreparedController
}

const defaultGraceMs = 30_000

const watchedBase = { type: isResourceType, predicates: isListOf(isFunction) }
const ownedOptions = { ...watchedBase, everyOwner: isBoolean } satisfies Record<keyof OwnedType, OptionCheck>
const watchedOptions = { ...watchedBase, map: isFunction } satisfies Record<keyof WatchedType, OptionCheck>
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
  finalizer: isFinalizer,
  owns: isListOf(isOwned),
  watches: isListOf(hasOptions(watchedOptions, ['type', 'map'])),
  sources: isListOf(hasOptions({ run: isFunction }, ['run'], { mayHaveOthers: true })),
  resyncPeriodMs: isDelay,
  indexes: isListOf(isCacheIndex),
  predicates: isListOf(isFunction),
  eventFilter: isFunction,
  workers: isWholeNumber(1),
  everyReplica: isBoolean,
  rateLimiter: isFunction,
  rbac: isListOf(isPolicyRule),
  reconciliationTimeoutMs: isDuration,
} satisfies Record<keyof ControllerSettings<KubernetesObject>, OptionCheck>
const checkController = hasOptions(controllerOptions, ['reconcile'])

function refuseController(name: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `The controller "${name}" is invalid: ${problems.join('; ')}.`)
}

/** A watched type, and the function that maps its events to keys. */
interface Source {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly seenGone?: Set<string>
}

/**
 * Defines a controller. It watches objects of `type`, their dependents and the objects of `watches`. Each call of `reconcile` reconciles
 * one object.
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
  const { workers = 1, reconciliationTimeoutMs, resyncPeriodMs: periodMs = defaultResyncPeriodMs } = settings
  refuseController(name, indexProblems(indexes, types, 'name it in `owns` or `watches`'))

  function prepare(environment: ControllerEnvironment): PreparedController {
    const { cache, clock, metrics, random = systemRandom } = environment
    const logger = environment.logger.child({ controller: name, controllerGroup: type.group, controllerKind: type.kind })
    const queue = new WorkQueue<string>({
      clock,
      metrics: metrics.queue(name),
      rateLimiter: settings.rateLimiter?.({ clock }),
      limit: environment.limit,
    })
    const running = new RunningReconciles(name, cache, queue)
    environment.onQueue?.(name, queue)
    const declared = new DeclaredCache(cache, types, (unknown) => {
      const advice = 'name it in its `owns` or `watches`, or read it with the client'
      return `${unknown} is not watched by the controller ${quote(name)}: ${advice}.`
    })
    const mapOptions = { cache: declared, namespaces: cache.namespaces, logger }
    const seenGone = new Set<string>()
    const sources: Source[] = [
      { type, map: toItself, predicates: (settings.predicates ?? []) as readonly Predicate[], seenGone },
      ...owned.map(({ type: each, predicates = [], everyOwner }) => ({
        type: each,
        map: everyOwner ? toOwners(type) : toController(type),
        predicates,
      })),
      ...watched.map((entry) => ({ type: entry.type, map: toMapped(type, entry.map, mapOptions), predicates: entry.predicates ?? [] })),
    ]
    const filters = settings.eventFilter === undefined ? [] : [settings.eventFilter]
    // A map function may read any informer and index, so all of them are created before the first event.
    const informers = types.map((each) => cache.informer(each))
    for (const index of indexes) cache.addIndex(index)
    const handled = sources.map((source) => {
      const predicates = [...filters, ...source.predicates]
      return { type: source.type, handler: new EnqueueHandler({ ...source, predicates, queue, running, clock, logger }) }
    })
    const removals = handled.map(({ type: watchedType, handler }) => cache.informer(watchedType).addHandler(handler))
    const controller = new Controller({
      ...environment,
      cache: declared,
      queue,
      logger,
      reconcile: running.reconciler(
        inLogContext(name, traced(name, type, objectReconciler(type, withFinalizer(type, settings, random), seenGone))),
      ),
      workers,
      random,
      reconciliationTimeoutMs,
      graceMs: environment.graceMs ?? defaultGraceMs,
      metrics: metrics.controller(name),
    })
    const primary = handled.slice(0, 1)
    const workInBackground = async (during: AbortSignal): Promise<void> => {
      const enqueueAll = (): Promise<void> => replay(primary, declared, clock, during)
      const sourceOptions = { ...mapOptions, type, queue, clock, random }
      await Promise.all([
        runSources(settings.sources ?? [], sourceOptions, during),
        resync({ periodMs, clock, random, logger, enqueueAll }, during),
      ])
    }
    const standby = new Standby({ queue, seenGone, clock })
    standby.begin()
    return {
      async work(signals) {
        const ended = AbortSignal.any([signals.stop, signals.lost])
        if (!(await whenAllSynced(informers, { clock, logger }, ended))) return
        if (standby.end()) await replay(handled, declared, clock, ended)
        logger.info({ workers }, 'starting workers')
        const done = new AbortController()
        const background = workInBackground(AbortSignal.any([ended, done.signal]))
        try {
          await controller.work(signals)
        } finally {
          done.abort()
          standby.begin()
          await background
        }
      },
      async close() {
        standby.end()
        for (const remove of removals) remove()
        queue.shutDown()
        await Promise.all(handled.map(({ handler }) => handler.stop()))
      },
    }
  }

  const rbac = [...types.map(readRule), ...finalizerRules(type, settings), ...(settings.rbac ?? [])]
  return Object.freeze({ name, type, types, rbac, everyReplica: settings.everyReplica ?? false, prepare })
}

/**
 * Wraps the reconciler. Log lines about its requests to the API server, such as warnings in responses, are then written with the logger of
 * the running reconcile (`withLogContext`).
 */
function inLogContext(owner: string, reconcile: Reconciler): Reconciler {
  return (request, context) => withLogContext({ owner, logger: context.logger }, () => reconcile(request, context))
}

function readRule(type: ResourceType): PolicyRule {
  return { apiGroups: [type.group], resources: [type.plural], verbs: ['get', 'list', 'watch'] }
}

function uniqueTypes(types: readonly ResourceType[]): readonly ResourceType[] {
  return types.filter((type, index) => types.findIndex((other) => isSameView(other, type)) === index)
}
