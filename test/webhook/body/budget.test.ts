import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { Charge } from '../../../src/webhook/body/budget.ts'
import { MemoryBudget, smallCost } from '../../../src/webhook/body/budget.ts'

const large = 2 * smallCost

function budgetOf(shared: number, reserve = large): { budget: MemoryBudget; clock: FakeClock } {
  const clock = new FakeClock(0)
  return { budget: new MemoryBudget({ total: shared + reserve, reserve, clock }), clock }
}

/** A charge that has waited for what it takes, if it had to. */
function taking(budget: MemoryBudget, bytes: number, order?: string[], name = ''): Charge {
  const charge = budget.open()
  if (charge.grow(bytes)) order?.push(name)
  else charge.growLater(bytes, () => order?.push(name))
  return charge
}

t.test('large requests leave a quarter free for small ones', (t) => {
  const { budget } = budgetOf(4 * large)
  for (let index = 0; index < 3; index += 1) t.ok(budget.open().grow(large))
  t.notOk(budget.open().grow(large), 'three quarters are taken')
  t.ok(budget.open().grow(smallCost))
  t.equal(budget.used, 3 * large + smallCost)
  t.end()
})

t.test('bodies that come in parts leave a quarter free, however small they are', (t) => {
  const { budget } = budgetOf(8 * smallCost)
  const part = smallCost / 2
  for (let index = 0; index < 12; index += 1) t.ok(budget.open().grow(part, true))
  const next = budget.open()
  t.notOk(next.grow(part, true), 'three quarters are taken')
  taking(budget, smallCost)
  budget.open().growLater(part, () => undefined, true)
  budget.open().growLater(part, () => undefined, true)
  t.equal(budget.waiting, 1, 'another has got the reserve')
  t.ok(budget.open().grow(part), 'a whole one has room, and waits for no parts')
  const { budget: other } = budgetOf(4 * large)
  for (let index = 0; index < 2; index += 1) other.open().grow(large)
  taking(other, 2 * large)
  taking(other, 4 * large)
  t.equal(other.waiting, 1)
  t.ok(other.open().grow(part, true), 'small ones do not wait for a large one')
  t.end()
})

t.test('whoever has waited longest gets the reserve, and can grow to the end', (t) => {
  const { budget } = budgetOf(large, 3 * large)
  const order: string[] = []
  const small = taking(budget, smallCost)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => taking(budget, large, order, name)) as [Charge, Charge, Charge]
  t.strictSame(order, ['first'])
  t.ok(first.grow(2 * large), 'though nothing else is free')
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

t.test('a request that has taken a part, and waits for the rest, is not in the way of itself', (t) => {
  const { budget } = budgetOf(2 * large, 4 * large)
  const order: string[] = []
  const parts = [1, 2].map(() => taking(budget, smallCost))
  for (const [index, charge] of parts.entries()) charge.growLater(3 * large, () => order.push(`${index}`))
  t.strictSame(order, ['0'], 'the first of them has the reserve for all that it takes')
  t.equal(budget.used, 2 * smallCost + 3 * large)
  parts[0]!.release()
  t.strictSame(order, ['0', '1'])
  parts[1]!.release()
  t.equal(budget.used, 0)
  t.end()
})

t.test('the reserve is free again when there is room elsewhere for what has it', (t) => {
  const { budget } = budgetOf(4 * smallCost, 8 * smallCost)
  const order: string[] = []
  const shared = Array.from({ length: 4 }, () => taking(budget, smallCost))
  const lasting = taking(budget, smallCost, order, 'lasting')
  taking(budget, 8 * smallCost, order, 'large')
  t.strictSame(order, ['lasting'], 'the small one has the reserve')
  for (const charge of shared) charge.release()
  t.strictSame(order, ['lasting', 'large'])
  t.equal(budget.used, 9 * smallCost)
  t.notOk(lasting.grow(4 * smallCost), 'it has no more rights than others any more')
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

t.test('a request that goes while it waits is not called, nor in the way of others', (t) => {
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

t.test('slow senders have to go, but only while others wait', async (t) => {
  const { budget, clock } = budgetOf(large)
  const slow = taking(budget, smallCost)
  let evicted = 0
  slow.waitsForPeer(() => {
    evicted += 1
    slow.release()
  })
  await clock.advance(60_000)
  t.equal(evicted, 0)
  t.equal(clock.pending, 0, 'nobody looks as long as nobody waits')
  const order: string[] = []
  const holder = taking(budget, large, order, 'holder')
  taking(budget, smallCost * 1.5, order, 'waiting')
  t.strictSame(order, ['holder'])
  await clock.advance(1000)
  t.equal(evicted, 1)
  t.strictSame(order, ['holder', 'waiting'])
  holder.release()
})

t.test('what is there already is counted, whether or not there is room', (t) => {
  const { budget } = budgetOf(large)
  const charge = taking(budget, smallCost)
  charge.force(10 * large)
  t.equal(budget.used, smallCost + 10 * large)
  charge.release()
  charge.force(large)
  t.equal(budget.used, 0, 'nothing after the end')
  t.end()
})
