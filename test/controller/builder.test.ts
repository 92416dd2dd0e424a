import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { formatKey, keyOf } from '../../src/api/object.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { defineController, type ControllerSettings } from '../../src/controller/builder.ts'
import { labelSelector } from '../../src/controller/predicates.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import type { RateLimiter } from '../../src/controller/rate-limiter.ts'
import { exponentialBackoff } from '../../src/controller/rate-limiter.ts'
import type { MapFunction } from '../../src/index.ts'
import { controllerWorld, objectOf, part, thing, type ControllerWorld } from '../support/controller-fakes.ts'

interface World extends ControllerWorld {
  /** Keys in the order in which they were reconciled; `-key` for one that was gone. */
  readonly seen: string[]
  readonly done: Promise<void>
  end(): Promise<void>
}

async function start(
  settings: Partial<ControllerSettings<KubernetesObject>> = {},
  options: { type?: ResourceType; prepare?: (world: ControllerWorld) => void; synced?: boolean } = {},
): Promise<World> {
  const world = controllerWorld()
  const { cache, clock, environment, stop } = world
  const seen: string[] = []
  const definition = defineController(options.type ?? thing, {
    reconcile: async (object) => void seen.push(formatKey(object.metadata)),
    deleted: async (key) => void seen.push(`-${formatKey(key)}`),
    ...settings,
  })
  for (const type of definition.types) cache.of(type)
  options.prepare?.(world)
  const done = definition.start(environment, stop.signal)
  if (options.synced ?? true) for (const informer of cache.informers.values()) informer.sync()
  await clock.advance(0)
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  return { ...world, seen, done, end }
}

t.test('a definition says what it is called, watches and needs', async (t) => {
  const definition = defineController(thing, {
    reconcile: async () => undefined,
    owns: [part, { type: part }],
    watches: [{ type: thing, map: () => [] }],
    rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }],
  })
  t.equal(definition.name, 'thing')
  t.strictSame(definition.types, [thing, part])
  t.strictSame(definition.rbac, [
    { apiGroups: ['example.com'], resources: ['things'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['example.com'], resources: ['parts'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
  ])
  t.equal(defineController(thing, { name: 'other', reconcile: async () => undefined }).name, 'other')
})

t.test('objects are reconciled when they come, change and go', async (t) => {
  const world = await start()
  const things = world.cache.of(thing)
  const first = objectOf(thing, 'a')
  things.set(first)
  await world.clock.advance(0)
  things.set(objectOf(thing, 'a'))
  await world.clock.advance(0)
  things.delete({ namespace: 'ns', name: 'a' })
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a', 'ns/a', '-ns/a'])
  await world.end()
})

t.test('a missing object is done when nobody asks to know', async (t) => {
  const world = await start({ reconcile: async () => void t.fail('is gone'), deleted: undefined as never })
  world.cache.of(thing).set(objectOf(thing, 'a'))
  world.cache.of(thing).delete({ namespace: 'ns', name: 'a' })
  await world.clock.advance(0)
  t.ok(await world.measured('controller_runtime_reconcile_total{controller="thing",result="success"} 2'))
  await world.end()
})

t.test('what was there before waits for what happens now', async (t) => {
  const world = await start(
    {},
    {
      synced: false,
      prepare: ({ cache }) => {
        for (const name of ['old-1', 'old-2']) cache.of(thing).set(objectOf(thing, name))
      },
    },
  )
  const things = world.cache.of(thing)
  things.synced = true
  things.set(objectOf(thing, 'new'))
  things.set(objectOf(thing, 'old-2'))
  t.strictSame(world.seen, [])
  things.sync()
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/new', 'ns/old-2', 'ns/old-1'])
  await world.end()
})

t.test('workers start when every type is synced, and a missing one is named', async (t) => {
  const world = await start({ owns: [part] }, { synced: false, prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) })
  world.cache.of(thing).sync()
  await world.clock.advance(4_999)
  t.strictSame(world.log, [])
  await world.clock.advance(1)
  t.match(world.log, [
    { level: 'warn', controller: 'thing', missing: ['parts.example.com'], msg: /parts\.example\.com.*CustomResourceDefinition/ },
  ])
  await world.clock.advance(60_000)
  t.equal(world.log.length, 2)
  t.strictSame(world.seen, [])
  world.cache.of(part).sync()
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a'])
  await world.end()
  t.equal(world.clock.pending, 0)
})

t.test('a controller that waits for a type can be stopped', async (t) => {
  const world = await start({}, { synced: false })
  await world.end()
  t.equal(world.clock.pending, 0)
  t.equal(world.cache.of(thing).handlers.size, 0, 'its handlers are off')
})

