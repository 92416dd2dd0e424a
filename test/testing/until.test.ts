import t from 'tap'
import { until } from '../../src/testing/until.ts'

t.test('a probe that throws is retried', async (t) => {
  const answers = [
    () => {
      throw new Error('not there')
    },
    () => undefined,
    () => Promise.resolve(false as const),
    () => 0,
  ]
  t.equal(await until('it is there', () => answers.shift()!()), 0)
  t.strictSame(answers, [])
})

t.test('at the timeout, the last error of the probe is the cause', async (t) => {
  const cause = new Error('not there')
  await t.rejects(
    until('it is there', () => Promise.reject(cause), 0),
    { message: 'it is there: not within 0 ms', cause },
  )
  const silent = await until('it is there', () => false, 0).catch((error: unknown) => error)
  t.equal((silent as Error).cause, undefined)
})
