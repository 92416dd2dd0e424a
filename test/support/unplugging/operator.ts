/**
 * The operator of the unplugging test. Its two informers and two controllers reach the API server through a fault proxy, and record their
 * events and reconciles.
 */
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { configMap } from '../../../src/api/builtin.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { ObjectOf, ResourceType } from '../../../src/api/group-version-kind.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import { defineKind } from '../../../src/api/kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { formatKey } from '../../../src/api/object.ts'
import { Type } from '../../../src/api/type.ts'
import { Cache } from '../../../src/cache/cache.ts'
import { createClient } from '../../../src/client/client.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import { defineController } from '../../../src/controller/builder.ts'
import type { ReconcileContext } from '../../../src/controller/reconciler.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import type { FaultProxy } from '../../../src/testing/index.ts'

export const gadget = defineKind({
  group: 'unplugging.example.com',
  kind: 'Gadget',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ value: Type.Integer() }),
      status: Type.Object({ seen: Type.Integer() }),
    },
  ],
})

export const types = [gadget, configMap] as const

const workers = 4

export interface UnpluggedOperator {
  readonly proxy: FaultProxy
  /**
   * Compares the informers' stores and the latest reconciles with the objects in the API server (`truth`). Returns a line for each
   * difference.
   */
  differences(truth: ReadonlyMap<ResourceType, readonly KubernetesObject[]>): string[]
  /** Descriptions of events that contradict earlier events, e.g. two `added` events of an object without a `deleted` event between them. */
  readonly contradictions: readonly string[]
  /** The number of watches that the client closed because they were silent for too long. */
  readonly silences: number
  /** The last lines of the log. */
  readonly lastLines: readonly string[]
  readonly reconciles: number
  /** False when the cache or a controller has ended without being stopped. */
  readonly alive: boolean
  stop(): Promise<void>
}

/** The recorded events and reconciles of one type. */
interface Ledger {
  /** The objects that exist according to the informer's events. */
  readonly announced: Map<string, DeepReadonly<KubernetesObject>>
  /**
   * The state of each object in its last completed reconcile, by key:
   *
   * - If the object did not exist: `gone`.
   * - If the reconcile has written the status of the object, and the response to this write contains the same `spec.value` that the
   *   reconcile received: the resourceVersion in the response.
   * - Otherwise: the resourceVersion of the object that the reconcile received.
   */
  readonly reconciled: Map<string, string>
}

const gone = 'gone'

export async function startUnpluggedOperator(proxy: FaultProxy, namespace: string): Promise<UnpluggedOperator> {
  const stop = new AbortController()
  const contradictions: string[] = []
  const lastLines: string[] = []
  let [silences, reconciles, running, alive] = [0, 0, 0, true]
  const logger = pino(
    { level: 'info', base: null, timestamp: false },
    {
      write(line: string) {
        if (line.includes('its connection is dead')) silences += 1
        lastLines.push(line)
        if (lastLines.length > 20) lastLines.shift()
      },
    },
  )
  const client = createClient(proxy.connection)
  const cache = new Cache(client, { logger, namespaces: [namespace] })
  const ledgers = new Map<ResourceType, Ledger>(types.map((type) => [type, recordEvents(cache, type, contradictions)]))

  /** Defines a controller that records its reconciles. In each reconcile, `act` sends a request through the fault proxy. */
  const recordingController = <R extends ResourceType>(
    type: R,
    act: (object: DeepReadonly<ObjectOf<R>>, context: ReconcileContext) => Promise<string | undefined>,
  ) => {
    const { reconciled } = ledgers.get(type)!
    const counted = async (key: string, state: string, work: () => Promise<string | undefined>): Promise<undefined> => {
      running += 1
      try {
        reconciled.set(key, (await work()) ?? state)
        reconciles += 1
      } finally {
        running -= 1
      }
    }
    return defineController(type, {
      workers,
      reconcile: (object, context) => {
        const { metadata } = object as DeepReadonly<KubernetesObject>
        return counted(formatKey(metadata), metadata.resourceVersion, () => act(object, context))
      },
      deleted: (key) => counted(formatKey(key), gone, () => Promise.resolve(undefined)),
    })
  }
  const controllers = [
    recordingController(gadget, async ({ metadata, spec, status }, context) => {
      if (status?.seen === spec.value) return undefined
      const written = await context.client.patchStatus(gadget, metadata, { status: { seen: spec.value } })
      return written.spec.value === spec.value ? written.metadata.resourceVersion : undefined
    }),
    recordingController(configMap, async ({ metadata }, context) => {
      await context.client.list(configMap, { namespace, fieldSelector: `metadata.name=${metadata.name}` })
      return undefined
    }),
  ]
  const environment = { client, cache, logger, metrics: new Metrics(), clock: systemClock, events: { event: () => undefined }, graceMs: 0 }
  const stopped = Promise.all([
    cache.start(stop.signal),
    ...controllers.map((each) => runController(each, environment, stop.signal)),
  ]).finally(() => (alive = false))
  stopped.catch((error: unknown) => contradictions.push(`the cache or a controller failed: ${String(error)}`))
  await cache.whenSynced()

  return {
    proxy,
    contradictions,
    lastLines,
    get silences() {
      return silences
    },
    get reconciles() {
      return reconciles
    },
    get alive() {
      return alive
    },
    differences(truth) {
      const found = [...truth].flatMap(([type, objects]) => differencesOf(cache, type, ledgers.get(type)!, objects))
      return running === 0 ? found : [...found, `${running} reconciles still run`]
    },
    async stop() {
      stop.abort()
      await Promise.allSettled([stopped])
      await client.close()
      await proxy.stop()
    },
  }
}

