/**
 * The drill of Pods that run as processes. The drill needs Linux. Each part of the drill runs on a private machine, i.e. in separate
 * namespaces (test/support/pods/machine/private-machine.ts).
 *
 * - `kill`: in each round, `proreus dev --pods=process` is killed at a random moment. The Pods have processes that are hard to kill. After
 *   each round, only the state folder may remain. After the next start, the same Pods must run again.
 * - `shop`: Jobs send orders to a Deployment, which stores the orders in the PersistentVolumeClaims of a StatefulSet. In each period,
 *   workloads are updated and scaled at random, Pods are deleted and evicted, and processes are killed. After each period, all objects must
 *   converge, no acknowledged order may be lost, and no process, folder or network link may have leaked.
 *
 * Usage: `npm run drill -- pods [--only kill|shop] [--rounds 100] [--seconds 300] [--user machine|subordinate] [--seed N]`. `--rounds`
 * applies to `kill`, and `--seconds` applies to `shop`. For each part, the output has one line of JSON with the counts and the failures.
 * The exit code is 1 if there is a failure, or if the machine does not permit namespaces.
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
