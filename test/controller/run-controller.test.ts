import t from 'tap'
import type { ControllerEnvironment } from '../../src/controller/prepared-controller.ts'
import type { ControllerSettings } from '../../src/controller/settings.ts'
import { defineController } from '../../src/controller/builder.ts'
import type { Source } from '../../src/controller/source.ts'
import { runController, type Terms } from '../../src/controller/run-controller.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import type { Client } from '../../src/client/client.ts'
import { formatKey } from '../../src/api/object.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { controllerWorld, objectOf, part, thing, type ControllerWorld } from '../support/controller/fakes.ts'

interface World extends ControllerWorld {
  /** The keys of the reconciled objects in order; `-KEY` for a deleted object. */
  readonly seen: string[]
  readonly done: Promise<void>
  /** Begins a term, which is a period in which the controller may reconcile. The returned function ends the term. */
  lead(): Promise<() => Promise<void>>
  end(): Promise<void>
}

/** Starts a controller as a standby: it reconciles nothing until the test calls `lead`. The cache is synced, and contains the objects. */
async function start(
  settings: Partial<ControllerSettings<KubernetesObject>> = {},
  objects: readonly string[] = [],
  client: Partial<Client> = {},
  overrides: Partial<ControllerEnvironment> = {},
): Promise<World> {
  const world = controllerWorld(client)
  const { cache, clock, stop } = world
  const environment = { ...world.environment, ...overrides }
  const seen: string[] = []
  const definition = defineController(thing, {
    reconcile: async (object) => void seen.push(formatKey(object.metadata)),
    deleted: async (key) => void seen.push(`-${formatKey(key)}`),
    ...settings,
  })
  for (const type of definition.types) cache.of(type)
  for (const name of objects) cache.of(thing).set(objectOf(thing, name))
  let begin: (term: { lost: AbortSignal }) => void = () => undefined
  const terms: Terms = {
    term: (signal) =>
      new Promise((resolve, reject) => {
        begin = resolve
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
  }
  const done = runController(definition, environment, stop.signal, terms)
  for (const informer of cache.informers.values()) informer.sync()
  await clock.advance(0)
  const lead = async (): Promise<() => Promise<void>> => {
    const lost = new AbortController()
    begin({ lost: lost.signal })
    await clock.advance(0)
    return async () => {
      lost.abort(new Error('lost'))
      await clock.advance(0)
    }
  }
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  return { ...world, seen, done, lead, end }
}

t.test('a standby watches, and reconciles nothing before its term', async (t) => {
  const world = await start({}, ['a', 'b'])
  t.equal(world.cache.of(thing).handlers.size, 1)
  t.strictSame(world.seen, [])
  await world.lead()
  t.strictSame(world.seen, ['ns/a', 'ns/b'])
  world.cache.of(thing).set(objectOf(thing, 'c'))
  await world.clock.advance(0)
  t.strictSame(world.seen, ['ns/a', 'ns/b', 'ns/c'])
  await world.end()
  t.equal(world.clock.pending, 0)
  t.equal(world.cache.of(thing).handlers.size, 0)
})

t.test('a standby stops without a term', async (t) => {
  const world = await start({}, ['a'])
  await world.end()
  t.strictSame(world.seen, [])
  t.equal(world.clock.pending, 0)
})

t.test('after hours on standby, all objects are reconciled, and those first that changed in the last minute', async (t) => {
  const world = await start({ owns: [part] }, ['a', 'b', 'gone', 'changed'])
  const things = world.cache.of(thing)
  things.delete({ namespace: 'ns', name: 'gone' })
  await world.clock.advance(3_600_000)
  things.delete({ namespace: 'ns', name: 'b' })
  things.set(objectOf(thing, 'changed'))
  await world.lead()
  t.strictSame(world.seen, ['-ns/b', 'ns/changed', 'ns/a'], 'the leader of that time has reconciled the deletion of "gone"')
  await world.end()
})

t.test('after hours on standby, the owners of all dependents are reconciled', async (t) => {
  const world = await start({ owns: [part] })
  const owner = { ...objectOf(thing, 'owner'), metadata: { ...objectOf(thing, 'owner').metadata, uid: 'u' } }
  world.cache.of(part).set(objectOf(part, 'child', { ownerReferences: [controllerReference(owner)] }))
  await world.clock.advance(3_600_000)
  await world.lead()
  t.strictSame(world.seen, ['-ns/owner'])
  await world.end()
})

t.test('a deletion that a standby has seen long ago does not count for a later object of the name', async (t) => {
  const requested: string[] = []
  const recreated = objectOf(thing, 'owner', { uid: 'second' })
  const get = async (_: unknown, key: ObjectKey): Promise<KubernetesObject> => {
    requested.push(formatKey(key))
    return recreated
  }
  const world = await start({ owns: [part] }, ['owner'], { get: get as unknown as Client['get'] })
  world.cache.of(thing).delete({ namespace: 'ns', name: 'owner' })
  await world.clock.advance(3_600_000)
  // The event of the dependent arrives before the event of its owner.
  world.cache.of(part).set(objectOf(part, 'child', { ownerReferences: [controllerReference(recreated)] }))
  await world.lead()
  t.strictSame(requested, ['ns/owner'])
  t.strictSame(world.seen, [])
  await world.end()
})

t.test('a stop ends the replay of all objects', async (t) => {
  let events = 0
  let onEvent = (): void => undefined
  const eventFilter = (): boolean => {
    events += 1
    onEvent()
    return true
  }
  const world = await start({ eventFilter }, ['a', 'b', 'c'])
  await world.clock.advance(3_600_000)
  t.equal(events, 3)
  onEvent = () => world.stop.abort(new Error('stop'))
  await world.lead()
  t.equal(events, 4)
  await world.done
  t.strictSame(world.seen, [])
})

t.test('a key that is queued on standby is dropped after one to one and a half minutes', async (t) => {
  const world = await start()
  world.cache.of(thing).set(objectOf(thing, 'a'))
  await world.clock.advance(60_000)
  t.ok(await world.measured('workqueue_depth{name="thing",controller="thing",priority="0"} 1'))
  await world.clock.advance(30_000)
  t.ok(await world.measured('workqueue_depth{name="thing",controller="thing",priority="0"} 0'))
  await world.end()
})

t.test('a key that is queued again on standby stays queued, so that a deletion after a change is not lost', async (t) => {
  const world = await start({}, ['gone', 'stays'])
  await world.clock.advance(3_620_000)
  world.cache.of(thing).set(objectOf(thing, 'gone'))
  await world.clock.advance(60_000)
  world.cache.of(thing).delete({ namespace: 'ns', name: 'gone' })
  await world.clock.advance(15_000)
  await world.lead()
  t.strictSame(world.seen, ['-ns/gone', 'ns/stays'])
  await world.end()
})

t.test('a standby keeps keys for the lease duration and 45 seconds', async (t) => {
  const world = await start({}, ['gone'], {}, { leaseDurationMs: 120_000 })
  await world.clock.advance(3_600_000)
  world.cache.of(thing).delete({ namespace: 'ns', name: 'gone' })
  await world.clock.advance(165_000)
  await world.lead()
  t.strictSame(world.seen, ['-ns/gone'])
  await world.end()
})

t.test('at the end of a term, running reconciles are aborted without a grace period', async (t) => {
  const reasons: unknown[] = []
  const world = await start(
    {
      reconcile: (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason as Error)
          }),
        ),
    },
    ['a'],
  )
  const lose = await world.lead()
  await lose()
  t.match(reasons, [{ code: 'PRO_ABORTED', message: /no longer the leader/ }])
  t.match(
    world.log.filter(({ level }) => level === 'warn'),
    [{ msg: 'the reconcile was cut off because this replica is no longer the leader', name: 'a' }],
  )
  await world.end()
})

