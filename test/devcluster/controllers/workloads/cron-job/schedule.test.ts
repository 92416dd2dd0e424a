import t from 'tap'
import type { Schedule } from '../../../../../src/devcluster/controllers/workloads/cron-job/schedule.ts'
import { scheduleOf } from '../../../../../src/devcluster/controllers/workloads/cron-job/schedule.ts'

/**
 * A schedule, a time zone, a time, and the selected times after that time. The selected times are those of github.com/robfig/cron v3.0.1.
 */
const cases: readonly (readonly [string, string, string, ...string[]])[] = [
  ['*/15 * * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00Z', '2026-01-01T00:45:00Z'],
  ['*/15 * * * *', 'UTC', '2026-01-01T00:14:59.500Z', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00Z', '2026-01-01T00:45:00Z'],
  ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z', '2036-02-29T00:00:00Z'],
  ['0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z'],
  ['0 12 13 * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z', '2026-01-09T12:00:00Z', '2026-01-13T12:00:00Z'],
  ['0 12 */2 * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z', '2026-01-03T12:00:00Z'],
  ['0 12 */1 * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z', '2026-01-09T12:00:00Z', '2026-01-16T12:00:00Z'],
  ['0 12 ? * 1-5/2', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z', '2026-01-05T12:00:00Z', '2026-01-07T12:00:00Z'],
  ['0 12 1-31 * mon', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z', '2026-01-03T12:00:00Z'],
  ['5/25 * * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z', '2026-01-01T00:30:00Z', '2026-01-01T00:55:00Z'],
  [',, * * * *', 'UTC', '2026-01-01T00:00:00Z'],
  ['@yearly', 'UTC', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z', '2029-01-01T00:00:00Z'],
  ['@monthly', 'UTC', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'],
  ['@weekly', 'UTC', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z', '2026-01-18T00:00:00Z'],
  ['@daily', 'America/New_York', '2026-01-01T00:00:00Z', '2026-01-01T05:00:00Z', '2026-01-02T05:00:00Z', '2026-01-03T05:00:00Z'],
  ['@hourly', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T00:30:00Z', '2026-01-01T01:30:00Z', '2026-01-01T02:30:00Z'],
  ['@every 90m', 'UTC', '2026-01-01T00:10:07.250Z', '2026-01-01T01:40:07Z', '2026-01-01T03:10:07Z', '2026-01-01T04:40:07Z'],
  ['@every 1500ms', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z'],
  ['@every -1h', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', '2026-03-28T01:30:00Z', '2026-03-30T00:30:00Z', '2026-03-31T00:30:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-26T01:30:00Z'],
  ['*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z'],
  ['*/30 1-3 * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:00:00Z', '2026-10-25T01:30:00Z'],
  ['0 */2 * * *', 'America/New_York', '2026-03-08T04:00:00Z', '2026-03-08T05:00:00Z', '2026-03-08T08:00:00Z', '2026-03-08T10:00:00Z'],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-02T06:30:00Z'],
  ['0 0 * * *', 'America/Havana', '2026-03-06T12:00:00Z', '2026-03-07T05:00:00Z', '2026-03-09T04:00:00Z', '2026-03-10T04:00:00Z'],
  ['0 0 * * *', 'Asia/Beirut', '2026-03-27T12:00:00Z', '2026-03-27T22:00:00Z', '2026-03-29T21:00:00Z', '2026-03-30T21:00:00Z'],
  ['0 0 * * 0', 'America/Santiago', '2026-08-30T12:00:00Z', '2026-09-13T03:00:00Z', '2026-09-20T03:00:00Z', '2026-09-27T03:00:00Z'],
  ['0 3 29 3 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', '2026-03-29T01:00:00Z', '2027-03-29T01:00:00Z', '2028-03-29T01:00:00Z'],
  ['15 4 * * *', 'America/St_Johns', '2026-03-07T00:00:00Z', '2026-03-07T07:45:00Z', '2026-03-08T06:45:00Z', '2026-03-09T06:45:00Z'],
  ['0 0 1 1 *', 'Etc/GMT+5', '2026-06-01T00:00:00Z', '2027-01-01T05:00:00Z', '2028-01-01T05:00:00Z', '2029-01-01T05:00:00Z'],
]

function valid(text: string, timeZone: string): Schedule {
  const schedule = scheduleOf(text, timeZone)
  if (typeof schedule === 'string') throw new Error(schedule)
  return schedule
}

t.test('a schedule selects the same times as in Kubernetes', async (t) => {
  for (const [text, timeZone, from, ...expected] of cases) {
    const schedule = valid(text, timeZone)
    const found: string[] = []
    for (let time = schedule.next(Date.parse(from)); time !== undefined && found.length < 3; time = schedule.next(time))
      found.push(new Date(time).toISOString().replace('.000Z', 'Z'))
    t.strictSame(found, expected, `${text} in ${timeZone}`)
  }
})

t.test('a time zone in the schedule has precedence', async (t) => {
  const schedule = valid('TZ=Asia/Tokyo 0 9 * * *', 'Europe/Berlin')
  t.equal(schedule.next(Date.parse('2026-01-01T00:00:00Z')), Date.parse('2026-01-02T00:00:00Z'))
})

t.test('an invalid schedule is its error', async (t) => {
  t.equal(scheduleOf('0 0 L * *'), 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax')
})
