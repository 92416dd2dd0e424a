/**
 * Converts a number of seconds to milliseconds. As in Go's `time.Duration(seconds) * time.Second`, the number of nanoseconds is a signed
 * 64-bit integer. If the time is longer than about 292 years, this integer wraps around. Therefore, every result is between -293 years and
 * 293 years.
 */
export function secondsToMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}
