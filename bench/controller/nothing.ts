/** Measures how many no-op reconciles per CPU second a program performs. No API server is used. */
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

/** Resolves to the number of reconciles per CPU second. */
export async function measureNothing(program: BuiltProgram, workers: number, seconds: number): Promise<number> {
  const running = new RunningProgram({ ...program, built: program.noopCommand ?? program.built }, ['noop', workers, seconds])
  try {
    const { reconciles, cpuSeconds } = await running.result<{ reconciles: number; cpuSeconds: number }>()
    return reconciles / cpuSeconds
  } finally {
    await running.stop()
  }
}
