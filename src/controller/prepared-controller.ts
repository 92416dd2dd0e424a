/** `prepareController`: creates the queue, the event handlers and the workers of a controller. */
import type { Clock } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { quote } from '../api/field-error.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import { DeclaredCache } from '../cache/declared-cache.ts'
import type { LeaseSource } from '../cache/leasing-cache.ts'
import { LeasingCache } from '../cache/leasing-cache.ts'
import type { OwnWrites } from '../cache/read-your-writes.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { MapOptions } from './enqueue.ts'
import { EnqueueHandler, toController, toItself, toMapped, toOwners } from './enqueue.ts'
import { withFinalizer } from './finalizer.ts'
import type { Enqueue, KeysOf } from './map-calls.ts'
import { objectReconciler } from './object-reconciler.ts'
import type { Predicate } from './predicates.ts'
import { PacedQueue } from './paced-queue.ts'
import type { WorkQueueOptions } from './queue.ts'
import { WorkQueue } from './queue.ts'
import { defaultResyncPeriodMs, resync } from './resync.ts'
import { ExternalSources } from './external-sources.ts'
import { RunningReconciles } from './running-reconciles.ts'
import type { ControllerSettings, OwnedType, WatchedType } from './settings.ts'
import { replay, Standby } from './standby.ts'
import { traced } from './traced-reconciler.ts'
import type { WatchedInformer } from './wait-for-sync.ts'
import { whenAllSynced } from './wait-for-sync.ts'
import type { WorkSignals } from './workers.ts'
import { Workers } from './workers.ts'

/** The part of the `Cache` interface that a controller uses. */
export interface ControllerCache extends LeaseSource, OwnWrites {
  informer<R extends ResourceType>(type: R): WatchedInformer<ObjectOf<R>>
  addIndex(index: CacheIndex): void
  /** The namespaces to which the cache is limited. An empty list means all namespaces. */
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
  /** The grace period of a shutdown in milliseconds. When this time has passed, the signals of running reconciles abort. Default: 30 s. */
  readonly graceMs?: number
  /**
   * The lease duration of the leader election in milliseconds. On a standby, the keys of changed objects stay in the queue for this time
   * plus 45 s. Default: 15 s.
   */
  readonly leaseDurationMs?: number
  /** The limit of concurrent reconciles that all controllers of the process share. Default: no limit. */
  readonly limit?: ConcurrencyLimit
  /** Called with the work queue of the controller. The debug endpoint shows the entries of this queue. */
  readonly onQueue?: (controller: string, queue: Pick<WorkQueue<string>, 'entries' | 'size'>) => void
  /** Returns a random number in [0, 1), which is used for jitter and for `reconcileID`. Default: `Math.random`. */
  readonly random?: () => number
}

/** A controller that watches its types and fills its work queue. It reconciles objects only during calls of `work`. */
export interface PreparedController {
  /**
   * Reconciles until one of the signals aborts. Rejects when a worker fails. After the promise has resolved, `work` may be called again.
   * Each further call reconciles all objects again.
   */
  work(signals: WorkSignals): Promise<void>
  /** Stops watching. Running reconciles are not aborted. Resolves when the running calls of map functions have settled. */
  close(): Promise<void> | void
}

/** The name, the types and the settings of a defined controller. */
export interface ControllerParts {
  readonly name: string
  /** The primary type. */
  readonly type: ResourceType
  /** All types that the controller watches. The first type is the primary type. */
  readonly types: readonly ResourceType[]
  readonly owned: readonly OwnedType[]
  readonly watched: readonly WatchedType[]
  readonly settings: ControllerSettings<KubernetesObject>
}

const defaultGraceMs = 30_000

/** A watched type, and the function that maps its events to keys. */
interface Mapping {
  readonly type: ResourceType
  readonly map: KeysOf
  readonly predicates: readonly Predicate[]
  readonly seenGone?: Set<string>
}

