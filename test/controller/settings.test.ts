import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { formatKey, keyOf } from '../../src/api/object.ts'
import { defineController } from '../../src/controller/builder.ts'
import type { MapFunction } from '../../src/controller/enqueue.ts'
import { ConcurrencyLimit } from '../../src/controller/concurrency-limit.ts'
import * as predicates from '../../src/controller/predicates.ts'
import { slowest, exponentialBackoff, tokenBucket } from '../../src/controller/rate-limiter.ts'
import { runController } from '../../src/controller/run-controller.ts'
import type { ControllerSettings } from '../../src/controller/settings.ts'
import * as source from '../../src/controller/source.ts'
import { controllerWorld, objectOf, part, thing, type ControllerWorld } from '../support/controller/fakes.ts'

const other = resourceType({ group: 'example.com', version: 'v1', kind: 'Other', plural: 'others' })

interface World extends ControllerWorld {
  /** The keys of the reconciled objects, in the order of the reconciles. */
  readonly seen: string[]
  end(): Promise<void>
}

async function start(settings: Partial<ControllerSettings<KubernetesObject>>, owners: readonly string[] = []): Promise<World> {
  const world = controllerWorld()
  const { cache, clock, environment, stop } = world
  const seen: string[] = []
  for (const name of owners) cache.of(thing).set(objectOf(thing, name))
  const definition = defineController(thing, {
    reconcile: async (object) => void seen.push(formatKey(object.metadata)),
    deleted: async (key) => void seen.push(`-${formatKey(key)}`),
    ...settings,
  })
  for (const type of definition.types) cache.of(type)
  const done = runController(definition, { ...environment, random: () => 0.5 }, stop.signal)
  for (const informer of cache.informers.values()) informer.sync()
  await clock.advance(0)
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  return { ...world, seen, end }
}

const reference = (type: ResourceType, name: string, controller: boolean) => ({
  apiVersion: `${type.group}/${type.version}`,
  kind: type.kind,
  name,
  uid: `uid-${name}`,
  controller,
})

t.test('everyOwner enqueues all owners of a dependent, not only its controller', async (t) => {
  const ownerReferences = [reference(thing, 'controlling', true), reference(other, 'other', false), reference(thing, 'second', false)]
  for (const [owns, expected] of [
    [part, ['ns/controlling']],
    [{ type: part, everyOwner: false }, ['ns/controlling']],
    [{ type: part, everyOwner: true }, ['ns/controlling', 'ns/second']],
  ] as const) {
    const world = await start({ owns: [owns] }, ['controlling', 'second', 'unrelated'])
    world.seen.length = 0
    world.cache.of(part).set(objectOf(part, 'dependent', { ownerReferences }))
    await world.clock.advance(0)
    t.strictSame(world.seen, expected)
    await world.end()
  }
})

t.test('the event filter is evaluated before the predicates of each type', async (t) => {
  const calls: string[] = []
  const world = await start(
    {
      eventFilter: ({ object }) => object.metadata.name !== 'ignored',
      predicates: [({ object }) => (calls.push(object.metadata.name), object.metadata.name !== 'b')],
      owns: [{ type: part, predicates: [({ object }) => (calls.push(object.metadata.name), true)] }],
      watches: [{ type: other, map: ({ metadata: { namespace, name } }) => [{ namespace, name: `mapped-${name}` }] }],
    },
    ['owner'],
  )
  world.seen.length = 0
  calls.length = 0
  for (const name of ['a', 'b', 'ignored']) world.cache.of(thing).set(objectOf(thing, name))
  for (const name of ['ignored', 'c']) {
    world.cache.of(part).set(objectOf(part, name, { ownerReferences: [reference(thing, 'owner', true)] }))
    world.cache.of(other).set(objectOf(other, name))
  }
  world.cache.of(thing).delete({ namespace: 'ns', name: 'ignored' })
  await world.clock.advance(0)
  t.strictSame(calls, ['a', 'b', 'c'])
  t.strictSame(world.seen, ['ns/a', 'ns/owner', '-ns/mapped-c'])
  await world.end()
})

t.test('a rate limiter gets the clock of the process', async (t) => {
  const at: number[] = []
  const world = await start({
    rateLimiter: ({ clock }) => slowest(exponentialBackoff(), tokenBucket({ perSecond: 1, burst: 1, clock })),
    reconcile: async (_, { clock }) => {
      at.push(clock.now())
      throw new Error('not yet')
    },
  })
  const started = world.clock.now()
  for (const name of ['a', 'b']) world.cache.of(thing).set(objectOf(thing, name))
  await world.clock.advance(3500)
  t.strictSame(
    at.map((time) => time - started),
    [0, 0, 5, 1000, 2000, 3000],
  )
  await world.end()
})

t.test('controllers share the limit of concurrent reconciles of their process', async (t) => {
  const { cache, clock, environment, stop } = controllerWorld()
  const limit = new ConcurrencyLimit(3)
  let [running, most, total] = [0, 0, 0]
  const reconcile = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => clock.after(100, resolve))
    running--
    total++
  }
  const definitions = [thing, part].map((type) => defineController(type, { workers: 2, reconcile }))
  for (const type of [thing, part]) for (const name of ['a', 'b', 'c']) cache.of(type).set(objectOf(type, name))
  const done = definitions.map((definition) => runController(definition, { ...environment, limit }, stop.signal))
  for (const informer of cache.informers.values()) informer.sync()
  await clock.advance(150)
  t.equal(running, 3)
  await clock.advance(1000)
  t.strictSame([most, total], [3, 6])
  stop.abort()
  await Promise.all(done)
})

