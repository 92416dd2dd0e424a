/** `PodWorker`: runs the containers of one Pod, from the start of the first init container to the end of the last container. */
import type { ReadonlyPod } from '../api-types.ts'
import { Container } from './container.ts'
import type { ContainerHost } from './container.ts'
import type { ContainerRuntime, ContainerSpec, PodRuntime, PodRuntimeOptions, RuntimeEvent } from './container-runtime.ts'
import type { ContainerState, Ended } from './container-state.ts'
import { isSidecar, restartsAfterProbe, restartsContainer } from './restart-policy.ts'

type ContainerStatus = NonNullable<NonNullable<ReadonlyPod['status']>['containerStatuses']>[number]

/** An Event about a Pod, or about the container that `fieldPath` names. */
export interface PodEvent extends RuntimeEvent {
  readonly fieldPath?: string
}

/** The reason why the kubelet has ended a Pod. The object is empty if the containers ended by themselves, or if the Pod was deleted. */
export interface PodEnd {
  readonly reason?: string
  readonly message?: string
}

const evicted = { reason: 'Evicted', message: 'The node was low on resource: memory. ' }
const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}
/** The default grace period of a Pod (k8s.io/api/core/v1: DefaultTerminationGracePeriodSeconds). */
const defaultGraceSeconds = 30

/** The state of a Pod whose containers are being stopped for good. */
interface Stopping {
  readonly end: PodEnd
  /** True if all init containers had succeeded and all sidecars had started when the kubelet began to stop the containers. */
  readonly wasInitialized: boolean
  /** The time at which the containers that still run are killed. */
  killAt: number
}

export class PodWorker {
  readonly uid: string
  /** The scheme of the container ids, e.g. `simulated`. */
  readonly scheme: string
  readonly init: readonly Container[]
  readonly regular: readonly Container[]
  ephemeral: readonly Container[] = []
  /** Set when all containers have stopped for good. */
  end: PodEnd | undefined
  /** The time of the latest step. */
  changedAt: number
  /** True while the status of the Pod has to be written. */
  isChanged = true
  readonly startedAt: number
  #pod: ReadonlyPod
  /** Set while the containers stop for good. */
  #stopping: Stopping | undefined
  /** True when the network and the volumes of the Pod exist. Until then, the kubelet starts no container. */
  #isReady = false
  #wasReady = false
  /** The time at which `#isReady` last became true; 0 before the first time. */
  #readySince = 0
  /**
   * True if containers of the Pod continued to run during a restart of the embedded cluster. Becomes false when the sandbox of these
   * containers ends.
   */
  #isResumed = false
  /** The latest value of `sandboxAttempt` that `#changeSandbox` has handled. */
  #sandboxAttempt = 0
  /** True when the sandbox has ended, and containers of this sandbox have not stopped yet. */
  #isLeavingSandbox = false
  #events: PodEvent[] = []
  readonly #host: ContainerHost
  readonly #runtime: PodRuntime

  constructor(pod: ReadonlyPod, runtime: ContainerRuntime, options: PodRuntimeOptions) {
    const { spec, status, metadata } = pod
    const { now } = options
    this.uid = metadata.uid
    this.#pod = pod
    this.#runtime = runtime.runPod(pod, options)
    this.scheme = runtime.scheme
    this.changedAt = now
    this.startedAt = timeOf(status?.startTime) ?? now
    this.#host = {
      pod: `${metadata.name}_${metadata.namespace}(${metadata.uid})`,
      graceSeconds: spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds,
      restarts: (container, exitCode) => this.#mayRestart && restartsContainer(container, this.#pod, exitCode),
      restartsAfterProbe: (container) => this.#mayRestart && restartsAfterProbe(container, this.#pod),
      record: (container, event) => this.#events.push({ ...event, fieldPath: this.#fieldPath(container.name) }),
    }
    const waiting = { kind: 'waiting', reason: this.#waitingReason } as const
    const make = (container: ContainerSpec, known: ContainerStatus | undefined): Container => {
      const made = this.#make(container, known === undefined ? waiting : (stateOf(known.state, now) ?? waiting))
      const { restartCount = 0, started, ready } = known ?? {}
      made.resume({ restartCount, isStarted: started === true, isReady: ready === true, last: endedOf(known?.lastState?.terminated) }, now)
      return made
    }
    const of = (list: readonly ContainerStatus[] | undefined, name: string): ContainerStatus | undefined =>
      list?.find((one) => one.name === name)
    this.init = (spec?.initContainers ?? []).map((one) => make(one, of(status?.initContainerStatuses, one.name)))
    this.regular = (spec?.containers ?? []).map((one) => make(one, of(status?.containerStatuses, one.name)))
    // Only the ephemeral containers that have already begun to run are added here. The first call of `advance` adds the other ephemeral
    // containers, and starts them. A container that has begun to run is not started again.
    this.ephemeral = (spec?.ephemeralContainers ?? []).flatMap((one) => {
      const known = of(status?.ephemeralContainerStatuses, one.name)
      return stateOf(known?.state, now) === undefined ? [] : [make(one, known)]
    })
    this.#isResumed = this.#active.length > 0
    this.#wasReady = this.#isResumed
    this.isChanged = status?.phase !== 'Running'
  }

