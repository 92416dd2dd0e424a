/** `reconcileContext`: creates the context for a reconciler that a test calls directly. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { ProreusError } from '../api/errors.ts'
import { apiVersionOf } from '../api/group-version-kind.ts'
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isClock, isListOf, isLogger, isSignal, refuseOptions } from '../api/option-checks.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'
import type { Index } from '../cache/store.ts'
import { Store } from '../cache/store.ts'
import { Selector, storedForm } from '../cache/stored-form.ts'
import { viewOf } from '../cache/view.ts'
import type { Client } from '../client/client.ts'
import type { ReconcileContext } from '../controller/reconciler.ts'
import type { EventOptions, EventType } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/logger.ts'

/** An object for the cache. It may have further fields. */
export interface CachedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectKey
}

export interface ReconcileContextOptions {
  /** The client that the reconciler uses: the client of a control plane, or a test double with the methods that the reconciler calls. */
  readonly client: Client
  /**
   * The objects in the cache, in the form in which the client returns them, with apiVersion and kind. `reconcileContext` freezes them.
   * Default: none.
   */
  readonly cached?: readonly CachedObject[]
  /** The clock. Default: the system clock. */
  readonly clock?: Clock
  /** The signal that aborts the reconcile. Default: a signal that never aborts. */
  readonly signal?: AbortSignal
  /** The logger. Default: no output. */
  readonly logger?: Logger
}

const checkOptions = hasOptions(
  {
    client: isAnObject,
    cached: isListOf(isAnObject),
    clock: isClock,
    signal: isSignal,
    logger: isLogger,
  } satisfies Record<keyof ReconcileContextOptions, OptionCheck>,
  ['client'],
)

/** A Kubernetes Event that the reconciler has recorded. */
export interface RecordedEvent {
  readonly object: DeepReadonly<KubernetesObject>
  readonly type: EventType
  readonly reason: string
  readonly message: string
  /** The options that the reconciler has passed to `event`. Absent when it has passed no options. */
  readonly options?: EventOptions
}

/** A reconcile context that records Events instead of writing them to the API server. */
export interface TestReconcileContext extends ReconcileContext {
  /** The recorded Events, oldest first. */
  readonly recorded: readonly RecordedEvent[]
}

/**
 * Creates a context for a test that calls a reconciler directly. The cache contains only the objects in `cached` and never changes, so a
 * test can simulate a stale cache. The cache supports every type, view and index. `cache.acquire` returns a lease that has already synced.
 *
 * @example
 * const context = reconcileContext({ client, cached: [await client.get(core.configMap, key)], clock: new FakeClock() })
 * const result = await reconcileSite(await client.get(site, key), context)
 *
 * @throws {ProreusError} `PRO_INPUT` when an object in `cached` has no apiVersion or kind.
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown. The message names all of them.
 */
export function reconcileContext(options: ReconcileContextOptions): TestReconcileContext {
  refuseOptions('reconcileContext', checkOptions(options, ''))
  const { client, cached = [], clock, signal, logger } = options
  const recorded: RecordedEvent[] = []
  return {
    client,
    cache: cacheOf(cached),
    clock: clock ?? systemClock,
    signal: signal ?? new AbortController().signal,
    logger: logger ?? silentLogger(),
    reconcileID: randomUUID(),
    events: {
      event: (object, type, reason, message, options) =>
        void recorded.push({ object, type, reason, message, ...(options === undefined ? {} : { options }) }),
    },
    recorded,
  }
}

function cacheOf(objects: readonly CachedObject[]): OperatorCache {
  const stores = new Map<string, Store>()
  const views = new Map<ResourceType, Store>()
  const storeOf = (id: string): Store => {
    const store = stores.get(id) ?? new Store()
    stores.set(id, store)
    return store
  }
  for (const object of objects) {
    const { apiVersion, kind, metadata }: Partial<CachedObject> & Pick<CachedObject, 'metadata'> = object
    if (apiVersion === undefined || kind === undefined)
      throw new ProreusError('PRO_INPUT', `The object ${formatKey(metadata)} for the cache has no apiVersion or no kind.`)
    storeOf(`${apiVersion} ${kind}`).set(deepFreeze(object as unknown as KubernetesObject))
  }
  const storeOfView = (view: ResourceType, whole: Store): Store => {
    const selector = new Selector(view)
    const store = views.get(view) ?? new Store()
    if (!views.has(view))
      for (const object of whole.list())
        // `selects` returns undefined when only the API server can evaluate a field selector. In this case the object is stored, because
        // the test decides which objects are in the cache.
        if (selector.selects(object) !== false) store.set(storedForm(view, structuredClone(object) as KubernetesObject))
    views.set(view, store)
    return store
  }
  const storeFor = <R extends ResourceType>(type: R): Store<ObjectOf<R>> => {
    const whole = storeOf(`${apiVersionOf(type)} ${type.kind}`)
    return (viewOf(type) === undefined ? whole : storeOfView(type, whole)) as unknown as Store<ObjectOf<R>>
  }
  return {
    get: (type, key) => storeFor(type).get(key),
    list(type, options = {}) {
      const store = storeFor(type)
      if (options.index !== undefined) store.addIndex(options.index[0] as Index<ObjectOf<typeof type>>)
      return store.list(options)
    },
    acquire: (type) => ({
      synced: true,
      whenSynced: () => Promise.resolve(),
      onChange(listener) {
        for (const object of storeFor(type).list()) listener({ type: 'added', object, initial: true })
        return () => undefined
      },
      release: () => undefined,
    }),
  }
}
