/** Determines how an action changes metrics. */
import type { Metrics } from '../../../src/telemetry/metrics.ts'

/**
 * Calls `act`. Returns the series that are new or have another value afterwards, as lines of a scrape. Buckets of histograms are omitted.
 */
export async function changes(metrics: Metrics, act: () => unknown): Promise<string[]> {
  const before = new Set(await series(metrics))
  act()
  return (await series(metrics)).filter((line) => !before.has(line))
}

async function series(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
}

/**
 * Returns the upper bounds of a histogram's buckets. If the histogram has several series, returns the bounds of each series, one series
 * after another.
 */
export async function boundsOf(metrics: Metrics, name: string): Promise<number[]> {
  const text = await metrics.registry.getSingleMetricAsString(name)
  return [...text.matchAll(/_bucket\{le="([^"]+)"/g)].map(([, bound]) => (bound === '+Inf' ? Infinity : Number(bound)))
}
