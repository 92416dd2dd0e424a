import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { Charge } from '../../../src/webhook/body/memory-budget.ts'
import { MemoryBudget, requestCost, smallBytes, smallCost } from '../../../src/webhook/body/memory-budget.ts'

const large = 2 * smallCost

function budgetOf(shared: number, reserve = large): { budget: MemoryBudget; clock: FakeClock } {
  const clock = new FakeClock(0)
  return { budget: new MemoryBudget({ total: shared + reserve, reserve, clock }), clock }
}

/**
 * Opens a `Charge`, which is the share of one request in the memory budget, and reserves bytes for the `Charge`. If too little memory is
 * free, the reservation waits.
 */
function taking(budget: MemoryBudget, bytes: number, order?: string[], name = ''): Charge {
  const charge = budget.open()
  if (charge.grow(bytes)) order?.push(name)
  else charge.growLater(bytes, () => order?.push(name))
  return charge
}

t.test('large requests leave a quarter of the budget for small ones', (t) => {
  const { budget } = budgetOf(4 * large)
  for (let index = 0; index < 3; index += 1) t.ok(budget.open().grow(large))
  t.notOk(budget.open().grow(large), 'three quarters are taken')
  t.ok(budget.open().grow(smallCost))
  t.equal(budget.used, 3 * large + smallCost)
  t.end()
})

t.test('bodies of unknown length leave a quarter of the budget free, however small they are', (t) => {
  const { budget } = budgetOf(8 * smallCost)
  const part = smallCost / 2
  for (let index = 0; index < 12; index += 1) t.ok(budget.open().grow(part, true))
  const next = budget.open()
  t.notOk(next.grow(part, true), 'three quarters are taken')
  taking(budget, smallCost)
  budget.open().growLater(part, () => undefined, true)
  budget.open().growLater(part, () => undefined, true)
  t.equal(budget.waiting, 1, 'one of the others holds the reserve')
  t.ok(budget.open().grow(part), 'a whole body has room, and does not wait for parts')
  const { budget: other } = budgetOf(4 * large)
  for (let index = 0; index < 2; index += 1) other.open().grow(large)
  taking(other, 2 * large)
  taking(other, 4 * large)
  t.equal(other.waiting, 1)
  t.ok(other.open().grow(part, true), 'small ones do not wait for a large one')
  t.end()
})

t.test('the request that has waited longest gets the reserve, and can grow to its full size', (t) => {
  const { budget } = budgetOf(large, 3 * large)
  const order: string[] = []
  const small = taking(budget, smallCost)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => taking(budget, large, order, name)) as [Charge, Charge, Charge]
  t.strictSame(order, ['first'])
  t.ok(first.grow(2 * large), 'although nothing else is free')
  t.equal(budget.waiting, 2)
  first.release()
  t.strictSame(order, ['first', 'second'])
  second.release()
  t.strictSame(order, ['first', 'second', 'third'])
  third.release()
  small.release()
  t.equal(budget.used, 0)
  t.end()
})

t.test('a request that holds a part and waits for the rest does not block itself', (t) => {
  const { budget } = budgetOf(2 * large, 4 * large)
  const order: string[] = []
  const parts = [1, 2].map(() => taking(budget, smallCost))
  for (const [index, charge] of parts.entries()) charge.growLater(3 * large, () => order.push(`${index}`))
  t.strictSame(order, ['0'], 'the first has the reserve for all its bytes')
  t.equal(budget.used, 2 * smallCost + 3 * large)
  parts[0]!.release()
  t.strictSame(order, ['0', '1'])
  parts[1]!.release()
  t.equal(budget.used, 0)
  t.end()
})

t.test('the reserve is released when its holder fits into the shared memory', (t) => {
  const { budget } = budgetOf(4 * smallCost, 8 * smallCost)
  const order: string[] = []
  const shared = Array.from({ length: 4 }, () => taking(budget, smallCost))
  const lasting = taking(budget, smallCost, order, 'lasting')
  taking(budget, 8 * smallCost, order, 'large')
  t.strictSame(order, ['lasting'], 'the small one holds the reserve')
  for (const charge of shared) charge.release()
  t.strictSame(order, ['lasting', 'large'])
  t.equal(budget.used, 9 * smallCost)
  t.notOk(lasting.grow(4 * smallCost), 'it has lost the reserve')
  lasting.release()
  t.equal(budget.used, 8 * smallCost)
  t.end()
})

t.test('small requests do not wait for large ones', (t) => {
  const { budget } = budgetOf(4 * large)
  const order: string[] = []
  for (let index = 0; index < 5; index += 1) taking(budget, large, order, `large ${index}`)
  taking(budget, smallCost, order, 'small')
  t.strictSame(order, ['large 0', 'large 1', 'large 2', 'large 3', 'small'])
  t.equal(budget.waiting, 1)
  t.end()
})

