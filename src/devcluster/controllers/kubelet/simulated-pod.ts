/** `SimulatedPod`: the containers of one Pod on its node, from the start of the first init container to the end of the last container. */
import type { ReadonlyPod } from '../scheduler/place-pod.ts'
import { isSidecar, restartsAfterProbe, restartsContainer } from './restart-policy.ts'
import type { ContainerState, Ended } from './container-state.ts'
import type { ContainerEvent, ContainerHost, ContainerSpec } from './simulated-container.ts'
import { SimulatedContainer } from './simulated-container.ts'
import type { ContainerRole, PodPlan } from './simulation.ts'

type ContainerStatus = NonNullable<NonNullable<ReadonlyPod['status']>['containerStatuses']>[number]

/** An Event about a Pod, or about the container that `fieldPath` names. */
export interface PodEvent extends ContainerEvent {
  readonly fieldPath?: string
}

/** The reason for which the kubelet has ended a Pod. Empty when the containers ended by themselves, and when the Pod was deleted. */
export interface PodEnd {
  readonly reason?: string
  readonly message?: string
}

const evicted = { reason: 'Evicted', message: 'The node was low on resource: memory. ' }
const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}
/** The exit codes of containers that are stopped by SIGTERM and by SIGKILL. */
const [terminated, killed] = [143, 137]
/** The default of the API (k8s.io/api/core/v1: DefaultTerminationGracePeriodSeconds). */
const defaultGraceSeconds = 30

export interface SimulatedPodOptions {
  /** The images on the node, to which pulls add. */
  readonly images: Set<string>
  readonly podIP: string
  readonly now: number
}

export class SimulatedPod {
  readonly uid: string
  readonly init: readonly SimulatedContainer[]
  readonly regular: readonly SimulatedContainer[]
  ephemeral: readonly SimulatedContainer[] = []
  /** Set when all containers have stopped for good. */
  end: PodEnd | undefined
  /** The time of the latest step. */
  changedAt: number
  /** True while the status of the Pod has to be written. */
  isChanged = true
  readonly startedAt: number
  #pod: ReadonlyPod
  #plan: PodPlan
  #plannedAt: number
  /** The time at which all containers of a terminating Pod stop. Undefined while the Pod is not being deleted. */
  #stopAt: number | undefined
  #events: PodEvent[] = []
  readonly #host: ContainerHost

