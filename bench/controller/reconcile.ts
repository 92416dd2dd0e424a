/**
 * Measures a program that reconciles many existing Apps. For each App, the program creates a Deployment and writes the status of the App.
 * The results are the number of writes, the elapsed time, the CPU time and the memory.
 */
import { ApiError, apps, systemClock } from '../../src/index.ts'
import { sleep } from '../../src/runtime/waiting.ts'
import { app } from '../app.ts'
import type { ApiServer } from './api-server.ts'
import { createApps, deleteApps, namespace } from './apps.ts'
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

export interface ReconcileSample {
  /** Number of writes per App, including the writes in the quiet period (see `measureReconciles`). */
  readonly writes: number
  /** Number of writes after the last App was done. */
  readonly late: number
  /** Seconds from the start of the process until all Apps are done. */
  readonly seconds: number
  /** CPU seconds of the process until all Apps are done. */
  readonly cpu: number
  readonly peakMb: number
}

/** Seconds after which a program is considered stuck. */
const deadlineSeconds = 240

/**
 * Creates the Apps, starts the program, and waits until all Apps are done and `quietSeconds` more seconds (the quiet period) have passed.
 * Then counts the writes, stops the program, and deletes the Apps. An App is done when `observedGeneration` in its status is its current
 * generation.
 */
export async function measureReconciles(
  server: ApiServer,
  program: BuiltProgram,
  { workers, count, quietSeconds }: { readonly workers: number; readonly count: number; readonly quietSeconds: number },
): Promise<ReconcileSample> {
  const { client } = server.controlPlane
  await createApps(client, count)
  const earlier = (await server.writesOf(program)).length
  const done = allDone(server, count)
  const running = new RunningProgram(program, ['reconcile', workers], server.envOf(program))
  try {
    const doneAt = await done
    const [seconds, cpu] = [(performance.now() - running.startedAt) / 1000, running.cpuSeconds()]
    await sleep(systemClock, quietSeconds * 1000)
    const peakMb = running.peakResidentMb()
    const writes = (await server.writesOf(program)).slice(earlier)
    const { items } = await client.list(apps.deployment, { namespace })
    if (items.length !== count) throw new Error(`${program.name} has made ${items.length} Deployments for ${count} Apps.`)
    return { writes: writes.length / count, late: writes.filter(({ at }) => at > doneAt).length, seconds, cpu, peakMb }
  } finally {
    await running.stop()
    await deleteApps(client)
  }
}

/** Resolves when all Apps are done. The result is the time at which the last App was done, in milliseconds since the Unix epoch. */
async function allDone({ controlPlane: { client } }: ApiServer, count: number): Promise<number> {
  const { metadata } = await client.list(app, { namespace, limit: 1 })
  const done = new Set<string>()
  const signal = AbortSignal.timeout(deadlineSeconds * 1000)
  try {
    for await (const { object } of client.watch(app, { namespace, resourceVersion: metadata.resourceVersion!, signal })) {
      if (object.status?.observedGeneration === object.metadata.generation) done.add(object.metadata.name)
      if (done.size === count) return Date.now()
    }
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw new Error(`${done.size} of ${count} Apps are done.`, { cause: error })
    throw error
  }
  throw new Error('The watch has ended.')
}
