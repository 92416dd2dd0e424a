/**
 * Simulates a year of a CronJob. Its schedule, policies and limits change at random. The operator is stopped and started, and the clock
 * jumps. The operator must start exactly the Jobs that a model starts, and each of these Jobs exactly once.
 */
import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { Dice } from '../../support/dice.ts'
import { jobName, jobTemplate } from '../../support/cronjob/objects.ts'
import { nextTime, randomSchedule } from '../../support/cronjob/random-schedule.ts'
import { ReferenceCronJob } from '../../support/cronjob/reference.ts'
import type { ReferenceSpec } from '../../support/cronjob/reference.ts'
import { SimulatedCronJob } from '../../support/cronjob/simulated.ts'
import { seed } from '../../support/seed.ts'

const hour = 3_600_000
const year = 365 * 24 * hour

t.setTimeout(180_000)

function randomSpec(dice: Dice): ReferenceSpec {
  return {
    schedule: randomSchedule(dice),
    suspend: dice.chance(0.1),
    concurrencyPolicy: dice.pick(['Allow', 'Forbid', 'Replace'] as const),
    startingDeadlineSeconds: dice.pick([undefined, undefined, 0, 1, 30, 600, 7200]),
    successfulJobsHistoryLimit: dice.upTo(4),
    failedJobsHistoryLimit: dice.upTo(2),
  }
}

/** Returns the spec of the CronJob. All fields with defaults are set, as if the API server had applied the defaults. */
function specOf({ schedule, startingDeadlineSeconds, ...spec }: ReferenceSpec): object {
  return { ...spec, schedule: schedule.text, jobTemplate, ...(startingDeadlineSeconds !== undefined && { startingDeadlineSeconds }) }
}

interface Ending {
  /**
   * The time at which the Job ends, measured by `clock.monotonicNow()`. The test measures all times in this way, except scheduled times.
   */
  readonly at: number
  readonly time: number
  readonly outcome: 'Complete' | 'Failed'
}

/**
 * Simulates one year. Each step advances the clock to the time of the next action. Resolves with the scheduled times of all Jobs, and the
 * number of reconciles.
 */
async function simulate(dice: Dice): Promise<{ readonly started: readonly number[]; readonly reconciles: number }> {
  const clock = new FakeClock('2026-01-01T00:00:00Z')
  const end = clock.monotonicNow() + year
  let spec = randomSpec(dice)
  const model = new ReferenceCronJob(spec, clock.now())
  const real = new SimulatedCronJob(clock, specOf(spec))
  const endings: Ending[] = []
  let known = 0
  let [timer, upAgain, nextAct] = [0, 0, 0]
  let reconciles = 0
  const isUp = (): boolean => upAgain <= clock.monotonicNow()

  async function reconcile(): Promise<void> {
    if (dice.chance(0.02)) real.loses = dice.pick(['create', 'patchStatus'] as const)
    real.refusesGet = dice.chance(0.5)
    let result: Awaited<ReturnType<typeof real.reconcile>>
    for (let tries = 0; ; tries++) {
      try {
        reconciles += 1
        result = await real.reconcile()
        break
      } catch (error) {
        if (tries > 1) throw error
      }
    }
    real.loses = undefined
    real.refusesGet = false
    timer = result === undefined ? Infinity : clock.monotonicNow() + ('requeueAfterMs' in result ? result.requeueAfterMs : 5)
    if (!dice.chance(0.1)) return
    const before = real.writes
    await real.reconcile()
    if (real.writes !== before) throw new Error(`another reconcile at ${clock.now()} has written`)
  }

  /**
   * Chooses at random whether the operator stops for a while, the clock jumps, or a user changes the CronJob. Several of these can happen
   * at the same time.
   */
  function act(): void {
    nextAct = clock.monotonicNow() + dice.upTo(60) * dice.upTo(60) * 60_000 + dice.upTo(60_000)
    if (dice.chance(0.3)) upAgain = clock.monotonicNow() + dice.upTo(30) * dice.upTo(12) * 600_000
    if (dice.chance(0.1)) clock.set(clock.now() + (dice.upTo(200) - 100) * 137_000)
    if (dice.chance(0.6)) spec = dice.chance(0.5) ? randomSpec(dice) : { ...randomSpec(dice), schedule: spec.schedule }
    model.spec = spec
    real.change(specOf(spec))
  }

  for (;;) {
    const [ending] = endings
    const slot = nextTime(spec.schedule, clock.now()) - clock.now() + clock.monotonicNow()
    const next = Math.min(nextAct, ending?.at ?? Infinity, isUp() ? Math.min(timer, slot) : upAgain)
    if (next >= end) break
    // `next` is a monotonic time. `clock.set` does not change the monotonic time, so the test calls `clock.advance`.
    await clock.advance(next - clock.monotonicNow())
    const wasDown = upAgain === next
    if (ending?.at === next) {
      endings.shift()
      model.end(ending.time, ending.outcome)
      real.end(ending.time, ending.outcome)
    }
    const acts = nextAct === next
    if (acts) act()
    if (!isUp()) continue
    if (acts || wasDown || ending?.at === next || timer <= next) await reconcile()
    model.reconcile(clock.now())
    for (const time of model.started.slice(known)) {
      const outcome = dice.chance(0.3) ? 'Failed' : 'Complete'
      // Some Jobs end only when another Job replaces them.
      if (!dice.chance(0.02)) endings.push({ at: next + dice.upTo(30) * dice.upTo(30) * 30_000 + 1000, time, outcome })
    }
    endings.sort((a, b) => a.at - b.at)
    known = model.started.length
    compare(real, model, clock)
  }
  return { started: model.started, reconciles }
}

function compare(real: SimulatedCronJob, model: ReferenceCronJob, clock: FakeClock): void {
  const names = (times: readonly number[]): string => times.map((time) => jobName('simulated', time)).sort().join() // prettier-ignore
  const found = [real.jobs.join(), String(real.status?.active?.map(({ name }) => name)), String(real.created.length)]
  const expected = [names(model.times), names(model.active), String(model.started.length)]
  if (String(found) !== String(expected))
    throw new Error(
      `at ${new Date(clock.now()).toISOString()} with ${JSON.stringify(specOf(model.spec))}: found ${found.join(' ; ')}, expected ${expected.join(' ; ')}`,
    )
}

t.test('in a random year, each Job of the model is started once', async (t) => {
  t.comment(`SEED=${seed}`)
  const { started, reconciles } = await simulate(new Dice(seed))
  t.comment(`${started.length} Jobs, ${reconciles} reconciles`)
  t.ok(started.length > 100)
  t.equal(new Set(started).size, started.length, 'no scheduled time has two Jobs')
})
