/**
 * The drill of Pods as processes, on a private copy of this machine (Linux).
 *
 * `kill`: `proreus dev --pods=process` is killed again and again, at random moments, while Pods run that try to outlive it. After each kill,
 * nothing may be left but the state folder, and the next start must run the same Pods again.
 *
 * `shop`: a Deployment, a StatefulSet with claims and Jobs work together, while they are rolled, scaled, deleted, evicted and killed at
 * random. After each quiet period everything must have converged, no acknowledged order may be lost, and nothing may have leaked.
 *
 * `npm run drill -- pods [--only kill|shop] [--rounds 100] [--seconds 300] [--user machine|subordinate] [--seed N]`. The lines of the output
 * are JSON with the counts and the failures of a part. The exit code is 1 if there is a failure, or if the machine permits no namespaces.
 */
import { parseArgs } from 'node:util'
import type { MachineUser } from '../test/support/pods/machine/private-machine.ts'
import { runPart } from '../test/support/pods/run-part.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '300' },
    user: { type: 'string', default: 'machine' },
    seed: { type: 'string' },
  },
})
const seed = Number(values.seed ?? process.env.SEED ?? Math.floor(Math.random() * 2 ** 32))
const user: MachineUser = values.user === 'subordinate' ? 'subordinate' : 'machine'
const amounts = { kill: Number(values.rounds), shop: Number(values.seconds) }
process.stderr.write(`SEED=${seed}\n`)

for (const part of ['kill', 'shop'] as const) {
  if (values.only !== undefined && values.only !== part) continue
  const result = await runPart({ part, user, seed, amount: amounts[part], onProgress: (text) => process.stderr.write(text) })
  process.stdout.write(`${JSON.stringify({ drill: 'pods', part, user, ...result })}\n`)
  if (result.failures?.length !== 0) process.exitCode = 1
}
