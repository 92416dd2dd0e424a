/**
 * The seed of generated tests. By default, the seed is derived from the commit. `SEED=…` sets the seed. `SEED=random` chooses a new seed
 * for each run.
 */
import { spawnSync } from 'node:child_process'
import { repository } from './process/process.ts'

export const seed = process.env.SEED === 'random' ? Date.now() % 1_000_000_000 : Number(process.env.SEED || seedOfCommit())

/**
 * Returns the seed that is derived from the commit. Outside of a git repository, for example in an unpacked archive, returns a constant.
 */
function seedOfCommit(): number {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' })
  return status === 0 ? Number.parseInt(stdout.slice(0, 7), 16) : 36
}
