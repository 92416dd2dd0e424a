/** `runPart`: runs a part of the drill `pods` on a private machine. */
import { join } from 'node:path'
import type { MachineUser } from './machine/private-machine.ts'
import { runOnPrivateMachine } from './machine/private-machine.ts'

const program = join(import.meta.dirname, 'pods-program.ts')

export interface PartOptions {
  readonly part: 'kill' | 'shop'
  readonly user: MachineUser
  readonly seed: number
  /** The number of rounds for the part `kill`; the number of seconds for the part `shop`. */
  readonly amount: number
  /** Receives lines about the progress. */
  readonly onProgress?: (text: string) => void
}

export interface PartResult {
  /** The reason why this machine cannot run the part; undefined when the part has run. */
  readonly skipped?: string
  readonly failures?: readonly string[]
}

/**
 * Resolves with the result of the part. The result also contains the numbers that the part has counted. The type `PartResult` does not
 * declare these numbers, because they depend on the part.
 */
export async function runPart({ part, user, seed, amount, ...options }: PartOptions): Promise<PartResult> {
  const run = await runOnPrivateMachine(user, ({ state }) => [program, part, state, String(seed), String(amount)], options)
  if ('skipped' in run) return run
  const { code, stdout, stderr } = run
  if (code !== 0) throw new Error(`the program has ended with ${code}: ${stderr}${stdout}`)
  return JSON.parse(stdout) as PartResult
}
