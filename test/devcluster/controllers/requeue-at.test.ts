import t from 'tap'
import { requeueAfterFirst, requeueAt } from '../../../src/devcluster/controllers/requeue-at.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

t.test('an object is requeued at a time, and at once when the time has passed', async (t) => {
  const clock = new FakeClock(1_000)
  t.strictSame(requeueAt(1_500, { clock }), { requeueAfterMs: 500 })
  t.strictSame(requeueAt(500, { clock }), { requeueAfterMs: 1 })
})

t.test('an object is requeued after the shortest positive delay, if there is one', async (t) => {
  t.strictSame(requeueAfterFirst([undefined, 30, 0, 20, -5]), { requeueAfterMs: 20 })
  for (const delays of [[], [undefined], [0, -5]]) t.equal(requeueAfterFirst(delays), undefined)
})
