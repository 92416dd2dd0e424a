/** Measures reconciles that do nothing. No API server takes part. */
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

/** Resolves to the number of reconciles for each CPU second. */
export async function measureNothing(program: BuiltProgram, workers: number, seconds: number): Promise<number> {
  const running = new RunningProgram(program, ['noop', workers, seconds])
  try {
    const { reconciles, cpuSeconds } = await running.result<{ reconciles: number; cpuSeconds: number }>()
    return reconciles / cpuSeconds
  } finally {
    await running.stop()
  }
}
