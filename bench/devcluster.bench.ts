/**
 * Compares the embedded API server with etcd and kube-apiserver. Measures:
 *
 * - the memory of 1,000 objects
 * - writes
 * - lists of 5,000 objects
 * - events to 100 watchers
 *
 * Each round starts every server again. The servers run on one CPU core, and the load generator runs on another core. The medians over the
 * rounds are printed, followed by the results of every round.
 *
 * `npm run bench -- devcluster [--parts memory,writes,list,watch] [--rounds 3] [--seconds 4] [--only proreus] [--node-args=--cpu-prof]`
 */
import { parseArgs } from 'node:util'
import { Results } from './controller/results.ts'
import type { LoadOptions } from './devcluster/load.ts'
import { load } from './devcluster/load.ts'
import type { Request } from './devcluster/requests.ts'
import { apply, apps, configMaps, create, fill, listing, patch, update, watching } from './devcluster/requests.ts'
import type { Server } from './devcluster/servers.ts'
import { serverPrograms } from './devcluster/servers.ts'

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'memory,writes,list,watch' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string' },
    'node-args': { type: 'string', default: '' },
  },
})
const parts = new Set(values.parts.split(','))
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const nodeArgs = values['node-args'].split(' ').filter((argument) => argument !== '')
const programs = serverPrograms.filter(
  ({ name }) => values.only === undefined || values.only.split(',').some((one) => name.toLowerCase().includes(one.toLowerCase())),
)
const [listed, watchers, counted] = [5_000, 100, 1_000]

const rates = {
  perCpuSecond: { digits: 0, head: 'a CPU second', ratio: true },
  perSecond: { digits: 0, head: 'a second', ratio: true },
  p50: { digits: 1, head: 'p50 ms' },
  p99: { digits: 1, head: 'p99 ms' },
} as const
type Rates = { readonly [Key in keyof typeof rates]: number }

const writes: readonly { readonly name: string; readonly requests: readonly Request[] }[] = [configMaps, apps].flatMap((kind) => [
  { name: `${kind.name}s created`, requests: [create(kind, 'created')] },
  { name: `${kind.name}s replaced (PUT)`, requests: [{ ...apply(kind), once: true }, update(kind)] },
  { name: `${kind.name}s changed (merge patch)`, requests: [{ ...apply(kind), once: true }, patch(kind)] },
  { name: `${kind.name}s applied`, requests: [apply(kind)] },
])

const memory = new Results<{ heap: number; resident: number }>(`Memory of ${counted} ConfigMaps, each of about 1 KiB`, {
  heap: { digits: 1, head: 'live heap MiB' },
  resident: { digits: 1, head: 'RSS MiB', ratio: true },
})
const written = new Results<Rates>('Writes of objects of about 1 KiB, on 16 connections', rates)
const lists = new Results<Rates>(`Lists of ${listed} ConfigMaps`, rates)
const { perCpuSecond, perSecond } = rates
const listsAfterWrites = new Results<Pick<Rates, 'perCpuSecond' | 'perSecond'>>(
  `Lists of ${listed} ConfigMaps, before each of which one of them is changed`,
  { perCpuSecond, perSecond },
)
const events = new Results<Rates>(`Events to ${watchers} watchers`, rates)

async function ratesOf(server: Server, options: LoadOptions): Promise<Rates> {
  const { requests, events, seconds, cpuSeconds, p50Ms, p99Ms } = await load(server, options)
  const count = options.watch === undefined ? requests : events
  return { perCpuSecond: count / cpuSeconds, perSecond: count / seconds, p50: p50Ms, p99: p99Ms }
}

async function measure(server: Server): Promise<void> {
  const { client } = server
  const warmUps = 100
  let existing = 0
  if (parts.has('memory')) {
    // When the first objects of a type are created, the server also creates caches for the type. The memory for the first objects is
    // therefore not measured.
    await fill(client, listing.namespace, 0, warmUps)
    const [heap, resident] = [await server.heapMb(), server.residentMb()]
    existing = warmUps + counted
    await fill(client, listing.namespace, warmUps, existing)
    memory.add(server.name, { heap: (await server.heapMb()) - heap, resident: server.residentMb() - resident })
  }
  if (parts.has('writes')) {
    for (const { requests } of writes) await load(server, { requests: renamed(requests), seconds: 1 })
    for (const { name, requests } of writes) written.add(`${server.name}, ${name}`, await ratesOf(server, { requests, seconds }))
  }
  if (parts.has('list')) {
    const alone = { seconds, connections: 1 }
    await fill(client, listing.namespace, existing, listed)
    await load(server, { requests: [listing.list], seconds: 1, connections: 1 })
    lists.add(server.name, await ratesOf(server, { ...alone, requests: [listing.list] }))
    const pair = await ratesOf(server, { ...alone, requests: [listing.touch, listing.list] })
    listsAfterWrites.add(server.name, { perCpuSecond: pair.perCpuSecond / 2, perSecond: pair.perSecond / 2 })
  }
  if (parts.has('watch')) {
    await fill(client, watching.namespace, 0, 1)
    const watch = { path: watching.path, watchers }
    events.add(server.name, await ratesOf(server, { requests: [watching.touch], seconds, connections: 1, watch }))
  }
}

/**
 * Returns the requests for the warm-up. They create objects with other names, so that the measured requests can create objects with the
 * original names.
 */
function renamed(requests: readonly Request[]): Request[] {
  return requests.map((one) => ({ ...one, ...(one.body && { body: one.body.replaceAll('created-', 'warm-') }) }))
}

for (let round = 0; round < rounds; round += 1) {
  for (let index = 0; index < programs.length; index += 1) {
    const server = await programs[(index + round) % programs.length]!.start(nodeArgs)
    try {
      await measure(server)
    } finally {
      await server.stop()
    }
  }
}
if (parts.has('memory')) memory.print([''])
if (parts.has('writes')) written.print(writes.map(({ name }) => `, ${name}`))
if (parts.has('list')) {
  lists.print([''])
  listsAfterWrites.print([''])
}
if (parts.has('watch')) events.print([''])
