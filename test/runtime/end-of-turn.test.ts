/** Tests of the promise that resolves at the end of an iteration of the event loop. */
import t from 'tap'
import { endOfTurn } from '../../src/runtime/end-of-turn.ts'

t.test('the promise of a turn is shared, and resolves after the other work of the turn', async (t) => {
  const steps: string[] = []
  const [first, second] = [endOfTurn(), endOfTurn()]
  t.equal(first, second)
  process.nextTick(() => steps.push('tick'))
  void Promise.resolve().then(() => steps.push('microtask'))
  await first
  steps.push('end')
  t.strictSame(steps, ['microtask', 'tick', 'end'])
  t.not(endOfTurn(), first)
  await endOfTurn()
})
