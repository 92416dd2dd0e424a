/** The seed of generated tests. It follows from the commit; `SEED=…` sets another one and `SEED=random` a new one for each run. */
import { spawnSync } from 'node:child_process'
import { repository } from './process/process.ts'

export const seed = process.env.SEED === 'random' ? Date.now() % 1_000_000_000 : Number(process.env.SEED || seedOfCommit())

/** Returns the seed of the commit, or a constant outside of a repository, e.g. in an unpacked archive. */
function seedOfCommit(): number {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' })
  return status === 0 ? Number.parseInt(stdout.slice(0, 7), 16) : 36
}
