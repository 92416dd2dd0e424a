/** What is under test when the network fails: two informers and two controllers behind a proxy, and what they believe. */
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { configMap } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/api/clock.ts'
import type { ObjectOf, ResourceType } from '../../src/api/group-version-kind.ts'
import type { DeepReadonly } from '../../src/api/json.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { formatKey } from '../../src/api/object.ts'
import { Type } from '../../src/api/type.ts'
import { Cache } from '../../src/cache/cache.ts'
import { createClient } from '../../src/client/client.ts'
import { defineController } from '../../src/controller/builder.ts'
import type { ReconcileContext } from '../../src/controller/reconciler.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import type { FaultProxy } from '../../src/testing/index.ts'

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
  /** What it is wrong about, given what the API server has; empty when it knows and has done everything. */
  differences(truth: ReadonlyMap<ResourceType, readonly KubernetesObject[]>): string[]
  /** Events that contradict what was told before. */
  readonly contradictions: readonly string[]
  /** How often a watch was given up because nothing came any more. */
  readonly silences: number
  /** The last things that it had to say. */
  readonly lastWords: readonly string[]
  readonly reconciles: number
  /** False when the cache or a controller has ended by itself. */
  readonly alive: boolean
  stop(): Promise<void>
}

/** What is known of one type, besides what the informer's store says. */
interface Ledger {
  /** The informer's store, as its events tell it. */
  readonly told: Map<string, DeepReadonly<KubernetesObject>>
  /** The resourceVersion that was last reconciled to the end, or that the object is gone. */
  readonly reconciled: Map<string, string>
}

const gone = 'gone'

export async function startUnpluggedOperator(proxy: FaultProxy, namespace: string): Promise<UnpluggedOperator> {
  const stop = new AbortController()
  const contradictions: string[] = []
  const lastWords: string[] = []
  let [silences, reconciles, running, alive] = [0, 0, 0, true]
  const logger = pino(
    { level: 'info', base: null, timestamp: false },
    {
      write(line: string) {
        if (line.includes('its connection is dead')) silences += 1
        lastWords.push(line)
        if (lastWords.length > 20) lastWords.shift()
      },
    },
  )
  const client = createClient(proxy.connection)
  const cache = new Cache(client, { logger, namespaces: [namespace] })
  const ledgers = new Map<ResourceType, Ledger>(types.map((type) => [type, follow(cache, type, contradictions)]))

  /** A controller that keeps book, and asks or writes through the bad network with each object. */
  const booked = <R extends ResourceType>(
    type: R,
    act: (object: DeepReadonly<ObjectOf<R>>, context: ReconcileContext) => Promise<unknown>,
  ) => {
    const { reconciled } = ledgers.get(type)!
    const counted = async (key: string, state: string, work: () => Promise<unknown>): Promise<undefined> => {
      running += 1
      try {
        await work()
        reconciled.set(key, state)
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
      deleted: (key) => counted(formatKey(key), gone, () => Promise.resolve()),
    })
  }
  const controllers = [
    booked(gadget, async ({ metadata, spec, status }, context) => {
      if (status?.seen !== spec.value) await context.client.patchStatus(gadget, metadata, { status: { seen: spec.value } })
    }),
    booked(configMap, ({ metadata }, context) =>
      context.client.list(configMap, { namespace, fieldSelector: `metadata.name=${metadata.name}` }),
    ),
  ]
  const environment = { client, cache, logger, metrics: new Metrics(), clock: systemClock, events: { event: () => undefined }, graceMs: 0 }
  const ended = Promise.all([cache.start(stop.signal), ...controllers.map((each) => each.start(environment, stop.signal))]).finally(
    () => (alive = false),
  )
  ended.catch((error: unknown) => contradictions.push(`it ended: ${String(error)}`))
  await cache.whenSynced()

  return {
    proxy,
    contradictions,
    lastWords,
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
      await Promise.allSettled([ended])
      await client.close()
      await proxy.stop()
    },
  }
}

function follow(cache: Cache, type: ResourceType, contradictions: string[]): Ledger {
  const ledger: Ledger = { told: new Map(), reconciled: new Map() }
  const { told } = ledger
  cache.informer<ResourceType>(type).addHandler({
    added(object) {
      const key = formatKey(object.metadata)
      if (told.has(key)) contradictions.push(`${type.kind} ${key} was added twice`)
      told.set(key, object)
    },
    updated(object, old) {
      const key = formatKey(object.metadata)
      if (told.get(key) !== old) contradictions.push(`${type.kind} ${key} was updated from what was not told before`)
      if (object.metadata.uid !== old.metadata.uid) contradictions.push(`${type.kind} ${key} became another object`)
      told.set(key, object)
    },
    deleted(object) {
      const key = formatKey(object.metadata)
      if (!told.delete(key)) contradictions.push(`${type.kind} ${key} was deleted and had not been there`)
    },
  })
  return ledger
}

function differencesOf(cache: Cache, type: ResourceType, { told, reconciled }: Ledger, objects: readonly KubernetesObject[]): string[] {
  const found: string[] = []
  const name = (key: string): string => `${type.kind} ${key}`
  const truth = new Map(objects.map((object) => [formatKey(object.metadata), object]))
  const stored = new Map(cache.list<ResourceType>(type).map((object) => [formatKey(object.metadata), object]))
  for (const [key, object] of truth) {
    const { managedFields: _, ...metadata } = object.metadata
    // Items of a list come without apiVersion and kind from a real API server.
    const { apiVersion: _version, kind: _kind, ...live } = { ...object, metadata }
    const { apiVersion: _cachedVersion, kind: _cachedKind, ...known } = stored.get(key) ?? {}
    if (!isDeepStrictEqual(known, live)) found.push(`${name(key)} is not in the store as it is`)
    if (reconciled.get(key) !== metadata.resourceVersion) found.push(`${name(key)} was not reconciled as it is`)
  }
  for (const key of stored.keys()) if (!truth.has(key)) found.push(`${name(key)} is in the store and does not exist`)
  // What came and went while nobody could see it need not be known.
  for (const [key, state] of reconciled) if (!truth.has(key) && state !== gone) found.push(`${name(key)} is gone, which was not reconciled`)
  if (told.size !== stored.size || [...told].some(([key, object]) => stored.get(key) !== object))
    found.push(`the events about ${type.plural} do not add up to the store`)
  return found
}