t.test('a request that is aborted while it waits is not called, and does not block others', (t) => {
  const { budget } = budgetOf(4 * large)
  const order: string[] = []
  const held = [1, 2, 3, 4].map(() => taking(budget, large))
  const gone = taking(budget, large, order, 'gone')
  taking(budget, large, order, 'next')
  gone.release()
  gone.release()
  held[0]!.release()
  t.strictSame(order, ['next'])
  t.equal(budget.waiting, 0)
  t.end()
})

t.test('slow senders are evicted, but only while other requests wait', async (t) => {
  const { budget, clock } = budgetOf(large)
  const slow = taking(budget, smallCost)
  let evicted = 0
  slow.waitsForPeer(() => {
    evicted += 1
    slow.release()
  })
  await clock.advance(60_000)
  t.equal(evicted, 0)
  t.equal(clock.pending, 0, 'no timer while no request waits')
  const order: string[] = []
  const holder = taking(budget, large, order, 'holder')
  taking(budget, smallCost * 1.5, order, 'waiting')
  t.strictSame(order, ['holder'])
  await clock.advance(1000)
  t.equal(evicted, 1)
  t.strictSame(order, ['holder', 'waiting'])
  holder.release()
})

t.test('memory that is taken already is counted, even beyond the budget', (t) => {
  const { budget } = budgetOf(large)
  const charge = taking(budget, smallCost)
  charge.force(10 * large)
  t.equal(budget.used, smallCost + 10 * large)
  charge.release()
  charge.force(large)
  t.equal(budget.used, 0, 'nothing is counted after the release')
  t.end()
})

t.test('small requests may take all shared memory, others exactly three quarters of it', (t) => {
  const shared = 4 * smallCost
  for (const [bytes, isPart, limit] of [
    [smallCost, false, shared],
    [smallCost + 1, false, (shared * 3) / 4],
    [smallCost, true, (shared * 3) / 4],
  ] as const) {
    for (const [used, fits] of [
      [limit - bytes, true],
      [limit - bytes + 1, false],
    ] as const) {
      const { budget } = budgetOf(shared)
      budget.open().force(used)
      const charge = budget.open()
      t.equal(charge.grow(bytes, isPart), fits, `${bytes} ${isPart} beside ${used}`)
      t.strictSame([charge.bytes, budget.used], fits ? [bytes, used + bytes] : [0, used])
    }
  }
  const { budget } = budgetOf(shared)
  const growing = budget.open()
  for (let index = 0; index < 3; index += 1) t.ok(growing.grow(smallCost))
  t.notOk(growing.grow(1), 'a request that has grown large counts as large')
  t.end()
})

t.test('the reserve is capped at the total', (t) => {
  const budget = new MemoryBudget({ total: 10, reserve: 20, clock: new FakeClock(0) })
  t.strictSame([budget.total, budget.reserve], [10, 10])
  t.notOk(budget.open().grow(1), 'nothing is shared')
  t.end()
})

/** Returns a budget without free memory. Both parts of the budget are in use: the shared part, and the reserve. */
function fullBudget(): { budget: MemoryBudget; shared: Charge[]; clock: FakeClock } {
  const { budget, clock } = budgetOf(4 * smallCost)
  const shared = Array.from({ length: 4 }, () => taking(budget, smallCost))
  taking(budget, large)
  t.equal(budget.waiting, 0)
  return { budget, shared, clock }
}

t.test('a later request does not overtake a waiting one of the same rank, even if it would fit', (t) => {
  const { budget, shared } = fullBudget()
  const order: string[] = []
  shared[0]!.release()
  const halves = [1, 2].map(() => taking(budget, smallCost / 2))
  taking(budget, smallCost, order, 'whole')
  const half = taking(budget, smallCost / 2, order, 'half')
  halves[0]!.release()
  t.strictSame(order, [], 'the half waits behind the whole, which does not fit yet')
  t.notOk(budget.open().grow(1))
  halves[1]!.release()
  t.strictSame(order, ['whole'])
  shared[1]!.release()
  t.strictSame(order, ['whole', 'half'])
  t.equal(half.bytes, smallCost / 2)
  t.end()
})

t.test('a whole small body overtakes one of unknown length, which overtakes a large one', (t) => {
  const { budget, shared } = fullBudget()
  const order: string[] = []
  const wait = (name: string, bytes: number, isPart = false): void => budget.open().growLater(bytes, () => order.push(name), isPart)
  wait('large', 2 * smallCost)
  wait('part', smallCost, true)
  wait('whole', smallCost)
  shared[0]!.release()
  t.strictSame(order, ['whole'], 'the last quarter is reserved for whole small bodies')
  shared[1]!.release()
  t.strictSame(order, ['whole'])
  shared[2]!.release()
  t.strictSame(order, ['whole', 'part'])
  t.equal(budget.waiting, 1)
  t.end()
})

