import t from 'tap'
import { WorkQueue } from '../../src/controller/queue.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

function setUp(): {
  clock: FakeClock
  queue: WorkQueue<string>
  take: () => Promise<string | undefined>
  takeAll: () => Promise<string[]>
} {
  const clock = new FakeClock()
  const queue = new WorkQueue<string>({ clock })
  const take = async (): Promise<string | undefined> => {
    const stop = new AbortController()
    const key = queue.get(stop.signal)
    stop.abort()
    return key
  }
  const takeAll = async (): Promise<string[]> => {
    const keys: string[] = []
    for (let key = await take(); key !== undefined; key = await take()) {
      keys.push(key)
      queue.done(key)
    }
    return keys
  }
  return { clock, queue, take, takeAll }
}

t.test('keys come out in the order in which they were added, each once', async (t) => {
  const { queue, takeAll } = setUp()
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
  t.strictSame(await takeAll(), ['a', 'b', 'c'])
})

t.test('a higher priority comes first; a raised key stands behind those that had it before', async (t) => {
  const { queue, takeAll } = setUp()
  queue.add('low', { priority: -100 })
  queue.add('raised', { priority: -100 })
  queue.add('first')
  queue.add('second')
  queue.add('raised')
  queue.add('second', { priority: -100 })
  t.strictSame(await takeAll(), ['first', 'second', 'raised', 'low'])
})

t.test('keeps one entry per key while it is being processed', async (t) => {
  const { queue, take } = setUp()
  queue.add('a')
  t.equal(await take(), 'a')
  queue.add('a')
  queue.add('a', { priority: 5 })
  t.equal(await take(), undefined, 'nobody else gets it')
  queue.done('a')
  t.equal(await take(), 'a')
  t.equal(queue.priorityOf('a'), 5)
  queue.done('a')
  t.equal(await take(), undefined)
})

t.test('a delayed key comes at its time; the earliest time wins', async (t) => {
  const { clock, queue, takeAll } = setUp()
  queue.add('a', { after: 1000 })
  queue.add('a', { after: 5000 })
  queue.add('b', { after: 5000 })
  queue.add('b', { after: 2000 })
  queue.add('c', { after: 60_000 })
  queue.add('c')
  t.strictSame(await takeAll(), ['c'])
  await clock.advance(999)
  t.strictSame(await takeAll(), [])
  await clock.advance(1)
  t.strictSame(await takeAll(), ['a'])
  await clock.advance(1000)
  t.strictSame(await takeAll(), ['b'])
  await clock.advance(100_000)
  t.strictSame(await takeAll(), [])
  t.equal(clock.pending, 0)
})

t.test('a key that becomes ready while it is being processed waits for done', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a')
  await take()
  queue.add('a', { after: 10 })
  await clock.advance(10)
  t.equal(await take(), undefined)
  queue.done('a')
  t.equal(await take(), 'a')
})

t.test('failures wait longer and longer until they are forgotten, and keep their priority', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a', { priority: 7 })
  for (const delay of [5, 10, 20]) {
    t.equal(await take(), 'a')
    t.equal(queue.priorityOf('a'), 7)
    queue.addRateLimited('a')
    queue.done('a')
    await clock.advance(delay - 1)
    t.equal(await take(), undefined)
    await clock.advance(1)
  }
  queue.forget('a')
  t.equal(await take(), 'a')
  queue.addRateLimited('a')
  queue.done('a')
  await clock.advance(5)
  t.equal(await take(), 'a')
})

t.test('workers that wait are served in the order in which they came', async (t) => {
  const { queue } = setUp()
  const first = queue.get()
  const second = queue.get()
  queue.add('a')
  queue.add('b')
  t.strictSame(await Promise.all([first, second]), ['a', 'b'])
})

t.test('an aborted get takes nothing', async (t) => {
  const { queue, take } = setUp()
  const stop = new AbortController()
  const waiting = queue.get(stop.signal)
  stop.abort()
  t.equal(await waiting, undefined)
  queue.add('a')
  t.equal(await queue.get(stop.signal), undefined)
  t.equal(await take(), 'a')
})

t.test('after a shut down nothing comes out and nothing goes in', async (t) => {
  const { clock, queue } = setUp()
  queue.add('running')
  await queue.get()
  queue.add('ready')
  queue.add('later', { after: 10 })
  queue.add('running')
  const other = new WorkQueue<string>({ clock })
  const waiting = other.get()
  other.shutDown()
  queue.shutDown()
  t.equal(await waiting, undefined)
  queue.add('new')
  queue.done('running')
  t.equal(await queue.get(), undefined)
  t.equal(clock.pending, 0, 'no timer is left')
})

t.test('a delay that is no number means at once', async (t) => {
  const { queue, takeAll } = setUp()
  queue.add('a', { after: NaN })
  queue.add('b', { after: -5 })
  t.strictSame(await takeAll(), ['a', 'b'])
})

t.test('a clock that is set back does not hold up what its timer was armed for', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a', { after: 1000 })
  const { now } = { now: clock.now() }
  const fire = clock.nextDue! - now
  clock.set(now - 3_600_000)
  await clock.advance(fire + 3_600_000)
  t.equal(await take(), 'a')
})

t.test('depth, adds, retries and durations are measured', async (t) => {
  const clock = new FakeClock()
  const metrics = new Metrics()
  const queue = new WorkQueue<string>({ clock, metrics: metrics.queue('q') })
  const value = async (line: string): Promise<boolean> => (await metrics.registry.metrics()).split('\n').includes(line)
  const labels = '{name="q",controller="q"}'
  queue.add('a', { priority: -100 })
  queue.add('b', { after: 50 })
  t.ok(await value('workqueue_depth{name="q",controller="q",priority="-100"} 1'))
  t.ok(await value(`workqueue_adds_total${labels} 1`), 'what is delayed is not added yet')
  t.ok(await value(`workqueue_retries_total${labels} 1`))
  await clock.advance(3000)
  await queue.get()
  t.ok(await value(`workqueue_queue_duration_seconds_sum${labels} 2.95`))
  t.ok(await value('workqueue_depth{name="q",controller="q",priority="0"} 0'))
  await clock.advance(2000)
  t.ok(await value(`workqueue_unfinished_work_seconds${labels} 2`))
  queue.done('b')
  t.ok(await value(`workqueue_work_duration_seconds_sum${labels} 2`))
  t.ok(await value(`workqueue_adds_total${labels} 2`))
  t.ok(await value(`workqueue_unfinished_work_seconds${labels} 0`))
})
