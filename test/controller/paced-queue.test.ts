import t from 'tap'
import { ConcurrencyLimit } from '../../src/controller/concurrency-limit.ts'
import { PacedQueue } from '../../src/controller/paced-queue.ts'
import { exponentialBackoff } from '../../src/controller/rate-limiter.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { controllerWorld, objectOf, thing } from '../support/controller/fakes.ts'
import { defineController } from '../../src/controller/builder.ts'
import { runController } from '../../src/controller/run-controller.ts'

/** Starts a worker that gets keys from a queue, and calls `work` for each key. The queue has a concurrency limit of 1. */
function start(work: (key: string, queue: PacedQueue<string>) => void = (key, queue) => queue.forget(key)) {
  const clock = new FakeClock()
  const rateLimiter = exponentialBackoff({ baseMs: 100, maxMs: 100_000 })
  const queue = new PacedQueue<string>({ clock, rateLimiter, minIntervalMs: 1_000, limit: new ConcurrencyLimit(1) })
  const taken: string[] = []
  const began = clock.monotonicNow()
  const done = (async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      taken.push(`${key} ${clock.monotonicNow() - began}`)
      work(key, queue)
      queue.done(key)
    }
  })()
  return { clock, queue, taken, done }
}

t.test('a key comes once in an interval, and other keys do not wait for it', async (t) => {
  const { clock, queue, taken, done } = start()
  queue.add('a')
  await clock.advance(400)
  for (let index = 0; index < 5; index += 1) queue.add('a')
  queue.add('b')
  await clock.advance(599)
  t.strictSame(taken, ['a 0', 'b 400'])
  await clock.advance(1)
  t.strictSame(taken, ['a 0', 'b 400', 'a 1000'])
  await clock.advance(5_000)
  t.equal(taken.length, 3, 'additions are combined')
  queue.add('a')
  await clock.advance(0)
  t.equal(taken.at(-1), 'a 6000', 'after the interval a key does not wait')
  queue.shutDown()
  await done
  t.equal(clock.pending, 0)
})

t.test('a key that is added while it is processed comes again after the interval', async (t) => {
  let added = false
  const { clock, queue, taken } = start((key, queue) => {
    if (!added) queue.add(key)
    added = true
    queue.forget(key)
  })
  queue.add('a', { priority: -100 })
  await clock.advance(3_000)
  t.strictSame(taken, ['a 0', 'a 1000'])
  t.equal(queue.size, 0)
})

t.test('`take` leaves a key in the queue until its interval has passed', async (t) => {
  const clock = new FakeClock()
  const queue = new PacedQueue<string>({ clock, minIntervalMs: 1_000 })
  queue.add('a')
  t.equal(queue.take(), 'a')
  queue.done('a')
  for (const key of ['a', 'b', 'a']) queue.add(key)
  t.equal(queue.take(), 'b')
  queue.done('b')
  t.equal(queue.take(), undefined)
  t.equal(await queue.get(AbortSignal.abort()), undefined)
  await clock.advance(1_000)
  t.equal(await queue.get(AbortSignal.abort()), undefined, 'an aborted call takes nothing')
  t.equal(queue.take(), 'a')
  queue.done('a')
  t.equal(queue.size, 0)
})

t.test('a key keeps its priority while it waits', async (t) => {
  const priorities: number[] = []
  const { clock, queue } = start((key, queue) => {
    priorities.push(queue.priorityOf(key))
    queue.forget(key)
  })
  queue.add('a', { priority: 7 })
  await clock.advance(0)
  queue.add('a', { priority: -100 })
  await clock.advance(1_000)
  t.strictSame(priorities, [7, -100])
  queue.shutDown()
})

t.test('a retry waits for the longer one of back-off and interval', async (t) => {
  const { clock, queue, taken } = start((key, queue) => queue.addRateLimited(key))
  queue.add('a')
  await clock.advance(10_000)
  t.strictSame(taken, ['a 0', 'a 1000', 'a 2000', 'a 3000', 'a 4000', 'a 5600', 'a 8800'])
  queue.shutDown()
})

t.test('a controller with minIntervalMs reconciles an object once in it', async (t) => {
  const { cache, clock, environment, stop } = controllerWorld()
  const seen: string[] = []
  const definition = defineController(thing, {
    minIntervalMs: 5_000,
    resyncPeriodMs: 0,
    reconcile: async (object) => void seen.push(object.metadata.resourceVersion),
  })
  cache.of(thing).set(objectOf(thing, 'a'))
  const done = runController(definition, environment, stop.signal)
  cache.of(thing).sync()
  await clock.advance(0)
  t.equal(seen.length, 1)
  for (let index = 0; index < 3; index += 1) {
    cache.of(thing).set(objectOf(thing, 'a'))
    await clock.advance(1_000)
  }
  t.equal(seen.length, 1)
  await clock.advance(2_000)
  t.equal(seen.length, 2)
  t.equal(seen[1], cache.get(thing, { namespace: 'ns', name: 'a' })?.metadata.resourceVersion)
  stop.abort()
  await done
})

t.test('a negative minIntervalMs is refused', async (t) => {
  t.throws(
    () => defineController(thing, { minIntervalMs: -1, reconcile: async () => undefined }),
    /minIntervalMs: must be a number of milliseconds of at least 0/,
  )
})
