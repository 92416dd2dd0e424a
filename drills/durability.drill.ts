/**
 * The durability drill. In each round, an embedded cluster that stores its objects on disk is killed at a random moment, while clients
 * write or while the cluster starts. After the restart, every acknowledged write must be stored. Every other write must be stored
 * completely or not at all.
 *
 * Usage: `npm run drill -- durability [--rounds 1000] [--seed N]`. The last line of the output is JSON with the counts and the failures.
 * The exit code is 1 if there is a failure.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { durabilityRounds } from '../test/support/durability/rounds.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1000' }, seed: { type: 'string' } } })
const rounds = Number(values.rounds)
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed)
process.stderr.write(`--rounds ${rounds} --seed ${seed}\n`)

const directory = await mkdtemp(join(tmpdir(), 'proreus-durability-'))
const progress = (round: number): void => {
  if (round % 50 === 0) process.stderr.write(`round ${round}\n`)
}
const result = await durabilityRounds(directory, { rounds, seed, progress })
process.stdout.write(`${JSON.stringify({ drill: 'durability', rounds, seed, ...result })}\n`)
if (result.failures.length === 0) await rm(directory, { recursive: true })
else {
  process.stderr.write(`The folder ${directory} remains.\n`)
  process.exitCode = 1
}
