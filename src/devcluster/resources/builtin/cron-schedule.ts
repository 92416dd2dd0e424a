/**
 * Parses the schedules of CronJobs. The syntax and the error messages are the same as in the standard parser of github.com/robfig/cron (v3)
 * (k8s.io/kubernetes/pkg/util/parsers: ParseCronScheduleWithPanicRecovery).
 */
import { readGoDuration } from '../../../formats/go-duration.ts'
import { locationProblem } from '../../../api/time-zone.ts'

/** One field of a schedule, e.g. the hours, with the values that it selects. */
export interface ScheduleField {
  readonly values: readonly number[]
  /** True when the field contains `*` or `?`, without a step or with the step 1. */
  readonly isStar: boolean
}

export interface ParsedSchedule {
  /** The time zone of a prefix such as `TZ=Europe/Berlin`. */
  readonly timeZone?: string
  /**
   * The fields in this order: minute, hour, day of the month, month, day of the week. For `@every`, a number: the interval in milliseconds.
   */
  readonly times: readonly ScheduleField[] | number
}

interface Bounds {
  readonly min: number
  readonly max: number
  /** Names of the values, beginning with the name of `min`, e.g. the names of the months. */
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const [yearly, daily] = ['0 0 1 1 *', '0 0 * * *']
const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', yearly],
  ['@annually', yearly],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', daily],
  ['@midnight', daily],
  ['@hourly', '0 * * * *'],
])

/** Parses a schedule. Returns an error message if the schedule is invalid. */
export function parseSchedule(schedule: string): ParsedSchedule | string {
  if (schedule === '') return 'empty spec string'
  const [, prefix] = /^((?:CRON_)?TZ=)/.exec(schedule) ?? []
  if (prefix === undefined) return timesOf(schedule)
  const space = schedule.indexOf(' ')
  // If no space follows the time zone, the parser in Go panics. kube-apiserver recovers from the panic, and reports the message of the
  // panic as the error.
  if (space === -1) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]'
  const timeZone = schedule.slice(prefix.length, space)
  const problem = locationProblem(timeZone)
  if (problem !== undefined) return `provided bad location ${timeZone}: ${problem}`
  const parsed = timesOf(schedule.slice(space).trim())
  return typeof parsed === 'string' ? parsed : { ...parsed, timeZone }
}

/** Returns the error message for an invalid schedule; undefined for a valid schedule. */
export function scheduleProblem(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule)
  return typeof parsed === 'string' ? parsed : undefined
}

function timesOf(text: string): ParsedSchedule | string {
  if (text.startsWith('@every ')) return everyOf(text)
  const known = text.startsWith('@') ? descriptors.get(text) : text
  if (known === undefined) return `unrecognized descriptor: ${text}`
  const parts = known.split(/\s+/).filter((part) => part !== '')
  if (parts.length !== bounds.length) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`
  const times: ScheduleField[] = []
  for (const [index, part] of parts.entries()) {
    const field = fieldOf(part, bounds[index]!)
    if (typeof field === 'string') return field
    times.push(field)
  }
  return { times }
}

/** Parses `@every` and a duration. The interval is rounded down to whole seconds, and is at least 1 s (github.com/robfig/cron: Every). */
function everyOf(text: string): ParsedSchedule | string {
  const { nanos, error } = readGoDuration(text.slice('@every '.length))
  if (error !== undefined) return `failed to parse duration ${text}: ${error}`
  return { times: Math.max(1, Number(nanos / 1_000_000_000n)) * 1000 }
}

function fieldOf(part: string, field: Bounds): ScheduleField | string {
  const values = new Set<number>()
  let isStar = false
  for (const expression of part.split(',')) {
    if (expression === '') continue
    const range = rangeOf(expression, field)
    if (typeof range === 'string') return range
    for (let value = range.start; value <= range.end; value += range.step) values.add(value)
    isStar ||= range.isStar
  }
  return { values: [...values].toSorted((a, b) => a - b), isStar }
}

interface Range {
  readonly start: number
  readonly end: number
  readonly step: number
  readonly isStar: boolean
}

/** Parses `*`, `5` or `1-5`, each optionally with a step such as `/2`. */
function rangeOf(expression: string, field: Bounds): Range | string {
  const [range = '', step, ...moreSteps] = expression.split('/')
  const [low = '', high, ...moreBounds] = range.split('-')
  const isWild = low === '*' || low === '?'
  const start = isWild ? field.min : numberOf(low, field)
  if (typeof start === 'string') return start
  if (!isWild && moreBounds.length > 0) return `too many hyphens: ${expression}`
  const given = isWild ? field.max : high === undefined ? start : numberOf(high, field)
  if (typeof given === 'string') return given
  if (moreSteps.length > 0) return `too many slashes: ${expression}`
  const every = step === undefined ? 1 : numberOf(step)
  if (typeof every === 'string') return every
  // In cron, `5/15` means every 15th value from 5 to the maximum.
  const end = step !== undefined && high === undefined ? field.max : given
  if (start < field.min) return `beginning of range (${start}) below minimum (${field.min}): ${expression}`
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  if (every === 0) return `step of range should be a positive number: ${expression}`
  return { start, end, step: every, isStar: isWild && every === 1 }
}

/** Returns the number in `text`, or an error message. If `field` has names, `text` can also be a name, e.g. `jan`. */
function numberOf(text: string, field?: Bounds): number | string {
  const named = field?.names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + field!.min
  const number = /^[-+]?\d+$/.test(text) ? Number(text) : undefined
  const problem = number === undefined ? 'invalid syntax' : Math.abs(number) >= 2 ** 63 ? 'value out of range' : undefined
  if (problem !== undefined) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${problem}`
  return number! < 0 ? `negative number (${number}) not allowed: ${text}` : number!
}
