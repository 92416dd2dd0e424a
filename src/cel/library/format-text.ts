/** Formats strings with arguments: `'%s is %d'.format([a, b])` (`cel-go/ext: formatting.go`). */
import { quote } from '../../api/field-error.ts'
import { CelError } from '../types/errors.ts'
import { formatDouble } from '../types/format-double.ts'
import { formatDuration, formatTimestamp } from '../types/times.ts'
import type { Value } from '../types/values.ts'
import { Double, Duration, ListValue, MapValue, Timestamp, typeNameOf, TypeValue, Uint } from '../types/values.ts'
import { bytesToString } from './conversions.ts'

export type ClauseKind = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o'

export interface Clause {
  readonly kind: ClauseKind
  readonly precision: number
}

const defaultPrecision = 6
const kinds = 'sdfebxXo'

/**
 * Parses a format string. Yields the parts of the string in order: literal text as a string, and a clause, such as `%d`, as an object.
 *
 * @param args number of arguments for the clauses.
 */
export function* readFormat(format: string, args: number): Generator<string | Clause> {
  let literal = ''
  let clauses = 0
  for (let at = 0; at < format.length; at += 1) {
    if (format[at] !== '%') {
      literal += format[at]
      continue
    }
    at += 1
    if (format[at] === '%') {
      literal += '%'
      continue
    }
    yield literal
    literal = ''
    if (at >= format.length) throw new CelError('unexpected end of string')
    if (clauses >= args) throw new CelError(`index ${clauses} out of range`)
    clauses += 1
    const precision = /^\.(\d*)/.exec(format.slice(at))
    if (precision !== null) {
      at += precision[0].length
      if (at >= format.length) {
        throw new CelError('could not parse formatting clause: error while parsing precision: could not find end of precision specifier')
      }
      if (precision[1] === '') {
        throw new CelError(
          'could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
        )
      }
    }
    const kind = format[at]!
    if (!kinds.includes(kind)) throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${kind}"`)
    // `Intl.NumberFormat` accepts a precision of at most 100.
    yield { kind: kind as ClauseKind, precision: precision === null ? defaultPrecision : Math.min(Number(precision[1]), 100) }
  }
  yield literal
}

export function formatText(format: string, args: ListValue): string {
  let result = ''
  let index = 0
  for (const part of readFormat(format, args.size)) {
    if (typeof part === 'string') result += part
    else {
      result += formatClause(part, args.at(index))
      index += 1
    }
  }
  return result
}

const accepted: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
}

/**
 * Returns the error message for an argument of `format` whose type is not valid for its clause. A clause is a placeholder in the format
 * string, such as `%d`.
 */
export function clauseProblem(kind: ClauseKind, typeName: string): string {
  return `error during formatting: ${accepted[kind.toLowerCase()]}, was given ${typeName}`
}

function formatClause({ kind, precision }: Clause, value: Value): string {
  const text = clauseText(kind, precision, value)
  if (text === undefined) throw new CelError(clauseProblem(kind, typeNameOf(value)))
  return text
}

function clauseText(kind: ClauseKind, precision: number, value: Value): string | undefined {
  switch (kind) {
    case 's':
      return stringText(value)
    case 'd':
      return integerOf(value)?.toString()
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : integerOf(value)?.toString(2)
    case 'o':
      return integerOf(value)?.toString(8)
    case 'x':
    case 'X': {
      const text =
        typeof value === 'string' || value instanceof Uint8Array
          ? Buffer.from(value as string).toString('hex')
          : integerOf(value)?.toString(16)
      return kind === 'X' ? text?.toUpperCase() : text
    }
    case 'f':
    case 'e':
      return floatText(kind, precision, value)
  }
}

function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value)
  return value instanceof Uint ? value.value : undefined
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/**
 * Formats a float as Go's `message.Printer` for American English does. The clause `f` separates groups of three digits by commas. The
 * clause `e` writes the exponent as a power of ten, such as `×10⁰³`. The strings `NaN`, `Infinity` and `-Infinity` count as floats. Returns
 * undefined for any other value.
 */
