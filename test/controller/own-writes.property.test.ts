/** Checks which changes trigger reconciles. The order of writes, responses, watch events and lists is random. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { DeepReadonly } from '../../src/api/json.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { Cache } from '../../src/cache/cache.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { EnqueueHandler } from '../../src/controller/enqueue.ts'
import type { Enqueue } from '../../src/controller/map-calls.ts'
import { WorkQueue } from '../../src/controller/queue.ts'
import type { ReconcileEnvironment } from '../../src/controller/running-reconcile.ts'
import { RunningReconciles } from '../../src/controller/running-reconciles.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { fc } from '../support/property.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const expired = new ApiError(failure(410, 'Expired', 'too old'))
const namespace = 'default'
const names = ['a', 'b', 'a-child', 'b-child'] as const

/** The reconcile that has made a change. If another client has made the change, the value is undefined. */
type By = { readonly controller: string; readonly key: string } | undefined
interface Change {
  readonly name: string
  readonly uid: string
  readonly version: number
  readonly by: By
}

function fieldOf({ controller, key }: NonNullable<By>): string {
  return `${controller}/${key}`
}

/** The API server: its objects, and the events that the watch has not sent yet. */
class Server {
  readonly objects = new Map<string, KubernetesObject>()
  readonly unsent: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubernetesObject }[] = []
  readonly changes: Change[] = []
  /** For each object name, the resourceVersion of the deletion whose response arrived last. */
  readonly deleted = new Map<string, number>()
  version = 1
  readonly #msBetweenWrites: number

  constructor(msBetweenWrites: number) {
    this.#msBetweenWrites = msBetweenWrites
  }

  /**
   * Sets a field of the object `name` to `value`. If the field already has this value, nothing changes. The writer determines the field:
   *
   * - A reconcile writes the field of its controller and its reconciled key. Each pair of a controller and a key has its own field.
   * - All other clients write the field `foreign`.
   *
   * Controllers do not share a field, because the test would then fail without a bug: a reconcile could write the value that the other
   * controller has just written. This write would change nothing, but the response would contain the change of the other controller. The
   * reconcile would then know this change, and no further reconcile would follow. The test, however, requires a further reconcile.
   */
  put(name: string, by: By, value: number): KubernetesObject {
    const before = this.objects.get(name)
    const writer = by === undefined ? 'foreign' : fieldOf(by)
    const values = (before as { data?: Record<string, number> } | undefined)?.data ?? {}
    if (before !== undefined && values[writer] === value) return structuredClone(before)
    const version = (this.version += 1)
    const next = { ...object(name, version, { uid: before?.metadata.uid ?? `uid-${version}` }), data: { ...values, [writer]: value } }
    // All controllers have the same field manager.
    const manager = by === undefined ? 'foreign' : 'proreus'
    const others = before?.metadata.managedFields?.filter((each) => each.manager !== manager) ?? []
    const time = new Date(Date.parse('2026-01-01T00:00:00Z') + version * this.#msBetweenWrites).toISOString()
    next.metadata.creationTimestamp = before?.metadata.creationTimestamp ?? time
    next.metadata.managedFields = [...others, { manager, operation: 'Update', time }]
    this.objects.set(name, next)
    this.unsent.push({ type: before === undefined ? 'ADDED' : 'MODIFIED', object: next })
    this.changes.push({ name, uid: next.metadata.uid, version, by })
    return structuredClone(next)
  }

  remove(name: string, by: By): KubernetesObject | undefined {
    const before = this.objects.get(name)
    if (before === undefined) return undefined
    this.objects.delete(name)
    const version = (this.version += 1)
    this.unsent.push({ type: 'DELETED', object: object(name, version, { uid: before.metadata.uid }) })
    this.changes.push({ name, uid: before.metadata.uid, version, by })
    return before
  }
}

/** A running reconcile of the test. */
interface Run {
  readonly key: string
  /** The field that only this reconcile writes. */
  readonly field: string
  readonly client: Client
  readonly responses: (() => void)[]
  readonly end: () => void
}

/** A controller with two workers. A change of an object or of its child, e.g. `a` and `a-child`, enqueues the object. */
class TestController {
  readonly name: string
  readonly runs: Run[] = []
  /**
   * Per reconciled key, a list with an entry for each reconcile. The entry contains the versions of the objects that the reconcile could
   * read at its start.
   */
  readonly seen = new Map<string, Map<string, number>[]>()
  readonly queue: WorkQueue<string>
  readonly #running: RunningReconciles
  readonly #server: Server
  readonly #known: (name: string) => number
  #started = 0
  /** The client of the reconcile that is being started. */
  #client: Client | undefined

