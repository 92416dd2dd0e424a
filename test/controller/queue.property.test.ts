import t from 'tap'
import { WorkQueue, type AddOptions } from '../../src/controller/queue.ts'
import type { QueueMetrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { fc } from '../support/property.ts'

interface Entry {
  readonly key: string
  priority: number
  readyAt: number
  /**
   * The latest time at which the key was added as a ready key: by a call without a delay, or because a delay had ended. The time also
   * changes if the key was already ready.
   */
  addedAt?: number
  order: number
  ready: boolean
}

/** A simple model of the work queue. The test compares the real queue with this model. */
class Model {
  /** The ready keys and the retries. */
  entries: Entry[] = []
  readonly timers = new Map<string, Entry>()
  readonly working = new Map<string, number>()
  readonly failures = new Map<string, number>()
  /** The number of calls of `whenIdle` that must still be pending, for each key. */
  readonly watched = new Map<string, number>()
  now = 0
  order = 0
  paused = false

  add(key: string, { after = 0, priority = 0 }: AddOptions): void {
    const timer = this.timers.get(key)
    const readyAt = this.now + after
    if (after === 0) this.addReady(key, priority, this.now)
    else if (timer === undefined) this.timers.set(key, { key, priority, readyAt, order: this.order++, ready: false })
    else Object.assign(timer, { priority: Math.max(timer.priority, priority), readyAt: Math.min(timer.readyAt, readyAt) })
  }

  addReady(key: string, priority: number, readyAt: number): void {
    const entry = this.entries.find((candidate) => candidate.key === key)
    if (entry === undefined) {
      this.entries.push({ key, priority, readyAt, addedAt: readyAt, order: this.order++, ready: true })
    } else {
      entry.priority = Math.max(entry.priority, priority)
      entry.addedAt = Math.max(entry.addedAt ?? 0, readyAt)
      if (!entry.ready) Object.assign(entry, { ready: true, order: this.order++, readyAt: Math.min(entry.readyAt, readyAt) })
    }
  }

  addRateLimited(key: string, priority = this.working.get(key) ?? 0): void {
    const failures = this.failures.get(key) ?? 0
    this.failures.set(key, failures + 1)
    const readyAt = this.now + Math.min(5 * 2 ** failures, 1_000_000)
    const entry = this.entries.find((candidate) => candidate.key === key)
    if (entry === undefined) {
      this.entries.push({ key, priority, readyAt, order: this.order++, ready: false })
    } else {
      entry.priority = Math.max(entry.priority, priority)
      if (!entry.ready) entry.readyAt = Math.min(entry.readyAt, readyAt)
    }
  }

  forget(key: string): void {
    this.failures.delete(key)
    this.timers.delete(key)
  }

  done(key: string): void {
    this.working.delete(key)
    this.wake()
  }

  advance(ms: number): void {
    this.now += ms
    this.wake()
  }

  /**
   * If the `readyAt` of an entry has passed, the entry becomes ready. Exception: while the key of a timer is being processed, the timer
   * stays pending.
   */
  wake(): void {
    const timers = [...this.timers.values()].filter(({ key }) => !this.working.has(key))
    const due = [...timers, ...this.entries.filter(({ ready }) => !ready)].filter(({ readyAt }) => readyAt <= this.now)
    due.sort((a, b) => a.readyAt - b.readyAt || a.order - b.order)
    for (const entry of due) {
      if (this.timers.get(entry.key) === entry) this.timers.delete(entry.key)
      this.addReady(entry.key, entry.priority, entry.readyAt)
    }
  }

  get(): string | undefined {
    if (this.paused) return undefined
    const [next, ...others] = this.available()
    if (next === undefined) return undefined
    for (const other of others) assertFair(next, other)
    this.entries = this.entries.filter((entry) => entry !== next)
    this.working.set(next.key, next.priority)
    return next.key
  }

  drop(filter: (key: string, waitedMs: number) => boolean): void {
    for (const entry of [...this.entries, ...this.timers.values()]) {
      const { key, ready, addedAt = 0 } = entry
      if (!filter(key, ready ? this.now - addedAt : 0)) continue
      this.entries = this.entries.filter((other) => other !== entry)
      if (this.timers.get(key) === entry) this.timers.delete(key)
      if (!this.working.has(key)) this.failures.delete(key)
    }
  }

  /** The entries that `get` may return, in order. */
  available(): Entry[] {
    return this.entries
      .filter((entry) => entry.ready && !this.working.has(entry.key))
      .sort((a, b) => rankOf(a) - rankOf(b) || a.order - b.order)
  }
}

/**
 * Checks the limit for waiting. A key must not overtake another key that became ready more than two minutes earlier, whatever their
 * priorities are. The reason is that a priority adds at most one minute to the waiting time, or subtracts at most one minute from it.
 */
function assertFair(next: Entry, other: Entry): void {
  if (next.readyAt > other.readyAt + 120_000) throw new Error(`${next.key} overtook ${other.key}, which has waited too long`)
}

/** One step of priority counts as 100 ms of waiting. At most 600 steps are counted. */
function rankOf({ readyAt, priority }: Entry): number {
  return readyAt - Math.min(Math.max(priority, -600), 600) * 100
}

interface Real {
  readonly queue: WorkQueue<string>
  readonly clock: FakeClock
  /** The number of waiting keys that the depth metric reports, by priority. */
  readonly depths: ReadonlyMap<number | string, number>
  /** The number of calls of `whenIdle` that are pending, by key. */
  readonly watched: Map<string, number>
}

function realQueue(): Real {
  const clock = new FakeClock(0)
  const depths = new Map<number | string, number>()
  const nothing = (): void => undefined
  const metrics: QueueMetrics = {
    added: nothing,
    depth: (count, priority = 0) => void depths.set(priority, count),
    retried: nothing,
    waited: nothing,
    worked: nothing,
    observeRunning: nothing,
  }
  return { queue: new WorkQueue<string>({ clock, metrics }), clock, depths, watched: new Map() }
}

type Command = fc.AsyncCommand<Model, Real>

/** The number of commands that have run. */
let operations = 0

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void> | void,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => name,
    async run(model, real) {
      operations++
      await run(model, real)
      for (const [key, count] of model.watched) {
        if ((real.watched.get(key) ?? 0) !== count) throw new Error(`${real.watched.get(key)} callers wait for ${key}, expected ${count}`)
      }
      const expected = model.entries.filter((entry) => entry.ready).length
      const depth = [...real.depths.values()].reduce((sum, count) => sum + count, 0)
      if (depth !== expected) throw new Error(`the depth is ${depth}, expected ${expected}`)
    },
  }
}