function recordEvents(cache: Cache, type: ResourceType, contradictions: string[]): Ledger {
  const ledger: Ledger = { announced: new Map(), reconciled: new Map() }
  const { announced } = ledger
  cache.informer<ResourceType>(type).addHandler({
    added(object) {
      const key = formatKey(object.metadata)
      if (announced.has(key)) contradictions.push(`${type.kind} ${key} was added twice`)
      announced.set(key, object)
    },
    updated(object, old) {
      const key = formatKey(object.metadata)
      if (announced.get(key) !== old) contradictions.push(`${type.kind} ${key} was updated from an object that no event had announced`)
      if (object.metadata.uid !== old.metadata.uid) contradictions.push(`${type.kind} ${key} became another object`)
      announced.set(key, object)
    },
    deleted(object) {
      const key = formatKey(object.metadata)
      if (!announced.delete(key)) contradictions.push(`${type.kind} ${key} was deleted without having been added`)
    },
  })
  return ledger
}

function differencesOf(
  cache: Cache,
  type: ResourceType,
  { announced, reconciled }: Ledger,
  objects: readonly KubernetesObject[],
): string[] {
  const found: string[] = []
  const name = (key: string): string => `${type.kind} ${key}`
  const truth = new Map(objects.map((object) => [formatKey(object.metadata), object]))
  const stored = new Map(cache.list<ResourceType>(type).map((object) => [formatKey(object.metadata), object]))
  for (const [key, object] of truth) {
    const { managedFields: _, ...metadata } = object.metadata
    // In lists of a real API server, the items have no apiVersion and kind.
    const { apiVersion: _version, kind: _kind, ...live } = { ...object, metadata }
    const { apiVersion: _cachedVersion, kind: _cachedKind, ...known } = stored.get(key) ?? {}
    if (!isDeepStrictEqual(known, live)) found.push(`${name(key)} in the store is stale or missing`)
    if (reconciled.get(key) !== metadata.resourceVersion) found.push(`${name(key)} was not reconciled in its latest version`)
  }
  for (const key of stored.keys()) if (!truth.has(key)) found.push(`${name(key)} is in the store after its deletion`)
  // Deletions are checked only for objects that were reconciled at least once. If an object is created and deleted during a fault, the
  // operator possibly never sees the object.
  for (const [key, state] of reconciled)
    if (!truth.has(key) && state !== gone) found.push(`${name(key)} was deleted without a reconcile of that`)
  if (announced.size !== stored.size || [...announced].some(([key, object]) => stored.get(key) !== object))
    found.push(`the events about ${type.plural} do not match the store`)
  return found
}
