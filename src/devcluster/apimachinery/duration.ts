/**
 * Converts a number of seconds to milliseconds. As in Go's `time.Duration(seconds) * time.Second`, the time in nanoseconds is a signed
 * 64-bit integer, which overflows for more than 292 years. The result is therefore always between -293 and 293 years.
 */
export function secondsToMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}
