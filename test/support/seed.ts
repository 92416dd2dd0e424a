/** What generated tests begin with. Each commit is judged by other cases, and always by the same; `SEED=…` has those of another, `SEED=random` new ones. */
import { spawnSync } from 'node:child_process'
import { repository } from './process.ts'

export const seed = process.env.SEED === 'random' ? Date.now() % 1_000_000_000 : Number(process.env.SEED || seedOfCommit())

/** Of what is no repository, such as an unpacked archive, always the same. */
function seedOfCommit(): number {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' })
  return status === 0 ? Number.parseInt(stdout.slice(0, 7), 16) : 36
}
