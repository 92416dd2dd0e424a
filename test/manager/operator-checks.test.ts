import t from 'tap'
import { checkNameProblems, withTimeLimit } from '../../src/manager/operator-checks.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

t.test('names of checks are labels, and not those of the process', (t) => {
  const named = (name: string) => checkNameProblems({ healthz: [{ name, problem: () => undefined }] })
  t.strictSame(named('database'), [])
  t.match(named('cache/pods'), [/^checks: "cache\/pods": a lowercase RFC 1123 label/])
  t.strictSame(named('webhook'), ['checks: "webhook" is a check of the process itself: rename it'])
  t.strictSame(checkNameProblems({ readyz: [{ name: 'ping', problem: () => undefined }] }).length, 1)
  t.end()
})

t.test('a check keeps its name and its result', async (t) => {
  const clock = new FakeClock()
  t.match(withTimeLimit({ name: 'a', decides: false, problem: () => undefined }, clock), { name: 'a', decides: false })
  t.equal(await withTimeLimit({ name: 'a', problem: () => undefined }, clock).problem(), undefined)
  t.equal(await withTimeLimit({ name: 'a', problem: async () => 'down' }, clock).problem(), 'down')
  const throwing = withTimeLimit(
    {
      name: 'a',
      problem: () => {
        throw new Error('no luck')
      },
    },
    clock,
  )
  await t.rejects(Promise.resolve(throwing.problem()), { message: 'no luck' })
})

t.test('a check that hangs fails after 900 ms, and is not called again meanwhile', async (t) => {
  const clock = new FakeClock()
  let calls = 0
  let settle: (value: undefined) => void = () => undefined
  const check = withTimeLimit(
    {
      name: 'a',
      problem: () => {
        calls += 1
        return new Promise<undefined>((resolve) => (settle = resolve))
      },
    },
    clock,
  )
  const first = check.problem()
  await clock.advance(899)
  const second = check.problem()
  await clock.advance(1)
  t.equal(await first, 'no result within 900 ms')
  settle(undefined)
  t.equal(await second, undefined, 'the pending result serves both')
  t.equal(calls, 1)
  const third = check.problem()
  await clock.advance(0)
  settle(undefined)
  t.equal(await third, undefined)
  t.equal(calls, 2)
})
