import t from 'tap'
import { nextTurn } from '../../src/controller/turn.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
t.beforeEach(turnOfTheLoop)

t.test('a turn has two milliseconds, from the first reconcile in it', async (t) => {
  const clock = new FakeClock()
  t.equal(nextTurn(clock), undefined)
  t.equal(nextTurn(clock), undefined)
  clock.set(clock.now() + 1)
  t.equal(nextTurn(clock), undefined)
  clock.set(clock.now() + 1)
  const over = nextTurn(clock)
  t.type(over, Promise)
  t.equal(nextTurn(clock), over)
  await over
  t.equal(nextTurn(clock), undefined, 'a new one has begun')
  clock.set(clock.now() + 2)
  t.not(nextTurn(clock), over)
})

t.test('a turn ends with that of the event loop, used up or not', async (t) => {
  const clock = new FakeClock()
  void nextTurn(clock)
  clock.set(clock.now() + 1)
  await turnOfTheLoop()
  t.equal(nextTurn(clock), undefined)
  clock.set(clock.now() + 1)
  t.equal(nextTurn(clock), undefined)
})

t.test('a clock that is set back ends the turn', async (t) => {
  const clock = new FakeClock()
  void nextTurn(clock)
  clock.set(clock.now() - 1)
  t.type(nextTurn(clock), Promise)
})
