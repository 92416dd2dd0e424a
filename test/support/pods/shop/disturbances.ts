/**
 * `Disturbances`: disturbs the shop at random. Workloads are updated and scaled, Pods are deleted and evicted, and processes are killed.
 * The killed processes include those of Proreus that serve the network of the cluster.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { pod as podType } from '../../../../src/api/builtin.ts'
import type { ObjectKey } from '../../../../src/api/object.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import { isNotFound } from '../../../../src/client/api-error.ts'
import type { Client } from '../../../../src/client/client.ts'
import type { Dice } from '../../dice.ts'
import { machineState } from '../machine/machine-state.ts'
import { isOfShop, namespace, storeKey, versionEnv, webKey } from './shop-objects.ts'

/** The shortest and the longest pause between two disturbances, in milliseconds. */
const [shortestPauseMs, longestPauseMs] = [200, 1_500]
/** The largest numbers of replicas to which the workloads are scaled. */
const most = { web: 4, store: 2 } as const

/** Matches the scripts of the network agent, which serves the network of the cluster, and of the connector, which connects to Pods. */
const helper = /\/(?:network-agent-process|connector-process)\.ts$/

const actions = ['roll', 'scaleWeb', 'scaleStore', 'delete', 'deleteAtOnce', 'evict', 'killProcess', 'killHelper'] as const

export class Disturbances {
  /** The latest version in the Pod template of the web servers. */
  version = 0
  /** The number of disturbances of each kind so far, keyed by the name of the kind, such as `evict`. */
  readonly counts = new Map<string, number>()
  readonly #client: Client
  readonly #dice: Dice
  /**
   * The names of the Pods in which a process was killed. No second process of such a Pod is killed, because the restart back-off would be
   * long.
   */
  readonly #killed = new Set<string>()

  constructor(client: Client, dice: Dice) {
    this.#client = client
    this.#dice = dice
  }

  async run(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds
    while (performance.now() < end) {
      const action = this.#dice.pick(actions)
      this.counts.set(action, (this.counts.get(action) ?? 0) + 1)
      await this.#disturb(action)
      await delay(shortestPauseMs + this.#dice.next() * (longestPauseMs - shortestPauseMs))
    }
  }

  async #disturb(action: (typeof actions)[number]): Promise<unknown> {
    const client = this.#client
    switch (action) {
      case 'roll': {
        this.version += 1
        const path = '/spec/template/spec/containers/0/env'
        return client.patch(apps.deployment, webKey, [{ op: 'replace', path, value: versionEnv(this.version) }], { type: 'json' })
      }
      case 'scaleWeb':
        return client.patch(apps.deployment, webKey, { spec: { replicas: 1 + this.#dice.upTo(most.web - 1) } })
      case 'scaleStore':
        return client.patch(apps.statefulSet, storeKey, { spec: { replicas: 1 + this.#dice.upTo(most.store - 1) } })
      case 'delete':
        return this.#withPod((key) => client.delete(podType, key))
      case 'deleteAtOnce':
        return this.#withPod((key) => client.delete(podType, key, { gracePeriodSeconds: 0 }))
      case 'evict':
        return this.#withPod((key) =>
          client.raw(`/api/v1/namespaces/${key.namespace}/pods/${key.name}/eviction`, {
            method: 'POST',
            contentType: 'application/json',
            body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key },
          }),
        )
      case 'killProcess':
        return this.#killProcess()
      case 'killHelper':
        return this.#kill(machineState().processes.filter(({ command }) => helper.test(command)))
    }
  }

  async #withPod(act: (key: ObjectKey) => Promise<unknown>): Promise<void> {
    const { items } = await this.#client.list(podType, { namespace })
    if (items.length === 0) return
    const { name } = this.#dice.pick(items).metadata
    await act({ namespace, name }).catch((error: unknown) => {
      // If the Pod is already deleted, the error is ignored.
      if (!isNotFound(error)) throw error
    })
  }

  #killProcess(): void {
    const candidates = machineState()
      .processes.filter(({ command }) => isOfShop(command))
      .map(({ pid }) => ({ pid, pod: podOf(pid) }))
      .filter(({ pod }) => pod !== undefined && !this.#killed.has(pod))
    const killed = this.#kill(candidates)
    if (killed?.pod !== undefined) this.#killed.add(killed.pod)
  }

  /** Kills one of the candidates, chosen at random, and returns this candidate. Returns undefined for an empty list. */
  #kill<T extends { readonly pid: number }>(candidates: readonly T[]): T | undefined {
    if (candidates.length === 0) return undefined
    const one = this.#dice.pick(candidates)
    try {
      process.kill(one.pid, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
    return one
  }
}

/** Returns the name of the Pod in which a process runs. The variable HOSTNAME of the process contains this name. */
function podOf(pid: number): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return variables.find((text) => text.startsWith('HOSTNAME='))?.slice('HOSTNAME='.length)
  } catch {
    return undefined
  }
}
