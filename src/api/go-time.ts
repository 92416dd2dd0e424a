/** Parses timestamps with Go's layouts for RFC 3339, and returns Go's error messages (`time: Parse`). */

/**
 * An element of a layout in Go. Each element stands for one part of a timestamp. All other characters of a layout must occur unchanged in
 * the timestamp.
 */
type Element = '2006' | '01' | '02' | '15' | '04' | '05' | '.000000' | 'Z07:00'

export interface GoTime {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly seconds: number
  readonly nanos: number
  /** The UTC offset with which the timestamp was written, in minutes. */
  readonly offsetMinutes: number
}

/** A parsed timestamp, or Go's error message. */
export type ParsedTime = GoTime | string

export function parseDate(text: string): ParsedTime {
  return parseLayout(date, text)
}

/** Parses a timestamp of RFC 3339. */
export function parseZonedTime(text: string): ParsedTime {
  return parseLayout(zoned, text)
}

/** Parses a timestamp of RFC 3339 with exactly six digits after the decimal point (k8s.io/apimachinery/pkg/apis/meta/v1: MicroTime). */
export function parseMicroTime(text: string): ParsedTime {
  return parseLayout(micro, text)
}

/**
 * Parses a string of the schema format `date-time` (kube-openapi `strfmt.ParseDateTime`): a timestamp of RFC 3339, with or without a time
 * zone. The empty string stands for 1970-01-01T00:00:00Z.
 */
export function parseSchemaTime(text: string): ParsedTime {
  if (text === '') return { seconds: 0, nanos: 0, offsetMinutes: 0 }
  const time = parseZonedTime(text)
  return typeof time === 'string' ? parseLayout(local, text) : time
}

/** The first second of the year 1, which is Go's zero time. */
const zeroSeconds = -62135596800

/**
 * Formats a time in UTC without its fraction of a second, like `metav1.Time.MarshalJSON`. Returns undefined for Go's zero time, for which
 * `MarshalJSON` returns null.
 */
