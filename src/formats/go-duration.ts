/** Durations in Go's notation, such as `1h30m`. */

const notation = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
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

/**
 * Parses a duration as Go's `time.ParseDuration` does. Returns nanoseconds; undefined when the notation is invalid, or the duration does not
 * fit into an int64.
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (!notation.test(text)) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(part)) {
    // Parsing very many digits takes long, and more than 19 significant ones exceed an int64.
    const significant = whole.replace(/^0+/, '')
    if (significant.length > 19) return undefined
    const length = nanoseconds[unit]!
    const digits = fraction.slice(0, 18)
    // Go multiplies the fraction as a float64.
    sum += BigInt(significant) * length + BigInt(Math.trunc(Number(digits) * (Number(length) / 10 ** digits.length)))
  }
  const value = text.startsWith('-') ? -sum : sum
  return value < -maxInt64 - 1n || value > maxInt64 ? undefined : value
}
