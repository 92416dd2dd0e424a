/** Plays the scenarios on a real and on the embedded control plane. Their responses must be equal except for accepted differences. */
import t from 'tap'
import { review, readAccepted } from './accepted.ts'
import type { Review } from './accepted.ts'
import { startControlPlanes } from './control-planes.ts'
import type { Comparison } from './player.ts'
import { play } from './player.ts'
import type { Scenario } from './scenario.ts'
import { readScenarios } from './scenario.ts'

/** `npm run test:real` sets `PROREUS_BACKEND`. Other runs skip the tests, because they have no real control plane. */
const needsBinaries = process.env.PROREUS_BACKEND === 'binaries' ? {} : { skip: 'compares with a real control plane: npm run test:real' }

const scenarios = readScenarios()
const { differences: accepted } = readAccepted()

// The time limit is long, because the real API server takes seconds for some steps. For example, it waits before it rejects a
// resourceVersion in the future, and it deletes a namespace only after some time.
t.setTimeout(600_000)

t.test('the embedded API server responds like the real one', needsBinaries, async (t) => {
  const comparisons: Comparison[] = []
  // The scenarios with controllers and the scenarios without controllers are two groups. Both groups run in parallel, and each group has
  // its own control planes.
  const groups = [false, true].map((controllers) => start(scenarios.filter((scenario) => scenario.controllers === controllers)))
  t.teardown(() => Promise.all(groups.map(({ stopped }) => stopped)))
  for (const [name, played] of groups.flatMap((group) => group.played)) {
    t.test(name, async (t) => {
      const reviewed = review(await played, accepted)
      comparisons.push(...(await played))
      for (const { comparison, differences } of reviewed.failed)
        t.fail(`${comparison.id}: ${comparison.request}`, { differences: JSON.stringify(differences, undefined, 1) })
      t.comment(count(reviewed))
      t.ok(reviewed.compared > 0)
    })
  }
  t.test('every accepted difference still exists', async (t) => {
    const reviewed = review(comparisons, accepted)
    t.comment(`in all: ${count(reviewed)}`)
    t.strictSame(reviewed.stale, [])
  })
})

interface Group {
  readonly played: readonly [name: string, comparisons: Promise<Comparison[]>][]
  /** Resolves when the control planes have stopped. */
  readonly stopped: Promise<void>
}

/**
 * Plays the scenarios one after another. The returned group contains one promise for each scenario. The promise resolves with the
 * comparisons of the scenario.
 */
function start(scenarios: readonly Scenario[]): Group {
  const controlPlanes = startControlPlanes(scenarios)
  let before: Promise<unknown> = controlPlanes
  const played = scenarios.map((scenario): [string, Promise<Comparison[]>] => {
    const own = before.then(async () => play(scenario, await controlPlanes))
    // If a scenario fails, the next scenario is still played. The promise of the failed scenario reports the failure.
    before = own.catch(() => undefined)
    return [scenario.name, own]
  })
  const stop = async (): Promise<void> => (await controlPlanes).stop()
  return { played, stopped: before.then(stop, stop).catch(() => undefined) }
}

function count({ compared, equal, accepted, failed }: Review): string {
  return `${compared} requests compared: ${equal} equal, ${accepted} differ as accepted, ${failed.length} differ`
}
