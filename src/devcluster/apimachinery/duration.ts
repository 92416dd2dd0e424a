/**
 * Converts a number of seconds to milliseconds. As in Go's `time.Duration(seconds) * time.Second`, the number of nanoseconds overflows in
 * 64 bits. For any number of seconds, the result is therefore at most 293 years.
 */
export function secondsToMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}