async function take({ queue }: Real): Promise<string | undefined> {
  const stop = new AbortController()
  const getting = queue.get(stop.signal)
  stop.abort()
  return getting
}

const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const priorities = fc.constantFrom(-5000, -100, -1, 0, 0, 0, 3, 5000)
const delays = fc.constantFrom(0, 0, 1, 5, 7, 40)

const frequent: fc.Arbitrary<Command>[] = [
  fc.tuple(keys, delays, priorities).map(([key, after, priority]) =>
    command(`add(${key}, after ${after}, priority ${priority})`, (model, { queue }) => {
      model.add(key, { after, priority })
      queue.add(key, { after, priority })
    }),
  ),
  fc.tuple(keys, fc.option(priorities, { nil: undefined })).map(([key, priority]) =>
    command(`addRateLimited(${key}, priority ${priority})`, (model, { queue }) => {
      model.addRateLimited(key, priority)
      queue.addRateLimited(key, priority === undefined ? {} : { priority })
    }),
  ),
  keys.map((key) =>
    command(`forget(${key})`, (model, { queue }) => {
      model.forget(key)
      queue.forget(key)
    }),
  ),
  fc.constantFrom(1, 4, 10, 100, 10_000).map((ms) =>
    command(`advance(${ms})`, async (model, { clock }) => {
      model.advance(ms)
      await clock.advance(ms)
    }),
  ),
  fc.constant(
    command('get', async (model, real) => {
      const [actual, expected] = [await take(real), model.get()]
      if (actual !== expected) throw new Error(`got ${actual}, expected ${expected}`)
      if (actual !== undefined && real.queue.priorityOf(actual) !== model.working.get(actual))
        throw new Error('another priority than expected')
    }),
  ),
  keys.map((key) =>
    command(
      `done(${key})`,
      async (model, { queue }) => {
        model.done(key)
        model.watched.delete(key)
        queue.done(key)
        await Promise.resolve()
      },
      (model) => model.working.has(key),
    ),
  ),
]

const rare: fc.Arbitrary<Command>[] = [
  keys.map((key) =>
    command(`whenIdle(${key})`, async (model, { queue, watched }) => {
      if (model.working.has(key)) model.watched.set(key, (model.watched.get(key) ?? 0) + 1)
      watched.set(key, (watched.get(key) ?? 0) + 1)
      void queue.whenIdle(key).then(() => watched.set(key, watched.get(key)! - 1))
      await Promise.resolve()
    }),
  ),
  fc.constant(
    command('pause', (model, { queue }) => {
      model.paused = true
      queue.pause()
    }),
  ),
  fc.constant(
    command('resume', (model, { queue }) => {
      model.paused = false
      queue.resume()
    }),
  ),
  fc.tuple(fc.subarray(['a', 'b', 'c', 'd', 'e']), fc.constantFrom(0, 0, 1, 100)).map(([chosen, waited]) =>
    command(`drop(${chosen.join()}, waited ${waited})`, (model, { queue }) => {
      const filter = (key: string, waitedMs: number): boolean => chosen.includes(key) && waitedMs >= waited
      model.drop(filter)
      queue.drop(filter)
    }),
  ),
]