  constructor(pod: ReadonlyPod, plan: PodPlan, { images, podIP, now }: SimulatedPodOptions) {
    const { spec, status, metadata } = pod
    this.uid = metadata.uid
    this.#pod = pod
    this.#plan = plan
    this.#plannedAt = now
    this.changedAt = now
    this.startedAt = timeOf(status?.startTime) ?? now
    this.#host = {
      pod: `${metadata.name}_${metadata.namespace}(${metadata.uid})`,
      images,
      podIP,
      graceSeconds: spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds,
      restarts: (container, exitCode) => this.#mayRestart && restartsContainer(container, this.#pod, exitCode),
      restartsAfterProbe: (container) => this.#mayRestart && restartsAfterProbe(container, this.#pod),
      record: (container, event) => this.#events.push({ ...event, fieldPath: this.#fieldPath(container.name) }),
    }
    const waiting = { kind: 'waiting', reason: (spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' } as const
    const make = (container: ContainerSpec, known: ContainerStatus | undefined): SimulatedContainer => {
      const role = roleOf(container, this.#pod)
      const state = known === undefined ? waiting : (stateOf(known.state, now) ?? waiting)
      const made = new SimulatedContainer(container, { plan: plan.of(container.name, role), state, now, host: this.#host })
      const { restartCount = 0, started, ready } = known ?? {}
      made.resume({ restartCount, isStarted: started === true, isReady: ready === true, last: endedOf(known?.lastState?.terminated) }, now)
      return made
    }
    const of = (list: readonly ContainerStatus[] | undefined, name: string): ContainerStatus | undefined =>
      list?.find((one) => one.name === name)
    this.init = (spec?.initContainers ?? []).map((one) => make(one, of(status?.initContainerStatuses, one.name)))
    this.regular = (spec?.containers ?? []).map((one) => make(one, of(status?.containerStatuses, one.name)))
    // An ephemeral container that has run is never started again. The others begin with the first `advance`.
    this.ephemeral = (spec?.ephemeralContainers ?? []).flatMap((one) => {
      const known = of(status?.ephemeralContainerStatuses, one.name)
      return stateOf(known?.state, now) === undefined ? [] : [make(one, known)]
    })
    this.isChanged = status?.phase !== 'Running'
  }

  get isDeleted(): boolean {
    return this.#stopAt !== undefined
  }

  /** True when all init containers have succeeded and all sidecars have started. */
  get isInitialized(): boolean {
    return this.init.every((container) => (isSidecar(container.spec) ? container.isStarted : succeeded(container.state)))
  }

  /** The time of the next step of the Pod or of a container. Infinity when no step is planned. */
  get due(): number {
    if (this.end !== undefined) return Number.POSITIVE_INFINITY
    return Math.min(this.#stopAt ?? Number.POSITIVE_INFINITY, this.#evictionDue, this.#deadline, ...this.#acting.map((one) => one.due))
  }

  /**
   * Applies a change of the Pod. Then takes all steps that are due by `now`, each at the time at which it is due. Returns the Events since
   * the previous call.
   */
  advance(pod: ReadonlyPod, plan: PodPlan, now: number): readonly PodEvent[] {
    this.#update(pod, plan, now)
    if (this.end === undefined) this.#proceed(this.changedAt)
    for (let at = this.due; at <= now; at = this.due) this.#step(at)
    return this.#events.splice(0)
  }

  get #all(): readonly SimulatedContainer[] {
    return [...this.init, ...this.regular, ...this.ephemeral]
  }

  /** The containers that take steps. A Pod that is being deleted starts no container. */
  get #acting(): readonly SimulatedContainer[] {
    return this.#stopAt === undefined ? this.#all : this.#all.filter((one) => one.isRunning)
  }

  get #mayRestart(): boolean {
    return this.end === undefined && this.#stopAt === undefined
  }

  #update(pod: ReadonlyPod, plan: PodPlan, now: number): void {
    const { spec, metadata } = pod
    this.#pod = pod
    this.#plannedAt = plan.evictMs === this.#plan.evictMs ? this.#plannedAt : now
    this.#plan = plan
    if (this.end !== undefined) return
    for (const container of this.#all) container.replan(plan.of(container.spec.name, roleOf(container.spec, pod)), now)
    for (const current of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
      const container = this.#all.find((one) => one.spec.name === current.name)
      if (container === undefined || container.spec.image === current.image) continue
      this.#touch(now)
      container.respec(current, now)
    }
    this.#addEphemeral(spec?.ephemeralContainers ?? [], now)
    if (metadata.deletionTimestamp === undefined || this.#stopAt !== undefined) return
    const running = this.#all.filter((one) => one.isRunning)
    for (const { spec: stopped } of running)
      this.#host.record(stopped, { type: 'Normal', reason: 'Killing', message: `Stopping container ${stopped.name}` })
    for (const container of running) container.terminate()
    const longest = Math.max(0, ...running.map((one) => one.plan.stopMs))
    this.#stopAt = now + Math.min(longest, (metadata.deletionGracePeriodSeconds ?? 0) * 1000)
  }

  #addEphemeral(specs: readonly ContainerSpec[], now: number): void {
    for (const spec of specs) {
      if (this.ephemeral.some((one) => one.spec.name === spec.name)) continue
      const state = { kind: 'waiting', reason: 'ContainerCreating' } as const
      const container = new SimulatedContainer(spec, { plan: this.#plan.of(spec.name, 'ephemeral'), state, now, host: this.#host })
      this.ephemeral = [...this.ephemeral, container]
      container.begin(now)
      this.#touch(now)
    }
  }

  #touch(at: number): void {
    this.changedAt = at
    this.isChanged = true
  }

  #step(at: number): void {
    this.#touch(at)
    if ((this.#stopAt ?? Number.POSITIVE_INFINITY) <= at) return this.#stop(at, {}, terminated)
    if (this.#deadline <= at) return this.#endBy(deadlineExceeded, 'Normal', at)
    if (this.#evictionDue <= at) return this.#endBy(evicted, 'Warning', at)
    for (const container of this.#acting) if (container.due <= at) container.step(at)
    this.#proceed(at)
  }

  /**
   * Begins the init containers one after the other, then all regular containers. Ends the Pod when an init container has failed for good,
   * or when all regular containers have ended for good.
   */
  #proceed(at: number): void {
    if (this.#stopAt !== undefined) return
    for (const container of this.init) {
      if (!container.hasBegun) {
        this.#touch(at)
        container.begin(at)
      }
      if (isSidecar(container.spec) ? container.isStarted : succeeded(container.state)) continue
      if (container.isDone && !isSidecar(container.spec)) this.#stop(at, {}, terminated)
      // The containers after an unfinished init container wait. After the start of a regular container, only a sidecar that restarts can be
      // unfinished, and no container waits for it.
      if (!this.regular.some((one) => one.hasBegun)) return
    }
    for (const container of this.regular) {
      if (container.hasBegun) continue
      this.#touch(at)
      container.begin(at)
    }
    if (this.regular.every((one) => one.isDone)) this.#stop(at, {}, 0)
  }

  get #evictionDue(): number {
    const { evictMs } = this.#plan
    return evictMs === undefined ? Number.POSITIVE_INFINITY : Math.max(this.startedAt + evictMs, this.#plannedAt)
  }

  get #deadline(): number {
    const seconds = this.#pod.spec?.activeDeadlineSeconds
    return seconds === undefined ? Number.POSITIVE_INFINITY : this.startedAt + seconds * 1000
  }

  #endBy(end: Required<PodEnd>, type: 'Normal' | 'Warning', at: number): void {
    this.#events.push({ type, ...end })
    for (const { isRunning, spec } of this.#all)
      if (isRunning) this.#host.record(spec, { type: 'Normal', reason: 'Killing', message: `Stopping container ${spec.name}` })
    this.#stop(at, end, killed)
  }

  /** Stops all containers for good (k8s.io/kubernetes/pkg/kubelet/status: manager.TerminatePod). */
  #stop(at: number, end: PodEnd, exitCode: number): void {
    const isInitialized = this.isInitialized
    this.end = end
    for (const container of this.#all) container.stop(at, { exitCode })
    if (isInitialized) for (const container of this.regular) if (container.state.kind === 'waiting') container.markUnknown()
    this.#stopAt = this.#stopAt === undefined ? undefined : at
  }

  #fieldPath(name: string): string {
    const { containers = [], initContainers = [] } = this.#pod.spec ?? {}
    const isIn = (list: readonly ContainerSpec[]): boolean => list.some((one) => one.name === name)
    const field = isIn(containers) ? 'containers' : isIn(initContainers) ? 'initContainers' : 'ephemeralContainers'
    return `spec.${field}{${name}}`
  }
}

export function succeeded(state: ContainerState): boolean {
  return state.kind === 'terminated' && state.exitCode === 0
}

function roleOf(container: ContainerSpec, { spec }: ReadonlyPod): ContainerRole {
  if ((spec?.initContainers ?? []).some(({ name }) => name === container.name)) return isSidecar(container) ? 'sidecar' : 'init'
  return (spec?.containers ?? []).some(({ name }) => name === container.name) ? 'regular' : 'ephemeral'
}

/** Parses a time in the status, to milliseconds. Returns undefined when the field is absent or not a valid time. */
function timeOf(text: unknown): number | undefined {
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

function stateOf(state: ContainerStatus['state'], now: number): ContainerState | undefined {
  if (state?.running !== undefined) return { kind: 'running', startedAt: timeOf(state.running.startedAt) ?? now }
  const ended = endedOf(state?.terminated)
  return ended === undefined ? undefined : { kind: 'terminated', ...ended }
}

function endedOf(ended: NonNullable<ContainerStatus['state']>['terminated']): Ended | undefined {
  if (ended === undefined) return undefined
  const { exitCode, reason = '', startedAt, finishedAt } = ended
  const [from, to] = [timeOf(startedAt), timeOf(finishedAt)]
  return { exitCode, reason, ...(from !== undefined && { startedAt: from }), ...(to !== undefined && { finishedAt: to }) }
}
