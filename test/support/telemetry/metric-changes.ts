/** Changes of metrics during an action. */
import type { Metrics } from '../../../src/telemetry/metrics.ts'

/** Returns the series, as scraped and without buckets, that are new or have another value after `act`. */
export async function changes(metrics: Metrics, act: () => unknown): Promise<string[]> {
  const before = new Set(await series(metrics))
  act()
  return (await series(metrics)).filter((line) => !before.has(line))
}

async function series(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
}

/** Returns the upper bounds of a histogram's buckets, one series after the other. */
export async function boundsOf(metrics: Metrics, name: string): Promise<number[]> {
  const text = await metrics.registry.getSingleMetricAsString(name)
  return [...text.matchAll(/_bucket\{le="([^"]+)"/g)].map(([, bound]) => (bound === '+Inf' ? Infinity : Number(bound)))
}
