/** Functions that return parts of timestamps and durations: `getFullYear()`, `getHours('Europe/Berlin')`. */
import { locationProblem, offsetsOf } from '../../api/time-zone.ts'
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
 * Returns the offset of a time zone from UTC in seconds. The parameter `seconds` is the Unix time for which the offset is returned. A zone
 * is an offset such as `02:00` or `-08:00`, or a name of the time zone database.
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

interface Zone {
  /**
   * The name of the time zone, spelled as in the first call that used this time zone. A later call may spell the name with different
   * upper-case and lower-case letters, e.g. `US/EASTERN` instead of `US/Eastern`.
   */
  readonly name: string
  readonly offsetAt: (time: number) => number
}

/**
 * The time zones that rules have used. The key is the name in lower case. `locationProblem` accepts some names in many combinations of
 * upper-case and lower-case letters. If each combination had its own key, the map could become very large.
 */
const zones = new Map<string, Zone>()

function namedOffset(name: string, seconds: number): number {
  if (name === '' || name === 'UTC') return 0
  const key = name.toLowerCase()
  let zone = zones.get(key)
  if (zone?.name !== name) {
    const problem = locationProblem(name)
    if (problem !== undefined) throw new CelError(problem)
    zone ??= { name, offsetAt: offsetsOf(name) }
    zones.set(key, zone)
  }
  return zone.offsetAt(seconds * 1000) / 1000
}
