/** Parses timestamps with Go's layouts for RFC 3339, and returns Go's error messages (`time: Parse`). */
import { Timestamp } from './values.ts'

/** The elements of Go's layouts that stand for a part of a timestamp. The input must contain all other characters of a layout unchanged. */
const elements = ['2006', '01', '02', '15', '04', '05', 'Z07:00'] as const
type Element = (typeof elements)[number]

const dateLayout = '2006-01-02'
const localLayout = '2006-01-02T15:04:05'
const zonedLayout = '2006-01-02T15:04:05Z07:00'

/** A parsed timestamp, or Go's error message. */
export type ParsedTime = Timestamp | string

export function parseDate(text: string): ParsedTime {
  return parseLayout(dateLayout, text)
}

/** Parses a timestamp of RFC 3339. */
export function parseZonedTime(text: string): ParsedTime {
  return parseLayout(zonedLayout, text)
}

/** Parses a string of the schema format `date-time`: RFC 3339, in which the zone may be missing (kube-openapi `strfmt.ParseDateTime`). */
export function parseSchemaTime(text: string): ParsedTime {
  if (text === '') return new Timestamp(0, 0)
  const zoned = parseZonedTime(text)
  return typeof zoned === 'string' ? parseLayout(localLayout, text) : zoned
}

/** The elements of the timestamp that have been read up to now. */
interface Fields {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  nanos: number
  offsetMinutes: number
}

function parseLayout(layout: string, text: string): ParsedTime {
  const fields: Fields = { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanos: 0, offsetMinutes: 0 }
  const head = `parsing time ${quoted(text)}`
  let rest = text
  for (let at = 0; at < layout.length;) {
    const element = elements.find((one) => layout.startsWith(one, at))
    const step = element ?? layout[at]!
    const read = element === undefined ? readLiteral(step, rest) : readers[element](rest, fields)
    if (read === undefined) return `${head} as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(step)}`
    if (read.outOfRange !== undefined) return `${head}: ${read.outOfRange} out of range`
    rest = read.rest
    at += step.length
  }
  if (rest !== '') return `${head}: extra text: ${quoted(rest)}`
  const { year, month, day, hour, minute, second, nanos, offsetMinutes } = fields
  if (day < 1 || day > daysIn(year, month)) return `${head}: day out of range`
  const start = new Date(0)
  start.setUTCFullYear(year, month - 1, day)
  return new Timestamp(start.getTime() / 1000 + (hour * 60 + minute - offsetMinutes) * 60 + second, nanos, offsetMinutes)
}

/**
 * Result of reading one element. `rest` is the rest of the input. If the element is out of range, `outOfRange` is the name of
 * the element in Go's message. The result is undefined if the input does not match the element.
 */
type Read = { readonly rest: string; readonly outOfRange?: string | undefined } | undefined

function readLiteral(literal: string, text: string): Read {
  return text.startsWith(literal) ? { rest: text.slice(literal.length) } : undefined
}

const readers: Readonly<Record<Element, (text: string, fields: Fields) => Read>> = {
  '2006': (text, fields) => {
    const digits = /^\d{4}/.exec(text)?.[0]
    if (digits === undefined) return undefined
    fields.year = Number(digits)
    return { rest: text.slice(4) }
  },
  '01': number('month', /^\d\d/, 1, 12),
  // The upper limit of the day depends on the month and the year, so it is checked after all elements are read.
  '02': number('day', /^\d\d/, 0, 99),
  '15': number('hour', /^\d\d?/, 0, 23),
  '04': number('minute', /^\d\d/, 0, 59),
  '05': (text, fields) => {
    const read = number('second', /^\d\d/, 0, 59)(text, fields)
    const fraction = read === undefined || read.outOfRange !== undefined ? null : /^[.,]\d+/.exec(read.rest)
    if (read === undefined || fraction === null) return read
    fields.nanos = Number(fraction[0].slice(1, 10).padEnd(9, '0'))
    return { rest: read.rest.slice(fraction[0].length) }
  },
  'Z07:00': (text, fields) => {
    if (text.startsWith('Z')) return { rest: text.slice(1) }
    const match = /^([+-])(\d\d):(\d\d)/.exec(text)
    if (match === null) return undefined
    const [hours, minutes] = [Number(match[2]), Number(match[3])]
    fields.offsetMinutes = (hours * 60 + minutes) * (match[1] === '-' ? -1 : 1)
    return { rest: text.slice(6), outOfRange: hours > 24 ? 'time zone offset hour' : minutes > 60 ? 'time zone offset minute' : undefined }
  },
}

function number(field: 'month' | 'day' | 'hour' | 'minute' | 'second', digits: RegExp, least: number, most: number) {
  return (text: string, fields: Fields): Read => {
    const found = digits.exec(text)?.[0]
    if (found === undefined) return undefined
    const value = Number(found)
    fields[field] = value
    return { rest: text.slice(found.length), outOfRange: value < least || value > most ? field : undefined }
  }
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Quotes a string as Go's package `time` does: the bytes of characters beyond ASCII are escaped. */
function quoted(text: string): string {
  const inner = [...text].map((character) => {
    if (character === '"' || character === '\\') return `\\${character}`
    return character >= ' ' && character <= '\x7f' ? character : Buffer.from(character).toString('hex').replace(/../g, '\\x$&')
  })
  return `"${inner.join('')}"`
}
