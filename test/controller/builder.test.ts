import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { formatKey, keyOf } from '../../src/api/object.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { runController } from '../../src/controller/run-controller.ts'
import { defineController } from '../../src/controller/builder.ts'
import { type ControllerSettings } from '../../src/controller/settings.ts'
import { labelSelector } from '../../src/controller/predicates.ts'
import * as source from '../../src/controller/source.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import type { RateLimiter } from '../../src/controller/rate-limiter.ts'
import { exponentialBackoff } from '../../src/controller/rate-limiter.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { TerminalError } from '../../src/controller/reconciler.ts'
import type { LogContext } from '../../src/telemetry/log-context.ts'
import { logContext } from '../../src/telemetry/log-context.ts'
import type { MapFunction } from '../../src/index.ts'
import { controllerWorld, objectOf, part, thing, type ControllerWorld } from '../support/controller/fakes.ts'

const other = resourceType({ group: 'example.com', version: 'v1', kind: 'Other', plural: 'others' })

interface World extends ControllerWorld {
  /** The keys of the objects, in the order of their reconciles. The entry for a deleted object is `-KEY`. */
  readonly seen: string[]
  readonly done: Promise<void>
  end(): Promise<void>
}

async function start(
  settings: Partial<ControllerSettings<KubernetesObject>> = {},
  options: { type?: ResourceType; prepare?: (world: ControllerWorld) => void; synced?: boolean; client?: Partial<Client> } = {},
): Promise<World> {
  const world = controllerWorld(options.client)
  const { cache, clock, environment, stop } = world
  const seen: string[] = []
  const definition = defineController(options.type ?? thing, {
    reconcile: async (object) => void seen.push(formatKey(object.metadata)),
    deleted: async (key) => void seen.push(`-${formatKey(key)}`),
    resyncPeriodMs: 0,
    ...settings,
  })
  for (const type of definition.types) cache.of(type)
  options.prepare?.(world)
  const done = runController(definition, environment, stop.signal)
  if (options.synced ?? true) for (const informer of cache.informers.values()) informer.sync()
  await clock.advance(0)
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  return { ...world, seen, done, end }
}