t.test('nothing starts after the term, and the next term reconciles all objects again', async (t) => {
  const world = await start({}, ['a', 'b'])
  const lose = await world.lead()
  await lose()
  world.cache.of(thing).set(objectOf(thing, 'a'))
  await world.clock.advance(10_000)
  t.strictSame(world.seen, ['ns/a', 'ns/b'])
  await world.lead()
  t.strictSame(world.seen.slice(2), ['ns/a', 'ns/b'])
  await world.end()
})

t.test('after a term, too, a key that is queued on standby is dropped', async (t) => {
  const world = await start()
  const lose = await world.lead()
  await lose()
  world.cache.of(thing).set(objectOf(thing, 'a'))
  await world.clock.advance(60_000)
  t.ok(await world.measured('workqueue_depth{name="thing",controller="thing",priority="0"} 1'))
  await world.clock.advance(30_000)
  t.ok(await world.measured('workqueue_depth{name="thing",controller="thing",priority="0"} 0'))
  await world.end()
  t.equal(world.clock.pending, 0)
})

t.test('a delayed key of the last term is not reconciled on standby', async (t) => {
  let calls = 0
  const world = await start(
    {
      reconcile: async () => {
        calls += 1
        return { requeueAfterMs: 1_000 }
      },
    },
    ['a'],
  )
  const lose = await world.lead()
  await lose()
  await world.clock.advance(600_000)
  t.equal(calls, 1)
  await world.lead()
  t.equal(calls, 2)
  await world.end()
})

