/** The size of V8's young generation. */
import { once } from 'node:events'
import { getHeapSpaceStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'

/** Returns the size of the young generation of this thread in MB. */
export function youngMb(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')!.space_size / 1024 / 1024
}

/**
 * Starts a thread, and returns the size in MB of its young generation. The young generation of a new thread has only one of its two halves,
 * because V8 does not use the other half before the first garbage collection.
 */
export async function youngMbOfNewThread(): Promise<number> {
  const code = `
    const space = require('node:v8').getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    require('node:worker_threads').parentPort.postMessage(space.space_size / 1024 / 1024)`
  const worker = new Worker(code, { eval: true })
  const [megabytes] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return megabytes
}
