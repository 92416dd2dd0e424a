/** A simulated Pod whose status a test reads second by second. */
import type { ReadonlyPod } from '../../../src/devcluster/controllers/api-types.ts'
import { EvictionPace } from '../../../src/devcluster/controllers/kubelet/eviction-pace.ts'
import { podStatus } from '../../../src/devcluster/controllers/kubelet/pod-status.ts'
import { PodWorker } from '../../../src/devcluster/controllers/kubelet/pod-worker.ts'
import { simulatedRuntime } from '../../../src/devcluster/controllers/kubelet/simulated/simulated-runtime.ts'
import type { SimulationOptions } from '../../../src/devcluster/controllers/kubelet/simulated/simulation.ts'
import type { EventRecorder } from '../../../src/telemetry/event-recorder.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const place = { hostIP: '10.0.0.1', podIP: '10.244.0.2' }

interface ContainerJson {
  readonly name: string
  readonly ready: boolean
  readonly started: boolean
  readonly restartCount: number
  readonly state: Readonly<Record<string, { readonly reason?: string; readonly exitCode?: number; readonly message?: string } | undefined>>
  readonly lastState: { readonly terminated?: { readonly reason: string; readonly exitCode: number } }
}
export interface StatusJson {
  readonly phase: string
  readonly reason?: string
  readonly message?: string
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[]
  readonly containerStatuses: readonly ContainerJson[]
  readonly initContainerStatuses: readonly ContainerJson[]
  readonly ephemeralContainerStatuses?: readonly ContainerJson[]
}

const noEvents: EventRecorder = { event: () => undefined }

/** A Pod on a node. All times are in seconds since the start of the Pod. */
export class SimulatedPodWorld {
  pod: ReadonlyPod
  readonly events: string[] = []
  readonly images = new Set<string>()
  evictions = new EvictionPace()
  readonly #options: SimulationOptions
  #worker: PodWorker

  constructor(spec: object, annotations: Record<string, string> = {}, options: SimulationOptions = {}, metadata: object = {}) {
    this.#options = options
    const own = { name: 'web', namespace: 'ns', uid: 'u', generation: 1, annotations, ...metadata }
    const containers = [{ name: 'main', image: 'x:1' }]
    this.pod = { metadata: own, spec: { restartPolicy: 'Always', containers, ...spec }, status: {} } as unknown as ReadonlyPod
    this.#worker = this.restart(0)
  }

  /**
   * Replaces the worker of the Pod, as a restart of the cluster does. `second` is the time of the restart, in seconds since the start of
   * the Pod.
   */
  restart(second: number): PodWorker {
    const now = start + second * 1000
    this.#worker = new PodWorker(this.pod, simulatedRuntime({ simulation: this.#options }), {
      machine: { images: this.images, evictions: this.evictions, events: noEvents },
      allocatable: {},
      podIP: place.podIP,
      now,
      wake: () => undefined,
    })
    return this.#worker
  }

  change(fields: { metadata?: object; spec?: object }): void {
    const { metadata, spec, status } = this.pod
    this.pod = { metadata: { ...metadata, ...fields.metadata }, spec: { ...spec, ...fields.spec }, status } as unknown as ReadonlyPod
  }

  at(second: number): StatusJson {
    const events = this.#worker.advance(this.pod, start + second * 1000)
    this.events.push(...events.map(({ type, reason, message, fieldPath }) => `${type} ${reason} ${fieldPath ?? ''}: ${message}`))
    const status = podStatus(this.#worker, this.pod, place) as StatusJson
    this.pod = { ...this.pod, status } as unknown as ReadonlyPod
    return status
  }

  /** Returns the phase of the Pod, and the state and the number of restarts of each container. */
  summary(second: number): string {
    const { phase, reason = '', initContainerStatuses, containerStatuses } = this.at(second)
    const parts = [...initContainerStatuses, ...containerStatuses].map(({ name, state, ready, restartCount }) => {
      const [[kind, details] = ['none']] = Object.entries(state)
      return `${name}=${details?.reason ?? kind}${ready ? '+' : ''}${restartCount > 0 ? `/${restartCount}` : ''}`
    })
    return [`${phase}${reason}`, ...parts].join(' ')
  }

  get nextSecond(): number {
    return (this.#worker.due - start) / 1000
  }
}

export function summaries(world: SimulatedPodWorld, ...seconds: number[]): string[] {
  return seconds.map((second) => `${second} ${world.summary(second)}`)
}

export const conditionsOf = ({ conditions }: StatusJson): string[] =>
  conditions.map(({ type, status, reason, message }) =>
    [`${type}=${status}`, reason, message].filter((part) => part !== undefined).join(' '),
  )