  /** True when all init containers have succeeded and all sidecars have started. */
  get isInitialized(): boolean {
    return this.init.every((container) => (isSidecar(container.spec) ? container.isStarted : succeeded(container.state)))
  }

  /**
   * The reason why the Pod has ended. The phase of the Pod is derived from `outcome` (k8s.io/kubernetes/pkg/kubelet:
   * Kubelet.generateAPIPodStatus). `outcome` is set at one of these times:
   *
   * - If the kubelet evicts the Pod, or `activeDeadlineSeconds` is exceeded: when the kubelet begins to stop the containers.
   * - Otherwise: when all containers have stopped.
   */
  get outcome(): PodEnd | undefined {
    const ending = this.#stopping?.end
    return this.end ?? (ending?.reason === undefined ? undefined : ending)
  }

  /**
   * True while the Pod has a sandbox. The sandbox exists if the network and the volumes of the Pod exist, or if containers of the Pod have
   * continued to run during a restart of the cluster. A Pod that has ended has no sandbox.
   */
  get hasSandbox(): boolean {
    return (this.#isReady || this.#isResumed) && this.end === undefined
  }

  /** True when the Pod has or had a sandbox. */
  get hadSandbox(): boolean {
    return this.#wasReady
  }

  /** Returns true when the Pod has ended and its network has been removed. */
  isRemoved(now: number): boolean {
    return this.end !== undefined && this.#runtime.removedAt <= now
  }

  /** The errors in the Pod annotations that configure the runtime. */
  get problems(): readonly string[] {
    return this.#runtime.problems
  }

  /** The time of the next step of the Pod or of a container. Infinity when no step is planned. */
  get due(): number {
    if (this.end !== undefined) return Number.POSITIVE_INFINITY
    const containersDue = Math.min(...this.#stepping.map((one) => this.#dueOf(one)))
    if (this.#stopping !== undefined) return containersDue
    const { readyAt, evictionAt } = this.#runtime
    const startDue = this.#isReady || this.#isLeavingSandbox ? Number.POSITIVE_INFINITY : readyAt
    return Math.min(startDue, evictionAt, this.#deadline, containersDue)
  }

  /**
   * Applies the changes of the Pod since the previous call. Then takes all steps that are due by `now`, in the order of their due times.
   * The recorded time of a step is the due time of the step. Returns the Events since the previous call.
   */
  advance(pod: ReadonlyPod, now: number): readonly PodEvent[] {
    this.#update(pod, now)
    if (this.#sandboxAttempt !== this.#runtime.sandboxAttempt) this.#changeSandbox(now)
    if (this.end === undefined) this.#proceed(this.changedAt)
    for (let at = this.due; this.end === undefined && at <= now; at = this.due) this.#step(at)
    return this.#takeEvents()
  }

  /**
   * Stops the containers at once, and removes the network. The kubelet calls `destroy` in these cases:
   *
   * - The Pod object has been deleted.
   * - Another client has set the phase of the Pod to Succeeded or Failed.
   *
   * `events` are the Events since the latest call of `advance`. `removed` resolves when the network has been removed; undefined if the
   * network was removed at once.
   */
  destroy(): { readonly events: readonly PodEvent[]; readonly removed: Promise<void> | undefined } {
    for (const container of this.#active) container.stop(this.changedAt, 0)
    const removed = this.#runtime.destroy()
    return { events: this.#takeEvents(), removed }
  }

  /** The Pod that was passed to the latest call of `advance`. */
  get pod(): ReadonlyPod {
    return this.#pod
  }

  #takeEvents(): readonly PodEvent[] {
    return [...this.#runtime.takeEvents(), ...this.#events.splice(0)]
  }

  get #all(): readonly Container[] {
    return [...this.init, ...this.regular, ...this.ephemeral]
  }

  /** The containers that can have processes. */
  get #active(): readonly Container[] {
    return this.#all.filter((one) => one.isActive)
  }

  /**
   * The containers for which `due` and `#step` check whether a step is due:
   *
   * - If the network and the volumes of the Pod exist, and the kubelet is not stopping the Pod: all containers of the Pod.
   * - Otherwise: only the containers that can have processes.
   *
   * As a result, no image is pulled and no container is started or restarted before the network and the volumes exist.
   */
  get #stepping(): readonly Container[] {
    return this.#isReady && this.#stopping === undefined ? this.#all : this.#active
  }

  /**
   * Returns the time of the next step of a container. If no run of the container is in progress, the next step is not due before the
   * network and the volumes of the Pod are ready.
   */
  #dueOf(container: Container): number {
    return container.isActive ? container.due : Math.max(container.due, this.#readySince)
  }

  get #mayRestart(): boolean {
    return this.end === undefined && this.#stopping === undefined
  }

  #make(spec: ContainerSpec, state: ContainerState): Container {
    const task = this.#runtime.container(spec, { record: (event) => this.#host.record(spec, event) })
    const isInit = (this.#pod.spec?.initContainers ?? []).some((one) => one.name === spec.name)
    return new Container(spec, { task, state, host: this.#host, isInit })
  }

  #update(pod: ReadonlyPod, now: number): void {
    const { spec, metadata } = pod
    this.#pod = pod
    if (this.end !== undefined) return
    this.#runtime.update(pod, now)
    if (this.#stopping === undefined) {
      for (const current of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
        const container = this.#all.find((one) => one.spec.name === current.name)
        if (container === undefined || container.spec.image === current.image) continue
        this.#touch(now)
        container.respec(current, now)
      }
      this.#addEphemeral(spec?.ephemeralContainers ?? [], now)
    }
    if (metadata.deletionTimestamp !== undefined) this.#stop(now, {}, graceMsOf(metadata, now))
  }

  #addEphemeral(specs: readonly ContainerSpec[], now: number): void {
    for (const spec of specs) {
      if (this.ephemeral.some((one) => one.spec.name === spec.name)) continue
      const container = this.#make(spec, { kind: 'waiting', reason: 'ContainerCreating' })
      this.ephemeral = [...this.ephemeral, container]
      this.#touch(now)
    }
  }

  #touch(at: number): void {
    this.changedAt = at
    this.isChanged = true
  }

  #step(at: number): void {
    this.#touch(at)
    if (this.#stopping === undefined) {
      if (this.#deadline <= at) return this.#endBy(deadlineExceeded, 'Normal', at, this.#host.graceSeconds * 1000)
      if (this.#runtime.evictionAt <= at) {
        this.#runtime.evicted(at)
        return this.#endBy(evicted, 'Warning', at, 0)
      }
    }
    for (const container of this.#stepping) if (container.due <= at) container.step(at)
    this.#proceed(at)
  }

  /**
   * Begins the containers that can begin at the time `at`: the ephemeral containers, the init containers one after the other, and then all
   * regular containers. Ends the Pod when an init container has failed and will not be restarted, or when all regular containers have ended
   * and will not be restarted.
   */
  #proceed(at: number): void {
    if (this.#stopping !== undefined) return this.#continueToStop(at)
    if (this.#isLeavingSandbox && !this.#leaveSandbox()) return
    if (!this.#isReady && this.#runtime.readyAt > at) return
    if (!this.#isReady) this.#readySince = at
    this.#isReady = true
    this.#wasReady = true
    for (const container of this.ephemeral) if (!container.hasBegun) container.begin(at)
    for (const container of this.init) {
      if (!container.hasBegun) {
        this.#touch(at)
        container.begin(at)
      }
      if (isSidecar(container.spec) ? container.isStarted : succeeded(container.state)) continue
      if (container.isDone && !isSidecar(container.spec)) return this.#stop(at, {}, this.#host.graceSeconds * 1000)
      // The next containers in the spec do not begin until this init container has succeeded, or this sidecar has started. There is one
      // exception: if a sidecar restarts after a regular container has begun, the other containers do not wait for the sidecar.
      if (!this.regular.some((one) => one.hasBegun)) return
    }
    for (const container of this.regular) {
      if (container.hasBegun) continue
      this.#touch(at)
      container.begin(at)
    }
    if (this.regular.every((one) => one.isDone)) this.#stop(at, {}, this.#host.graceSeconds * 1000)
  }

  /**
   * Stops all containers after their sandbox has ended. The containers then begin again in the new sandbox. Does nothing in two cases: the
   * restart policy is Never, or the restart policy is OnFailure and all regular containers have succeeded
   * (k8s.io/kubernetes/pkg/kubelet/kuberuntime: computePodActions).
   */
  #changeSandbox(at: number): void {
    this.#sandboxAttempt = this.#runtime.sandboxAttempt
    if (!this.#mayRestart) return
    const hasBegun = this.regular.some((one) => one.hasBegun)
    if (this.#pod.spec?.restartPolicy === 'Never' || (hasBegun && !this.regular.some((one) => this.#isRenewed(one)))) return
    this.#touch(at)
    this.#isReady = false
    this.#isResumed = false
    this.#isLeavingSandbox = true
    this.#events.push({ type: 'Normal', reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' })
    for (const container of this.#all) container.stop(at, 0)
  }

  /**
   * If a container of the ended sandbox is still active, returns false. Otherwise, sets the state of each container that must begin again
   * in the new sandbox to `waiting`, and returns true.
   */
  #leaveSandbox(): boolean {
    if (this.#active.length > 0) return false
    this.#isLeavingSandbox = false
    for (const container of [...this.init, ...this.regular]) if (this.#isRenewed(container)) container.renew(this.#waitingReason)
    return true
  }

  /**
   * Returns true if the container must begin again in the new sandbox. Every init container must begin again. A regular container must not
   * begin again if it has succeeded and the restart policy is OnFailure.
   */
  #isRenewed(container: Container): boolean {
    const isInit = this.init.includes(container)
    return isInit || this.#pod.spec?.restartPolicy !== 'OnFailure' || !succeeded(container.state)
  }

  get #waitingReason(): string {
    return (this.#pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating'
  }

  get #deadline(): number {
    const seconds = this.#pod.spec?.activeDeadlineSeconds
    return seconds === undefined ? Number.POSITIVE_INFINITY : this.startedAt + seconds * 1000
  }

  #endBy(end: Required<PodEnd>, type: 'Normal' | 'Warning', at: number, graceMs: number): void {
    this.#events.push({ type, ...end })
    this.#stop(at, end, graceMs)
  }

  /**
   * Begins to stop all containers of a Pod that ends (k8s.io/kubernetes/pkg/kubelet/status: manager.TerminatePod). A later call can only
   * shorten the grace period.
   */
  #stop(at: number, end: PodEnd, graceMs: number): void {
    const killAt = at + graceMs
    if (this.#stopping === undefined) this.#stopping = { end, killAt, wasInitialized: this.isInitialized }
    else if (killAt < this.#stopping.killAt) this.#stopping.killAt = killAt
    else return
    this.#continueToStop(at)
  }

  /**
   * Begins or continues to stop the containers (k8s.io/kubernetes/pkg/kubelet/kuberuntime: newTerminationOrdering). After the first call,
   * each call of `advance` and of `#step` calls this method again, until all containers have stopped. The order is:
   *
   * - First, all containers except sidecars stop at the same time. The preStop hooks of the sidecars also begin at this time.
   * - Then the sidecars stop one after the other, in the reverse order of the spec.
   * - When the grace period is over, all remaining sidecars stop immediately.
   */
  #continueToStop(at: number): void {
    const { end, killAt, wasInitialized } = this.#stopping!
    const graceMs = Math.max(0, killAt - at)
    for (const container of [...this.regular, ...this.ephemeral]) container.stop(at, graceMs)
    let mustWait = graceMs > 0 && [...this.regular, ...this.ephemeral].some((one) => one.isActive)
    for (const container of [...this.init].reverse()) {
      const isLast = isSidecar(container.spec)
      if (isLast && mustWait) container.prepareToStop(at, graceMs)
      else container.stop(at, graceMs)
      if (isLast && container.isActive && graceMs > 0) mustWait = true
    }
    if (this.#active.length > 0) return
    // The last status is written even if no container had to be stopped (k8s.io/kubernetes/pkg/kubelet/status: manager.TerminatePod).
    this.#touch(at)
    this.end = end
    if (wasInitialized) for (const container of this.regular) if (container.state.kind === 'waiting') container.markUnknown()
    this.#runtime.remove(at)
  }

  #fieldPath(name: string): string {
    const { containers = [], initContainers = [] } = this.#pod.spec ?? {}
    const isIn = (list: readonly ContainerSpec[]): boolean => list.some((one) => one.name === name)
    const field = isIn(containers) ? 'containers' : isIn(initContainers) ? 'initContainers' : 'ephemeralContainers'
    return `spec.${field}{${name}}`
  }
}

/**
 * Returns the remaining grace period in milliseconds of a Pod that is being deleted. A part of the grace period may have passed while the
 * embedded cluster was stopped.
 */
function graceMsOf({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ReadonlyPod['metadata'], now: number): number {
  // The timestamp is rounded down to a full second. One second is added here, so the grace period is never too short.
  const left = (timeOf(deletionTimestamp) ?? now) + 1000 - now
  return Math.max(0, Math.min(deletionGracePeriodSeconds * 1000, left))
}

export function succeeded(state: ContainerState): boolean {
  return state.kind === 'terminated' && state.exitCode === 0
}

/** Converts a timestamp of the API to milliseconds since 1970. Returns undefined when the field is absent or not a valid time. */
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
  const { exitCode, reason = '', message, startedAt, finishedAt } = ended
  const [from, to] = [timeOf(startedAt), timeOf(finishedAt)]
  return {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    ...(from !== undefined && { startedAt: from }),
    ...(to !== undefined && { finishedAt: to }),
  }
}
