import t from 'tap'
import { WorkQueue, type AddOptions } from '../../src/controller/queue.ts'
import type { QueueMetrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { fc } from '../support/property.ts'

interface Entry {
  readonly key: string
  priority: number
  readyAt: number
  order: number
  ready: boolean
}

/** A simple model of the work queue. The test compares the real queue with this model. */
class Model {
  entries: Entry[] = []
  readonly working = new Map<string, number>()
  readonly failures = new Map<string, number>()
  now = 0
  order = 0

  add(key: string, { after = 0, priority = 0 }: AddOptions): void {
    const readyAt = this.now + after
    const entry = this.entries.find((candidate) => candidate.key === key)
    if (entry === undefined) {
      this.entries.push({ key, priority, readyAt, order: this.order++, ready: after === 0 })
    } else if (entry.ready) {
      entry.priority = Math.max(entry.priority, priority)
    } else {
      entry.priority = Math.max(entry.priority, priority)
      entry.readyAt = Math.min(entry.readyAt, readyAt)
      if (after === 0) Object.assign(entry, { ready: true, order: this.order++ })
    }
  }

  addRateLimited(key: string): void {
    const failures = this.failures.get(key) ?? 0
    this.failures.set(key, failures + 1)
    this.add(key, { after: Math.min(5 * 2 ** failures, 1_000_000), priority: this.working.get(key) ?? 0 })
  }

  advance(ms: number): void {
    this.now += ms
    const due = this.entries.filter((entry) => !entry.ready && entry.readyAt <= this.now)
    due.sort((a, b) => a.readyAt - b.readyAt || a.order - b.order)
    for (const entry of due) Object.assign(entry, { ready: true, order: this.order++ })
  }

  get(): string | undefined {
    const [next] = this.entries
      .filter((entry) => entry.ready && !this.working.has(entry.key))
      .sort((a, b) => rankOf(a) - rankOf(b) || a.order - b.order)
    if (next === undefined) return undefined
    this.entries = this.entries.filter((entry) => entry !== next)
    this.working.set(next.key, next.priority)
    return next.key
  }
}

/** A step of priority counts as 100 ms of waiting, up to 600 steps. */
function rankOf({ readyAt, priority }: Entry): number {
  return readyAt - Math.min(Math.max(priority, -600), 600) * 100
}

interface Real {
  readonly queue: WorkQueue<string>
  readonly clock: FakeClock
  /** The number of waiting keys that the depth metric reports, by priority. */
  readonly depths: ReadonlyMap<number, number>
}

function realQueue(): Real {
  const clock = new FakeClock(0)
  const depths = new Map<number, number>()
  const nothing = (): void => undefined
  const metrics: QueueMetrics = {
    added: nothing,
    depth: (count, priority = 0) => void depths.set(priority, count),
    retried: nothing,
    waited: nothing,
    worked: nothing,
    observeRunning: nothing,
  }
  return { queue: new WorkQueue<string>({ clock, metrics }), clock, depths }
}

type Command = fc.AsyncCommand<Model, Real>

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void> | void,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => name,
    async run(model, real) {
      await run(model, real)
      const expected = model.entries.filter((entry) => entry.ready).length
      const depth = [...real.depths.values()].reduce((sum, count) => sum + count, 0)
      if (depth !== expected) throw new Error(`the depth is ${depth}, expected ${expected}`)
    },
  }
}

const keys = fc.constantFrom('a', 'b', 'c', 'd')
const priorities = fc.constantFrom(-5000, -100, -1, 0, 0, 0, 3)
const delays = fc.constantFrom(0, 0, 1, 5, 7, 40)

const commands: fc.Arbitrary<Command>[] = [
  fc.tuple(keys, delays, priorities).map(([key, after, priority]) =>
    command(`add(${key}, after ${after}, priority ${priority})`, (model, { queue }) => {
      model.add(key, { after, priority })
      queue.add(key, { after, priority })
    }),
  ),
  keys.map((key) =>
    command(`addRateLimited(${key})`, (model, { queue }) => {
      model.addRateLimited(key)
      queue.addRateLimited(key)
    }),
  ),
  keys.map((key) =>
    command(`forget(${key})`, (model, { queue }) => {
      model.failures.delete(key)
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
    command('get', async (model, { queue }) => {
      const stop = new AbortController()
      const getting = queue.get(stop.signal)
      stop.abort()
      const [actual, expected] = [await getting, model.get()]
      if (actual !== expected) throw new Error(`got ${actual}, expected ${expected}`)
      if (actual !== undefined && queue.priorityOf(actual) !== model.working.get(actual)) throw new Error('another priority than expected')
    }),
  ),
  keys.map((key) =>
    command(
      `done(${key})`,
      (model, { queue }) => {
        model.working.delete(key)
        queue.done(key)
      },
      (model) => model.working.has(key),
    ),
  ),
]

t.test('the queue behaves like the model for any order of calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 80, size: 'max' }), async (sequence) => {
      await fc.asyncModelRun(() => ({ model: new Model(), real: realQueue() }), sequence)
    }),
    { numRuns: 300 },
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
      await done
      if (problems.length > 0 || clock.pending > 0) throw new Error(problems.join('; ') || 'a timer is left')
    }),
    { numRuns: 100 },
  )
})
