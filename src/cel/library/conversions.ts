/** CEL's conversion functions, such as `int(x)` and `timestamp(x)`, and the functions `type` and `size`. */
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import { formatDouble } from '../types/format-double.ts'
import { parseZonedTime } from '../../api/go-time.ts'
import type { Int } from '../types/integers.ts'
import { checkedUint, parseInt64, parseUint64, toInt } from '../types/integers.ts'
import { formatDuration, formatTimestamp, parseDuration, timestamp } from '../types/times.ts'
import { typeOfValue } from '../types/type-of-value.ts'
import type { Duration, ListValue, MapValue, Timestamp, Value } from '../types/values.ts'
import { Double, lengthOf, TypeValue, Uint } from '../types/values.ts'

const identity = (value: Value): Value => value

function fromString<Result extends Value>(to: string, parse: (text: string) => Result | undefined) {
  return (text: string): Result => {
    const value = parse(text)
    if (value === undefined) throw new CelError(`type conversion error from 'string' to '${to}'`)
    return value
  }
}

const booleans: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false])),
}

const decimalFloat = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const hexFloat = /^([+-]?)0[xX](?=[.\da-fA-F])([\da-fA-F]*)(?:\.([\da-fA-F]*))?[pP]([+-]?\d+)$/
/**
 * Matches an underscore that Go does not allow. Go allows an underscore between two digits. In a hexadecimal float, Go also allows an
 * underscore after the prefix `0x`.
 */
const strayUnderscore = /(?<!\d)_|_(?!\d)/
const strayHexUnderscore = /(?<![\da-f]|^[+-]?0x)_|_(?![\da-f])/i

/** Parses a float as Go's `strconv.ParseFloat` does. */
function parseFloat64(text: string): Double | undefined {
  const special = /^([+-]?)(?:inf|infinity)$/i.exec(text)
  if (special !== null) return new Double(special[1] === '-' ? -Infinity : Infinity)
  if (/^nan$/i.test(text)) return new Double(Number.NaN)
  const isHex = /^[+-]?0x/i.test(text)
  if ((isHex ? strayHexUnderscore : strayUnderscore).test(text)) return undefined
  const plain = text.replaceAll('_', '')
  const value = isHex ? parseHexFloat(plain) : decimalFloat.test(plain) ? Number(plain) : Number.NaN
  // If a number is too large for a float64, Go reports an error, and JavaScript returns infinity.
  return Number.isFinite(value) ? new Double(value) : undefined
}

function parseHexFloat(text: string): number {
  const [, sign = '', whole = '', fraction = '', exponent = ''] = hexFloat.exec(text) ?? []
  if (whole + fraction === '') return Number.NaN
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return sign === '-' ? -0 : 0
  // The first 17 hexadecimal digits have at least 65 bits, and the mantissa of a float64 has 53 bits. Therefore, the later digits affect
  // only the rounding. For the rounding, one bit is enough: it is 1 if at least one later digit is not zero.
  const rest = digits.slice(17)
  const mantissa = BigInt(`0x${digits.slice(0, 17)}`) | (/[^0]/.test(rest) ? 1n : 0n)
  const power = Number(exponent) + 4 * (rest.length - fraction.length)
  const size = scaled(mantissa, power)
  return sign === '-' ? -size : size
}

/** Returns the float64 that is nearest to `mantissa * 2 ** power`. If two are equally near, returns the one with an even mantissa. */
function scaled(mantissa: bigint, power: number): number {
  const length = mantissa.toString(2).length
  // `dropped` is the number of low bits of `mantissa` that do not fit into a float64. The mantissa of a float64 has at most 53 bits, and
  // its lowest bit has a value of at least 2 ** -1074.
  const dropped = Math.max(length - 53, -1074 - power, 0)
  if (dropped > length) return 0
  const unit = 1n << BigInt(dropped)
  const rest = (mantissa % unit) * 2n
  const kept = mantissa / unit
  const isRoundedUp = rest > unit || (rest === unit && kept % 2n === 1n)
  return Number(isRoundedUp ? kept + 1n : kept) * 2 ** (power + dropped)
}

function doubleToInt({ value }: Double): Int {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) throw new CelError('integer overflow')
  return toInt(BigInt(Math.trunc(value)))
}

function doubleToUint({ value }: Double): Uint {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) throw new CelError('unsigned integer overflow')
  return new Uint(BigInt(Math.trunc(value)))
}

function uintToInt({ value }: Uint): Int {
  if (value > 2n ** 63n - 1n) throw new CelError('integer overflow')
  return toInt(value)
}

