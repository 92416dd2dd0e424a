import t from 'tap'
import { whenReady } from '../../../src/webhook/evaluation/evaluation.ts'

t.test('a plain value is passed on synchronously, a promise when it is fulfilled', async (t) => {
  const seen: number[] = []
  const next = (value: number): number => (seen.push(value), value + 1)
  t.equal(whenReady(1, next), 2)
  const later = whenReady(Promise.resolve(3), next)
  t.strictSame(seen, [1])
  t.equal(await later, 4)
  await t.rejects(
    Promise.resolve(whenReady(Promise.reject<number>(new Error('no luck')), () => t.fail('there is no value'))),
    new Error('no luck'),
  )
  t.throws(
    () =>
      whenReady(1, () => {
        throw new Error('at once')
      }),
    new Error('at once'),
  )
})