t.test('a reconcile that ignores the end of its term does not overlap with the next one of its object', async (t) => {
  const running: string[] = []
  const stuck = Promise.withResolvers<void>()
  const world = await start(
    {
      workers: 2,
      reconcile: async ({ metadata: { name } }) => {
        running.push(name)
        if (name === 'a') await stuck.promise
      },
    },
    ['a', 'b'],
  )
  const lose = await world.lead()
  await lose()
  await world.lead()
  t.strictSame(running, ['a', 'b', 'b'], 'the other object does not wait')
  stuck.resolve()
  await world.clock.advance(0)
  t.strictSame(running, ['a', 'b', 'b', 'a'])
  await world.end()
})

t.test('a source that has not ended yet is not started again in the next term', async (t) => {
  const ended = Promise.withResolvers<void>()
  let runs = 0
  const slow: Source = {
    run: () => {
      runs += 1
      return ended.promise
    },
  }
  const world = await start({ sources: [slow] })
  const lose = await world.lead()
  t.equal(runs, 1)
  await lose()
  await world.lead()
  t.equal(runs, 1)
  ended.resolve()
  await world.clock.advance(0)
  await world.lead()
  t.equal(runs, 2)
  await world.end()
})

t.test('a process that stops during a term waits for the running reconcile, unless the term ends', async (t) => {
  const stuck = Promise.withResolvers<void>()
  let aborted = false
  const world = await start(
    {
      reconcile: async (_, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true))
        await stuck.promise
      },
    },
    ['a'],
  )
  const lose = await world.lead()
  world.stop.abort()
  let over = false
  void world.done.then(() => (over = true))
  await world.clock.advance(10_000)
  t.notOk(over)
  t.notOk(aborted)
  await lose()
  t.ok(aborted)
  t.ok(over)
  stuck.resolve()
  await world.clock.advance(0)
  t.equal(world.clock.pending, 0)
})

t.test('a worker that fails ends the controller', async (t) => {
  const world = await start({}, ['a'])
  // An error that cannot be logged ends a worker.
  world.environment.logger.error = () => {
    throw new Error('the disk is full')
  }
  const failing = defineController(thing, { reconcile: () => Promise.reject(new Error('x')) })
  const logger = Object.assign(Object.create(world.environment.logger), { child: () => logger })
  const running = runController(failing, { ...world.environment, logger }, world.stop.signal)
  await t.rejects(Promise.all([running, world.clock.advance(0)]), { message: 'the disk is full' })
  await world.end()
})

t.test('types that a reconcile has acquired are released when the controller ends', async (t) => {
  const { cache, seen, lead, end } = await start(
    {
      reconcile: async (_object, context) => void context.cache.acquire(part),
    },
    ['a'],
  )
  await lead()
  t.strictSame(seen, [])
  t.strictSame(cache.releases, [])
  await end()
  t.strictSame(cache.releases, [part.plural])
})
