/** Functions that return parts of timestamps and durations: `getFullYear()`, `getHours('Europe/Berlin')`. */
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import { toInt } from '../types/integers.ts'
import type { Duration, Timestamp } from '../types/values.ts'

type Part = (local: Date, nanos: number) => number

function dayOfYear(local: Date): number {
  const start = new Date(0)
  start.setUTCFullYear(local.getUTCFullYear(), 0, 1)
  return Math.floor((local.getTime() - start.getTime()) / 86_400_000)
}

const parts: readonly (readonly [string, string, Part])[] = [
  ['getFullYear', 'timestamp_to_year', (local) => local.getUTCFullYear()],
  ['getMonth', 'timestamp_to_month', (local) => local.getUTCMonth()],
  ['getDayOfYear', 'timestamp_to_day_of_year', dayOfYear],
  ['getDayOfMonth', 'timestamp_to_day_of_month', (local) => local.getUTCDate() - 1],
  ['getDate', 'timestamp_to_day_of_month_1_based', (local) => local.getUTCDate()],
  ['getDayOfWeek', 'timestamp_to_day_of_week', (local) => local.getUTCDay()],
  ['getHours', 'timestamp_to_hours', (local) => local.getUTCHours()],
  ['getMinutes', 'timestamp_to_minutes', (local) => local.getUTCMinutes()],
  ['getSeconds', 'timestamp_to_seconds', (local) => local.getUTCSeconds()],
  ['getMilliseconds', 'timestamp_to_milliseconds', (_, nanos) => Math.floor(nanos / 1_000_000)],
]

function durationPart(name: string, id: string, nanosPerUnit: bigint): Overload {
  return define(`duration::${name}() -> int`, id, ({ nanos }: Duration) => toInt(nanos / nanosPerUnit))
}

export const timeParts: readonly Overload[] = [
  ...parts.flatMap(([name, id, part]) => [
    define(`timestamp::${name}() -> int`, id, (time: Timestamp) => part(new Date(time.seconds * 1000), time.nanos)),
    define(`timestamp::${name}(string) -> int`, `${id}_with_tz`, (time: Timestamp, zone: string) =>
      part(new Date((time.seconds + zoneOffset(zone, time.seconds)) * 1000), time.nanos),
    ),
  ]),
  durationPart('getHours', 'duration_to_hours', 3_600_000_000_000n),
  durationPart('getMinutes', 'duration_to_minutes', 60_000_000_000n),
  durationPart('getSeconds', 'duration_to_seconds', 1_000_000_000n),
  durationPart('getMilliseconds', 'duration_to_milliseconds', 1_000_000n),
]

/**
 * Returns the offset of a time zone from UTC in seconds, at the time `seconds`. A zone is an offset such as `02:00` or `-08:00`, or a name
 * of the time zone database.
 */
function zoneOffset(zone: string, seconds: number): number {
  const colon = zone.indexOf(':')
  if (colon < 0) return namedOffset(zone, seconds)
  const [hours, minutes] = [zone.slice(0, colon), zone.slice(colon + 1)].map((text) => {
    if (!/^[+-]?\d+$/.test(text)) throw new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
    return Number(text)
  }) as [number, number]
  return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60
}

const formats = new Map<string, Intl.DateTimeFormat>()

function namedOffset(zone: string, seconds: number): number {
  if (zone === '' || zone === 'UTC') return 0
  if (/^[/\\]|\.\./.test(zone)) throw new CelError('time: invalid location name')
  let format = formats.get(zone)
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    } catch {
      throw new CelError(`unknown time zone ${zone}`)
    }
    // The cache contains only names that `Intl` accepts, because an unknown name throws above.
    formats.set(zone, format)
  }
  const name = format.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const match = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(name)
  if (match === null) return 0
  const size = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)
  return match[1] === '-' ? -size : size
}
