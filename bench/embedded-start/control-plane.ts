/**
 * Imports `proreus/testing`, starts embedded control planes one after the other, and prints the durations as JSON. The argument is the
 * folder of the checkout that contains `proreus/testing`.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import type * as Testing from '../../src/testing/index.ts'

interface Duration {
  readonly ms: number
  readonly cpuMs: number
}

export interface Starts {
  /** The duration of the import of `proreus/testing`. */
  readonly imported: Duration
  readonly first: Duration
  readonly later: readonly Duration[]
}

/** Number of starts after the first. */
const later = 5

enableCompileCache()
const { result: testing, ...imported } = await timed(
  () => import(join(process.argv[2]!, 'src/testing/index.ts')) as Promise<typeof Testing>,
)
const durations: Duration[] = []
for (let start = 0; start <= later; start += 1) {
  const { result: controlPlane, ...duration } = await timed(() => testing.startControlPlane())
  durations.push(duration)
  await controlPlane.stop()
}
process.stdout.write(JSON.stringify({ imported, first: durations[0]!, later: durations.slice(1) } satisfies Starts))

async function timed<T>(work: () => Promise<T>): Promise<Duration & { readonly result: T }> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { user, system } = process.cpuUsage(cpu)
  return { result, ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 }
}
