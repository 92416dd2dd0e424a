import { ok } from 'node:assert/strict'
import t from 'tap'
import { dueTime, nextTimeInMs } from '../../../../../src/devcluster/controllers/workloads/cron-job/missed-schedules.ts'
import type { CronJob } from '../../../../../src/devcluster/controllers/workloads/cron-job/jobs.ts'
import type { Schedule } from '../../../../../src/devcluster/controllers/workloads/cron-job/schedule.ts'
import { scheduleOf } from '../../../../../src/devcluster/controllers/workloads/cron-job/schedule.ts'
import { fc } from '../../../../support/property.ts'

interface Case {
  readonly schedule: string
  /**
   * The creation time of the CronJob. Default `00:00:00`.
   * If `created`, `last` or `now` contains no date, the time is in UTC on 2026-01-05, a Monday.
   */
  readonly created?: string
  readonly last?: string
  readonly now: string
  readonly deadline?: number
}

const timeOf = (text: string): number => Date.parse(text.includes('T') ? text : `2026-01-05T${text}Z`)
const shown = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString().replace('2026-01-05T', '').replace('.000Z', '')

function given({ created = '00:00:00', last, deadline, ...others }: Case): { cronJob: CronJob; now: number; schedule: Schedule } {
  const schedule = scheduleOf(others.schedule)
  if (typeof schedule === 'string') throw new Error(schedule)
  const cronJob = {
    metadata: { creationTimestamp: new Date(timeOf(created)).toISOString() },
    spec: { ...(deadline !== undefined && { startingDeadlineSeconds: deadline }) },
    status: last === undefined ? {} : { lastScheduleTime: new Date(timeOf(last)).toISOString() },
  } as unknown as CronJob
  return { cronJob, now: timeOf(others.now), schedule }
}

t.test('the last time that has passed is due, unless it is before the deadline', async (t) => {
  const cases: readonly (readonly [Case, string | undefined])[] = [
    [{ schedule: '0 * * * *', created: '00:30:00', now: '00:59:59' }, undefined],
    [{ schedule: '0 * * * *', created: '00:30:00', now: '01:00:00' }, '01:00:00'],
    [{ schedule: '0 * * * *', now: '05:10:00' }, '05:00:00'],
    [{ schedule: '0 * * * *', last: '05:00:00', now: '05:10:00' }, undefined],
    [{ schedule: '0 * * * *', last: '04:00:00', now: '05:10:00', deadline: 599 }, undefined],
    [{ schedule: '0 * * * *', last: '04:00:00', now: '05:10:00', deadline: 601 }, '05:00:00'],
    // If the scheduled times are not evenly spaced, the search may find no scheduled time, although a scheduled time has passed. Kubernetes
    // has the same limitation.
    [{ schedule: '0 6,7 * * *', created: '2026-01-01T00:00:00Z', now: '07:30:00' }, '07:00:00'],
    [{ schedule: '0 6,7 * * *', created: '2026-01-01T00:00:00Z', now: '12:00:00' }, undefined],
    [{ schedule: '30 6-16/4 * * 1-5', created: '2026-01-02T15:00:00Z', now: '06:31:00' }, '06:30:00'],
    // The intervals are counted from the last scheduled time, or from the creation of the CronJob if no Job was started.
    [{ schedule: '@every 1h', created: '00:10:00', now: '03:20:00' }, '03:10:00'],
    [{ schedule: '@every 1h', last: '01:40:00', now: '03:20:00' }, '02:40:00'],
  ]
  for (const [one, expected] of cases) {
    const { cronJob, now, schedule } = given(one)
    t.equal(shown(dueTime(cronJob, now, schedule)?.time), expected, JSON.stringify(one))
  }
})

t.test('a time for which a Job was started is never due again, also when its Job was deleted', async () => {
  const names = ['* * * * *', '*/7 1-3 * * *', '0 0 31 * *', '30 6-16/4 * * 1-5', '@every 100s', '30 2 * * *']
  const seconds = (max: number) => fc.nat(max).map((count) => count * 1000)
  const property = fc.property(
    fc.constantFrom(...names),
    fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
    seconds(365 * 86_400),
    seconds(100_000),
    fc.option(fc.nat(100_000), { nil: undefined }),
    (text, timeZone, offset, sinceMs, startingDeadlineSeconds) => {
      const schedule = scheduleOf(text, timeZone)
      if (typeof schedule === 'string') throw new Error(schedule)
      const last = schedule.next(timeOf('2026-01-01T00:00:00Z') + offset)!
      const spec = { ...(startingDeadlineSeconds !== undefined && { startingDeadlineSeconds }) }
      const cronJob = { metadata: {}, spec, status: { lastScheduleTime: new Date(last).toISOString() } } as unknown as CronJob
      const time = dueTime(cronJob, last + sinceMs, schedule)?.time
      ok(time === undefined || time > last)
    },
  )
  fc.assert(property, { numRuns: 300 })
})

t.test('more than a hundred missed times are many', async (t) => {
  const isLate = (now: string): boolean => {
    const { cronJob, now: time, schedule } = given({ schedule: '* * * * *', now })
    return dueTime(cronJob, time, schedule)!.isLate
  }
  t.strictSame([isLate('01:40:59'), isLate('01:41:00')], [false, true])
})

t.test('a schedule without times has none that is due', async (t) => {
  const { cronJob, now, schedule } = given({ schedule: '0 0 31 2 *', now: '12:00:00' })
  t.equal(dueTime(cronJob, now, schedule), undefined)
  t.equal(nextTimeInMs(cronJob, now, schedule), undefined)
})

t.test('the next time is the one after the last that has passed, and a tenth of a second', async (t) => {
  const cases: readonly (readonly [Case, string])[] = [
    [{ schedule: '0 * * * *', now: '00:20:00' }, '01:00:00'],
    [{ schedule: '0 * * * *', now: '05:20:00' }, '06:00:00'],
    [{ schedule: '0 * * * *', last: '05:00:00', now: '05:20:00', deadline: 10 }, '06:00:00'],
    [{ schedule: '@every 1h', last: '01:40:00', now: '03:20:00' }, '03:40:00'],
  ]
  for (const [one, expected] of cases) {
    const { cronJob, now, schedule } = given(one)
    t.equal(shown(now + nextTimeInMs(cronJob, now, schedule)! - 100), expected, JSON.stringify(one))
  }
})
