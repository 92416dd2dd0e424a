/** `heapSlope`: calculates the growth of a heap by linear regression. */

export interface HeapSample {
  readonly atMs: number
  readonly bytes: number
}

export interface HeapSlope {
  /** The growth in MiB per minute that fits the samples best. */
  readonly mibPerMinute: number
  /** The standard error of `mibPerMinute`. */
  readonly error: number
}

/** Fits a straight line through the samples. Throws when there are fewer than three samples. */
export function heapSlope(samples: readonly HeapSample[]): HeapSlope {
  if (samples.length < 3) throw new Error(`The slope of the heap needs three samples; there are ${samples.length}.`)
  const points = samples.map(({ atMs, bytes }) => [atMs / 60_000, bytes / 1024 / 1024] as const)
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([minute]) => minute)), mean(points.map(([, mib]) => mib))]
  const spread = points.reduce((sum, [minute]) => sum + (minute - x) ** 2, 0)
  const mibPerMinute = points.reduce((sum, [minute, mib]) => sum + (minute - x) * (mib - y), 0) / spread
  const residuals = points.reduce((sum, [minute, mib]) => sum + (mib - y - mibPerMinute * (minute - x)) ** 2, 0)
  return { mibPerMinute, error: Math.sqrt(residuals / (points.length - 2) / spread) }
}
