/**
 * Measures controllers of Proreus, controller-runtime and kube-rs. Each round measures every program. For each part, the medians over the
 * rounds are printed, followed by the results of every round.
 *
 * - The part `noop` uses no API server.
 * - The part `life` has no rounds, and counts only the writes of the MyPod operator.
 * - In all other parts, the programs of a round use the same real API server.
 *
 * `npm run bench -- controller [--parts reconcile,life,cache,noop,latency,failover] [--rounds 3] [--only proreus,kube-rs] [--apps 2000]
 * [--cached 20000] [--seconds 5]`
 */
import { parseArgs } from 'node:util'
import { buildProreus } from './build.ts'
import { withApiServer } from './controller/api-server.ts'
import { createApps, deleteApps } from './controller/apps.ts'
import { measureCache } from './controller/cache.ts'
import { measureFailover } from './controller/failover.ts'
import { measureLatency } from './controller/latency.ts'
import { writesOfMyPodLife } from './controller/mypod-life.ts'
import { measureNothing } from './controller/nothing.ts'
import type { BuiltProgram } from './controller/programs.ts'
import { built, controllerRuntime, kubeRs, proreus } from './controller/programs.ts'
import { measureReconciles } from './controller/reconcile.ts'
import { Results } from './controller/results.ts'

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'reconcile,life,cache,noop,latency,failover' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    apps: { type: 'string', default: '2000' },
    cached: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '5' },
  },
})
const parts = new Set(values.parts.split(','))
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
/** Number of environment variables of each App in the part `cache`. An App with 15 environment variables takes about 1.5 KiB. */
const variables = 15
/** Updates per second while the latency is measured. */
const perSecond = 100

const isChosen = ({ name }: { name: string }): boolean =>
  values.only === undefined || values.only.split(',').some((one) => name.toLowerCase().includes(one.toLowerCase()))
const chosen = [proreus, controllerRuntime, kubeRs].filter(isChosen)
if (chosen.includes(proreus)) buildProreus()
const programs = built(chosen)

/**
 * Calls `measure` once for each program in each round. After each round, the first program in the order becomes the last one. The next
 * round therefore begins with the next program.
 */
async function inTurns(rounds: number, measure: (program: BuiltProgram) => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < programs.length; index += 1) await measure(programs[(index + round) % programs.length]!)
  }
}

if (parts.has('reconcile')) {
  const count = Number(values.apps)
  const results = new Results(`${count} Apps get a Deployment and a status`, {
    writes: { digits: 2, head: 'writes an App' },
    late: { digits: 0, head: 'writes afterwards' },
    seconds: { digits: 1, head: 'seconds', ratio: true },
    cpu: { digits: 2, head: 'CPU s', ratio: true },
    peakMb: { digits: 0, head: 'peak RSS MiB', ratio: true },
  })
  for (let round = 0; round < rounds; round += 1) {
    // The writes are counted from the audit log. When the audit log is large, the API server rotates it, and the earlier writes would then
    // be missing. Therefore, a separate API server is started for each round.
    await withApiServer(programs, async (server) => {
      for (const workers of [1, 8]) {
        for (let index = 0; index < programs.length; index += 1) {
          const program = programs[(index + round) % programs.length]!
          const sample = await measureReconciles(server, program, { workers, count, quietSeconds: 5 })
          results.add(`${program.name}, ${workers} worker${workers === 1 ? '' : 's'}`, sample)
        }
      }
    })
  }
  results.print([1, 8].map((workers) => `, ${workers} worker${workers === 1 ? '' : 's'}`))
}

if (parts.has('life')) {
  const writes = await writesOfMyPodLife()
  process.stdout.write(`\n## The life of a MyPod\n\n${writes.length} writes (at most 7):\n\n${writes.map((one) => `- ${one}\n`).join('')}`)
}

if (parts.has('cache')) {
  const count = Number(values.cached)
  const results = new Results(`${count} Apps in a cache`, {
    seconds: { digits: 2, head: 'seconds to sync', ratio: true },
    secondsFromStart: { digits: 2, head: 'from the start', ratio: true },
    cpu: { digits: 2, head: 'CPU s', ratio: true },
    mb: { digits: 0, head: 'RSS MiB', ratio: true },
    peakMb: { digits: 0, head: 'peak RSS MiB', ratio: true },
    getsPerCpuSecond: { digits: 0, head: 'gets a CPU s', ratio: true },
  })
  await withApiServer(programs, async (server) => {
    await createApps(server.controlPlane.client, count, variables)
    await inTurns(rounds, async (program) => results.add(program.name, await measureCache(server, program, { count, getSeconds: 2 })))
  })
  results.print([''])
}

if (parts.has('noop')) {
  const results = new Results('Reconciles that do nothing', {
    one: { digits: 0, head: 'a CPU s, 1 worker', ratio: true },
    eight: { digits: 0, head: 'a CPU s, 8 workers', ratio: true },
  })
  await inTurns(rounds, async (program) => {
    // kube-rs is not measured, because its work queue is not part of its public API.
    if (program.name === kubeRs.name) return
    results.add(program.name, { one: await measureNothing(program, 1, seconds), eight: await measureNothing(program, 8, seconds) })
  })
  results.print([''])
}

if (parts.has('latency')) {
  const count = 500
  const results = new Results(`From an update to its reconcile, ${perSecond} updates a second`, {
    p50: { digits: 1, head: 'p50 ms', ratio: true },
    p99: { digits: 1, head: 'p99 ms', ratio: true },
    unseen: { digits: 0, head: 'not seen' },
  })
  await withApiServer(programs, async (server) => {
    const { client } = server.controlPlane
    await createApps(client, count)
    await inTurns(rounds, async (program) =>
      results.add(program.name, await measureLatency(server, program, { count, perSecond, seconds })),
    )
    await deleteApps(client)
  })
  results.print([''])
}

if (parts.has('failover')) {
  const results = new Results('From the end of the leader to the first reconcile of the next one', {
    killed: { digits: 0, head: 'ms, killed', ratio: true },
    stopped: { digits: 0, head: 'ms, stopped', ratio: true },
  })
  await withApiServer(programs, async (server) => {
    await createApps(server.controlPlane.client, 10)
    await inTurns(rounds, async (program) => {
      // kube-rs is not measured, because it does not include leader election.
      if (program.name !== kubeRs.name) results.add(program.name, await measureFailover(server, program))
    })
  })
  results.print([''])
}
