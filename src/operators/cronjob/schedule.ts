/**
 * Parses and converts the schedules of CronJobs, and finds the times that a schedule selects. A schedule is a text in version v1 of the
 * CronJob, and an object with five optional fields in version v2. All schedules are in UTC, and all times are in milliseconds since 1970.
 */
import { Cron } from 'croner'
import { maxFieldLength, parseField } from './schedule-field.ts'
import type { FieldRange } from './schedule-field.ts'

export { maxFieldLength }

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const ranges = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  dayOfMonth: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: months },
  dayOfWeek: { min: 0, max: 6, names: days },
} satisfies Record<string, FieldRange>

export type FieldName = keyof typeof ranges
export type ScheduleFields = { readonly [Name in FieldName]?: string }
const fieldNames = Object.keys(ranges) as readonly FieldName[]

/** Maximum length of a schedule: five fields and the spaces between them. */
export const maxScheduleLength = fieldNames.length * (maxFieldLength + 1) - 1

const [yearly, daily] = ['0 0 1 1 *', '0 0 * * *']
const macros: ReadonlyMap<string, string> = new Map([
  ['@yearly', yearly],
  ['@annually', yearly],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', daily],
  ['@midnight', daily],
  ['@hourly', '0 * * * *'],
])

/** Splits the text of a schedule, and returns the fields that are not `*`. Returns undefined for a text that does not have five fields. */
export function fieldsOf(text: string): ScheduleFields | undefined {
  const values = split(text)
  if (values.length !== fieldNames.length) return undefined
  return Object.fromEntries(fieldNames.map((name, index) => [name, values[index]!]).filter(([, value]) => value !== '*'))
}

/** Returns the text of a schedule. An absent field becomes `*`. */
export function textOf(fields: ScheduleFields): string {
  return fieldNames.map((name) => fields[name] ?? '*').join(' ')
}

export interface Schedule {
  /** Returns the first selected time after `time`. */
  next(time: number): number
  /** Returns the last time that the schedule selects before or at `time`; undefined when the schedule selects no such time. */
  latest(time: number): number | undefined
}

export interface ScheduleProblem {
  /** The invalid field. Undefined when the problem concerns the whole schedule. */
  readonly field?: FieldName
  readonly message: string
}

/** The number of days of each month, in a leap year. */
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Parses the text of a schedule. If the text is invalid or never selects a time, returns a list of its problems instead. */
export function parseSchedule(text: string): Schedule | readonly ScheduleProblem[] {
  const problem = formProblem(text)
  if (problem !== undefined) return [{ message: problem }]
  const parsed = split(text).map((value, index) => {
    const name = fieldNames[index]!
    const field = parseField(value, ranges[name])
    return typeof field === 'string' ? { field: name, message: `${name}: ${field}` } : field
  })
  const problems = parsed.filter((field) => 'message' in field)
  if (problems.length > 0) return problems
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parsed.filter((field) => 'values' in field)
  // If none of the selected months has the selected day, as in `0 0 31 2 *`, croner would search for a very long time.
  const hasDay = !dayOfWeek!.isStar || month!.values.some((one) => dayOfMonth!.values[0]! <= longestMonths[one - 1]!)
  if (!hasDay) return [{ message: 'never selects a time, because no month of it has that day' }]
  // If both the day of the month and the day of the week are restricted, it is sufficient that a time matches one of them. This is the rule
  // of cron.
  const domAndDow = dayOfMonth!.isStar || dayOfWeek!.isStar
  const pattern = [minute, hour, dayOfMonth, month, dayOfWeek].map((field) => field!.values.join(',')).join(' ')
  const cron = new Cron(pattern, { mode: '5-part', utcOffset: 0, domAndDow })
  return {
    next: (time) => cron.nextRun(new Date(time))!.getTime(),
    // croner returns only times before the given time. One millisecond is added, so that `time` itself can be the result.
    latest: (time) => cron.previousRuns(1, new Date(time + 1))[0]?.getTime(),
  }
}

function formProblem(text: string): string | undefined {
  if (/^\s*(CRON_)?TZ=/.test(text)) return 'a time zone is not supported: schedules are in UTC'
  if (text.startsWith('@') && !macros.has(text)) return `is none of the macros ${[...macros.keys()].join(', ')}`
  const { length } = split(text)
  return length === fieldNames.length ? undefined : `Expected exactly ${fieldNames.length} fields, found ${length}: ${text}`
}

/**
 * Splits a schedule at white space. If the text is a macro, splits the schedule that the macro stands for.
 * The characters in the pattern are the white space that the schema of v2 refuses in a field. Therefore, a field of v2 is never split.
 */
function split(text: string): readonly string[] {
  return (macros.get(text) ?? text).split(/[ \t\n\f\r]+/).filter((value) => value !== '')
}