t.test('a large request does not overtake a small one, even if it needs less', (t) => {
  const { budget } = budgetOf(2 * smallCost)
  const grown = budget.open()
  grown.grow(smallCost)
  const other = budget.open()
  other.force(smallCost * 0.4)
  taking(budget, large)
  const order: string[] = []
  const holder = budget.open()
  holder.growLater(large, () => order.push('holder'))
  t.strictSame([order, budget.waiting], [[], 1])
  budget.open().growLater(smallCost * 0.7, () => order.push('small'))
  grown.growLater(smallCost * 0.1, () => order.push('grown'))
  budget.open().release()
  t.strictSame(order, [])
  other.release()
  t.strictSame(order, ['small'])
  t.end()
})

t.test('a waiting request that is released by the callback of another is not called', (t) => {
  const { budget, shared } = fullBudget()
  const order: string[] = []
  const second = budget.open()
  budget.open().growLater(smallCost / 2, () => {
    order.push('first')
    second.release()
  })
  second.growLater(smallCost / 2, () => order.push('second'))
  shared[0]!.release()
  t.strictSame([order, budget.waiting, second.released], [['first'], 0, true])
  t.equal(budget.used, 3.5 * smallCost + large)
  t.end()
})

t.test('the holder of the reserve takes and returns no shared memory', (t) => {
  const { budget } = budgetOf(2 * smallCost)
  budget.open().force(2 * smallCost)
  const holder = taking(budget, smallCost)
  holder.force(smallCost)
  t.ok(holder.grow(smallCost))
  t.equal(budget.used, 5 * smallCost)
  holder.release()
  t.strictSame([budget.used, holder.bytes], [2 * smallCost, 0])
  t.end()
})

t.test('a slow peer is evicted after half a second and a millisecond for each KiB', async (t) => {
  for (const [bytes, since, evictedAt] of [
    [0, 249, 750],
    [0, 250, 1000],
    [1024 * 250, 0, 1000],
    [1024 * 250 - 1024, 0, 750],
  ] as const) {
    const { budget, clock } = fullBudget()
    const slow = budget.open()
    slow.force(bytes)
    let evictedAfter = 0
    // The server checks every 250 ms whether a client is too slow. The checks start when one request waits for its client while another
    // request waits for memory.
    taking(budget, smallCost)
    budget.open().waitsForPeer(() => undefined)
    await clock.advance(since)
    slow.waitsForPeer(() => (evictedAfter = clock.now()))
    await clock.advance(evictedAt - 1 - since)
    t.equal(evictedAfter, 0)
    await clock.advance(1)
    t.equal(evictedAfter, evictedAt, `${bytes} bytes since ${since} ms`)
  }
})

t.test('a charge whose peer has answered, or that was released, is not evicted, and the timer stops', async (t) => {
  const { budget, clock } = fullBudget()
  const waiting = taking(budget, smallCost)
  const [done, gone] = [budget.open(), budget.open()]
  for (const charge of [done, gone]) charge.waitsForPeer(() => t.fail('is evicted'))
  t.equal(clock.nextDue, 250)
  done.peerDone()
  gone.release()
  gone.waitsForPeer(() => t.fail('is evicted after its end'))
  await clock.advance(10_000)
  t.equal(clock.pending, 1)
  done.release()
  await clock.advance(250)
  t.equal(clock.pending, 0, 'no charge waits for a peer')
  budget.open().waitsForPeer(() => t.fail('is evicted while nobody waits for memory'))
  t.equal(clock.pending, 1)
  waiting.release()
  await clock.advance(250)
  t.equal(clock.pending, 0)

  const slow = budget.open()
  slow.waitsForPeer(() => t.fail('is evicted once nobody waits any more'))
  await clock.advance(10_000)
  taking(budget, smallCost).release()
  await clock.advance(250)
})

t.test('a request that waits for its peer again has as much time as before', async (t) => {
  const { budget, clock } = fullBudget()
  taking(budget, smallCost)
  const charge = budget.open()
  await clock.advance(1)
  charge.waitsForPeer(() => t.fail('is evicted before it has waited'))
  await clock.advance(400)
  charge.peerDone()
  await clock.advance(10_000)
  const since = clock.now()
  let evictedAt = 0
  charge.waitsForPeer(() => (evictedAt = clock.now()))
  await clock.advance(500)
  t.equal(evictedAt, 0)
  await clock.advance(250)
  t.ok(evictedAt > since + 500 && evictedAt <= since + 750, `${evictedAt - since} ms`)
})

t.test('a small review has at most 128 KiB and costs 1 MiB, and each request 16 KiB', (t) => {
  t.strictSame({ smallBytes, smallCost, requestCost }, { smallBytes: 131_072, smallCost: 1_048_576, requestCost: 16_384 })
  t.end()
})