t.test('an asynchronous map function enqueues keys later, and a stop waits for its calls', async (t) => {
  const calls: { resolve(keys: readonly ObjectKey[]): void; signal: AbortSignal }[] = []
  const map: MapFunction = (_, { signal }) => new Promise((resolve) => calls.push({ resolve, signal }))
  const world = await start({ watches: [{ type: part, map }] }, ['a'])
  world.seen.length = 0
  for (const name of ['first', 'second']) world.cache.of(part).set(objectOf(part, name))
  calls[1]!.resolve([{ namespace: 'ns', name: 'a' }])
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a'])
  let ended = false
  const end = world.end().then(() => (ended = true))
  await world.clock.advance(0)
  t.strictSame([calls[0]!.signal.aborted, ended], [true, false])
  calls[0]!.resolve([])
  await end
})

t.test('a resync reconciles all objects of the primary type that the predicates accept, with a low priority', async (t) => {
  for (const [settings, periodMs] of [
    [{}, 36_000_000],
    [{ resyncPeriodMs: 600_000 }, 600_000],
  ] as const) {
    const names: string[] = []
    const world = await start(
      {
        ...settings,
        predicates: [predicates.generationChanged, ({ object }) => object.metadata.name !== 'ignored'],
        owns: [part],
        reconcile: async (object, { clock }) => {
          names.push(object.metadata.name)
          if (object.metadata.name === 'busy') await new Promise<void>((resolve) => clock.after(5, resolve))
        },
      },
      ['a', 'b', 'ignored', 'owner'],
    )
    world.cache.of(part).set(objectOf(part, 'dependent', { ownerReferences: [reference(thing, 'gone', true)] }))
    await world.clock.advance(periodMs - 1)
    t.strictSame([names.splice(0).sort(), world.seen.splice(0)], [['a', 'b', 'owner'], ['-ns/gone']])
    world.cache.of(thing).set(objectOf(thing, 'busy'))
    await world.clock.advance(1)
    world.cache.of(thing).set(objectOf(thing, 'urgent'))
    await world.clock.advance(100)
    t.strictSame(names, ['busy', 'urgent', 'a', 'b', 'owner', 'busy'])
    t.strictSame(world.seen, [], 'dependents are not mapped again')
    await world.end()
    t.equal(world.clock.pending, 0)
  }
})

t.test('with a resync period of 0 there is no resync', async (t) => {
  const world = await start({ resyncPeriodMs: 0 }, ['a'])
  t.equal(world.clock.pending, 0)
  await world.end()
})

t.test('sources enqueue keys while the controller works', async (t) => {
  const signals: AbortSignal[] = []
  let running = Promise.resolve()
  const { cache, clock, environment, stop } = controllerWorld()
  const seen: string[] = []
  const definition = defineController(thing, {
    sources: [
      source.interval(1000, ({ cache: read, signal }) => {
        signals.push(signal)
        return read.list(thing).map(keyOf)
      }),
    ],
    reconcile: async (object) => {
      seen.push(formatKey(object.metadata))
      await running
    },
  })
  cache.of(thing).set(objectOf(thing, 'a'))
  const terms = [new AbortController(), new AbortController()]
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const began = [first.promise, second.promise]
  let index = 0
  const term = async (signal: AbortSignal): Promise<{ lost: AbortSignal }> => {
    await Promise.race([began[index], new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))])
    return { lost: terms[index++]!.signal }
  }
  const done = runController(definition, environment, stop.signal, { term })
  cache.of(thing).sync()
  await clock.advance(2500)
  t.equal(signals.length, 0, 'a replica that stands by runs no sources')
  first.resolve()
  await clock.advance(2500)
  t.equal(signals.length, 2)
  t.equal(seen.length, 3)
  terms[0]!.abort()
  await clock.advance(10_000)
  t.strictSame([signals.length, signals[0]!.aborted], [2, true])
  second.resolve()
  await clock.advance(1500)
  t.equal(signals.length, 3)
  const reconcile = Promise.withResolvers<void>()
  running = reconcile.promise
  await clock.advance(1000)
  stop.abort(new Error('stop'))
  t.equal(signals[2]!.aborted, true, 'also while a reconcile is still running')
  reconcile.resolve()
  await done
})

t.test('sources and resyncs end when a worker fails', async (t) => {
  const { cache, clock, environment, stop } = controllerWorld()
  const definition = defineController(thing, {
    sources: [source.interval(1000, [])],
    reconcile: async () => {
      throw new Error('broken')
    },
  })
  const broken = (): never => {
    throw new Error('no disk space')
  }
  const logger = {
    ...environment.logger,
    error: broken,
    info: () => undefined,
    child: () => logger,
  } as unknown as typeof environment.logger
  const done = runController(definition, { ...environment, logger }, stop.signal)
  cache.of(thing).sync()
  cache.of(thing).set(objectOf(thing, 'a'))
  await t.rejects(done, { message: 'no disk space' })
  t.equal(clock.pending, 0)
})