t.test('an owned object asks for its controller', async (t) => {
  const owner = objectOf(thing, 'owner')
  const other = resourceType({ group: 'other.com', version: 'v1', kind: 'Thing', plural: 'things' })
  const cases: [string, KubernetesObject, string[]][] = [
    ['controlled', objectOf(part, 'p', { ownerReferences: [controllerReference(owner)] }), ['ns/owner']],
    [
      'another version',
      objectOf(part, 'p', { ownerReferences: [{ ...controllerReference(owner), apiVersion: 'example.com/v2' }] }),
      ['ns/owner'],
    ],
    ['owned, not controlled', objectOf(part, 'p', { ownerReferences: [{ ...controllerReference(owner), controller: false }] }), []],
    ['another group', objectOf(part, 'p', { ownerReferences: [controllerReference(objectOf(other, 'owner'))] }), []],
    ['a former owner of that name', objectOf(part, 'p', { ownerReferences: [{ ...controllerReference(owner), uid: 'former' }] }), []],
    ['an owner that is gone', objectOf(part, 'p', { ownerReferences: [controllerReference(objectOf(thing, 'gone'))] }), ['-ns/gone']],
    ['nobody', objectOf(part, 'p'), []],
  ]
  for (const [name, object, expected] of cases) {
    const world = await start({ owns: [part] }, { prepare: ({ cache }) => cache.of(thing).set(owner) })
    world.seen.length = 0
    world.cache.of(part).set(object)
    await world.clock.advance(0)
    t.strictSame(world.seen, expected, name)
    await world.end()
  }
})

t.test('an object that changes hands asks for both', async (t) => {
  const [a, b] = [objectOf(thing, 'a'), objectOf(thing, 'b')]
  const world = await start(
    { owns: [part] },
    {
      prepare: ({ cache }) => {
        for (const object of [a, b]) cache.of(thing).set(object)
        cache.of(part).set(objectOf(part, 'p', { ownerReferences: [controllerReference(a)] }))
      },
    },
  )
  world.seen.length = 0
  world.cache.of(part).set(objectOf(part, 'p', { ownerReferences: [controllerReference(b)] }))
  await world.clock.advance(0)
  t.strictSame(world.seen.toSorted(), ['ns/a', 'ns/b'])
  await world.end()
})

t.test('a cluster-scoped owner is asked for by name alone', async (t) => {
  const owner = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })
  const world = await start({ owns: [part] }, { type: owner })
  const reference = { apiVersion: 'example.com/v1', kind: 'Zone', name: 'z', uid: 'u', controller: true }
  world.cache.of(part).set(objectOf(part, 'p', { ownerReferences: [reference] }))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-z'])
  await world.end()
})