/** Returns a controller that watches its types and enqueues keys. Nothing is reconciled before `work` is called. */
export function prepareController(
  { name, type, types, owned, watched, settings }: ControllerParts,
  environment: ControllerEnvironment,
): PreparedController {
  const { workers: count = 1, minIntervalMs = 0, reconciliationTimeoutMs, resyncPeriodMs: periodMs = defaultResyncPeriodMs } = settings
  const { cache, clock, metrics, random = systemRandom } = environment
  const logger = environment.logger.child({ controller: name, controllerGroup: type.group, controllerKind: type.kind })
  const queueOptions: WorkQueueOptions<string> = {
    clock,
    metrics: metrics.queue(name),
    rateLimiter: settings.rateLimiter?.({ clock }),
    limit: environment.limit,
  }
  const queue = minIntervalMs > 0 ? new PacedQueue({ ...queueOptions, minIntervalMs }) : new WorkQueue(queueOptions)
  environment.onQueue?.(name, queue)
  const declared = new DeclaredCache(cache, types, (unknown) => {
    const advice = 'name it in its `owns` or `watches`, or read it with the client'
    return `${unknown} is not watched by the controller ${quote(name)}: ${advice}.`
  })
  const leasing = new LeasingCache(declared, cache)
  const { client, events } = environment
  const running = new RunningReconciles({ controller: name, cache: leasing, writes: cache, client, clock, events, random, logger }, queue)
  const mapOptions = { cache: declared, namespaces: cache.namespaces, logger }
  const seenGone = new Set<string>()
  // A map function may read any informer and index. Therefore, all informers and indexes are created before the event handlers are added.
  const informers = types.map((each) => cache.informer(each))
  for (const index of settings.indexes ?? []) cache.addIndex(index)
  const enqueue: Enqueue = (key, { priority, newest, cause }) => running.changed(key, priority, newest, cause)
  const handled = mappingsOf({ type, owned, watched, settings }, mapOptions, seenGone).map((mapping) => ({
    type: mapping.type,
    handler: new EnqueueHandler({ ...mapping, enqueue, clock, logger }),
  }))
  const removals = handled.map(({ type: watchedType, handler }) => cache.informer(watchedType).addHandler(handler))
  const workers = new Workers({
    queue,
    running,
    reconcile: traced(name, type, objectReconciler(type, withFinalizer(type, settings, random), seenGone)),
    count,
    clock,
    logger,
    reconciliationTimeoutMs,
    graceMs: environment.graceMs ?? defaultGraceMs,
    metrics: metrics.controller(name),
  })
  const sources = new ExternalSources(settings.sources ?? [], { ...mapOptions, cache: leasing, type, queue, clock, random })
  const primary = handled.slice(0, 1)
  const workInBackground = async (during: AbortSignal): Promise<void> => {
    const enqueueAll = (): Promise<void> => replay(primary, declared, clock, during)
    await Promise.all([sources.run(during), resync({ periodMs, clock, random, logger, enqueueAll }, during)])
  }
  const standby = new Standby({ queue, seenGone, clock, leaseDurationMs: environment.leaseDurationMs })
  standby.begin()
  return {
    async work(signals) {
      const ended = AbortSignal.any([signals.stop, signals.lost])
      if (!(await whenAllSynced(informers, { clock, logger }, ended))) return
      if (standby.end()) await replay(handled, declared, clock, ended)
      logger.info({ workers: count }, 'starting workers')
      const done = new AbortController()
      const background = workInBackground(AbortSignal.any([ended, done.signal]))
      try {
        await workers.work(signals)
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
      leasing.releaseAll()
      await Promise.all(handled.map(({ handler }) => handler.stop()))
    },
  }
}

/** Returns the mappings of all watched types. The first mapping is the mapping of the primary type. */
function mappingsOf(
  { type, owned, watched, settings }: Pick<ControllerParts, 'type' | 'owned' | 'watched' | 'settings'>,
  options: MapOptions,
  seenGone: Set<string>,
): Mapping[] {
  const filters = settings.eventFilter === undefined ? [] : [settings.eventFilter]
  const ownPredicates = (settings.predicates ?? []) as readonly Predicate[]
  return [
    { type, map: toItself, predicates: [...filters, ...ownPredicates], seenGone },
    ...owned.map(({ type: dependent, predicates = [], everyOwner }) => ({
      type: dependent,
      map: everyOwner ? toOwners(type) : toController(type),
      predicates: [...filters, ...predicates],
    })),
    ...watched.map(({ type: other, map, predicates = [] }) => ({
      type: other,
      map: toMapped(type, map, options),
      predicates: [...filters, ...predicates],
    })),
  ]
}