function floatText(kind: 'f' | 'e', precision: number, value: Value): string | undefined {
  const special: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity }
  const number = value instanceof Double ? value.value : typeof value === 'string' ? special[value] : undefined
  if (number === undefined) return undefined
  if (!Number.isFinite(number)) {
    const text = Number.isNaN(number) ? 'NaN' : number > 0 ? '∞' : '-∞'
    return kind === 'e' ? text.padStart(precision) : text
  }
  // `message.Printer` writes negative zero without a sign. The sum of negative zero and zero is zero.
  const printed = number + 0
  if (kind === 'f') return roundedText(printed, precision, 'grouped')
  const [digits = '', exponent = '0'] = roundedText(printed, defaultPrecision, 'scientific').split('E')
  const power = Number(exponent)
  const raised = String(Math.abs(power))
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts[Number(digit)]!)
  // cel-go uses the precision as the minimum width of the output.
  return `${digits}×10${power < 0 ? '⁻' : ''}${raised}`.padStart(precision)
}

type Notation = 'grouped' | 'plain' | 'scientific'

const optionsOf: Readonly<Record<Notation, Intl.NumberFormatOptions>> = {
  grouped: {},
  plain: { useGrouping: false },
  scientific: { notation: 'scientific' },
}

/** A cache of the formats that have been used. The creation of a format takes about 20 microseconds. */
const formats = new Map<string, Intl.NumberFormat>()

/**
 * Formats a finite float with a fixed number of decimals. As in Go, the exact value of the float is rounded, and a tie is rounded to the
 * even digit (strconv: FormatFloat). A negative number that is rounded to zero keeps its sign.
 */
function roundedText(number: number, decimals: number, notation: Notation): string {
  const key = `${notation} ${decimals}`
  let format = formats.get(key)
  if (format === undefined) {
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
    format = new Intl.NumberFormat('en-US', { ...digits, roundingMode: 'halfEven', ...optionsOf[notation] })
    formats.set(key, format)
  }
  return format.format(exactText(number))
}

/**
 * Returns the exact value of a finite float as text. If `Intl.NumberFormat` received a number instead of text, it would round the shortest
 * decimal form of the number.
 */
function exactText(number: number): `${number}` {
  if (Object.is(number, -0)) return '-0'
  let exponent = 0
  let scaled = number
  // A multiplication by two is exact here, because a float that is not an integer is far below the largest float.
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    exponent += 1
  }
  // number = scaled / 2^exponent = scaled · 5^exponent / 10^exponent
  return `${BigInt(scaled) * 5n ** BigInt(exponent)}e-${exponent}` as `${number}`
}

/** Formats a value for the clause `%s`; undefined for a type that the clause does not accept. */
function stringText(value: Value): string | undefined {
  if (value === null) return 'null'
  if (value instanceof ListValue) return `[${[...value].map(nestedText).join(', ')}]`
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => [nestedText(key), nestedText(value.find(key) ?? null)] as const)
    entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `{${entries.map(([key, item]) => `${key}:${item}`).join(', ')}}`
  }
  if (value instanceof Double) return formatDouble(value.value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Uint8Array) return bytesText(value)
  if (value instanceof TypeValue) return value.type.name
  return typeof value === 'object' ? undefined : String(value)
}

function bytesText(bytes: Uint8Array): string {
  try {
    return bytesToString(bytes)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    throw new CelError(`error during formatting: could not convert argument ${quote(error.message)} to string`)
  }
}

/** Formats an item of a list or an entry of a map for the clause `%s`, in CEL's syntax. */
function nestedText(value: Value): string {
  if (typeof value === 'string') return quote(value)
  if (value instanceof Timestamp) return `timestamp(${quote(formatTimestamp(value))})`
  if (value instanceof Duration) return `duration(${quote(formatDuration(value))})`
  if (value instanceof Uint8Array) return `b${quote(bytesText(value))}`
  if (value instanceof Double)
    return Number.isFinite(value.value) ? roundedText(value.value, defaultPrecision, 'plain') : quote(formatDouble(value.value))
  const text = stringText(value)
  if (text === undefined) throw new CelError(`error during formatting: no formatting function for ${typeNameOf(value)}`)
  return text
}
