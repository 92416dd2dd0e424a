/**
 * `runShop`: runs the shop in `proreus dev --pods=process`, and disturbs it during several periods. After each period, the shop must
 * converge:
 *
 * - All replicas are ready.
 * - The Service responds with the latest version.
 * - The files of the PersistentVolumeClaims contain all acknowledged orders.
 * - No process, file or other resource has leaked.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import { batch } from '../../../../src/api/kubernetes/batch.ts'
import { core } from '../../../../src/api/kubernetes/core.ts'
import type { Client } from '../../../../src/client/client.ts'
import { Dice } from '../../dice.ts'
import { DevProcess } from '../dev-process.ts'
import { leftOver, machineState } from '../machine/machine-state.ts'
import { untilEmpty } from '../until-empty.ts'
import { Disturbances } from './disturbances.ts'
import type { ShopCounts } from './shop-counts.ts'
import { countDifferences, shopCounts } from './shop-counts.ts'
import { createBuyer, createShop, namespace, replicas, storeKey, webKey } from './shop-objects.ts'

export interface ShopResult {
  readonly periods: number
  /** The number of acknowledged orders. */
  readonly orders: number
  /** The number of disturbances of each kind, keyed by the name of the kind, such as `evict`. */
  readonly disturbances: Readonly<Record<string, number>>
  readonly failures: readonly string[]
}

export interface ShopOptions {
  /** The total duration of the disturbances in seconds, without the time that the shop needs to converge. */
  readonly seconds: number
  readonly seed: number
  readonly stateFolder: string
  /** Called at the beginning of each period. */
  onPeriod(period: number): void
}

/** The maximum length in seconds of one period of disturbances. */
const periodSeconds = 10
/**
 * Time limit in milliseconds for convergence. The back-off of a container takes at most 10 seconds. The back-off of a Job takes 10 seconds
 * after the first failed Pod, and doubles with each further failed Pod.
 */
const convergedMs = 90_000
const goneMs = 15_000
/** The delay in milliseconds before the next buyer is created, and the number of orders of each buyer. */
const [buyerMs, ordersOfBuyer] = [1_500, 3]

/** The warning that `proreus dev` logs after the disturbance `killHelper`. */
const expectedComplaint = /the agent of the network of the cluster has ended and is started again/

/**
 * Runs the shop on this machine. Nothing else may run on the machine at the same time. The shop is checked after each period of
 * disturbances. If a check fails, no further period begins, and the result contains the failures.
 */
export async function runShop(options: ShopOptions): Promise<ShopResult> {
  const before = machineState()
  const dev = new DevProcess(options.stateFolder)
  const { client } = await dev.ready()
  const result = await new Shop(dev, client, options).run()
  await client.close()
  const code = await dev.stop()
  const left = await untilEmpty(() => leftOver(before, machineState()), goneMs)
  const failures = [
    ...result.failures,
    ...dev.complaints.filter((line) => !expectedComplaint.test(line)).map((line) => `logged: ${line}`),
    ...(code === 0 ? [] : [`proreus dev has ended with ${code}: ${dev.output}`]),
    ...left.map((line) => `left after the end: ${line}`),
  ]
  return { ...result, failures }
}

class Shop {
  readonly #dev: DevProcess
  readonly #client: Client
  readonly #options: ShopOptions
  readonly #disturbances: Disturbances
  readonly #acknowledged = new Set<string>()
  #buyers = 0

  constructor(dev: DevProcess, client: Client, options: ShopOptions) {
    this.#dev = dev
    this.#client = client
    this.#options = options
    this.#disturbances = new Disturbances(client, new Dice(options.seed))
  }

