/**
 * Rounds of writes to an embedded cluster that is killed at random moments. After each round, every acknowledged write must be there, and
 * every other write must be there completely or not at all.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { configMap } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'
import { randomOf } from '../unplugging/faults.ts'
import { KilledCluster } from './killed-cluster.ts'
import { WrittenObject } from './written-objects.ts'

export interface DurabilityResult {
  /** Number of acknowledged writes. */
  readonly writes: number
  /** Number of rounds in which the process was killed while it started. */
  readonly killedStarts: number
  readonly failures: readonly string[]
}

const writers = 8
const objectsOfWriter = 5
/**
 * The percentage of rounds in which the cluster is killed during its start. In these rounds, the cluster is killed at most `longestStartMs`
 * milliseconds after the start of its process.
 */
const killedStartPercent = 20
const longestStartMs = 800
/** Maximum number of writes that are acknowledged before the cluster is killed. */
const mostWrites = 100

/** Runs the rounds in a folder. Stops after a round with failures. */
export async function durabilityRounds(
  directory: string,
  { rounds, seed, progress = () => undefined }: { rounds: number; seed: number; progress?: (round: number) => void },
): Promise<DurabilityResult> {
  const random = randomOf(seed)
  const objects = Array.from({ length: writers * objectsOfWriter }, (_, index) => new WrittenObject(`object-${index}`))
  let [writes, killedStarts] = [0, 0]
  let failures: readonly string[] = []
  for (let round = 1; round <= rounds && failures.length === 0; round += 1) {
    progress(round)
    const cluster = new KilledCluster(directory)
    if (random() * 100 < killedStartPercent) {
      await delay(random() * longestStartMs)
      await cluster.kill()
      killedStarts += 1
      continue
    }
    try {
      const client = await cluster.ready()
      failures = await failuresOf(client, objects)
      if (failures.length === 0) writes += await writeUntilKilled(client, cluster, objects, random)
      await client.close()
    } finally {
      await cluster.kill()
    }
  }
  return { writes, killedStarts, failures }
}

/** Compares `objects` with the ConfigMaps of the restarted cluster. Resolves with a message for each difference. */
async function failuresOf(client: Client, objects: readonly WrittenObject[]): Promise<string[]> {
  const { items, metadata } = await client.list(configMap, { namespace: 'default' })
  const found = new Map(items.map((item) => [item.metadata.name, item]))
  const unknown = items.filter((item) => !objects.some(({ key }) => key.name === item.metadata.name))
  const highest = Math.max(...objects.map(({ revision }) => revision), ...items.map((item) => Number(item.metadata.resourceVersion)))
  return [
    ...objects.map((object) => object.found(found.get(object.key.name))).filter((failure) => failure !== undefined),
    ...unknown.map((item) => `nobody has written ${item.metadata.name}`),
    ...(Number(metadata.resourceVersion) < highest ? [`the resourceVersion ${metadata.resourceVersion} is less than ${highest}`] : []),
  ]
}

let lastValue = 0

/**
 * Runs several writers at the same time, and kills the cluster after a random number of acknowledged writes. The writers stop when the
 * cluster is killed. Returns the number of all acknowledged writes.
 */
async function writeUntilKilled(
  client: Client,
  cluster: KilledCluster,
  objects: readonly WrittenObject[],
  random: () => number,
): Promise<number> {
  const last = Math.floor(random() * mostWrites)
  let writes = 0
  let killed: Promise<void> | undefined
  const writeOwn = async (own: readonly WrittenObject[]): Promise<void> => {
    while (killed === undefined) {
      await own[Math.floor(random() * own.length)]!.write(client, random, (lastValue += 1))
      writes += 1
      if (writes >= last) killed ??= cluster.kill()
    }
  }
  const all = Array.from({ length: writers }, (_, index) => writeOwn(objects.slice(index * objectsOfWriter, (index + 1) * objectsOfWriter)))
  const results = await Promise.allSettled(all)
  // After the cluster is killed, failed writes are expected. If the cluster has not been killed, a failed write is an error.
  const failed = results.find((result) => result.status === 'rejected')
  if (killed === undefined) throw failed?.reason ?? new Error('the writers have stopped')
  await killed
  return writes
}
