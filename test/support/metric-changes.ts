/** What becomes of the metrics of a process when something happens. */
import type { Metrics } from '../../src/telemetry/metrics.ts'

/** The series that are new or have another value afterwards, as they are scraped; buckets are left out. */
export async function changes(metrics: Metrics, act: () => unknown): Promise<string[]> {
  const before = new Set(await series(metrics))
  act()
  return (await series(metrics)).filter((line) => !before.has(line))
}

async function series(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
}

/** The upper bounds of a histogram's buckets, once there is a series of it; each has to be told once. */
export async function boundsOf(metrics: Metrics, name: string): Promise<number[]> {
  const text = await metrics.registry.getSingleMetricAsString(name)
  return [...text.matchAll(/_bucket\{le="([^"]+)"/g)].map(([, bound]) => (bound === '+Inf' ? Infinity : Number(bound)))
}
