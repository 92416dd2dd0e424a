/**
 * The failover drill. Three replicas elect a leader while objects change. The drill repeatedly kills, stops, pauses or disconnects the
 * leader. These conditions must be true:
 *
 * - After each fault, another replica becomes the leader and reconciles.
 * - A replica sends writes only while it holds the Lease.
 *
 * A replica checks the Lease before each write. After the check, the network or a pause of the process may delay the write. No client can
 * prevent such late writes, so they are not failures. The result lists them as `late`.
 *
 * `npm run drill -- failover [--seconds 180] [--seed N] [--faults kill,stop,pause,cut,halfOpen]`. The last line of the output is JSON with
 * the faults, the late writes and the failures. The exit code is 1 if there is a failure.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ensurePrograms, showProgress } from '../scripts/tools.ts'
import type { Client } from '../src/index.ts'
import { defineOperator, systemClock } from '../src/index.ts'
import { installKinds } from '../src/manifests/install.ts'
import type { ControlPlane } from '../src/testing/index.ts'
import { startControlPlane, startFaultProxy, until } from '../src/testing/index.ts'
import { randomOf } from '../test/support/unplugging/faults.ts'
import { historyOf } from './failover/history.ts'
import { holderOf, lease, namespace } from './failover/lease.ts'
import { Replica } from './failover/replicas.ts'
import { gadget } from './gadget.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '180' }, seed: { type: 'string' }, faults: { type: 'string' } },
})
const seconds = Number(values.seconds)
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed)
process.stderr.write(`--seconds ${seconds} --seed ${seed}\n`)

const names = ['replica-0', 'replica-1', 'replica-2'] as const
const gadgets = Array.from({ length: 10 }, (_, index) => `gadget-${index}`)
/** Milliseconds for which a leader is paused or disconnected. In this time, the Lease expires. */
const awayMs = lease.leaseDurationMs + 3_000
/**
 * Time limit in milliseconds for another replica to become the leader. The limit is sufficient for the expiration of the Lease and for
 * delays on a busy machine.
 */
const takeoverMs = 30_000
/** Milliseconds between two changes of Gadgets. */
const changeMs = 20
/** Milliseconds from the end of a fault to the next fault. At the next fault, all replicas must be running again. */
const calmMs = 3_000

const faults = {
  kill: (leader: Replica) => leader.restart('SIGKILL'),
  stop: (leader: Replica) => leader.restart('SIGTERM'),
  pause: (leader: Replica) => leader.pause(awayMs),
  cut: (leader: Replica) => lasting(leader.proxy.cut({ alsoNew: true })),
  halfOpen: (leader: Replica) => lasting(leader.proxy.halfOpen({ alsoNew: true })),
} as const satisfies Record<string, (leader: Replica) => Promise<void>>
type FaultName = keyof typeof faults
const chosen = (Object.keys(faults) as FaultName[]).filter((name) => values.faults === undefined || values.faults.split(',').includes(name))
if (chosen.length === 0) throw new Error(`--faults names none of ${Object.keys(faults).join(', ')}.`)

async function lasting(fault: { end(): void }): Promise<void> {
  await delay(awayMs)
  fault.end()
}

const failures: string[] = []

await ensurePrograms(['etcd', 'kube-apiserver'], { env: process.env, progress: showProgress })
const rules = [
  { apiGroups: [gadget.group], resources: ['gadgets', 'gadgets/status'], verbs: ['*'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['*'] },
]
const users = names.map((name) => ({ name, rules }))
const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces: [namespace], users })
const tried = await drill(controlPlane).finally(() => controlPlane.stop())
process.stdout.write(`${JSON.stringify({ drill: 'failover', seconds, seed, ...tried, failures })}\n`)
process.exitCode = failures.length === 0 ? 0 : 1

async function drill(controlPlane: ControlPlane): Promise<object> {
  const { client } = controlPlane
  await installKinds(client, [defineOperator({ name: 'failover', kinds: [gadget] })], systemClock)
  for (const name of gadgets) await client.create(gadget, { metadata: { namespace, name }, spec: { value: 0 } })
  const replicas = await Promise.all(names.map(async (name) => new Replica(name, await startFaultProxy(controlPlane.connectionFor(name)))))
  const ends = new AbortController()
  const changing = changeGadgets(client, ends.signal)
  // Without this line, a rejection would be unhandled while the takeover is awaited.
  changing.catch(() => undefined)
  const takeovers: { fault: FaultName; ms: number }[] = []
  try {
    const random = randomOf(seed)
    const until = performance.now() + seconds * 1000
    for (let round = 0; performance.now() < until; round += 1) {
      // Every fault occurs once before any fault is repeated.
      const fault = round < chosen.length ? chosen[round]! : chosen[Math.floor(random() * chosen.length)]!
      takeovers.push({ fault, ms: await takeover(client, replicas, fault) })
      await delay(calmMs)
    }
  } catch (error) {
    failures.push(String(error))
  } finally {
    ends.abort()
    await changing.catch((error: unknown) => failures.push(String(error)))
    await Promise.all(replicas.map((replica) => replica.stop()))
  }
  const { transitions } = await holderOf(client)
  const sent = new Map(replicas.flatMap((replica) => [...replica.sent]))
  const releases = new Map(replicas.map((replica) => [replica.name, replica.releases]))
  const { writes, illegal, late } = historyOf(await controlPlane.requests(), { sent, releases })
  for (const write of illegal) failures.push(`sent without the Lease: ${write}`)
  return { takeovers, transitions, writes: writes.length, late }
}

/**
 * Causes a fault of the leader, and resolves when the fault has ended. The result is the time in milliseconds from the beginning of the
 * fault until another leader has reconciled a change.
 */
async function takeover(client: Client, replicas: readonly Replica[], fault: FaultName): Promise<number> {
  const old = await until('there is a leader', async () => (await holderOf(client)).instance, takeoverMs)
  const leader = replicas.find(({ name }) => name === old)
  if (leader === undefined) throw new Error(`The leader ${old} is not one of the replicas.`)
  const began = performance.now()
  const over = faults[fault](leader)
  try {
    await until(
      `${fault}: another leader`,
      async () => {
        const { instance } = await holderOf(client)
        return instance !== undefined && instance !== old
      },
      takeoverMs,
    )
    const { spec } = await client.get(gadget, { namespace, name: gadgets[0]! })
    await until(
      `${fault}: a reconcile`,
      async () => ((await client.get(gadget, { namespace, name: gadgets[0]! })).status?.seen ?? -1) >= spec.value,
      takeoverMs,
    )
    return Math.round(performance.now() - began)
  } finally {
    await over
  }
}

/** Changes the Gadgets in turn until the signal aborts. */
async function changeGadgets(client: Client, signal: AbortSignal): Promise<void> {
  for (let value = 1; !signal.aborted; value += 1) {
    await client.patch(gadget, { namespace, name: gadgets[value % gadgets.length]! }, { spec: { value } })
    await delay(changeMs)
  }
}
