import t from 'tap'
import { LoopTurns, TaskSlices, TimeSlices } from '../../src/runtime/time-slices.ts'

const nextLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('a task goes on until the slice of this turn of the event loop is used up', async (t) => {
  let now = 1000
  const slices = new TimeSlices(2)
  const next = (): Promise<void> | undefined => slices.next(() => now)
  t.equal(next(), undefined)
  now += 1.9
  t.equal(next(), undefined)
  now += 0.1
  const turn = next()
  t.type(turn, Promise)
  now += 5
  await turn
  t.equal(next(), undefined, 'the new slice begins with the turn')
  now += 2
  t.type(next(), Promise)
})

t.test('a slice ends with its turn of the event loop', async (t) => {
  let now = 1000
  const slices = new TimeSlices(2)
  const next = (): Promise<void> | undefined => slices.next(() => now)
  t.equal(next(), undefined)
  now += 1
  await nextLoopTurn()
  t.equal(next(), undefined)
  now += 1
  t.equal(next(), undefined)
})

t.test('tasks that wait resume in the order of their calls, one in each turn of the event loop', async (t) => {
  let now = 1000
  const slices = new TimeSlices(10)
  t.equal(
    slices.next(() => now),
    undefined,
  )
  now += 10
  let turn = 0
  let counting = true
  const count = (): void => {
    turn += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const seen: string[] = []
  const at: number[] = []
  await Promise.all(
    ['a', 'b', 'a', 'c'].map(async (name) => {
      await slices.next(() => now)
      seen.push(name)
      at.push(turn)
    }),
  )
  counting = false
  t.strictSame(seen, ['a', 'b', 'a', 'c'])
  t.equal(new Set(at).size, 4, at.join(' '))
  await nextLoopTurn()
  t.equal(
    slices.next(() => now),
    undefined,
    'no task waits any more',
  )
})

/** Blocks the event loop for `ms` milliseconds. */
function work(ms: number): void {
  const began = performance.now()
  while (performance.now() - began < ms);
}

t.test('a task has a slice of its own, which starts with the task', async (t) => {
  const turns = new LoopTurns()
  const long = new TaskSlices(turns, 0.1)
  t.equal(new TaskSlices(turns, 1000).next(), undefined)
  work(0.2)
  const turn = long.next()
  t.type(turn, Promise)
  t.equal(new TaskSlices(turns, 1000).next(), undefined, 'a short task is not delayed by one that waits')
  await turn
  work(0.2)
  t.type(long.next(), Promise)
})

t.test('a new slice starts when the turn comes', async (t) => {
  const slices = new TaskSlices(new LoopTurns(), 60_000)
  const turn = slices.renew()
  t.type(turn, Promise, 'the slice is renewed before it is used up')
  await turn
  t.equal(slices.next(), undefined)
})

t.test('tasks take turns in the order of their calls, one in each turn of the event loop', async (t) => {
  const turns = new LoopTurns()
  const seen: string[] = []
  let turn = 0
  let counting = true
  const count = (): void => {
    turn += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const tasks = ['a', 'b', 'c'].map(async (name) => {
    const slices = new TaskSlices(turns, 10)
    for (let round = 0; round < 2; round += 1) {
      await slices.renew()
      seen.push(`${name} ${turn}`)
    }
  })
  await Promise.all(tasks)
  counting = false
  t.strictSame(
    seen.map((text) => text.split(' ')[0]),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  )
  t.equal(new Set(seen.map((text) => text.split(' ')[1])).size, 6, seen.join(', '))
})
