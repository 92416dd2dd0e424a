/** `CachingProcess`: a process that reads a cache and writes objects. Network faults disturb its watches and its writes. */
import { configMap } from '../../../src/api/builtin.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import type { KubernetesObject, NamespacedKey } from '../../../src/api/object.ts'
import type { Status } from '../../../src/api/status.ts'
import { Cache } from '../../../src/cache/cache.ts'
import type { OwnWrites } from '../../../src/cache/read-your-writes.ts'
import { readYourWrites } from '../../../src/cache/read-your-writes.ts'
import type { Client } from '../../../src/client/client.ts'
import { clientOver, createClient } from '../../../src/client/client.ts'
import { createTransport } from '../../../src/client/transport.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import type { ControlPlane, FaultProxy } from '../../../src/testing/index.ts'
import type { Dice } from '../dice.ts'
import { SkewedClock } from '../leader-election/skewed-clock.ts'
import { mixedFaults, playFaults } from '../unplugging/faults.ts'
import type { BrokenStreams } from './broken-streams.ts'
import { withBrokenStreams } from './broken-streams.ts'
import { Observations } from './observations.ts'
import type { ConfigMap, TestedView } from './views.ts'
import { writeOnce } from './writes.ts'

/** The factor by which the clock of the process is faster than real time. The delays after failures are therefore short. */
const speed = 8

export interface CachingProcessOptions {
  readonly controlPlane: ControlPlane
  readonly views: readonly TestedView[]
  /** The namespaces to which the cache is limited; undefined for all namespaces. */
  readonly limit: readonly string[] | undefined
  readonly dice: Dice
}

export class CachingProcess {
  readonly cache: Cache
  readonly observed: readonly Observations[]
  /** The number of writes whose response the cache has received. */
  writes = 0
  /** The number of faults of each kind between the cache and the server. */
  readonly faults: Record<string, number> = {}
  readonly #options: CachingProcessOptions
  readonly #watching: { readonly proxy: FaultProxy; readonly transport: BrokenStreams }
  readonly #writing: { readonly proxy: FaultProxy; readonly client: Client }
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  private constructor(options: CachingProcessOptions, watching: FaultProxy, writing: FaultProxy) {
    const { dice, limit, views } = options
    const clock = new SkewedClock(systemClock, { rate: speed })
    this.#options = options
    this.#watching = { proxy: watching, transport: withBrokenStreams(createTransport(watching.connection, { clock }), dice) }
    this.#writing = { proxy: writing, client: createClient(writing.connection, { clock }) }
    const client = clientOver(this.#watching.transport)
    this.cache = new Cache(client, { logger: silentLogger(), clock, ...(limit === undefined ? {} : { namespaces: limit }) })
    this.observed = views.map((view) => new Observations(view, this.cache.informer(view.type)))
    this.#running = this.cache.start(this.#stop.signal)
  }

  static async start(options: CachingProcessOptions): Promise<CachingProcess> {
    const [watching, writing] = await Promise.all([options.controlPlane.faultProxy(), options.controlPlane.faultProxy()])
    return new CachingProcess(options, watching, writing)
  }

  /** The number of watches that ended with each fault. */
  get brokenStreams(): BrokenStreams['counts'] {
    return this.#watching.transport.counts
  }

  /** Injects faults for about `ms` milliseconds. Writes are affected only by delays and broken connections. */
  async suffer(dice: Dice, ms: number): Promise<void> {
    // A short plan must contain many faults. The faults are therefore planned for a period of three times `ms`. The start time of each
    // fault is then divided by 3, so all faults begin within `ms`. The length of each fault is divided by 5.
    const plan = mixedFaults(dice.upTo(2 ** 31), (ms * 3) / 1000).map((fault) => ({
      ...fault,
      atMs: fault.atMs / 3,
      forMs: fault.forMs / 5,
    }))
    const [faults] = await Promise.all([
      playFaults(this.#watching.proxy, plan),
      playFaults(
        this.#writing.proxy,
        plan.filter(({ kind }) => kind === 'delay' || kind === 'cut'),
      ),
    ])
    for (const [kind, count] of Object.entries(faults)) this.faults[kind] = (this.faults[kind] ?? 0) + count
  }

  heal(): void {
    this.#watching.proxy.heal()
    this.#watching.transport.heal()
    this.#writing.proxy.heal()
  }

  /**
   * Makes one random write, and reads the object from each view as soon as the response has arrived.
   *
   * @param writer the key of the reconcile that writes; undefined for a write outside a reconcile.
   */
  async write(key: NamespacedKey, writer: string | undefined): Promise<void> {
    const { cache } = this
    const { dice } = this.#options
    const before = [...cache.stored(configMap, key).values()].map(({ metadata }) => metadata.uid)
    const client = readYourWrites(this.#writing.client, writer === undefined ? cache : withOrigin(cache, writer))
    const response = await writeOnce(client, key, dice, this.#read(key))
    if (response === undefined || !cache.status().every(({ synced }) => synced)) return
    this.writes += 1
    for (const observations of this.#observationsOf(key)) {
      expectFrom(observations, key, response, before)
      observations.read(key, cache.get(observations.view.type, key), 'a read after an own write')
    }
  }

  /** Compares the objects of each view with the events of the view. */
  checkLists(): void {
    for (const observations of this.observed) observations.checkList(this.cache.list(observations.view.type))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await Promise.all([this.#watching.transport.close(), this.#writing.client.close()])
    await Promise.all([this.#watching.proxy.stop(), this.#writing.proxy.stop()])
  }

  /** Returns the namespaces of a view; undefined for all namespaces. */
  namespacesOf(view: TestedView): readonly string[] | undefined {
    return view.namespaces ?? this.#options.limit
  }

  #observationsOf({ namespace }: NamespacedKey): readonly Observations[] {
    return this.observed.filter(({ view }) => this.namespacesOf(view)?.includes(namespace) ?? true)
  }

  #read(key: NamespacedKey): DeepReadonly<ConfigMap> | undefined {
    return this.#options.limit?.includes(key.namespace) === false ? undefined : this.cache.get(configMap, key)
  }
}

function withOrigin(cache: Cache, writer: string): OwnWrites {
  const origin = { controller: 'test', key: writer }
  return {
    written: (type, object, _origin, sent) => cache.written(type, object, origin, sent),
    stored: (type, key) => cache.stored(type, key),
    deleted: (type, key, uid, before) => cache.deleted(type, key, uid, before),
  }
}

/**
 * Records in `observations` the states that the view must not show any more after a write of this process:
 *
 * - If the response is an object: all older states of this object. If the write has deleted the object, all states of the object.
 * - If the response is a `Status` with a uid: all states of the object with this uid, and of the objects whose uids are in `before`.
 *
 * `before` contains the uids of the objects that the cache stored for `key` before the request.
 */
function expectFrom(observations: Observations, key: NamespacedKey, response: KubernetesObject | Status, before: readonly string[]): void {
  if (!isObjectResponse(response)) {
    const uid = response.details?.uid
    if (uid !== undefined) observations.deleted(key, [uid, ...before])
    return
  }
  const { uid, resourceVersion, deletionTimestamp, finalizers = [] } = response.metadata
  observations.wrote(key, resourceVersion)
  if (deletionTimestamp !== undefined && finalizers.length === 0) observations.deleted(key, [uid])
}

function isObjectResponse(response: KubernetesObject | Status): response is KubernetesObject {
  return response.kind !== 'Status'
}
