/** The schedules of CronJobs, in UTC: their text (v1), their fields (v2), and the times that they select, in milliseconds since 1970. */
import { Cron } from 'croner'

const fieldNames = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const
type Fields = { readonly [Name in (typeof fieldNames)[number]]?: string }
const [yearly, daily] = ['0 0 1 1 *', '0 0 * * *']
const shortcuts = { yearly, annually: yearly, monthly: '0 0 1 * *', weekly: '0 0 * * 0', daily, midnight: daily, hourly: '0 * * * *' }

/** Returns the fields of a schedule that are not `*`. */
export function fieldsOf(schedule: string): Fields {
  const values = split(schedule)
  return Object.fromEntries(fieldNames.map((name, index) => [name, values[index] ?? '*']).filter(([, value]) => value !== '*'))
}

export const textOf = (fields: Fields): string => fieldNames.map((name) => fields[name] ?? '*').join(' ')

/** Returns the latest scheduled time up to `now`; 0 when there is none. */
export function latestTime(schedule: string, now: number): number {
  // The library returns times before the whole second of its argument.
  return (
    parse(schedule)
      .previousRuns(1, new Date(now + 1000))[0]
      ?.getTime() ?? 0
  )
}

/** Returns the next scheduled time after `now`. Throws an error for an invalid schedule, and for one that never selects a time. */
export function nextTime(schedule: string, now: number): number {
  const next = parse(schedule).nextRun(new Date(now))
  if (next === null) throw new Error('never selects a time')
  return next.getTime()
}

function parse(schedule: string): Cron {
  const values = split(schedule)
  if (values.length !== fieldNames.length) throw new Error(`expected exactly 5 fields, found ${values.length}`)
  return new Cron(values.join(' '), { timezone: 'UTC' })
}

function split(schedule: string): string[] {
  const [, fields = schedule] = Object.entries(shortcuts).find(([name]) => schedule === `@${name}`) ?? []
  return fields.trim().split(/\s+/)
}
