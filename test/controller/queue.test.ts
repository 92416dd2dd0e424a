import t from 'tap'
import { getEventListeners } from 'node:events'
import { WorkQueue } from '../../src/controller/queue.ts'
import type { QueueMetrics } from '../../src/telemetry/metrics.ts'
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
      // A worker calls `forget` after a success.
      queue.forget(key)
      queue.done(key)
    }
    return keys
  }
  return { clock, queue, take, takeAll }
}

t.test('keys come out in FIFO order, each once', async (t) => {
  const { queue, takeAll } = setUp()
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
  t.strictSame(await takeAll(), ['a', 'b', 'c'])
})

t.test('a higher priority comes first, and a raised key keeps the time that it has waited', async (t) => {
  const { clock, queue, takeAll } = setUp()
  queue.add('low', { priority: -100 })
  queue.add('first')
  await clock.advance(1)
  queue.add('raised', { priority: -100 })
  await clock.advance(1)
  queue.add('second')
  queue.add('raised')
  queue.add('second', { priority: -100 })
  t.strictSame(await takeAll(), ['first', 'raised', 'second', 'low'])
})

t.test('a low priority delays a key, but not for ever', async (t) => {
  const { clock, queue, take } = setUp()
  const waitedFor = async (priority: number): Promise<number> => {
    const key = String(priority)
    queue.add(key, { priority })
    for (let waited = 0; ; waited += 100) {
      queue.add('busy')
      const next = (await take())!
      queue.done(next)
      if (next === key) {
        queue.done((await take())!)
        return waited
      }
      await clock.advance(100)
    }
  }
  t.equal(await waitedFor(-1), 100)
  t.equal(await waitedFor(-100), 10_000, 'ten seconds for the objects that existed before the watch began')
  t.equal(await waitedFor(-1_000_000), 60_000, 'at most a minute')
})

t.test('a high priority does not count for ever, either', async (t) => {
  const { clock, queue, takeAll } = setUp()
  queue.add('old')
  await clock.advance(60_001)
  queue.add('urgent', { priority: 1_000_000 })
  t.strictSame(await takeAll(), ['old', 'urgent'])
})

t.test('keeps one entry per key while it is being processed', async (t) => {
  const { queue, take } = setUp()
  queue.add('a')
  t.equal(await take(), 'a')
  queue.add('a')
  queue.add('a', { priority: 5 })
  t.equal(await take(), undefined, 'no other worker gets it')
  queue.done('a')
  t.equal(await take(), 'a')
  t.equal(queue.priorityOf('a'), 5)
  queue.done('a')
  t.equal(await take(), undefined)
})

t.test('a delayed key comes at its time, and the earliest time wins', async (t) => {
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

t.test('a timer stays when its key is added, handed out, or retried', async (t) => {
  const clock = new FakeClock()
  const delays = [5, 100_000]
  const queue = new WorkQueue<string>({ clock, rateLimiter: { delayMs: () => delays.shift()!, forget: () => undefined } })
  queue.add('a', { after: 60_000, priority: 5 })
  queue.add('a')
  t.equal(await queue.get(), 'a')
  t.equal(queue.priorityOf('a'), 0, 'the priority of the timer does not count yet')
  queue.addRateLimited('a')
  queue.done('a')
  await clock.advance(5)
  t.equal(await queue.get(), 'a', 'the retry')
  queue.addRateLimited('a')
  queue.done('a')
  let next: string | undefined
  void queue.get().then((key) => (next = key))
  await clock.advance(59_994)
  t.equal(next, undefined)
  await clock.advance(1)
  t.equal(next, 'a', 'the timer comes before the retry, which has a longer delay')
  t.equal(queue.priorityOf('a'), 5)
  queue.done('a')
  t.equal(clock.pending, 0, 'it was the retry, too')
})

t.test('a timer that is due while its key is being processed waits for the end, and a success removes it', async (t) => {
  const { clock, queue, take } = setUp()
  for (const succeeds of [false, true]) {
    queue.add('a', { after: 100 })
    queue.add('a')
    t.equal(await take(), 'a')
    await clock.advance(200)
    t.equal(clock.pending, 0)
    if (succeeds) queue.forget('a')
    else queue.addRateLimited('a')
    queue.done('a')
    t.equal(await take(), succeeds ? undefined : 'a')
    queue.done('a')
  }
  t.equal(clock.pending, 0)
})

t.test('the timer of a key that a waiting worker gets at once displaces no other timer', async (t) => {
  const { clock, queue } = setUp()
  const started: string[] = []
  const work = async (): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      started.push(`${key} ${clock.now() - startedAt}`)
      await new Promise<void>((resolve) => clock.after(10, resolve))
      queue.done(key)
    }
  }
  const startedAt = clock.now()
  const workers = [work(), work()]
  queue.add('a')
  await clock.advance(1)
  queue.add('a')
  queue.add('a', { after: 50 })
  queue.add('b', { after: 60 })
  await clock.advance(100)
  t.strictSame(started, ['a 0', 'a 10', 'a 51', 'b 61'])
  queue.shutDown()
  await Promise.all(workers)
})

