/** Parses and formats timestamps and durations as Go's package `time` does. */
import { parseGoDuration } from '../../formats/go-duration.ts'
import { CelError } from './errors.ts'
import { maxInt, minInt } from './integers.ts'
import { Duration, Timestamp } from './values.ts'

/** First and last second of the years 1 to 9999, in seconds since 1970-01-01. */
const minSeconds = -62135596800
const maxSeconds = 253402300799
const nanosPerSecond = 1_000_000_000n

/**
 * Returns a timestamp.
 *
 * @throws {CelError} when the time is not in the years 1 to 9999.
 */
export function timestamp(seconds: number, nanos: number, offsetMinutes = 0): Timestamp {
  if (seconds < minSeconds || seconds > maxSeconds) throw new CelError('timestamp overflow')
  return new Timestamp(seconds, nanos, offsetMinutes)
}

export function duration(nanos: bigint): Duration {
  if (nanos < minInt || nanos > maxInt) throw new CelError('integer overflow')
  return new Duration(nanos)
}

export function addDuration({ seconds, nanos, offsetMinutes }: Timestamp, added: bigint): Timestamp {
  const total = BigInt(seconds) * nanosPerSecond + BigInt(nanos) + added
  const rest = ((total % nanosPerSecond) + nanosPerSecond) % nanosPerSecond
  return timestamp(Number((total - rest) / nanosPerSecond), Number(rest), offsetMinutes)
}

export function subtractTimestamps(a: Timestamp, b: Timestamp): Duration {
  const nanos = (time: Timestamp): bigint => BigInt(time.seconds) * nanosPerSecond + BigInt(time.nanos)
  return duration(nanos(a) - nanos(b))
}

/**
 * Formats a timestamp as RFC 3339, with as many fractional digits as needed. With a UTC offset, the local year may be 10000. JavaScript
 * writes this year with a sign, and Go writes it without a sign.
 */
export function formatTimestamp({ seconds, nanos, offsetMinutes }: Timestamp): string {
  const local = new Date((seconds + offsetMinutes * 60) * 1000).toISOString().slice(0, -'.000Z'.length).replace(/^\+0/, '')
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
  const size = Math.abs(offsetMinutes)
  const two = (value: number): string => String(value).padStart(2, '0')
  const zone = offsetMinutes === 0 ? 'Z' : `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
  return `${local}${fraction}${zone}`
}

/** Parses a duration as Go's `time.ParseDuration` does. Returns undefined for an invalid duration. */
export function parseDuration(text: string): Duration | undefined {
  const nanos = parseGoDuration(text)
  return nanos === undefined ? undefined : new Duration(nanos)
}

const scalaPart = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g
/**
 * The units of Scala's durations: the names of each unit, and the length of the unit in nanoseconds. The last name of each unit is a
 * prefix: every word that begins with this name, such as `days` for `day`, is also a name of the unit.
 */
const scalaUnits: readonly (readonly [readonly string[], bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], nanosPerSecond],
  [['m', 'min'], 60n * nanosPerSecond],
  [['h', 'hr', 'hour'], 3600n * nanosPerSecond],
  [['d', 'day'], 86_400n * nanosPerSecond],
  [['w', 'wk', 'week'], 604_800n * nanosPerSecond],
]

/**
 * Parses a string of the schema format `duration`. The string has Go's notation or Scala's, such as `1 day 2 hours`. Returns undefined for
 * any other string (`k8s.io/kube-openapi/pkg/validation/strfmt: ParseDuration`).
 */
export function parseSchemaDuration(text: string): Duration | undefined {
  const known = parseDuration(text)
  if (known !== undefined) return known
  let sum = 0n
  let any = false
  for (const [, count = '', word = ''] of text.matchAll(scalaPart)) {
    if (count.length > 64) return undefined
    const unit = word.toLowerCase()
    for (const [names, nanos] of scalaUnits) {
      if (!names.includes(unit) && !unit.startsWith(names.at(-1)!)) continue
      any = true
      sum += BigInt(count) * nanos
    }
  }
  return any ? new Duration(BigInt.asIntN(64, sum)) : undefined
}

/** Formats a duration in seconds, with as many fractional digits as needed, such as `90s` or `0.001s`. */
export function formatDuration({ nanos }: Duration): string {
  const text = String(Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9)
  return `${/e/.test(text) ? Number(text).toFixed(9).replace(/0+$/, '') : text}s`
}