  async run(): Promise<ShopResult> {
    const { seconds, onPeriod } = this.#options
    await createShop(this.#client)
    let failures = await this.#settle()
    const counts = failures.length === 0 ? shopCounts(this.#dev) : {}
    const periods = Math.ceil(seconds / periodSeconds)
    let period = 0
    for (; period < periods && failures.length === 0; period += 1) {
      onPeriod(period + 1)
      await this.#disturb((seconds * 1000) / periods)
      failures = await this.#settle(counts)
    }
    const disturbances = Object.fromEntries(this.#disturbances.counts)
    return { periods: period, orders: this.#acknowledged.size, disturbances, failures }
  }

  /** Disturbs the shop, and creates buyers at the same time. */
  async #disturb(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds
    const buying = async (): Promise<void> => {
      while (performance.now() < end) {
        await this.#createBuyer(ordersOfBuyer)
        await delay(buyerMs)
      }
    }
    await Promise.all([this.#disturbances.run(milliseconds), buying()])
  }

  async #createBuyer(orders: number): Promise<void> {
    this.#buyers += 1
    await createBuyer(this.#client, `buyer-${this.#buyers}`, orders)
  }

  /**
   * Scales the Deployment and the StatefulSet to their usual replicas, and waits until the shop has converged. Then checks the orders, and
   * searches for leaks. Each wait has a time limit. Returns the failures.
   */
  async #settle(counts?: ShopCounts): Promise<readonly string[]> {
    const client = this.#client
    await client.patch(apps.deployment, webKey, { spec: { replicas: replicas.web } })
    await client.patch(apps.statefulSet, storeKey, { spec: { replicas: replicas.store } })
    const failures = await untilEmpty(() => this.#notConverged(), convergedMs)
    if (failures.length > 0) return failures
    await this.#createBuyer(2 * ordersOfBuyer)
    const late = await untilEmpty(() => this.#unfinishedBuyers(), convergedMs)
    if (late.length > 0) return late
    const problems = [...(await this.#closeAccounts()), ...(await this.#lostOrders())]
    if (problems.length > 0) return problems
    return untilEmpty(() => this.#leaks(counts), goneMs)
  }

  async #notConverged(): Promise<readonly string[]> {
    const client = this.#client
    const [deployment, statefulSet, pods] = await Promise.all([
      client.get(apps.deployment, webKey),
      client.get(apps.statefulSet, storeKey),
      client.list(podType, { namespace }),
    ])
    const { status = {} } = deployment
    const isRolled =
      status.observedGeneration === deployment.metadata.generation &&
      [status.replicas, status.updatedReplicas, status.readyReplicas].every((count) => count === replicas.web)
    const { status: stores } = statefulSet
    const hasStores = [stores?.replicas, stores?.readyReplicas].every((count) => count === replicas.store)
    return [
      ...(isRolled ? [] : [`the Deployment has the status ${JSON.stringify(status)}`]),
      ...(hasStores ? [] : [`the StatefulSet has the status ${JSON.stringify(stores)}`]),
      ...pods.items.flatMap(({ metadata: { name, deletionTimestamp }, status: found }) => {
        if (deletionTimestamp !== undefined)
          return [`the Pod ${name} is still being deleted: ${deletionTimestamp} ${JSON.stringify(found)}`]
        const waiting = found?.containerStatuses?.filter(({ state }) => state?.waiting !== undefined) ?? []
        return waiting.map((container) => `the Pod ${name} waits: ${JSON.stringify(container)}`)
      }),
      ...(await this.#unfinishedBuyers()),
    ]
  }

  async #unfinishedBuyers(): Promise<readonly string[]> {
    const { items } = await this.#client.list(batch.job, { namespace })
    return items
      .filter(({ status }) => status?.succeeded !== 1)
      .map(({ metadata, status }) => `the Job ${metadata.name} has the status ${JSON.stringify(status)}`)
  }

  /**
   * Reads the acknowledged orders from the logs of all buyers, and deletes the Jobs of the buyers. Returns a failure in these cases:
   *
   * - The last buyer has no acknowledged order.
   * - An order of the last buyer was acknowledged by a web server that does not have the latest version.
   */
  async #closeAccounts(): Promise<readonly string[]> {
    const client = this.#client
    const { items } = await client.list(podType, {
      namespace,
      labelSelector: { matchExpressions: [{ key: 'job-name', operator: 'Exists' }] },
    })
    const versions = new Set<string | undefined>()
    for (const { metadata } of items) {
      const { name } = metadata
      for await (const line of client.logs({ namespace, name })) {
        const [word, id, version] = line.split(' ')
        if (word !== 'acknowledged' || id === undefined) continue
        this.#acknowledged.add(id)
        if (id.startsWith(`buyer-${this.#buyers}-`)) versions.add(version)
      }
    }
    await client.deleteCollection(batch.job, { namespace, propagationPolicy: 'Background' })
    const expected = `v${this.#disturbances.version}`
    return versions.size === 1 && versions.has(expected) ? [] : [`the versions ${[...versions].join(', ')} have answered, not ${expected}`]
  }

  /**
   * Compares the current numbers of Pods, folders, processes and other resources with the expected numbers. Returns one line for each
   * difference that `countDifferences` reports. The expected numbers are:
   *
   * - Pods: the sum of the replicas of the Deployment and the replicas of the StatefulSet.
   * - Folders in `pods`, and folders in `logs`: the number of existing Pods.
   * - Folders in `persistent-volumes`: the number of existing PersistentVolumeClaims.
   * - All other resources: the numbers in `before`. If `before` is absent, these resources are not compared.
   *
   * @param before the numbers before the disturbances
   */
  async #leaks(before?: ShopCounts): Promise<readonly string[]> {
    const pods = await this.#client.list(podType, { namespace })
    const claims = await this.#client.list(core.persistentVolumeClaim, { namespace })
    const now = shopCounts(this.#dev)
    const expected = {
      pods: replicas.web + replicas.store,
      'folders in pods': pods.items.length,
      'folders in logs': pods.items.length,
      'folders in persistent-volumes': claims.items.length,
    }
    return countDifferences({ ...(before ?? now), ...expected }, { ...now, pods: pods.items.length })
  }

  async #lostOrders(): Promise<readonly string[]> {
    const claims = await this.#client.list(core.persistentVolumeClaim, { namespace })
    const stored = new Set(
      claims.items.flatMap(({ spec }) =>
        readFileSync(join(this.#dev.podsFolder, 'persistent-volumes', spec?.volumeName ?? '', 'orders'), 'utf8').split('\n'),
      ),
    )
    return [...this.#acknowledged].filter((id) => !stored.has(id)).map((id) => `the order ${id} was acknowledged, and is in no claim`)
  }
}