t.test('a map function names what to reconcile', async (t) => {
  const twice: MapFunction = ({ metadata }) => [
    { namespace: 'ns', name: `${metadata.name}-1` },
    { namespace: 'ns', name: `${metadata.name}-2` },
  ]
  const world = await start({ watches: [{ type: part, map: twice }] })
  world.cache.of(part).set(objectOf(part, 'p'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-ns/p-1', '-ns/p-2'])
  await world.end()
})

t.test('predicates narrow down what counts, each for its own type', async (t) => {
  const world = await start({
    predicates: [labelSelector('on')],
    watches: [{ type: part, map: () => [{ namespace: 'ns', name: 'mapped' }], predicates: [labelSelector('also')] }],
  })
  world.cache.of(thing).set(objectOf(thing, 'a', { labels: { on: '' } }))
  world.cache.of(thing).set(objectOf(thing, 'b', { labels: { also: '' } }))
  world.cache.of(part).set(objectOf(part, 'c', { labels: { on: '' } }))
  world.cache.of(part).set(objectOf(part, 'd', { labels: { also: '' } }))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a', '-ns/mapped'])
  await world.end()
})

t.test('a map function that throws is reported and disturbs no other event', async (t) => {
  const world = await start({
    watches: [
      {
        type: part,
        map: ({ metadata }) => {
          if (metadata.name === 'bad') throw new Error('cannot map')
          return [{ namespace: 'ns', name: metadata.name }]
        },
      },
    ],
  })
  world.cache.of(part).set(objectOf(part, 'bad'))
  world.cache.of(part).set(objectOf(part, 'good'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-ns/good'])
  t.match(
    world.log.find(({ level }) => level === 'error'),
    { controller: 'thing', object: 'ns/bad', err: { message: 'cannot map' } },
  )
  await world.end()
})

t.test('a map function may read the cache, from the first event on', async (t) => {
  const byPart = defineCacheIndex(thing, 'part', () => 'p')
  const read: unknown[] = []
  const settings: Partial<ControllerSettings<KubernetesObject>> = {
    indexes: [byPart],
    watches: [
      {
        type: part,
        map: (_, { cache }) => {
          read.push(world.cache.indexes)
          return cache.list(thing, { index: [byPart, 'p'] }).map(keyOf)
        },
      },
    ],
  }
  const world = controllerWorld()
  world.cache.of(part).set(objectOf(part, 'p'))
  const { environment, stop } = world
  const done = defineController(thing, { reconcile: async () => undefined, ...settings }).start(environment, stop.signal)
  t.strictSame(read, [[byPart]])
  t.strictSame([...world.cache.informers.keys()], ['parts', 'things'])
  stop.abort()
  await done
})

t.test('a key that a map function gives is one of the primary type, or nothing', async (t) => {
  const cluster = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })
  const key = { namespace: 'ns', name: 'x' }
  const cases: [string, ResourceType, readonly string[], ObjectKey, string[]][] = [
    ['in a namespace', thing, [], key, ['-ns/x']],
    ['in one that is watched', thing, ['ns', 'other'], key, ['-ns/x']],
    ['in one that is not: it may be there', thing, ['other'], key, []],
    ['cluster-scoped', cluster, ['other'], { name: 'x' }, ['-x']],
    ['cluster-scoped, with the namespace of what is watched', cluster, [], key, ['-x']],
  ]
  for (const [name, type, namespaces, mapped, expected] of cases) {
    const prepare = ({ cache }: ControllerWorld): void => void (cache.namespaces = namespaces)
    const world = await start({ watches: [{ type: part, map: () => [mapped] }] }, { type, prepare })
    world.cache.of(part).set(objectOf(part, 'p'))
    await world.clock.advance(0)
    t.strictSame(world.seen, expected, name)
    t.strictSame(
      world.log.filter(({ level }) => level === 'error'),
      [],
    )
    await world.end()
  }
})

t.test('a key without the namespace that objects of the type have is reported, not reconciled as one that is gone', async (t) => {
  const world = await start({ watches: [{ type: part, map: () => [{ name: 'x' }] }] })
  world.cache.of(part).set(objectOf(part, 'p'))
  await world.clock.advance(0)
  t.strictSame(world.seen, [])
  t.match(
    world.log.find(({ level }) => level === 'error'),
    {
      object: 'ns/p',
      err: {
        code: 'PRO_INPUT',
        message: 'The key of "x" has no namespace: things.example.com have one, which the map function must name.',
      },
    },
  )
  await world.end()
})

t.test('a cluster-scoped object is not owned by what has a namespace', async (t) => {
  const zone = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })
  const world = await start({ owns: [zone] })
  const { namespace: _, ...metadata } = objectOf(zone, 'z', { ownerReferences: [controllerReference(objectOf(thing, 'a'))] }).metadata
  world.cache.of(zone).set({ ...objectOf(zone, 'z'), metadata })
  await world.clock.advance(0)
  t.strictSame(world.seen, [])
  await world.end()
})

t.test('an index is of a type that the controller watches', async (t) => {
  const reconcile = async (): Promise<void> => undefined
  const [ofThings, ofParts] = [defineCacheIndex(thing, 'a', () => 'x'), defineCacheIndex(part, 'b', () => 'x')]
  defineController(thing, { reconcile, indexes: [ofThings] })
  defineController(thing, { reconcile, owns: [part], indexes: [ofThings, ofParts] })
  t.throws(() => defineController(thing, { reconcile, indexes: [ofThings, ofParts] }), {
    code: 'PRO_CONFIG_INVALID',
    message:
      /^The controller "thing" is not well defined: indexes: "b" is of parts\.example\.com, which is not followed: name it in `owns` or/,
  })
})

t.test('a rate limiter says how long an object waits after a failure, anew for each start', async (t) => {
  const limiters: RateLimiter[] = []
  const rateLimiter = (): RateLimiter => {
    const limiter = exponentialBackoff({ baseMs: 100, maxMs: 250 })
    limiters.push(limiter)
    return limiter
  }
  for (let round = 0; round < 2; round++) {
    const at: number[] = []
    const world = await start(
      {
        rateLimiter,
        reconcile: async (_, { clock }) => {
          at.push(clock.now())
          throw new Error('not yet')
        },
      },
      { prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) },
    )
    await world.clock.advance(1000)
    t.strictSame(
      at.map((time) => time - at[0]!),
      [0, 100, 300, 550, 800],
    )
    await world.end()
  }
  t.equal(limiters.length, 2)
})

t.test('after the end nothing watches any more', async (t) => {
  const world = await start({ owns: [part], workers: 4 })
  t.ok(await world.measured('controller_runtime_max_concurrent_reconciles{controller="thing"} 4'))
  await world.end()
  t.strictSame(
    [...world.cache.informers.values()].map(({ handlers }) => handlers.size),
    [0, 0],
  )
  t.equal(world.clock.pending, 0)
})