export function formatUtc({ seconds, nanos }: GoTime): string | undefined {
  if (seconds === zeroSeconds && nanos === 0) return undefined
  // JavaScript writes a year before 0 or after 9999 with a sign and six digits. Go writes at least four digits, and no plus sign.
  return new Date(seconds * 1000).toISOString().replace('+0', '').replace(/^-00/, '-').replace('.000Z', 'Z')
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

interface Layout {
  readonly text: string
  readonly steps: readonly { readonly part: string; readonly read: Reader }[]
}

function parseLayout(layout: Layout, text: string): ParsedTime {
  const fields: Fields = { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanos: 0, offsetMinutes: 0 }
  const head = (): string => `parsing time ${quoted(text)}`
  let rest = text
  for (const { part, read } of layout.steps) {
    const found = read(rest, fields)
    if (found === undefined) return `${head()} as ${quoted(layout.text)}: cannot parse ${quoted(rest)} as ${quoted(part)}`
    if (found.outOfRange !== undefined) return `${head()}: ${found.outOfRange} out of range`
    rest = found.rest
  }
  if (rest !== '') return `${head()}: extra text: ${quoted(rest)}`
  const { year, month, day, hour, minute, second, nanos, offsetMinutes } = fields
  if (day < 1 || day > daysIn(year, month)) return `${head()}: day out of range`
  const start = new Date(0)
  start.setUTCFullYear(year, month - 1, day)
  return { seconds: start.getTime() / 1000 + (hour * 60 + minute - offsetMinutes) * 60 + second, nanos, offsetMinutes }
}

/**
 * The result of reading one element of a layout. `rest` is the rest of the input. If the element is out of range, `outOfRange` is the name
 * of the element in Go's message. If the input does not match the element, the result is undefined.
 */
type Read = { readonly rest: string; readonly outOfRange?: string | undefined } | undefined

type Reader = (text: string, fields: Fields) => Read

const readers: Readonly<Record<Element, Reader>> = {
  '2006': (text, fields) => {
    const digits = /^\d{4}/.exec(text)?.[0]
    if (digits === undefined) return undefined
    fields.year = Number(digits)
    return { rest: text.slice(4) }
  },
  '01': number('month', /^\d\d/, 1, 12),
  // The number of days in a month depends on the month and the year. The day is therefore validated after all elements are read.
  '02': number('day', /^\d\d/, 0, 99),
  '15': number('hour', /^\d\d?/, 0, 23),
  '04': number('minute', /^\d\d/, 0, 59),
  '05': number('second', /^\d\d/, 0, 59),
  '.000000': (text, fields) => {
    // Go parses these six characters as a number, so the first character can be a sign.
    const fraction = /^[.,]([+-]\d{5}|\d{6})/.exec(text)
    if (fraction === null) return undefined
    fields.nanos = Number(fraction[1]) * 1000
    return { rest: text.slice(fraction[0].length), outOfRange: fields.nanos < 0 ? 'fractional second' : undefined }
  },
  'Z07:00': (text, fields) => {
    if (text.startsWith('Z')) return { rest: text.slice(1) }
    const match = /^([+-])(\d\d):(\d\d)/.exec(text)
    if (match === null) return undefined
    const [hours, minutes] = [Number(match[2]), Number(match[3])]
    fields.offsetMinutes = (hours * 60 + minutes) * (match[1] === '-' ? -1 : 1)
    // If both the hour and the minute are out of range, Go reports the minute.
    return { rest: text.slice(6), outOfRange: minutes > 60 ? 'time zone offset minute' : hours > 24 ? 'time zone offset hour' : undefined }
  },
}

/** Reads the seconds of a time and an optional fraction of a second. Go permits this fraction even if the layout has no fraction. */
const secondWithFraction: Reader = (text, fields) => {
  const read = readers['05'](text, fields)
  const fraction = read === undefined || read.outOfRange !== undefined ? undefined : /^[.,]\d+/.exec(read.rest)?.[0]
  if (read === undefined || fraction === undefined) return read
  fields.nanos = Number(fraction.slice(1, 10).padEnd(9, '0'))
  return { rest: read.rest.slice(fraction.length) }
}

function number(field: 'month' | 'day' | 'hour' | 'minute' | 'second', digits: RegExp, least: number, most: number): Reader {
  return (text, fields) => {
    const found = digits.exec(text)?.[0]
    if (found === undefined) return undefined
    const value = Number(found)
    fields[field] = value
    return { rest: text.slice(found.length), outOfRange: value < least || value > most ? field : undefined }
  }
}

function literal(part: string): Reader {
  return (text) => (text.startsWith(part) ? { rest: text.slice(part.length) } : undefined)
}

const date = layout('2006-01-02')
const local = layout('2006-01-02T15:04:05')
const zoned = layout('2006-01-02T15:04:05Z07:00')
const micro = layout('2006-01-02T15:04:05.000000Z07:00')

function layout(text: string): Layout {
  const isElement = (part: string): part is Element => Object.hasOwn(readers, part)
  const parts = text.match(/2006|01|02|15|04|05|\.000000|Z07:00|./g) ?? []
  const steps = parts.map((part, index) => {
    if (part === '05' && parts[index + 1] !== '.000000') return { part, read: secondWithFraction }
    return { part, read: isElement(part) ? readers[part] : literal(part) }
  })
  return { text, steps }
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Quotes a string as Go's package `time` does: the bytes of control characters and of characters beyond ASCII are escaped. */
function quoted(text: string): string {
  const inner = [...text].map((character) => {
    if (character === '"' || character === '\\') return `\\${character}`
    return character >= ' ' && character <= '\x7f' ? character : Buffer.from(character).toString('hex').replace(/../g, '\\x$&')
  })
  return `"${inner.join('')}"`
}