  constructor(name: string, server: Server, cache: Cache, known: (name: string) => number) {
    const clock = new FakeClock()
    this.name = name
    this.#server = server
    this.#known = known
    this.queue = new WorkQueue<string>({ clock })
    const environment = { controller: name, writes: cache, clock } as unknown as ReconcileEnvironment
    const client = (): Client => this.#client!
    this.#running = new RunningReconciles(
      {
        ...environment,
        get client() {
          return client()
        },
      },
      this.queue,
    )
    const enqueue: Enqueue = (key, { priority, newest, cause }) => this.#running.changed(key, priority, newest, cause)
    const map = ({ metadata }: DeepReadonly<KubernetesObject>): ObjectKey[] => [{ namespace, name: ownerOf(metadata.name) }]
    const { logger } = recordingLogger()
    cache.informer(widget).addHandler(new EnqueueHandler({ type: widget, map, predicates: [], enqueue, clock, logger }))
  }

  get started(): number {
    return this.#started
  }

  /** Starts the reconcile of the next key. Returns false when the queue has no key. */
  async start(): Promise<boolean> {
    const none = new AbortController()
    const next = this.queue.get(none.signal)
    none.abort()
    const full = await next
    if (full === undefined) return false
    const key = full.slice(namespace.length + 1)
    this.#started += 1
    this.seen.set(key, [...(this.seen.get(key) ?? []), new Map(names.map((name) => [name, this.#known(name)]))])
    const responses: (() => void)[] = []
    const by = { controller: this.name, key }
    const delayed = <T>(result: T): Promise<T> => new Promise((resolve) => responses.push(() => resolve(result)))
    this.#client = {
      patch: (_type: unknown, { name }: ObjectKey, { data }: { data: Record<string, number> }) =>
        delayed(this.#server.put(name, by, data[fieldOf(by)]!)),
      delete: async (_type: unknown, { name }: ObjectKey) => {
        const removed = this.#server.remove(name, by)
        const { version } = this.#server
        const response = await delayed(removed === undefined ? {} : { details: { uid: removed.metadata.uid } })
        if (removed !== undefined) this.#server.deleted.set(name, version)
        return response
      },
    } as unknown as Client
    const reconcile = this.#running.start(full)
    const run: Run = {
      key,
      field: fieldOf(by),
      client: reconcile.client,
      responses,
      end: () => {
        this.runs.splice(this.runs.indexOf(run), 1)
        this.#running.end(reconcile)
        this.queue.done(full)
      },
    }
    this.runs.push(run)
    return true
  }
}

function ownerOf(name: string): string {
  return name.slice(0, 1)
}

interface World {
  readonly server: Server
  readonly cache: Cache
  readonly controllers: readonly [TestController, TestController]
  /** The uids of the objects that were in the cache at any time. */
  readonly stored: ReadonlySet<string>
  sendEvent(): Promise<void>
  relist(): Promise<void>
  /** Sends all responses and events, and reconciles until the queues are empty. */
  settle(): Promise<void>
  stop(): Promise<void>
}

async function start(msBetweenWrites: number): Promise<World> {
  const script = new ScriptedClient()
  const clock = new FakeClock()
  const server = new Server(msBetweenWrites)
  const cache = new Cache(script.client, { logger: recordingLogger().logger, clock })
  /** The store has the events of all deletions up to this version. */
  let horizon = 1
  const known = (name: string): number =>
    Number(cache.get(widget, { namespace, name })?.metadata.resourceVersion ?? Math.max(horizon, server.deleted.get(name) ?? 0))
  const stored = new Set<string>()
  cache.informer(widget).addHandler({ added: ({ metadata }) => void stored.add(metadata.uid) })
  const controllers = [new TestController('one', server, cache, known), new TestController('two', server, cache, known)] as const
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  await cache.whenSynced()
  await eventually(() => script.watches.length === 1)
  const sendEvent = async (): Promise<void> => {
    const event = server.unsent.shift()
    if (event === undefined) return
    horizon = Number(event.object.metadata.resourceVersion)
    script.lastWatch.send(event.type, structuredClone(event.object))
    await eventually(() => script.lastWatch.drained)
  }
  return {
    server,
    cache,
    controllers,
    stored,
    sendEvent,
    async relist() {
      const before = script.watches.length
      server.unsent.length = 0
      horizon = server.version
      script.answers = [
        { items: [...server.objects.values()].map((each) => structuredClone(each)), resourceVersion: String(server.version) },
      ]
      script.lastWatch.fail(expired)
      await eventually(() => script.watches.length === before + 1)
      await clock.advance(5_000)
    },
    async settle() {
      for (const controller of controllers) {
        for (const run of [...controller.runs]) {
          for (const respond of run.responses.splice(0)) respond()
          await setImmediate()
          run.end()
        }
      }
      while (server.unsent.length > 0) await sendEvent()
      for (const controller of controllers) while (await controller.start()) controller.runs.at(-1)!.end()
    },
    async stop() {
      stop.abort()
      await running
    },
  }
}

t.test('every change of another client or reconcile is followed by a reconcile of each controller that maps it', async () => {
  const step = fc.record({
    action: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('write', 'respond', 'event', 'foreign') },
      { weight: 2, arbitrary: fc.constantFrom('start', 'end') },
      { weight: 1, arbitrary: fc.constantFrom('kick', 'delete', 'foreign delete', 'relist', 'relist', 'relist') },
    ),
    controller: fc.constantFrom(0 as const, 0 as const, 1 as const),
    name: fc.constantFrom('a', 'a', 'a', 'a-child', 'b'),
    value: fc.constantFrom(1, 2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      const { server, cache, controllers, stored, sendEvent, relist, settle, stop } = await start(60_000)
      server.put('a', undefined, 0)
      await sendEvent()
      await controllers[0].start()
      for (const { action, controller, name, value } of steps) {
        const run = controllers[controller].runs.at(-1)
        if (action === 'start') await controllers[controller].start()
        else if (action === 'kick') controllers[controller].queue.add(`${namespace}/${ownerOf(name)}`)
        else if (action === 'write') void run?.client.patch(widget, { namespace, name }, { data: { [run.field]: value } })
        else if (action === 'delete') void run?.client.delete(widget, { namespace, name })
        else if (action === 'respond') run?.responses.shift()?.()
        else if (action === 'end') run?.end()
        else if (action === 'foreign') server.put(name, undefined, value)
        else if (action === 'foreign delete') server.remove(name, undefined)
        else if (action === 'event') await sendEvent()
        else await relist()
        await setImmediate()
      }
      await settle()
      const actual = cache.list(widget).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
      await stop()
      const expected = [...server.objects.values()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
      if (actual.toSorted().join() !== expected.toSorted().join())
        throw new Error(`the cache has ${actual.join()}, the server ${expected.join()}`)
      for (const { name, uid, version, by } of server.changes) {
        if (!stored.has(uid)) continue // the object was deleted while the watch was interrupted
        const key = ownerOf(name)
        for (const controller of controllers) {
          if (by?.controller === controller.name && by.key === key) continue
          if (controller.seen.get(key)?.some((seen) => seen.get(name)! >= version) === true) continue
          throw new Error(`${controller.name} was not called for ${name} ${version}`)
        }
      }
    }),
    { numRuns: 2000 },
  )
})

t.test('a controller that alone changes its objects is not called for the changes, and the other controller is', async () => {
  const step = fc.record({
    action: fc.constantFrom('kick', 'start', 'write', 'write', 'respond', 'respond', 'end', 'event', 'event'),
    name: fc.constantFrom(...names),
    value: fc.constantFrom(1, 2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { server, controllers, sendEvent, settle, stop } = await start(0)
      const [one, two] = controllers
      const kicked = new Set<string>()
      let kicks = 0
      for (const { action, name, value } of steps) {
        const key = ownerOf(name)
        const run = one.runs.find((each) => each.key === key)
        if (action === 'kick' && !kicked.has(key)) {
          kicks += 1
          kicked.add(key)
          one.queue.add(`${namespace}/${key}`)
        } else if (action === 'start') await one.start()
        else if (action === 'write') void run?.client.patch(widget, { namespace, name }, { data: { [run.field]: value } })
        else if (action === 'respond') run?.responses.shift()?.()
        else if (action === 'end' && run?.responses.length === 0) {
          await setImmediate()
          run.end()
          kicked.delete(key)
        } else if (action === 'event') await sendEvent()
        await setImmediate()
      }
      await settle()
      await stop()
      if (one.started !== kicks) throw new Error(`the controller was called ${one.started} times instead of ${kicks}`)
      for (const { name, version } of server.changes)
        if (two.seen.get(ownerOf(name))?.some((seen) => seen.get(name)! >= version) !== true)
          throw new Error(`the other controller was not called for ${name} ${version}`)
    }),
    { numRuns: 400 },
  )
})
