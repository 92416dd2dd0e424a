/**
 * Tests that the steps in the life of a workload have equal outcomes on a real and on the embedded control plane. Accepted differences are
 * ignored.
 */
import t from 'tap'
import { readAccepted, review } from './accepted.ts'
import type { Comparison } from './player.ts'
import { playLife } from './workloads/life.ts'
import { lives } from './workloads/lives/index.ts'
import { startTheatres } from './workloads/theatres.ts'

/**
 * If `PROREUS_BACKEND` is not `binaries`, the tests are skipped, because the tests need a real control plane. `npm run test:real` sets
 * `PROREUS_BACKEND` to `binaries` by default.
 */
const needsBinaries = process.env.PROREUS_BACKEND === 'binaries' ? {} : { skip: 'compares with a real control plane: npm run test:real' }

// The test takes minutes. For example, a CronJob runs at the next full minute, and kube-controller-manager processes an autoscaler every 15
// seconds.
t.setTimeout(600_000)

t.test('workloads live as with kube-controller-manager', needsBinaries, async (t) => {
  const { lives: accepted } = readAccepted()
  const { stop, ...theatres } = await startTheatres()
  t.teardown(stop)
  const played = lives.map((life) => [life.name, playLife(life, theatres, accepted)] as const)
  for (const [, comparisons] of played) comparisons.catch(() => undefined)
  const all: Comparison[] = []
  for (const [name, comparisons] of played) {
    await t.test(name, async (t) => {
      all.push(...(await comparisons))
      const { compared, equal, failed } = review(await comparisons, accepted)
      for (const { comparison, differences } of failed)
        t.fail(`after the step ${comparison.id}`, { differences: JSON.stringify(differences, undefined, 1) })
      t.comment(`${compared} steps: ${equal} equal, ${failed.length} differ`)
      t.ok(compared > 0)
    })
  }
  const { compared, equal, stale } = review(all, accepted)
  t.comment(`in all: ${compared} steps, ${equal} equal`)
  t.strictSame(stale, [], 'every accepted difference still exists')
})
