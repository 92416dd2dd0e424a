/**
 * `PodHand`: writes the status of Pods in place of the kubelets, because no kubelet runs in either control plane. The Pods of both control
 * planes get the same status. If a `PodSelection` has a `count`, `PodHand` changes only the oldest Pods of the selection, up to this
 * number.
 */
import { core } from '../../../../src/api/kubernetes/core.ts'
import type { JsonObject } from '../../../../src/api/json.ts'
import type { Pod } from '../../../../src/api/builtin.ts'
import { isNotFound } from '../../../../src/client/api-error.ts'
import type { Client } from '../../../../src/client/client.ts'
import { until } from '../../../../src/testing/until.ts'

export interface PodSelection {
  /** The number of Pods whose status is written. Default: all. */
  readonly count?: number
  /** Returns true for the Pods whose status is written. Default: all. */
  readonly where?: (pod: Pod) => boolean
}

/** The exit code of a program that SIGTERM has ended. */
const killed = 143

/** The number of the next Pod address. Addresses are unique in a run. */
let nextAddress = 0

export class PodHand {
  readonly #client: Client
  readonly #namespace: string

  constructor(client: Client, namespace: string) {
    this.#client = client
    this.#namespace = namespace
  }

  /** Starts scheduled Pods, and makes them ready. */
  run(selection: PodSelection = {}): Promise<void> {
    return this.#onEach('is scheduled', isPendingOnNode, selection, (pod) => this.#setReady(pod, true))
  }

  /** Starts scheduled Pods without making them ready. */
  start(selection: PodSelection = {}): Promise<void> {
    return this.#onEach('is scheduled', isPendingOnNode, selection, (pod) => this.#setReady(pod, false))
  }

  /** Makes running Pods ready, or not ready. */
  setReady(isReady: boolean, selection: PodSelection = {}): Promise<void> {
    return this.#onEach('runs', isRunning, selection, (pod) => this.#setReady(pod, isReady))
  }

  /** Ends running Pods. Their containers exit with the code. */
  exit(exitCode: number, selection: PodSelection = {}): Promise<void> {
    return this.#onEach('runs', isRunning, selection, (pod) => this.#setEnded(pod, exitCode))
  }

  /** Stops the containers of Pods that are being deleted. */
  stop(selection: PodSelection = {}): Promise<void> {
    return this.#onEach('is deleted', isDeleted, selection, (pod) => this.#setEnded(pod, killed))
  }

  /** Removes Pods that are being deleted, as kubelets do when the containers have stopped. */
  remove(selection: PodSelection = {}): Promise<void> {
    return this.#onEach('is deleted', isDeleted, selection, async (pod) => {
      if (!hasEnded(pod)) await this.#setEnded(pod, killed)
      await this.#client.delete(core.pod, { namespace: this.#namespace, name: pod.metadata.name }, { gracePeriodSeconds: 0 })
    })
  }

  async #onEach(
    state: string,
    isInState: (pod: Pod) => boolean,
    { count, where = () => true }: PodSelection,
    act: (pod: Pod) => Promise<void>,
  ): Promise<void> {
    const found = await until(`at least ${count ?? 1} Pods of ${this.#namespace}: each ${state}`, async () => {
      const pods = await this.#pods()
      const ready = pods.filter((pod) => isInState(pod) && where(pod))
      // Without a `count`, the selection is complete only when no Pod waits for the scheduler.
      const isComplete = count === undefined ? pods.every((pod) => isDeleted(pod) || isScheduled(pod)) : true
      return isComplete && ready.length >= (count ?? 1) && ready
    })
    for (const pod of found.slice(0, count)) {
      try {
        await act(pod)
      } catch (error) {
        // A controller may have deleted the Pod.
        if (!isNotFound(error)) throw error
      }
    }
  }

  async #pods(): Promise<Pod[]> {
    const { items } = await this.#client.list(core.pod, { namespace: this.#namespace })
    const created = ({ metadata }: Pod): string => `${metadata.creationTimestamp!} ${metadata.name}`
    return items.toSorted((a, b) => (created(a) < created(b) ? -1 : 1))
  }

  async #setReady(pod: Pod, isReady: boolean): Promise<void> {
    const time = now()
    const status = isReady ? 'True' : 'False'
    const condition = (type: string, of: string): object => ({ type, status: of, lastProbeTime: null, lastTransitionTime: time })
    const kept = pod.status?.podIP ?? nextPodIP()
    const running = { running: { startedAt: time } }
    await this.#write(pod, {
      phase: 'Running',
      conditions: [
        condition('PodScheduled', 'True'),
        condition('Initialized', 'True'),
        condition('ContainersReady', status),
        condition('Ready', status),
      ],
      containerStatuses: containersOf(pod, { ready: isReady, started: true, state: running }),
      hostIP: '10.0.0.1',
      podIP: kept,
      podIPs: [{ ip: kept }],
      startTime: pod.status?.startTime ?? time,
    })
  }

  async #setEnded(pod: Pod, exitCode: number): Promise<void> {
    const time = now()
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    const terminated = { terminated: { exitCode, reason, startedAt: time, finishedAt: time } }
    const condition = (type: string, status: string): object => ({ type, status, lastProbeTime: null, lastTransitionTime: time })
    const kept = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready' && type !== 'ContainersReady')
    await this.#write(pod, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      conditions: [...kept, condition('ContainersReady', 'False'), condition('Ready', 'False')],
      containerStatuses: containersOf(pod, { ready: false, started: false, state: terminated }),
    })
  }

  async #write({ metadata }: Pod, status: object): Promise<void> {
    await this.#client.patchStatus(core.pod, { namespace: this.#namespace, name: metadata.name }, { status } as never)
  }
}

function isDeleted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Returns true when the scheduler has no more work for the Pod: the Pod has a node, or no node fits. */
function isScheduled({ spec, status }: Pod): boolean {
  return (spec?.nodeName ?? '') !== '' || (status?.conditions ?? []).some(({ type }) => type === 'PodScheduled')
}

function isPendingOnNode(pod: Pod): boolean {
  return !isDeleted(pod) && (pod.spec?.nodeName ?? '') !== '' && (pod.status?.phase ?? 'Pending') === 'Pending'
}

function isRunning(pod: Pod): boolean {
  return !isDeleted(pod) && pod.status?.phase === 'Running'
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function containersOf({ spec }: Pod, state: object): JsonObject[] {
  const containers = spec?.containers ?? []
  return containers.map(({ name, image }) => ({ name, image: image ?? '', imageID: '', restartCount: 0, ...state }))
}

function nextPodIP(): string {
  nextAddress += 1
  return `10.244.${nextAddress >> 8}.${nextAddress & 0xff}`
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+/, '')
}