t.test('a timer that is set while its key is being processed starts with the other entries', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a')
  await take()
  queue.add('a')
  queue.add('a', { after: 100 })
  queue.done('a')
  t.equal(await take(), 'a', 'the key was added meanwhile')
  queue.forget('a')
  queue.add('a', { after: 50 })
  queue.done('a')
  await clock.advance(49)
  t.equal(await take(), undefined)
  await clock.advance(1)
  t.equal(await take(), 'a', 'the newer timer')
  queue.done('a')
  await clock.advance(1000)
  t.equal(await take(), undefined, 'the older timer was removed')
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

t.test('failures back off until they are forgotten, and keep their priority', async (t) => {
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

t.test('waiting workers are served in order', async (t) => {
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

t.test('after shut down nothing comes out and nothing is added', async (t) => {
  const { clock, queue } = setUp()
  queue.add('running')
  await queue.get()
  queue.add('ready')
  queue.add('later', { after: 10 })
  queue.add('running', { after: 10 })
  queue.add('running')
  const other = new WorkQueue<string>({ clock })
  const waiting = other.get()
  other.shutDown()
  queue.shutDown()
  t.equal(await waiting, undefined)
  queue.add('new')
  queue.done('running')
  queue.drop(() => true)
  t.equal(await queue.get(), undefined)
  t.equal(clock.pending, 0, 'no timer is left')
})

t.test('take returns a ready key at once, and undefined when there is none', (t) => {
  const { queue } = setUp()
  t.equal(queue.take(), undefined)
  queue.add('a')
  queue.pause()
  t.equal(queue.take(), undefined, 'paused')
  queue.resume()
  t.equal(queue.take(), 'a')
  queue.add('a')
  t.equal(queue.take(), undefined, 'a worker has the key')
  queue.add('b')
  queue.shutDown()
  t.equal(queue.take(), undefined, 'shut down')
  t.end()
})

t.test('an invalid delay means at once', async (t) => {
  const { queue, takeAll } = setUp()
  queue.add('a', { after: NaN })
  queue.add('b', { after: -5 })
  t.strictSame(await takeAll(), ['a', 'b'])
})

t.test('delays do not depend on the time of day, which may be set', async (t) => {
  const { clock, queue, take } = setUp()
  for (const [key, jump] of [
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ] as const) {
    queue.add(key, { after: 1000 })
    queue.add(`${key} later`, { after: 1001 })
    clock.set(clock.now() + jump)
    queue.add(`${key} at last`, { after: 1002 })
    await clock.advance(999)
    t.equal(await take(), undefined)
    for (const due of [key, `${key} later`, `${key} at last`]) {
      await clock.advance(1)
      t.equal(await take(), due)
      t.equal(await take(), undefined)
    }
  }
})

t.test('an add of a delayed key whose time has come makes it ready, although its timer has not fired', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a', { after: 1000 })
  clock.set(clock.now() + 2000)
  queue.add('a')
  t.equal(await take(), 'a')
  queue.done('a')
  await clock.advance(0)
  t.equal(await take(), undefined)
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
  t.ok(await value(`workqueue_adds_total${labels} 1`), 'delayed keys are not counted yet')
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

/** Returns a queue that records the calls of its metrics. */
function measured(): { clock: FakeClock; queue: WorkQueue<string>; calls: unknown[][]; running: () => readonly number[] } {
  const clock = new FakeClock()
  const calls: unknown[][] = []
  let running: () => readonly number[] = () => []
  const record =
    (name: string) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args])
  const metrics = {
    added: record('added'),
    depth: record('depth'),
    retried: record('retried'),
    waited: record('waited'),
    worked: record('worked'),
    observeRunning: (observe: () => readonly number[]) => (running = observe),
  } as unknown as QueueMetrics
  return { clock, queue: new WorkQueue<string>({ clock, metrics }), calls, running: () => running() }
}

t.test('changes of a key are reported to the metrics', async (t) => {
  const { clock, queue, calls, running } = measured()
  const since = (): unknown[][] => calls.splice(0)
  queue.add('a')
  t.strictSame(since(), [['added'], ['depth', 1, 0]])
  queue.add('a')
  t.strictSame(since(), [], 'the key is queued already')
  queue.add('a', { priority: 5 })
  t.strictSame(since(), [
    ['depth', 0, 0],
    ['depth', 1, 5],
  ])
  queue.add('b', { after: 1000, priority: 5 })
  t.strictSame(since(), [['retried']])
  await clock.advance(1500)
  t.strictSame(since(), [['added'], ['depth', 2, 5]])
  t.equal(await queue.get(), 'a')
  t.strictSame(since(), [
    ['depth', 1, 5],
    ['waited', 1.5],
  ])
  t.equal(await queue.get(), 'b')
  t.strictSame(since(), [
    ['depth', 0, 5],
    ['waited', 0.5],
  ])
  queue.add('a', { priority: 1 })
  queue.add('a', { priority: 2 })
  t.strictSame(since(), [['added'], ['depth', 1, 1], ['depth', 0, 1], ['depth', 1, 2]])
  await clock.advance(2000)
  t.strictSame(running(), [2, 2])
  queue.done('a')
  t.strictSame(since(), [['worked', 2]])
  t.strictSame(running(), [2])
  queue.done('a')
  queue.done('c')
  t.strictSame(since(), [], 'no worker has it')
  const waiting = Promise.all([queue.get(), queue.get()])
  t.strictSame(since(), [
    ['depth', 0, 2],
    ['waited', 2],
  ])
  queue.add('d', { priority: 3 })
  t.strictSame(since(), [['added'], ['depth', 1, 3], ['depth', 0, 3], ['waited', 0]])
  t.strictSame(await waiting, ['a', 'd'])
})

t.test('after shut down the depth is zero', async (t) => {
  const { queue, calls } = measured()
  queue.add('a')
  queue.add('b', { priority: 5 })
  queue.add('c', { after: 10, priority: 7 })
  calls.length = 0
  queue.shutDown()
  t.strictSame(calls, [
    ['depth', 0, 0],
    ['depth', 0, 5],
  ])
  queue.add('d')
  queue.add('d', { after: 5 })
  t.equal(calls.length, 2)
})

t.test('a clock that is set back causes no negative durations', async (t) => {
  const { clock, queue, calls, running } = measured()
  queue.add('a')
  clock.set(clock.now() - 5000)
  await queue.get()
  clock.set(clock.now() - 5000)
  t.strictSame(running(), [0])
  queue.done('a')
  t.strictSame(calls.slice(2), [
    ['depth', 0, 0],
    ['waited', 0],
    ['worked', 0],
  ])
})

t.test('one timer serves all delayed keys, for the earliest', async (t) => {
  const { clock, queue, takeAll } = setUp()
  const started = clock.now()
  queue.add('b', { after: 2000 })
  t.equal(clock.nextDue, started + 2000)
  queue.add('a', { after: 1000 })
  queue.add('c', { after: 3000 })
  t.strictSame([clock.pending, clock.nextDue], [1, started + 1000])
  await clock.advance(1000)
  t.strictSame(await takeAll(), ['a'])
  t.strictSame([clock.pending, clock.nextDue], [1, started + 2000])
  queue.add('b')
  t.strictSame(await takeAll(), ['b'])
  await clock.advance(1000)
  t.strictSame([clock.pending, clock.nextDue], [1, started + 3000])
  await clock.advance(1000)
  t.strictSame(await takeAll(), ['c'])
  t.equal(clock.pending, 0)
})

t.test('delayed adds of a key keep the higher priority', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a', { after: 10, priority: -5 })
  queue.add('a', { after: 20, priority: 3 })
  queue.add('b', { after: 10, priority: 2 })
  queue.add('b', { after: 5, priority: -100 })
  await clock.advance(10)
  t.strictSame([await take(), queue.priorityOf('a')], ['a', 3])
  t.strictSame([await take(), queue.priorityOf('b')], ['b', 2])
  t.equal(queue.priorityOf('c'), 0)
})

t.test('a retry has the given priority', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('a', { priority: 7 })
  await take()
  queue.addRateLimited('a', { priority: 0 })
  queue.done('a')
  await clock.advance(5)
  t.equal(await take(), 'a')
  t.equal(queue.priorityOf('a'), 0)
})

t.test('a served get leaves no listener on its signal', async (t) => {
  const { queue } = setUp()
  const { signal } = new AbortController()
  const waiting = queue.get(signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  queue.add('a')
  t.equal(await waiting, 'a')
  t.strictSame(getEventListeners(signal, 'abort'), [])
  const other = queue.get(signal)
  queue.shutDown()
  t.equal(await other, undefined)
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('a paused queue accepts keys and hands none out', async (t) => {
  const { clock, queue, calls } = measured()
  const waiting = [queue.get(), queue.get()]
  queue.add('running')
  t.equal(await waiting[0], 'running')
  queue.pause()
  queue.add('running')
  queue.add('later', { after: 1000 })
  queue.add('urgent', { priority: 5 })
  queue.done('running')
  await clock.advance(2000)
  waiting.push(queue.get())
  t.equal(await Promise.race([...waiting.slice(1), Promise.resolve('nothing')]), 'nothing')
  calls.length = 0
  queue.resume()
  t.strictSame(calls, [
    ['depth', 0, 5],
    ['waited', 2],
    ['depth', 1, 0],
    ['waited', 2],
  ])
  t.strictSame(await Promise.all(waiting.slice(1)), ['urgent', 'running'])
  queue.done('urgent')
  t.equal(await queue.get(), 'later')
  queue.done('later')
  const next = queue.get()
  queue.add('new')
  t.equal(await next, 'new')
})

t.test('an aborted get of a paused queue takes nothing when the queue is resumed', async (t) => {
  const { queue, take } = setUp()
  queue.pause()
  queue.add('a')
  t.equal(await take(), undefined)
  queue.resume()
  t.equal(await take(), 'a')
})

t.test('shutting down a paused queue ends its waiting gets', async (t) => {
  const { queue } = setUp()
  queue.pause()
  const waiting = queue.get()
  queue.shutDown()
  t.equal(await waiting, undefined)
  queue.resume()
  t.equal(await queue.get(), undefined)
})

t.test('drop removes ready, delayed and held entries that match', async (t) => {
  const { clock, queue, calls } = measured()
  for (const key of ['running', 'busy']) {
    queue.add(key)
    t.equal(await queue.get(), key)
    queue.add(key, { priority: 2 })
  }
  queue.add('old')
  await clock.advance(700)
  queue.add('new')
  queue.add('soon', { after: 50 })
  queue.add('later', { after: 1000 })
  await clock.advance(300)
  const waited: Record<string, number> = {}
  calls.length = 0
  queue.drop((key, waitedMs) => {
    waited[key] = waitedMs
    return key !== 'busy' && key !== 'soon'
  })
  t.strictSame(waited, { running: 1000, busy: 1000, old: 1000, new: 300, soon: 250, later: 0 })
  t.strictSame(calls, [
    ['depth', 1, 2],
    ['depth', 2, 0],
    ['depth', 1, 0],
  ])
  t.equal(clock.pending, 0, 'no timer is left for the delayed entry')
  queue.done('running')
  t.equal(await queue.get(), 'soon')
  queue.done('busy')
  t.equal(await queue.get(), 'busy')
  queue.add('new')
  t.equal(await queue.get(), 'new', 'a dropped key can be added again')
})

t.test('for drop, a key that was added again has waited since then, and keeps its place', async (t) => {
  const { clock, queue } = measured()
  queue.add('again')
  await clock.advance(100)
  queue.add('other')
  await clock.advance(600)
  queue.add('again')
  await clock.advance(300)
  const waited: Record<string, number> = {}
  queue.drop((key, waitedMs) => {
    waited[key] = waitedMs
    return false
  })
  t.strictSame(waited, { again: 300, other: 900 })
  t.equal(await queue.get(), 'again')
})

t.test('a timer that is due while its key is being processed has not waited for drop', async (t) => {
  const clock = new FakeClock()
  const queue = new WorkQueue<string>({ clock })
  queue.add('a')
  await queue.get()
  queue.add('a', { after: 100 })
  await clock.advance(60_000)
  const waited: number[] = []
  queue.drop((_, waitedMs) => (waited.push(waitedMs), waitedMs > 0))
  t.strictSame(waited, [0])
  queue.done('a')
  t.equal(await queue.get(), 'a')
})

t.test('drop forgets the failures of dropped keys, but not of a key that is being processed', async (t) => {
  const { clock, queue, take } = setUp()
  for (const key of ['idle', 'running']) {
    queue.addRateLimited(key)
    queue.addRateLimited(key)
  }
  await clock.advance(5)
  t.equal(await take(), 'idle')
  queue.addRateLimited('idle')
  queue.done('idle')
  t.equal(await take(), 'running')
  queue.addRateLimited('running')
  queue.drop(() => true)
  queue.done('running')
  queue.addRateLimited('idle')
  queue.addRateLimited('running')
  await clock.advance(39)
  t.equal(await take(), 'idle', 'after 5 ms')
  t.equal(await take(), undefined)
  await clock.advance(1)
  t.equal(await take(), 'running', 'after 5 ms × 2^3')
})

t.test('drop removes nothing when its filter throws', async (t) => {
  const { queue, takeAll } = setUp()
  queue.add('a')
  queue.add('b')
  t.throws(() =>
    queue.drop((key) => {
      if (key === 'b') throw new Error('filter')
      return true
    }),
  )
  t.strictSame(await takeAll(), ['a', 'b'])
})

t.test('whenIdle resolves when no worker is processing the key', async (t) => {
  const { queue } = setUp()
  await queue.whenIdle('a')
  queue.add('a')
  queue.add('b')
  await queue.whenIdle('a')
  await queue.get()
  await queue.get()
  const events: string[] = []
  const idle = ['first', 'second'].map((name) => queue.whenIdle('a').then(() => events.push(name)))
  queue.done('b')
  await queue.whenIdle('b')
  events.push('done')
  queue.add('a')
  queue.done('a')
  await Promise.all(idle)
  t.strictSame(events, ['done', 'first', 'second'])
  t.equal(await queue.get(), 'a')
  const other = queue.whenIdle('a').then(() => events.push('again'))
  queue.done('c')
  t.equal(events.length, 3)
  queue.shutDown()
  queue.done('a')
  await other
})

t.test('whenIdle rejects when its signal aborts first, and leaves no listener', async (t) => {
  const { queue } = setUp()
  queue.add('a')
  await queue.get()
  const stop = new AbortController()
  const [aborted, other] = [queue.whenIdle('a', stop.signal), queue.whenIdle('a')]
  const reason = new Error('enough')
  stop.abort(reason)
  await t.rejects(aborted, reason)
  await t.rejects(queue.whenIdle('a', stop.signal), reason)
  await queue.whenIdle('b', stop.signal)
  const { signal } = new AbortController()
  const idle = queue.whenIdle('a', signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  queue.done('a')
  await Promise.all([idle, other])
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('the depth is measured for 25 priorities, and for the others together', async (t) => {
  const { queue, calls } = measured()
  for (let priority = 0; priority < 27; priority++) queue.add(String(priority), { priority })
  t.strictSame(
    calls.filter(([name]) => name === 'depth').map(([, count, priority]) => [count, priority]),
    [...Array.from({ length: 25 }, (_, priority) => [1, priority]), [1, 'exceeded_cardinality_limit'], [2, 'exceeded_cardinality_limit']],
  )
  calls.length = 0
  queue.add('25', { priority: 26 })
  t.strictSame(calls, [
    ['depth', 1, 'exceeded_cardinality_limit'],
    ['depth', 2, 'exceeded_cardinality_limit'],
  ])
  queue.drop(() => true)
  const depths = new Map(calls.map(([, count, priority]) => [priority, count]))
  t.strictSame(
    [...depths.values()],
    Array.from({ length: 26 }, () => 0),
  )
})

t.test('the entries of a queue are listed with their states, and a timer is an entry of its own', async (t) => {
  const { clock, queue, take } = setUp()
  queue.add('running', { priority: 3 })
  t.equal(await take(), 'running')
  queue.add('running')
  queue.add('running', { after: 5000 })
  queue.add('ready')
  queue.addRateLimited('failed')
  await clock.advance(2)
  t.strictSame(queue.entries(10), [
    { key: 'running', state: 'working', priority: 3, failures: 0, seconds: 0.002 },
    { key: 'running', state: 'held', priority: 0, failures: 0, seconds: 0.002 },
    { key: 'ready', state: 'ready', priority: 0, failures: 0, seconds: 0.002 },
    { key: 'failed', state: 'delayed', priority: 0, failures: 1, seconds: 0.003 },
    { key: 'running', state: 'delayed', priority: 0, failures: 0, seconds: 4.998 },
  ])
  t.equal(queue.size, 5)
  t.strictSame(
    [0, 1, 3].map((limit) => queue.entries(limit).length),
    [0, 1, 3],
  )
})
