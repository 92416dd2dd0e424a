/** Functions that check dates, times and durations. They accept the same strings as Go's `time` and kube-openapi's `strfmt`. */
import { parseGoDuration } from './go-duration.ts'

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const timePattern = /^(\d{2}):(\d{2}):(\d{2})(?:[^\n]\d+)?(?:z|[+-]\d{2}:\d{2})$/

/** Accepts a date like `2006-01-02`, if the day exists in its month. */
export function isDate(text: string): boolean {
  const match = datePattern.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day <= days[month - 1]!
}

/**
 * Accepts a date and time of RFC 3339. `T` and `Z` may be in lower case, and leap seconds are invalid. Like strfmt, the function accepts
 * any digits in a time zone offset, such as `+99:99`, and ignores the characters after a second `t`.
 */
export function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t', 2)
  const match = time === undefined ? null : timePattern.exec(time)
  return match !== null && isDate(date) && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}

const maxInt64 = 2n ** 63n - 1n

const scalaPart = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g
/** Matches a unit (`d`), or a word that begins with the long name of a unit (`day`, `days`). */
const scalaUnit = /^(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)$|^(?:nano|micro|milli|sec|min|hour|day|week)/i

/**
 * Accepts Go's `1h30m`, and Scala's `22 ns` and `1 day 2 hours`. A string in Scala's notation is valid if at least one of its numbers has a
 * valid unit, and all of its numbers fit into an int64.
 */
export function isDuration(text: string): boolean {
  if (parseGoDuration(text) !== undefined) return true
  const parts = [...text.matchAll(scalaPart)]
  return parts.every(([, count]) => toInteger(count!) <= maxInt64) && parts.some(([, , unit]) => scalaUnit.test(unit!))
}

/**
 * Parses an integer. For more than 19 significant digits, returns a constant that exceeds int64, because parsing very many digits takes
 * long.
 */
function toInteger(digits: string): bigint {
  const significant = digits.replace(/^0+/, '')
  return significant.length > 19 ? maxInt64 + 2n : BigInt(significant)
}
