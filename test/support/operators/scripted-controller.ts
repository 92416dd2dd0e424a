/**
 * Runs a controller without an API server, with a fake clock. The client stores the writes of the controller in the cache of the
 * controller. The test changes the cache as the watch of an API server would.
 */
import type { Test } from 'tap'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { apiVersionOf } from '../../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import type { KubernetesObject, ObjectKey } from '../../../src/api/object.ts'
import { formatKey } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import type { CacheReader } from '../../../src/cache/cache.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ControllerDefinition } from '../../../src/controller/builder.ts'
import type { WorkQueue } from '../../../src/controller/queue.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import { mergePatch } from '../../../src/devcluster/patch/merge-patch.ts'
import type { FakeClock } from '../../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { controllerWorld, FakeCache } from '../controller/fakes.ts'

type Verb = 'create' | 'apply' | 'delete' | 'patchStatus'

/** Namespaces, label selectors and views have the same effect on reads as in the real cache. */
class ReadableCache extends FakeCache {
  override get: CacheReader['get'] = (type, key) => this.#reader.get(type, key)
  override list: CacheReader['list'] = (type, options) => this.#reader.list(type, options)

  get #reader(): CacheReader {
    const cached = [...this.informers.values()].flatMap(({ objects }) => [...objects.values()])
    return reconcileContext({ client: {} as Client, cached: cached as never }).cache
  }
}

export interface ScriptedController {
  readonly clock: FakeClock
  /** The errors with which the API server refuses all requests of a verb, keyed by verb. */
  readonly errors: Partial<Record<Verb, Error>>
  /** Changes an object in the cache, as another client would. Waits until the controller has nothing more to do. */
  put<T extends object>(type: ResourceType, object: T): Promise<void>
  remove(type: ResourceType, key: ObjectKey): Promise<void>
  get(type: ResourceType, key: ObjectKey): KubernetesObject | undefined
  /** Advances the clock. */
  advance(ms: number): Promise<void>
  /** The requests since the last call of this method: verb, plural and key, and the options of a deletion. */
  requests(): readonly string[]
  /** The Events since the last call of this method. */
  events(): readonly string[]
  /** The errors with which reconciles have failed since the last call of this method. */
  failures(): readonly string[]
  /**
   * The delay in milliseconds before the next reconcile; undefined when no reconcile is scheduled. This method is for tests with a single
   * object.
   */
  retryMs(): number | undefined
}

/** Returns the error with which an API server refuses a request. */
export function refusal(code: number, reason: string, message = 'no', causes: readonly object[] = []): ApiError {
  return new ApiError({ ...failure(code, reason, message), details: { causes: [...causes] } } as never)
}

/** Starts the controller with an empty cache. It stops when the test ends. */
export async function scriptedController(t: Pick<Test, 'teardown'>, definition: ControllerDefinition): Promise<ScriptedController> {
  const errors: ScriptedController['errors'] = {}
  let [requests, events]: [string[], string[]] = [[], []]
  const cache = new ReadableCache()
  const world = controllerWorld()
  let version = 0

  function store(type: ResourceType, object: object): KubernetesObject {
    const { metadata, ...rest } = object as { readonly metadata: { readonly name: string; readonly uid?: string } }
    const stored = {
      ...rest,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { ...metadata, uid: metadata.uid ?? `uid-${metadata.name}`, resourceVersion: String(++version) },
    }
    const frozen = deepFreeze(structuredClone(stored)) as unknown as KubernetesObject
    cache.of(type).set(frozen, 'unknown')
    return frozen
  }
  const live = (type: ResourceType, key: ObjectKey) => cache.of(type).objects.get(formatKey(key))
  function request(verb: Verb, type: ResourceType, key: ObjectKey, details = ''): void {
    requests.push(`${verb} ${type.plural} ${formatKey(key)} ${details}`.trim())
    const error = errors[verb]
    if (error !== undefined) throw error
  }
  const client = {
    create: async (type: ResourceType, object: KubernetesObject) => {
      request('create', type, object.metadata)
      if (live(type, object.metadata) !== undefined) throw refusal(409, 'AlreadyExists')
      return store(type, object)
    },
    apply: async (type: ResourceType, object: KubernetesObject) => {
      request('apply', type, object.metadata)
      return store(type, mergePatch(live(type, object.metadata) as JsonObject | undefined, object as unknown as JsonObject) as never)
    },
    delete: async (type: ResourceType, key: ObjectKey, { signal: _signal, ...options }: { signal?: unknown }) => {
      request('delete', type, key, JSON.stringify(options))
      cache.of(type).delete(key)
    },
    patchStatus: async (type: ResourceType, key: ObjectKey, patch: JsonObject) => {
      request('patchStatus', type, key)
      return store(type, mergePatch(live(type, key) as unknown as JsonObject, patch) as never)
    },
  } as unknown as Client

  let queue: Pick<WorkQueue<string>, 'entries' | 'size'> | undefined
  const environment = {
    ...world.environment,
    cache,
    client: { ...world.environment.client, ...client },
    events: {
      event: (_object: unknown, type: string, reason: string, message: string) => void events.push(`${type} ${reason}: ${message}`),
    },
    onQueue: (_name: string, started: Pick<WorkQueue<string>, 'entries' | 'size'>) => void (queue = started),
  }
  const running = runController(definition, environment, world.stop.signal)
  t.teardown(async () => {
    world.stop.abort()
    await running
  })
  for (const informer of cache.informers.values()) informer.sync()

  /** Waits until no key is ready and no reconcile runs. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 1000; turn++) {
      await world.clock.advance(0)
      if (turn > 1 && queue!.entries(100).every(({ state }) => state === 'delayed')) return
    }
    throw new Error(`the controller does not come to rest: ${JSON.stringify(requests.slice(-5))}`)
  }
  await settle()
  return {
    clock: world.clock,
    errors,
    get: live,
    async put(type, object) {
      store(type, object)
      await settle()
    },
    async remove(type, key) {
      cache.of(type).delete(key)
      await settle()
    },
    async advance(ms) {
      await world.clock.advance(ms)
      await settle()
    },
    requests() {
      const found = requests
      requests = []
      return found
    },
    events() {
      const found = events
      events = []
      return found
    },
    failures() {
      const found = world.log
        .filter(({ level }) => level === 'error')
        .map(({ err, msg }) => String((err as Error | undefined)?.message ?? msg))
      world.log.length = 0
      return found
    },
    retryMs: () => queue!.entries(100).map(({ seconds }) => seconds * 1000)[0],
  }
}
