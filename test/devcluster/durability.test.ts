/** Tests of an embedded cluster that is killed while clients write. `npm run drill -- durability` runs the same test for longer. */
import t from 'tap'
import { durabilityRounds } from '../support/durability/rounds.ts'
import { seed } from '../support/seed.ts'

t.test('a killed cluster has lost no acknowledged write, and has no part of one', async (t) => {
  const { writes, failures } = await durabilityRounds(t.testdir(), { rounds: 20, seed })
  t.strictSame(failures, [])
  t.ok(writes > 100, `${writes} writes`)
})
