/** Watches the objects in a control plane, and records all their states. */
import { isObject } from '../../../../src/api/json.ts'
import type { JsonObject } from '../../../../src/api/json.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import { autoscaling } from '../../../../src/api/kubernetes/autoscaling.ts'
import { batch } from '../../../../src/api/kubernetes/batch.ts'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { discovery } from '../../../../src/api/kubernetes/discovery.ts'
import { policy } from '../../../../src/api/kubernetes/policy.ts'
import type { Client } from '../../../../src/client/client.ts'
import { valueAt } from '../path.ts'

/** The types whose objects are compared. */
const recordedTypes = [
  apps.deployment,
  apps.replicaSet,
  apps.statefulSet,
  apps.daemonSet,
  apps.controllerRevision,
  batch.job,
  batch.cronJob,
  core.pod,
  core.replicationController,
  core.persistentVolumeClaim,
  core.persistentVolume,
  core.service,
  core.endpoints,
  core.event,
  discovery.endpointSlice,
  policy.podDisruptionBudget,
  autoscaling.horizontalPodAutoscaler,
] as const

/** All states of one object, oldest first. */
export interface ObjectHistory {
  readonly kind: string
  readonly states: readonly JsonObject[]
  readonly isDeleted: boolean
}

interface GrowingHistory extends ObjectHistory {
  readonly states: JsonObject[]
  isDeleted: boolean
}

export class Recorder {
  /** The histories by namespace and uid. */
  readonly #histories = new Map<string, Map<string, GrowingHistory>>()
  readonly #lastChange = new Map<string, number>()
  readonly #stop = new AbortController()
  readonly #watches: Promise<void>[] = []

  /** Resolves when all watches are open. */
  static async start(client: Client): Promise<Recorder> {
    const recorder = new Recorder()
    await Promise.all(recordedTypes.map((type) => recorder.#watch(client, type)))
    return recorder
  }

  /** Returns the histories of the objects in the namespace, in the order of their creation. */
  historiesOf(namespace: string): readonly ObjectHistory[] {
    return [...(this.#histories.get(namespace)?.values() ?? [])]
  }

  /** Returns the time of the last change in the namespace, in milliseconds since 1970. */
  lastChangeOf(namespace: string): number {
    return this.#lastChange.get(namespace) ?? 0
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#watches)
  }

  #watch(client: Client, type: (typeof recordedTypes)[number]): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#stop
      const read = async (): Promise<void> => {
        for await (const { type: change, object } of client.watch(type, { signal, onOpen: resolve }))
          this.#record(type.kind, change, JSON.parse(JSON.stringify(object)) as JsonObject)
        if (!signal.aborted) throw new Error(`the watch of ${type.kind} has ended`)
      }
      const reading = read()
      reading.catch(reject)
      this.#watches.push(reading)
    })
  }

  #record(kind: string, change: string, object: JsonObject): void {
    if (change === 'BOOKMARK' || !isObject(object.metadata)) return
    const namespace = String(object.metadata.namespace ?? valueAt(object, 'spec.claimRef.namespace') ?? '')
    const histories = this.#histories.get(namespace) ?? new Map<string, GrowingHistory>()
    this.#histories.set(namespace, histories)
    const uid = String(object.metadata.uid)
    const history = histories.get(uid) ?? { kind, states: [], isDeleted: false }
    histories.set(uid, history)
    history.states.push({ kind, ...object })
    history.isDeleted = change === 'DELETED'
    this.#lastChange.set(namespace, Date.now())
  }
}
