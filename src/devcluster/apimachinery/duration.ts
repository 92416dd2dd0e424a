/**
 * Converts a number of seconds to milliseconds as Go's `time.Duration(seconds) * time.Second`: the nanoseconds overflow in 64 bits. So a
 * time plus the duration is always within 293 years of the time, whatever the seconds.
 */
export function secondsToMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}
