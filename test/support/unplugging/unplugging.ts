/**
 * The unplugging test: objects change while the network between an operator and the API server fails. When the network works again, the
 * operator must have missed no change.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Test } from 'tap'
import { configMap } from '../../../src/api/builtin.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { defineOperator } from '../../../src/manager/operator.ts'
import { installKinds } from '../../../src/manifests/install.ts'
import type { ControlPlane } from '../../../src/testing/index.ts'
import { until } from '../../../src/testing/until.ts'
import { seed } from '../seed.ts'
import { forgottenConnections, mixedFaults, playFaults, randomOf } from './faults.ts'
import type { UnpluggedOperator } from './operator.ts'
import { gadget, startUnpluggedOperator, types } from './operator.ts'

export interface UnpluggingOptions {
  /** The name of the control plane in the output of the test. */
  readonly name: string
  readonly seconds: number
  readonly seed: number
  /**
   * If true, the test runs an additional operator whose connections all become silent forever. The client of this operator needs about two
   * minutes to detect the silence.
   */
  readonly forgetting: boolean
}

/** Reads the environment variables `SEED` and `SECONDS`, and prints the seed and the duration. Both are needed to repeat a run. */
export function unpluggingOptions(t: Test, seconds: number): Pick<UnpluggingOptions, 'seconds' | 'seed'> {
  const options = { seconds: Number(process.env.SECONDS ?? seconds), seed }
  t.comment(`SEED=${options.seed} SECONDS=${options.seconds}`)
  return options
}

export const namespace = 'unplugging'

const names = Array.from({ length: 25 }, (_, index) => `object-${index}`)
/** The pause between two writes, in milliseconds. */
const writePauseMs = 30
/**
 * The time limit for the operator to recover. It covers the timeout of a hanging request and the longest back-off of a watch or of a
 * reconcile.
 */
const settleMs = 150_000
/** The time limit for a reconcile when the network works. */
const promptMs = 20_000

/** Runs the test on a control plane in which the namespace `unplugging` exists. */
export async function unplug(t: Test, controlPlane: ControlPlane, { name, seconds, seed, forgetting }: UnpluggingOptions): Promise<void> {
  const { client } = controlPlane
  await installKinds(client, [defineOperator({ name: 'unplugging', kinds: [gadget] })], systemClock)
  await until('gadgets are served', () => client.list(gadget, { namespace }))
  const plans = [mixedFaults(seed, seconds), ...(forgetting ? [forgottenConnections(seed)] : [])]
  const operators = await Promise.all(plans.map(async () => startUnpluggedOperator(await controlPlane.faultProxy(), namespace)))
  t.teardown(() => Promise.all(operators.map((operator) => operator.stop())))

  const [writes, ...counts] = await Promise.all([
    writeFor(client, seconds, randomOf(seed)),
    ...operators.map(({ proxy }, index) => playFaults(proxy, plans[index]!)),
  ])
  for (const [index, operator] of operators.entries()) {
    t.comment(`${name}: faults ${JSON.stringify(counts[index])}`)
    await settled(t, operator, client, `${name}: all is known and reconciled`)
    t.strictSame(operator.contradictions, [], `${name}: no event contradicts an earlier one`)
    if (plans[index]!.some(({ kind }) => kind === 'forget'))
      t.ok(operator.silences >= types.length, `${name}: watches on forgotten connections were closed`)
    t.comment(
      `${name}: ${operator.reconciles} reconciles of ${writes} changes; ${operator.silences} watches closed because of their silence`,
    )
  }
  // The informers and controllers must still work: they must promptly reconcile one more change of each object.
  for (const operator of operators) operator.proxy.heal()
  await changeAll(client)
  for (const operator of operators) {
    await until(
      `${name}: all is reconciled after the faults`,
      async () => operator.differences(await truthOf(client)).length === 0,
      promptMs,
    )
    t.ok(operator.alive, `${name}: every controller is alive, and every change is reconciled after the faults`)
  }
}

async function settled(t: Test, operator: UnpluggedOperator, client: Client, what: string): Promise<void> {
  const deadline = performance.now() + settleMs
  let differences: readonly string[]
  do {
    await delay(200)
    differences = operator.differences(await truthOf(client))
  } while (differences.length > 0 && performance.now() < deadline)
  t.strictSame(differences, [], what)
  if (differences.length > 0) t.comment(operator.lastLines.join(''))
}

/**
 * Creates, changes and deletes random objects for `seconds` seconds, with a short pause after each write. The requests do not pass through
 * the fault proxy. Returns the number of writes.
 */
async function writeFor(client: Client, seconds: number, random: () => number): Promise<number> {
  const deadline = performance.now() + seconds * 1000
  const living = new Set<string>()
  let writes = 0
  while (performance.now() < deadline) {
    const type = types[Math.floor(random() * types.length)]!
    const name = names[Math.floor(random() * names.length)]!
    const id = `${type.kind}/${name}`
    if (!living.has(id)) {
      await create(client, type, name, writes)
      living.add(id)
    } else if (random() < 0.25) {
      await client.delete(type, { namespace, name })
      living.delete(id)
    } else {
      await change(client, type, name, writes)
    }
    writes += 1
    await delay(random() * writePauseMs)
  }
  return writes
}

async function create(client: Client, type: (typeof types)[number], name: string, value: number): Promise<void> {
  const metadata = { namespace, name }
  if (type === gadget) await client.create(gadget, { metadata, spec: { value } })
  else await client.create(configMap, { metadata, data: { value: String(value) } })
}

async function change(client: Client, type: (typeof types)[number], name: string, value: number): Promise<void> {
  const patch = type === gadget ? { spec: { value } } : { data: { value: String(value) } }
  await client.patch<ResourceType>(type, { namespace, name }, patch)
}

async function changeAll(client: Client): Promise<void> {
  for (const type of types) {
    const { items } = await client.list<ResourceType>(type, { namespace })
    for (const { metadata } of items) await change(client, type, metadata.name, -1)
  }
}

async function truthOf(client: Client): Promise<Map<ResourceType, KubernetesObject[]>> {
  const lists = await Promise.all(types.map(async (type) => (await client.list<ResourceType>(type, { namespace })).items))
  return new Map(types.map((type, index) => [type, lists[index]!]))
}

/**
 * Measures the growth of the heap of this process in bytes. The measurement starts when half of `seconds` has passed. The returned function
 * ends the measurement, and resolves with the growth. At the start and at the end, `shrink` is called to free the memory that must not be
 * measured.
 */
export function watchHeap(seconds: number, shrink: () => Promise<unknown>): () => Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const samples: number[] = []
  const sample = (): void => {
    collect()
    samples.push(process.memoryUsage().heapUsed)
  }
  let repeated: NodeJS.Timeout | undefined
  const begin = setTimeout(() => {
    void shrink().then(() => {
      sample()
      repeated = setInterval(sample, (seconds * 1000) / 24)
    })
  }, seconds * 500)
  return async () => {
    clearTimeout(begin)
    clearInterval(repeated)
    await shrink()
    sample()
    const third = Math.ceil(samples.length / 3)
    return Math.min(...samples.slice(-third)) - Math.min(...samples.slice(0, third))
  }
}
