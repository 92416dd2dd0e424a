import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { formatKey } from '../../src/api/object.ts'
import { defineController } from '../../src/controller/builder.ts'
import type { MapFunction } from '../../src/controller/enqueue.ts'
import { ConcurrencyLimit } from '../../src/controller/concurrency-limit.ts'
import { slowest, exponentialBackoff, tokenBucket } from '../../src/controller/rate-limiter.ts'
import { runController } from '../../src/controller/run-controller.ts'
import type { ControllerSettings } from '../../src/controller/settings.ts'
import { controllerWorld, objectOf, part, thing, type ControllerWorld } from '../support/controller/fakes.ts'

const other = resourceType({ group: 'example.com', version: 'v1', kind: 'Other', plural: 'others' })

interface World extends ControllerWorld {
  /** The keys of the reconciled objects in order. */
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
  const done = runController(definition, environment, stop.signal)
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
