/** Durations in Go's notation, such as `1h30m`. */

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const maxInt64 = 2n ** 63n - 1n

/** Nanoseconds, or the message of the error that Go's `time.ParseDuration` returns. */
export type GoDuration = { readonly nanos: bigint; readonly error?: never } | { readonly nanos?: never; readonly error: string }

/** Returns the nanoseconds of a duration; undefined when the notation is invalid, or the duration does not fit into an int64. */
export function parseGoDuration(text: string): bigint | undefined {
  return readGoDuration(text).nanos
}

/** Parses a duration as Go's `time.ParseDuration` does. */
export function readGoDuration(text: string): GoDuration {
  const signed = text.startsWith('-') || text.startsWith('+')
  const digits = signed ? text.slice(1) : text
  if (digits === '0') return { nanos: 0n }
  const invalid = { error: `time: invalid duration ${quoted(text)}` }
  if (digits === '') return invalid
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y
  let sum = 0n
  while (part.lastIndex < digits.length) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(digits)!
    if (whole === '' && fraction === '') return invalid
    if (unit === '') return { error: `time: missing unit in duration ${quoted(text)}` }
    const length = Object.hasOwn(nanoseconds, unit) ? nanoseconds[unit] : undefined
    if (length === undefined) return { error: `time: unknown unit ${quoted(unit)} in duration ${quoted(text)}` }
    // A number with more than 19 significant digits exceeds an int64. It is not parsed, because parsing very many digits takes long.
    const significant = whole.replace(/^0+/, '')
    if (significant.length > 19) return invalid
    const used = fraction.slice(0, 18)
    // Go calculates the fraction in float64. The calculation here has the same rounding.
    sum += BigInt(significant) * length + BigInt(Math.trunc(Number(used) * (Number(length) / 10 ** used.length)))
  }
  const nanos = text.startsWith('-') ? -sum : sum
  return nanos < -maxInt64 - 1n || nanos > maxInt64 ? invalid : { nanos }
}

/**
 * Quotes a string as Go's package `time` does. Control characters and characters outside ASCII become hexadecimal escapes of their bytes.
 */
function quoted(text: string): string {
  const escaped = [...Buffer.from(text)].map((byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`
    return byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte)
  })
  return `"${escaped.join('')}"`
}

/** Formats a duration in milliseconds, 0 or more, as Go's `Duration.String` does, e.g. `500ms`, `1m20s` or `1h0m0s`. */
export function formatGoDuration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${ms}ms`
  const seconds = (ms % 60_000) / 1000
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return `${seconds}s`
  return minutes < 60 ? `${minutes}m${seconds}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`
}
