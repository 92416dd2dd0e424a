/** A fake cache with events that the test emits, and the other components that a controller needs. */
import type { ObjectOf, ResourceType } from '../../../src/api/group-version-kind.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import type { KubernetesObject, ObjectKey } from '../../../src/api/object.ts'
import type { CacheIndex } from '../../../src/cache/cache-index.ts'
import type { Cause } from '../../../src/cache/origin.ts'
import type { StoredStates } from '../../../src/cache/read-your-writes.ts'
import type { ControllerCache, ControllerEnvironment } from '../../../src/controller/prepared-controller.ts'
import type { WatchedInformer } from '../../../src/controller/wait-for-sync.ts'
import type { Client } from '../../../src/client/client.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import { pino } from 'pino'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { formatKey } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

export const thing = resourceType({ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things' })
export const part = resourceType({ group: 'example.com', version: 'v1', kind: 'Part', plural: 'parts' })

export interface ObjectOverrides {
  readonly namespace?: string
  readonly uid?: string
  readonly labels?: Record<string, string>
  readonly ownerReferences?: KubernetesObject['metadata']['ownerReferences']
}

let version = 0
/** Returns a frozen object with a unique resourceVersion. */
export function objectOf(type: ResourceType, name: string, overrides: ObjectOverrides = {}): KubernetesObject {
  const { namespace = 'ns', uid = `uid-${name}`, ...rest } = overrides
  const metadata = {
    name,
    namespace,
    uid,
    resourceVersion: String(++version),
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...rest,
  } as KubernetesObject['metadata']
  return deepFreeze({ apiVersion: `${type.group}/${type.version}`, kind: type.kind, metadata })
}

type Handler = Parameters<WatchedInformer['addHandler']>[0]

export class FakeInformer implements WatchedInformer {
  readonly type: ResourceType
  readonly objects = new Map<string, KubernetesObject>()
  readonly handlers = new Set<Handler>()
  readonly #synced = Promise.withResolvers<void>()
  synced = false

  constructor(type: ResourceType) {
    this.type = type
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.synced) return
    const aborted = Promise.withResolvers<never>()
    const onAbort = (): void => aborted.reject(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
    await Promise.race([this.#synced.promise, aborted.promise]).finally(() => signal?.removeEventListener('abort', onAbort))
  }

  addHandler(handler: Handler): () => void {
    this.handlers.add(handler)
    for (const object of this.objects.values()) handler.added?.(object, true)
    return () => void this.handlers.delete(handler)
  }

  /** Marks the cache as synced. The objects in the cache are then those of the initial list. */
  sync(): void {
    this.synced = true
    this.#synced.resolve()
  }

  set(object: KubernetesObject, cause?: Cause): void {
    const key = formatKey(object.metadata)
    const old = this.objects.get(key)
    this.objects.set(key, object)
    for (const handler of this.handlers) {
      if (old === undefined) handler.added?.(object, !this.synced, cause)
      else handler.updated?.(object, old, cause)
    }
  }

  delete(key: ObjectKey): void {
    const old = this.objects.get(formatKey(key))
    this.objects.delete(formatKey(key))
    if (old !== undefined) for (const handler of this.handlers) handler.deleted?.(old)
  }
}

export class FakeCache implements ControllerCache {
  readonly informers = new Map<string, FakeInformer>()
  readonly indexes: CacheIndex[] = []
  /** The arguments of all calls of `written` and `deleted`, with the plural of the type instead of the type. */
  readonly writes: unknown[][] = []
  /** The plural of the type of each released informer lease, in the order of the releases. */
  readonly releases: string[] = []
  namespaces: readonly string[] = []

  of(type: ResourceType): FakeInformer {
    let informer = this.informers.get(type.plural)
    if (informer === undefined) this.informers.set(type.plural, (informer = new FakeInformer(type)))
    return informer
  }

  informer<R extends ResourceType>(type: R): WatchedInformer<ObjectOf<R>> {
    return this.of(type) as unknown as WatchedInformer<ObjectOf<R>>
  }

  /**
   * Returns a lease of the informer of a type. The lease has the members of an `InformerLease`, which `Cache` returns, and the members of a
   * `CacheLease`, which `LeasingCache` returns.
   */
  acquire<R extends ResourceType>(type: R) {
    const informer = this.informer(type)
    return {
      informer,
      get synced() {
        return informer.synced
      },
      whenSynced: (signal?: AbortSignal) => informer.whenSynced(signal),
      onChange: () => () => undefined,
      release: () => void this.releases.push(type.plural),
    }
  }

  addIndex(index: CacheIndex): void {
    this.indexes.push(index)
  }

  written<R extends ResourceType>(type: R, object: ObjectOf<R>): boolean {
    this.writes.push([type.plural, object])
    return true
  }

  stored(): StoredStates {
    return new Map()
  }

  deleted(type: ResourceType, key: ObjectKey, uid: string): void {
    this.writes.push([type.plural, formatKey(key), uid])
  }

  get<R extends ResourceType>(type: R, key: ObjectKey): DeepReadonly<ObjectOf<R>> | undefined {
    return this.of(type).objects.get(formatKey(key)) as DeepReadonly<ObjectOf<R>> | undefined
  }

  list<R extends ResourceType>(
    type: R,
    options: { readonly index?: readonly [CacheIndex, string] } = {},
  ): readonly DeepReadonly<ObjectOf<R>>[] {
    const objects = [...this.of(type).objects.values()]
    const { index: [index, key = ''] = [] } = options
    const found = index === undefined ? objects : objects.filter((object) => [index.keysOf(object as never)].flat().includes(key))
    return found as unknown as readonly DeepReadonly<ObjectOf<R>>[]
  }
}

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

export interface ControllerWorld {
  readonly environment: ControllerEnvironment
  readonly clock: FakeClock
  readonly cache: FakeCache
  readonly log: LogLine[]
  readonly stop: AbortController
  /** Resolves with true when the metrics contain exactly this line. */
  measured(line: string): Promise<boolean>
}

/**
 * Returns everything that a controller needs. By default, the fake client finds no object. The methods in `client` replace the methods of
 * the fake client.
 */
export function controllerWorld(client: Partial<Client> = {}): ControllerWorld {
  const clock = new FakeClock()
  const cache = new FakeCache()
  const metrics = new Metrics()
  const log: LogLine[] = []
  const logger = pino(
    { level: 'debug', base: null, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void log.push(JSON.parse(line) as LogLine) },
  )
  const environment: ControllerEnvironment = {
    client: { get: () => Promise.reject(new ApiError(failure(404, 'NotFound', 'not found'))), ...client } as Client,
    cache,
    logger,
    metrics,
    clock,
    events: { event: () => undefined },
    graceMs: 30_000,
  }
  const measured = async (line: string): Promise<boolean> => (await metrics.registry.metrics()).split('\n').includes(line)
  return { environment, clock, cache, log, stop: new AbortController(), measured }
}