export function bytesToString(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

function stringToTimestamp(text: string): Timestamp {
  const value = fromString('google.protobuf.Timestamp', (text) => {
    const time = parseZonedTime(text)
    return typeof time === 'string' ? undefined : time
  })(text)
  return timestamp(value.seconds, value.nanos, value.offsetMinutes)
}

export const conversions: readonly Overload[] = [
  define('bool(bool) -> bool', 'bool_to_bool', identity),
  define(
    'bool(string) -> bool',
    'string_to_bool',
    fromString('bool', (text) => (Object.hasOwn(booleans, text) ? booleans[text] : undefined)),
  ),
  define('bytes(bytes) -> bytes', 'bytes_to_bytes', identity),
  define('bytes(string) -> bytes', 'string_to_bytes', (text: string) => new TextEncoder().encode(text)),
  define('double(double) -> double', 'double_to_double', identity),
  define('double(int) -> double', 'int64_to_double', (value: Int) => new Double(Number(value))),
  define('double(string) -> double', 'string_to_double', fromString('double', parseFloat64)),
  define('double(uint) -> double', 'uint64_to_double', ({ value }: Uint) => new Double(Number(value))),
  define('duration(duration) -> duration', 'duration_to_duration', identity),
  // CEL's standard library declares this overload, but cel-go has no conversion from int to duration, so every call fails.
  define('duration(int) -> duration', 'int64_to_duration', (): never => {
    throw new CelError("type conversion error from 'int' to 'google.protobuf.Duration'")
  }),
  define(
    'duration(string) -> duration',
    'string_to_duration',
    fromString('google.protobuf.Duration', (text) => parseDuration(text)),
  ),
  define('dyn(A) -> dyn', 'to_dyn', identity),
  define('int(int) -> int', 'int64_to_int64', identity),
  define('int(double) -> int', 'double_to_int64', doubleToInt),
  define('int(duration) -> int', 'duration_to_int64', ({ nanos }: Duration) => toInt(nanos)),
  define('int(string) -> int', 'string_to_int64', fromString('int', parseInt64)),
  define('int(timestamp) -> int', 'timestamp_to_int64', ({ seconds }: Timestamp) => seconds),
  define('int(uint) -> int', 'uint64_to_int64', uintToInt),
  define('string(string) -> string', 'string_to_string', identity),
  define('string(bool) -> string', 'bool_to_string', String),
  define('string(bytes) -> string', 'bytes_to_string', bytesToString),
  define('string(double) -> string', 'double_to_string', ({ value }: Double) => formatDouble(value)),
  define('string(duration) -> string', 'duration_to_string', formatDuration),
  define('string(int) -> string', 'int64_to_string', String),
  define('string(timestamp) -> string', 'timestamp_to_string', formatTimestamp),
  define('string(uint) -> string', 'uint64_to_string', ({ value }: Uint) => String(value)),
  define('timestamp(timestamp) -> timestamp', 'timestamp_to_timestamp', identity),
  define('timestamp(int) -> timestamp', 'int64_to_timestamp', (value: Int) => timestamp(Number(value), 0)),
  define('timestamp(string) -> timestamp', 'string_to_timestamp', stringToTimestamp),
  define('uint(uint) -> uint', 'uint64_to_uint64', identity),
  define('uint(double) -> uint', 'double_to_uint64', doubleToUint),
  define('uint(int) -> uint', 'int64_to_uint64', (value: Int) => new Uint(checkedUint(BigInt(value)))),
  define(
    'uint(string) -> uint',
    'string_to_uint64',
    fromString('uint', (text) => {
      const value = parseUint64(text)
      return value === undefined ? undefined : new Uint(value)
    }),
  ),
  define('type(A) -> type<A>', 'type', (value: Value) => new TypeValue(typeOfValue(value))),
  define('size(bytes) -> int', 'size_bytes', (value: Uint8Array) => value.length),
  define('bytes::size() -> int', 'bytes_size', (value: Uint8Array) => value.length),
  define('size(list<A>) -> int', 'size_list', (value: ListValue) => value.size),
  define('list<A>::size() -> int', 'list_size', (value: ListValue) => value.size),
  define('size(map<A, B>) -> int', 'size_map', (value: MapValue) => value.size),
  define('map<A, B>::size() -> int', 'map_size', (value: MapValue) => value.size),
  define('size(string) -> int', 'size_string', lengthOf),
  define('string::size() -> int', 'string_size', lengthOf),
]
