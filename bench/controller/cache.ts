/** Measures a cache of many Apps: the time until the cache has synced, the memory of the program, and the speed of reads. */
import type { ApiServer } from './api-server.ts'
import { namespace } from './apps.ts'
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

export interface CacheSample {
  /** Seconds until the cache has synced. The program itself measures this time, so the start of the process is not included. */
  readonly seconds: number
  /** Seconds from the start of the process until the cache has synced. */
  readonly secondsFromStart: number
  /** CPU seconds of the process until the cache has synced. */
  readonly cpu: number
  /** Resident memory in MiB when the cache has synced. */
  readonly mb: number
  readonly peakMb: number
  readonly getsPerCpuSecond: number
}

export async function measureCache(
  server: ApiServer,
  program: BuiltProgram,
  { count, getSeconds }: { readonly count: number; readonly getSeconds: number },
): Promise<CacheSample> {
  const running = new RunningProgram(program, ['cache', namespace, count, getSeconds], server.envOf(program))
  try {
    const { syncSeconds } = await running.result<{ syncSeconds: number }>()
    const secondsFromStart = (performance.now() - running.startedAt) / 1000
    const [cpu, mb, peakMb] = [running.cpuSeconds(), running.residentMb(), running.peakResidentMb()]
    running.goOn()
    const { gets, cpuSeconds } = await running.result<{ gets: number; cpuSeconds: number }>()
    return { seconds: syncSeconds, secondsFromStart, cpu, mb, peakMb, getsPerCpuSecond: gets / cpuSeconds }
  } finally {
    await running.stop()
  }
}
