import t from 'tap'
import { ConcurrencyLimit } from '../../src/controller/concurrency-limit.ts'
import { WorkQueue } from '../../src/controller/queue.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { fc } from '../support/property.ts'

t.test('places are taken until none is free, and waiting callers take the free ones in turn', async (t) => {
  const limit = new ConcurrencyLimit(2)
  const calls: string[] = []
  const wakes = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, () => void calls.push(name)]))
  t.strictSame([limit.tryTake(wakes.a!), limit.tryTake(wakes.a!)], [true, true])
  t.strictSame([limit.tryTake(wakes.b!), limit.tryTake(wakes.c!), limit.tryTake(wakes.b!)], [false, false, false])
  limit.cancel(wakes.c!)
  limit.release()
  t.strictSame(calls, ['b'], 'once, although it has waited twice')
  t.ok(limit.tryTake(wakes.a!), 'a caller need not take the place for which it was called')
  t.notOk(limit.tryTake(wakes.a!))
  limit.release()
  t.strictSame(calls, ['b', 'a'], 'a caller that was called waits no longer')
})

t.test('a place that the first waiting caller does not take is offered to the next one', async (t) => {
  const limit = new ConcurrencyLimit(1)
  const calls: string[] = []
  const taking = (name: string) => (): void => void (calls.push(name), limit.tryTake(taking(name)))
  limit.tryTake(() => undefined)
  limit.tryTake(() => void calls.push('refuses'))
  limit.tryTake(taking('takes'))
  limit.tryTake(taking('waits on'))
  limit.release()
  t.strictSame(calls, ['refuses', 'takes'])
})

interface Shared {
  readonly clock: FakeClock
  readonly queues: readonly [WorkQueue<string>, WorkQueue<string>]
  readonly taken: string[]
}

/**
 * Two queues that share a limit. Together they have more workers than the limit allows. Each worker records its key, and processes the key
 * until the test calls `done`.
 */
function sharedQueues(places: number, workers: number): Shared {
  const clock = new FakeClock()
  const limit = new ConcurrencyLimit(places)
  const queues = [new WorkQueue<string>({ clock, limit }), new WorkQueue<string>({ clock, limit })] as const
  const taken: string[] = []
  for (const queue of queues) for (let each = 0; each < workers; each++) void queue.get().then((key) => void (key && taken.push(key)))
  return { clock, queues, taken }
}

t.test('queues share a limit: a key waits in its queue, where its priority counts', async (t) => {
  const { clock, queues, taken } = sharedQueues(2, 3)
  const [first, second] = queues
  for (const key of ['a1', 'a2', 'a3']) first.add(key)
  second.add('b1')
  second.add('b2', { priority: 5 })
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'a2'], 'two places')
  first.done('a1')
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'a2', 'a3'], 'the first queue has waited longer')
  first.add('a4')
  first.done('a2')
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'a2', 'a3', 'b2'], 'in turn, and the higher priority first')
  first.done('a3')
  second.done('b2')
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'a2', 'a3', 'b2', 'b1'], 'the workers of the first queue are all used up, so its place stays free')
  t.equal(await first.get(), 'a4')
})

t.test('a queue that is paused or shut down takes no place', async (t) => {
  const { clock, queues, taken } = sharedQueues(1, 2)
  const [first, second] = queues
  for (const key of ['a1', 'a2']) first.add(key)
  second.add('b1')
  first.pause()
  first.done('a1')
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'b1'])
  first.resume()
  first.shutDown()
  second.add('b2')
  second.done('b1')
  await clock.advance(0)
  t.strictSame(taken, ['a1', 'b1', 'b2'])
})

t.test('never more keys than places are processed, and all keys are processed', async () => {
  const shape = fc.record({
    places: fc.integer({ min: 1, max: 4 }),
    workers: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
    keys: fc.array(fc.record({ key: fc.nat({ max: 20 }), queue: fc.nat({ max: 3 }), pause: fc.nat({ max: 4 }) }), {
      maxLength: 40,
    }),
  })
  await fc.assert(
    fc.asyncProperty(shape, async ({ places, workers, keys }) => {
      const clock = new FakeClock(0)
      const limit = new ConcurrencyLimit(places)
      const queues = workers.map(() => new WorkQueue<string>({ clock, limit }))
      const missing = queues.map(() => new Set<string>())
      let [running, most] = [0, 0]
      const work = async (queue: WorkQueue<string>, left: Set<string>): Promise<void> => {
        for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
          most = Math.max(most, ++running)
          left.delete(key)
          await new Promise<void>((resolve) => clock.after(Number(key) % 7, resolve))
          running--
          queue.done(key)
        }
      }
      const ends = queues.flatMap((queue, index) => Array.from({ length: workers[index]! }, () => work(queue, missing[index]!)))
      for (const { key, queue, pause } of keys) {
        const index = queue % queues.length
        missing[index]!.add(String(key))
        queues[index]!.add(String(key))
        await clock.advance(pause)
      }
      await clock.advance(1000)
      for (const queue of queues) queue.shutDown()
      await Promise.all(ends)
      if (most > places) throw new Error(`${most} keys were processed at once`)
      if (missing.some(({ size }) => size > 0)) throw new Error('a key was not processed')
    }),
    { numRuns: 100 },
  )
})
