/** `heapSlope`: calculates the growth of a heap by linear regression. */

export interface HeapSample {
  readonly atMs: number
  readonly bytes: number
}

export interface HeapSlope {
  /** The growth in MiB per minute that fits the samples best. */
  readonly mbPerMinute: number
  /** The standard error of `mbPerMinute`. */
  readonly error: number
}

/** Fits a straight line through the samples. Throws when there are fewer than three samples. */
export function heapSlope(samples: readonly HeapSample[]): HeapSlope {
  if (samples.length < 3) throw new Error(`The slope of the heap needs three samples; there are ${samples.length}.`)
  const points = samples.map(({ atMs, bytes }) => [atMs / 60_000, bytes / 1024 / 1024] as const)
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([minute]) => minute)), mean(points.map(([, mb]) => mb))]
  const spread = points.reduce((sum, [minute]) => sum + (minute - x) ** 2, 0)
  const mbPerMinute = points.reduce((sum, [minute, mb]) => sum + (minute - x) * (mb - y), 0) / spread
  const residuals = points.reduce((sum, [minute, mb]) => sum + (mb - y - mbPerMinute * (minute - x)) ** 2, 0)
  return { mbPerMinute, error: Math.sqrt(residuals / (points.length - 2) / spread) }
}