t.test('a definition has its name, its watches and its RBAC rules', async (t) => {
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

t.test('objects are reconciled when they are added, updated and deleted', async (t) => {
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

t.test('the deletion of an object without a deleted handler is a success', async (t) => {
  const world = await start({ reconcile: async () => void t.fail('is gone'), deleted: undefined as never })
  world.cache.of(thing).set(objectOf(thing, 'a'))
  world.cache.of(thing).delete({ namespace: 'ns', name: 'a' })
  await world.clock.advance(0)
  t.ok(await world.measured('controller_runtime_reconcile_total{controller="thing",result="success"} 2'))
  await world.end()
})

t.test('existing objects are reconciled after new events, unless they have changed', async (t) => {
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
  t.strictSame(world.seen, ['ns/old-2', 'ns/new', 'ns/old-1'])
  await world.end()
})

t.test('workers start when every type has synced, and a missing type is logged', async (t) => {
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
  t.equal(world.cache.of(thing).handlers.size, 0, 'its handlers are removed')
})

t.test('an owned object enqueues its controller', async (t) => {
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
    [
      'a former owner of that name',
      objectOf(part, 'p', { ownerReferences: [{ ...controllerReference(owner), uid: 'former' }] }),
      ['ns/owner'],
    ],
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

t.test('a recreated owner is reconciled when a child of the former one is deleted', async (t) => {
  const former = objectOf(thing, 'a', { uid: 'former' })
  const world = await start(
    { owns: [part] },
    {
      prepare: ({ cache }) => {
        cache.of(thing).set(former)
        cache.of(part).set(objectOf(part, 'p', { ownerReferences: [controllerReference(former)] }))
      },
    },
  )
  world.cache.of(thing).delete({ namespace: 'ns', name: 'a' })
  world.cache.of(thing).set(objectOf(thing, 'a', { uid: 'present' }))
  await world.clock.advance(0)
  world.seen.length = 0
  world.cache.of(part).delete({ namespace: 'ns', name: 'p' })
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a'])
  await world.end()
})

t.test('an object that is not in the cache yet is not treated as deleted', async (t) => {
  const owner = objectOf(thing, 'a')
  const requests: string[] = []
  const client: Partial<Client> = {
    get: ((_: ResourceType, key: ObjectKey) => {
      requests.push(formatKey(key))
      return Promise.resolve(owner)
    }) as Client['get'],
  }
  const world = await start({ owns: [part] }, { client })
  world.cache.of(part).set(objectOf(part, 'p', { ownerReferences: [controllerReference(owner)] }))
  await world.clock.advance(300)
  t.strictSame(world.seen, [])
  t.ok(requests.length > 1 && requests.length < 10, `${requests.length} requests, with back-off`)
  world.cache.of(thing).set(owner)
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a'])
  t.notOk(world.log.some(({ level }) => level === 'error'))

  await t.test('an object whose deletion was seen is treated as deleted without a request', async (t) => {
    requests.length = world.seen.length = 0
    world.cache.of(thing).delete({ namespace: 'ns', name: 'a' })
    await world.clock.advance(0)
    t.strictSame([world.seen, requests], [['-ns/a'], []])
  })
  await t.test('an object is not treated as deleted if another one with its name was created since', async (t) => {
    world.cache.of(thing).set(objectOf(thing, 'a', { uid: 'new' }))
    await world.clock.advance(0)
    world.seen.length = 0
    world.cache.of(thing).objects.clear()
    world.cache.of(part).delete({ namespace: 'ns', name: 'p' })
    await world.clock.advance(0)
    t.strictSame([world.seen, requests], [[], ['ns/a']])
  })
  await world.end()
})

t.test('an object whose existence is unknown is retried', async (t) => {
  const client: Partial<Client> = { get: () => Promise.reject(new Error('the API server is away')) }
  const world = await start({ owns: [part] }, { client })
  world.cache.of(part).set(objectOf(part, 'p', { ownerReferences: [controllerReference(objectOf(thing, 'a'))] }))
  await world.clock.advance(10)
  t.strictSame(world.seen, [])
  t.equal(world.log.filter(({ level }) => level === 'error').length, 2)
  await world.end()
})

t.test('a type that only another controller watches cannot be read', async (t) => {
  const errors: string[] = []
  const read = (action: () => unknown): void => {
    try {
      action()
    } catch (error) {
      errors.push((error as Error).message)
    }
  }
  const world = await start(
    {
      watches: [
        {
          type: part,
          map: (_, { cache }) => {
            read(() => cache.list(other))
            return []
          },
        },
      ],
      reconcile: async (_, { cache }) => {
        read(() => cache.get(other, { namespace: 'ns', name: 'x' }))
        read(() => cache.get(resourceType({ ...thing, version: 'v2' }), { namespace: 'ns', name: 'x' }))
        cache.get(resourceType({ ...part }), { namespace: 'ns', name: 'x' })
      },
    },
    { prepare: ({ cache }) => void cache.of(other) },
  )
  world.cache.of(part).set(objectOf(part, 'p'))
  world.cache.of(thing).set(objectOf(thing, 'a'))
  await world.clock.advance(0)
  const text = (type: string): string =>
    `${type} is not watched by the controller "thing": name it in its \`owns\` or \`watches\`, or read it with the client.`
  t.strictSame(errors, [text('others.example.com'), text('others.example.com'), text('things.example.com')])
  await world.end()
})

t.test('an object whose controller changes enqueues both owners', async (t) => {
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

t.test('a cluster-scoped owner is enqueued by name', async (t) => {
  const owner = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })
  const world = await start({ owns: [part] }, { type: owner })
  const reference = { apiVersion: 'example.com/v1', kind: 'Zone', name: 'z', uid: 'u', controller: true }
  world.cache.of(part).set(objectOf(part, 'p', { ownerReferences: [reference] }))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-z'])
  await world.end()
})

t.test('a map function returns keys to enqueue', async (t) => {
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

t.test('predicates filter events of their own type', async (t) => {
  const world = await start({
    predicates: [labelSelector({ matchExpressions: [{ key: 'on', operator: 'Exists' }] })],
    watches: [
      {
        type: part,
        map: () => [{ namespace: 'ns', name: 'mapped' }],
        predicates: [labelSelector({ matchExpressions: [{ key: 'also', operator: 'Exists' }] })],
      },
    ],
  })
  world.cache.of(thing).set(objectOf(thing, 'a', { labels: { on: '' } }))
  world.cache.of(thing).set(objectOf(thing, 'b', { labels: { also: '' } }))
  world.cache.of(part).set(objectOf(part, 'c', { labels: { on: '' } }))
  world.cache.of(part).set(objectOf(part, 'd', { labels: { also: '' } }))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a', '-ns/mapped'])
  await world.end()
})

t.test('a map function that throws is logged and does not affect other events', async (t) => {
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

t.test('the keys of a map function that throws are enqueued when it succeeds', async (t) => {
  const broken = new Set(['one', 'two'])
  const map: MapFunction = ({ metadata }) => {
    const name = metadata.labels?.['for'] ?? ''
    if (broken.has(name)) throw new Error(`cannot map ${name}`)
    return [{ namespace: 'ns', name }]
  }
  const labelled = (name: string): KubernetesObject => objectOf(part, 'p', { labels: { for: name } })
  const world = await start({ watches: [{ type: part, map }] }, { prepare: ({ cache }) => cache.of(part).set(labelled('one')) })
  world.cache.of(part).set(labelled('zero'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-ns/zero'], 'the keys that could be mapped are enqueued')
  world.cache.of(part).set(labelled('two'))
  await world.clock.advance(2_000)
  t.strictSame(world.seen, ['-ns/zero', '-ns/zero'])
  broken.clear()
  await world.clock.advance(4_000)
  t.strictSame(world.seen.slice(2), ['-ns/two', '-ns/one'], 'the oldest and the newest state that could not be mapped')
  await world.clock.advance(3_600_000)
  t.equal(world.seen.length, 4)
  t.strictSame(
    world.log.filter(({ level }) => level === 'error').map(({ msg }) => msg),
    ['the map function for parts.example.com threw: it is called again, and its keys are enqueued when it succeeds'],
  )
  await world.end()
})

t.test('a map function that always throws is abandoned, and leaves no timer', async (t) => {
  let calls = 0
  const map = (): never => {
    calls += 1
    throw new Error('cannot map')
  }
  const world = await start({ watches: [{ type: part, map }] })
  world.cache.of(part).set(objectOf(part, 'p'))
  await world.clock.advance(3_600_000)
  t.equal(calls, 11)
  t.equal(world.clock.pending, 0)
  t.match(
    world.log.findLast(({ level }) => level === 'error'),
    { object: 'ns/p', msg: 'the map function for parts.example.com has thrown 10 times more and is not called again for this change' },
  )
  world.cache.of(part).set(objectOf(part, 'p'))
  await world.end()
  t.equal(world.clock.pending, 0, 'nor after the end')
})

t.test('an invalid key is dropped, the others are enqueued', async (t) => {
  const wrong = [{ namespace: 'ns', name: 'a' }, { name: 'no-namespace' }, null, { namespace: 'ns' }, { namespace: 'ns', name: 'b' }]
  const world = await start({ watches: [{ type: part, map: () => wrong as ObjectKey[] }] })
  world.cache.of(part).set(objectOf(part, 'p'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['-ns/a', '-ns/b'])
  t.strictSame(
    world.log.filter(({ level }) => level === 'error').map(({ err }) => (err as Error).message),
    [
      'The key of "no-namespace" has no namespace: things.example.com have one, which the key must name.',
      'A key of things.example.com has no name: a key must name an object.',
      'A key of things.example.com has no name: a key must name an object.',
    ],
  )
  t.equal(world.clock.pending, 0, 'an invalid key is not retried')
  await world.end()
})

t.test('an event for which a predicate throws is enqueued', async (t) => {
  const predicate = (): never => {
    throw new Error('cannot tell')
  }
  const world = await start({ predicates: [predicate] })
  world.cache.of(thing).set(objectOf(thing, 'a'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a'])
  t.match(
    world.log.find(({ level }) => level === 'error'),
    { object: 'ns/a', err: { message: 'cannot tell' }, msg: 'a predicate for things.example.com threw; the event counts' },
  )
  await world.end()
})

t.test('logs of a reconcile have its controller and object', async (t) => {
  const found: (LogContext | undefined)[] = []
  const reconcile = async (): Promise<void> => {
    await Promise.resolve()
    found.push(logContext())
  }
  const world = await start({ name: 'things', reconcile }, { prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) })
  found[0]?.logger.info('a line')
  t.equal(found[0]?.controller, 'things')
  t.match(world.log.at(-1), { controller: 'things', controllerKind: 'Thing', namespace: 'ns', name: 'a', msg: 'a line' })
  t.equal(logContext(), undefined)
  await world.end()
})

t.test('a reconcile that lacks a permission is logged with the missing RBAC rule', async (t) => {
  const message = 'parts.example.com is forbidden: User "u" cannot create resource "parts" in API group "example.com" in the namespace "ns"'
  const refused = new ApiError(failure(403, 'Forbidden', message))
  const advice =
    ": it lacks a permission; add { apiGroups: ['example.com'], resources: ['parts'], verbs: ['create'] } to the `rbac` of the controller, and apply its RBAC anew"
  for (const [error, text] of [
    [refused, 'the reconcile failed and is tried again'],
    [new TerminalError('no part', { cause: refused }), 'the reconcile failed and is not tried again until the object changes'],
  ] as const) {
    const reconcile = (): Promise<never> => Promise.reject(error)
    const world = await start({ reconcile }, { prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) })
    const entry = world.log.find(({ level }) => level === 'error')
    t.equal(entry?.msg, text + advice)
    t.match(entry?.['err'], { message: error === refused ? message : `no part: ${message}` })
    t.notOk((entry?.['err'] as Error).stack)
    await world.end()
  }
})

t.test('options out of range are refused in the definition', async (t) => {
  const reconcile = async (): Promise<void> => undefined
  for (const workers of [0, -1, 1.5, NaN, Infinity])
    t.throws(() => defineController(thing, { reconcile, workers }), {
      code: 'PRO_CONFIG_INVALID',
      message: `The controller "thing" is invalid: workers: must be a whole number of at least 1, found ${workers}.`,
    })
  for (const reconciliationTimeoutMs of [0, -1, NaN])
    t.throws(() => defineController(thing, { reconcile, reconciliationTimeoutMs }), {
      code: 'PRO_CONFIG_INVALID',
      message: new RegExp(`: reconciliationTimeoutMs: must be a number of milliseconds above 0, found ${reconciliationTimeoutMs}\\.$`),
    })
})

t.test('a map function can read the cache from the first event on', async (t) => {
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
  const done = runController(defineController(thing, { reconcile: async () => undefined, ...settings }), environment, stop.signal)
  t.strictSame(read, [[byPart]])
  t.strictSame([...world.cache.informers.keys()], ['parts', 'things'])
  stop.abort()
  await done
})

t.test('a mapped key is enqueued only for watched namespaces', async (t) => {
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

t.test('a mapped key without a namespace is logged, and not reconciled as deleted', async (t) => {
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
        message: 'The key of "x" has no namespace: things.example.com have one, which the key must name.',
      },
    },
  )
  await world.end()
})

t.test('a namespaced owner of a cluster-scoped object is ignored', async (t) => {
  const zone = resourceType({ group: 'example.com', version: 'v1', kind: 'Zone', plural: 'zones', namespaced: false })
  const world = await start({ owns: [zone] })
  const { namespace: _, ...metadata } = objectOf(zone, 'z', { ownerReferences: [controllerReference(objectOf(thing, 'a'))] }).metadata
  world.cache.of(zone).set({ ...objectOf(zone, 'z'), metadata })
  await world.clock.advance(0)
  t.strictSame(world.seen, [])
  await world.end()
})

t.test('an index must be on a watched type', async (t) => {
  const reconcile = async (): Promise<void> => undefined
  const [ofThings, ofParts] = [defineCacheIndex(thing, 'a', () => 'x'), defineCacheIndex(part, 'b', () => 'x')]
  defineController(thing, { reconcile, indexes: [ofThings] })
  defineController(thing, { reconcile, owns: [part], indexes: [ofThings, ofParts] })
  t.throws(() => defineController(thing, { reconcile, indexes: [ofThings, ofParts] }), {
    code: 'PRO_CONFIG_INVALID',
    message: /^The controller "thing" is invalid: indexes: "b" is on parts\.example\.com, which is not watched: name it in `owns` or/,
  })
})

t.test('the rate limiter of a start determines the delays after failures', async (t) => {
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

t.test('after the stop no handlers remain', async (t) => {
  const world = await start({ owns: [part], workers: 4 })
  t.ok(await world.measured('controller_runtime_max_concurrent_reconciles{controller="thing"} 4'))
  await world.end()
  t.strictSame(
    [...world.cache.informers.values()].map(({ handlers }) => handlers.size),
    [0, 0],
  )
  t.equal(world.clock.pending, 0)
})

t.test('all mistakes of the options are reported at once, with paths', async (t) => {
  const settings = {
    name: 7,
    reconcile: 'x',
    deleted: 1,
    owns: [part, 'parts', { type: part, predicates: [1] }, { type: 'parts' }, {}, null, { type: part, everyOwner: 'yes' }],
    watches: [{ type: part }, { map: () => [], type: 'parts' }, { map: () => [] }, { map: () => [], type: part, everyOwner: true }],
    sources: [{}, { run: 1, extra: 2 }, source.interval(1, [])],
    resyncPeriodMs: -1,
    indexes: [1],
    predicates: 'x',
    eventFilter: [],
    workers: 0,
    rateLimiter: {},
    rbac: [{ apiGroups: [''] }],
    reconciliationTimeoutMs: -1,
    reconciles: 1,
  }
  const error = t.throws(() => defineController(thing, settings as never), { code: 'PRO_CONFIG_INVALID' }) as unknown as Error
  const type = 'a type, such as core.pod, or what defineKind returns'
  t.strictSame(error.message.slice('The controller "7" is invalid: '.length, -1).split('; '), [
    'name: must be a string, found 7',
    'reconcile: must be a function, found "x"',
    'deleted: must be a function, found 1',
    `owns[1]: must be ${type}, found "parts"`,
    'owns[2].predicates[0]: must be a function, found 1',
    `owns[3].type: must be ${type}, found "parts"`,
    `owns[4]: must be ${type}, found an object`,
    `owns[5]: must be ${type}, found null`,
    'owns[6].everyOwner: must be true or false, found "yes"',
    'watches[0].map: is missing',
    `watches[1].type: must be ${type}, found "parts"`,
    'watches[2].type: is missing',
    'watches[3].everyOwner: unknown field',
    'sources[0].run: is missing',
    'sources[1].run: must be a function, found 1',
    'resyncPeriodMs: must be a number of milliseconds of at least 0, found -1',
    'indexes[0]: must be what defineCacheIndex returns, found 1',
    'predicates: must be a list, found "x"',
    'eventFilter: must be a function, found a list',
    'workers: must be a whole number of at least 1, found 0',
    'rateLimiter: must be a function, found an object',
    'rbac[0].resources: is missing',
    'rbac[0].verbs: is missing',
    'reconciliationTimeoutMs: must be a number of milliseconds above 0, found -1',
    'reconciles: unknown field',
    'did you mean reconcile?',
  ])
  t.throws(() => defineController(thing, {} as never), { message: 'The controller "thing" is invalid: reconcile: is missing.' })
})

t.test('a definition is frozen, and its default RBAC rules are those of its watches', async (t) => {
  const definition = defineController(thing, { reconcile: async () => undefined })
  t.ok(Object.isFrozen(definition))
  t.equal(definition.type, thing)
  t.strictSame(definition.rbac, [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['get', 'list', 'watch'] }])
})

t.test('the start is logged, and queue and reconciles are measured under the name of the controller', async (t) => {
  const world = await start({ name: 'things', workers: 3 }, { prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) })
  const { time: _, ...line } = world.log[0]!
  t.strictSame(line, {
    level: 'info',
    controller: 'things',
    controllerGroup: 'example.com',
    controllerKind: 'Thing',
    workers: 3,
    msg: 'starting workers',
  })
  t.ok(await world.measured('workqueue_adds_total{name="things",controller="things"} 1'))
  t.ok(await world.measured('controller_runtime_reconcile_total{controller="things",result="success"} 1'))
  await world.end()
})

t.test('the default is one worker', async (t) => {
  const world = await start()
  t.ok(await world.measured('controller_runtime_max_concurrent_reconciles{controller="thing"} 1'))
  await world.end()
})

t.test('predicates of an owned type apply to it alone', async (t) => {
  const owner = objectOf(thing, 'owner')
  const world = await start(
    { owns: [{ type: part, predicates: [labelSelector({ matchLabels: { on: 'yes' } })] }] },
    { prepare: ({ cache }) => cache.of(thing).set(owner) },
  )
  world.seen.length = 0
  const ownerReferences = [controllerReference(owner)]
  world.cache.of(part).set(objectOf(part, 'a', { ownerReferences }))
  await world.clock.advance(0)
  t.strictSame(world.seen, [])
  world.cache.of(part).set(objectOf(part, 'b', { ownerReferences, labels: { on: 'yes' } }))
  world.cache.of(thing).set(objectOf(thing, 'other'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/owner', 'ns/other'])
  await world.end()
})

t.test('a running reconcile has 30 s after the stop by default', async (t) => {
  for (const [graceMs, limit] of [
    [undefined, 30_000],
    [500, 500],
  ] as const) {
    const world = controllerWorld()
    const { cache, clock, stop } = world
    cache.of(thing).set(objectOf(thing, 'a'))
    let signal: AbortSignal | undefined
    const definition = defineController(thing, {
      reconcile: (_, context) => {
        signal = context.signal
        return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)))
      },
    })
    const { graceMs: _, ...environment } = world.environment
    const done = runController(definition, graceMs === undefined ? environment : { ...environment, graceMs }, stop.signal)
    cache.of(thing).sync()
    await clock.advance(0)
    stop.abort()
    await clock.advance(limit - 1)
    t.equal(signal?.aborted, false)
    await clock.advance(1)
    t.equal(signal?.aborted, true)
    await done
  }
})

t.test('reconciliationTimeoutMs limits a reconcile', async (t) => {
  let signal: AbortSignal | undefined
  const world = await start(
    {
      reconciliationTimeoutMs: 700,
      reconcile: (_, context) => {
        signal ??= context.signal
        return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve()))
      },
    },
    { prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) },
  )
  await world.clock.advance(699)
  t.equal(signal?.aborted, false)
  await world.clock.advance(1)
  t.equal(signal?.aborted, true)
  await world.end()
})

t.test('all types are watched before the first event is mapped', async (t) => {
  const world = controllerWorld()
  world.cache.of(part).set(objectOf(part, 'p'))
  const watched: string[][] = []
  const map = (): [] => {
    watched.push([...world.cache.informers.keys()])
    return []
  }
  const { environment, stop } = world
  const watches = [
    { type: part, map },
    { type: other, map },
  ] as const
  const done = runController(defineController(thing, { reconcile: async () => undefined, watches }), environment, stop.signal)
  t.strictSame(watched, [['parts', 'things', 'others']])
  stop.abort()
  await done
})

t.test('a controller that stops before the sync leaves no depth in its metrics', async (t) => {
  const world = await start({ owns: [part] }, { synced: false, prepare: ({ cache }) => cache.of(thing).set(objectOf(thing, 'a')) })
  const depth = async (): Promise<number | undefined> =>
    (await world.environment.metrics.registry.getSingleMetric('workqueue_depth')!.get()).values.reduce((sum, { value }) => sum + value, 0)
  world.cache.of(thing).sync()
  await world.clock.advance(0)
  t.equal(await depth(), 1)
  await world.end()
  t.equal(await depth(), 0)
})
