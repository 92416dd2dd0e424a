import t from 'tap'
import { LoopTurns, Turns } from '../../src/conversion/turns.ts'

t.test('a slice is used up after ten milliseconds, and a new one begins when the turn has come', async (t) => {
  let now = 1000
  const { now: original } = performance
  performance.now = () => now
  t.teardown(() => (performance.now = original))
  const turns = new Turns(new LoopTurns())
  t.equal(turns.due, false)
  now += 9.9
  t.equal(turns.due, false)
  now += 0.1
  t.equal(turns.due, true)
  const given = turns.give()
  now += 5
  await given
  now += 9.9
  t.equal(turns.due, false)
  now += 0.1
  t.equal(turns.due, true)
})

t.test('batches take turns in the order in which they ask, one in each turn of the event loop', async (t) => {
  const loop = new LoopTurns()
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
      await loop.next()
      seen.push(name)
      at.push(turn)
    }),
  )
  counting = false
  t.strictSame(seen, ['a', 'b', 'a', 'c'])
  t.equal(new Set(at).size, 4, at.join(' '))
})