/** Gets all keys from the model and from the queue, and compares the keys. Throws if an entry or a timer is left. */
async function drain(model: Model, real: Real): Promise<void> {
  model.paused = false
  real.queue.resume()
  for (const key of [...model.working.keys()]) {
    model.done(key)
    real.queue.done(key)
  }
  model.advance(2_000_000)
  await real.clock.advance(2_000_000)
  for (;;) {
    const [actual, expected] = [await take(real), model.get()]
    if (actual !== expected) throw new Error(`while draining: got ${actual}, expected ${expected}`)
    if (actual === undefined) break
  }
  if (model.entries.length > 0 || model.timers.size > 0 || real.clock.pending > 0) throw new Error('an entry or a timer is left')
}

t.test('the queue behaves like the model for any order of 100,000 operations', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.commands([...rare, ...frequent, ...frequent], { maxCommands: 400, size: 'max' }), async (sequence) => {
      const [model, real] = [new Model(), realQueue()]
      await fc.asyncModelRun(() => ({ model, real }), sequence)
      await drain(model, real)
    }),
    { numRuns: 700 },
  )
  t.ok(operations > 100_000, `${operations} operations`)
})

t.test('no key waits longer than its priority allows, even if keys with higher priorities never stop coming', async () => {
  const load = fc.record({
    ahead: fc.nat({ max: 30 }),
    priority: fc.integer({ min: -1000, max: 1000 }),
    everyMs: fc.integer({ min: 20, max: 500 }),
  })
  await fc.assert(
    fc.asyncProperty(load, async ({ ahead, priority, everyMs }) => {
      const clock = new FakeClock(0)
      const queue = new WorkQueue<string>({ clock })
      for (let each = 0; each < ahead; each++) queue.add(`ahead ${each}`, { priority: 1000 })
      queue.add('patient', { priority })
      // If another key becomes ready less than `graceMs` after the key `patient` becomes ready, the queue may return the other key first.
      // The loop adds one key every `everyMs` milliseconds.
      const graceMs = 100 * (600 - Math.min(Math.max(priority, -600), 600))
      const bound = ahead + Math.ceil(graceMs / everyMs) + 1
      for (let handedOut = 1; ; handedOut++) {
        const key = (await queue.get())!
        queue.done(key)
        if (key === 'patient') return
        if (handedOut > bound) throw new Error(`more than ${bound} keys came before`)
        await clock.advance(everyMs)
        queue.add(`urgent ${handedOut}`, { priority: 1000 })
      }
    }),
    { numRuns: 40 },
  )
})

t.test('with several workers no key is in two of them, and each added key is processed after it was added', async () => {
  const step = fc.record({ key: keys, after: delays, pause: fc.nat({ max: 8 }), work: fc.nat({ max: 20 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, workers) => {
      const clock = new FakeClock(0)
      const queue = new WorkQueue<string>({ clock })
      const busy = new Set<string>()
      const added = new Map<string, number>()
      const seen = new Map<string, number>()
      const work = new Map<string, number>(steps.map(({ key, work }) => [key, work]))
      const problems: string[] = []
      const worker = async (): Promise<void> => {
        for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
          if (busy.has(key)) problems.push(`${key} is in two workers`)
          busy.add(key)
          seen.set(key, added.get(key) ?? 0)
          await new Promise<void>((resolve) => clock.after(work.get(key!) ?? 0, resolve))
          busy.delete(key)
          queue.done(key)
        }
      }
      const done = Promise.all(Array.from({ length: workers }, worker))
      for (const [index, { key, after, pause }] of steps.entries()) {
        queue.add(key, { after })
        added.set(key, index + 1)
        await clock.advance(pause)
      }
      await clock.advance(2000)
      for (const [key, last] of added) if (seen.get(key) !== last) problems.push(`the last add of ${key} was lost`)
      queue.shutDown()
      // If the queue has returned a key too late, a worker may still be processing it.
      await clock.advance(20)
      await done
      if (problems.length > 0 || clock.pending > 0) throw new Error(problems.join('; ') || 'a timer is left')
    }),
    { numRuns: 1000 },
  )
})
