/**
 * `SimulatedContainer`: the life of one container on a node, as a sequence of steps such as a pull or a start, each due at a certain time.
 */
import { formatTime } from '../../../api/conditions.ts'
import { formatGoDuration } from '../../../formats/go-duration.ts'
import type { ReadonlyPod } from '../scheduler/place-pod.ts'
import { BackOff } from './back-off.ts'
import type { ContainerPlan } from './simulation.ts'

/** A container in the spec of a Pod: an init container, a sidecar, a regular or an ephemeral container. */
export type ContainerSpec = NonNullable<ReadonlyPod['spec']>['containers'][number]

export interface Ended {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string
  readonly startedAt?: number
  readonly finishedAt?: number
}

/** The state of a container as the status of its Pod shows it. */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly kind: 'running'; readonly startedAt: number }
  | ({ readonly kind: 'terminated' } & Ended)

/**
 * The work that the kubelet is doing for a container. `since` is a time: for `pulling` and `starting`, the time at which this work began;
 * for `pull-failed` and `pull-back-off`, the time at which the pull failed; for `ended` and `crash-back-off`, the end of the container.
 */
type Activity =
  /** No work: the container waits for earlier containers, runs, or has ended and will not be restarted. */
  | { readonly kind: 'none' }
  | { readonly kind: 'pulling'; readonly since: number }
  /** The pull of the image has failed. At its next sync, the kubelet reports ImagePullBackOff. */
  | { readonly kind: 'pull-failed'; readonly since: number }
  | { readonly kind: 'pull-back-off'; readonly since: number }
  | { readonly kind: 'starting'; readonly since: number }
  /** The container has ended. At its next sync, the kubelet restarts the container or reports CrashLoopBackOff. */
  | { readonly kind: 'ended'; readonly since: number }
  | { readonly kind: 'crash-back-off'; readonly since: number }

/** An Event about a container. */
export interface ContainerEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The Pod and the node of a container, as far as the container needs them. */
export interface ContainerHost {
  /** The Pod as the messages of the kubelet name it: name_namespace(uid) (k8s.io/kubernetes/pkg/kubelet/util/format: Pod). */
  readonly pod: string
  /** The images on the node. */
  readonly images: Set<string>
  /** Returns true when the kubelet restarts the container after it has ended with `exitCode`. */
  restarts(container: ContainerSpec, exitCode: number): boolean
  record(container: ContainerSpec, event: ContainerEvent): void
}

/**
 * The time from a failed pull or the end of a container to the next sync of the kubelet (k8s.io/kubernetes/pkg/kubelet:
 * genericPlegRelistPeriod).
 */
const syncMs = 1000
const defaultProbePeriodSeconds = 10
/** The exit code of a process that SIGTERM has ended. */
const stopped = 143

export class SimulatedContainer {
  spec: ContainerSpec
  plan: ContainerPlan
  state: ContainerState
  last: Ended | undefined
  restartCount = 0
  isReady = false
  #activity: Activity = { kind: 'none' }
  /** The time at which `plan` took effect. If a step should have happened earlier according to `plan`, the step is due at this time. */
  #plannedAt: number
  /** The time at which the readiness probe fails next. Undefined when the container is ready or does not run. */
  #probeAt: number | undefined
  readonly #host: ContainerHost
  #crashBackOff = new BackOff()
  #pullBackOff = new BackOff()
  #pullMessage = ''

  constructor(spec: ContainerSpec, options: { plan: ContainerPlan; state: ContainerState; now: number; host: ContainerHost }) {
    this.spec = spec
    this.plan = options.plan
    this.state = options.state
    this.#plannedAt = options.now
    this.#host = options.host
  }

  /** True when the kubelet has begun to pull the image or to start the container. */
  get hasBegun(): boolean {
    return this.#activity.kind !== 'none' || this.state.kind !== 'waiting'
  }

  get isRunning(): boolean {
    return this.state.kind === 'running'
  }

  /** True when the container has ended and will not be restarted. */
  get isDone(): boolean {
    return this.state.kind === 'terminated' && this.#activity.kind === 'none'
  }

  /** Continues with the state that the status of the Pod shows, for example after a restart of the cluster. */
  resume(now: number): void {
    if (this.state.kind === 'running') this.#scheduleProbe(this.state.startedAt)
    else if (this.state.kind === 'terminated') this.#afterEnd(this.state.exitCode, now)
    else if (this.last !== undefined) this.begin(now)
  }

  /** Replaces the plan. If a step should have happened before `now` according to the new plan, the step is due at `now`. */
  replan(plan: ContainerPlan, now: number): void {
    const before = this.plan
    this.plan = plan
    if (JSON.stringify(before) === JSON.stringify(plan)) return
    this.#plannedAt = now
    if (this.state.kind === 'running') this.#scheduleProbe(now)
  }

  /** Begins the pull of the image, or the start of the container if the image is on the node. */
  begin(at: number): void {
    const { image = '', imagePullPolicy } = this.spec
    if (this.plan.pullError !== undefined && imagePullPolicy === 'Never') {
      const message = `Container image "${image}" is not present with pull policy of Never`
      this.#record('Warning', 'ErrImageNeverPull', message)
      this.#record('Warning', 'Failed', 'Error: ErrImageNeverPull')
      this.#wait('ErrImageNeverPull', message)
      this.#pullBackOff.next(at, at)
      this.#activity = { kind: 'pull-back-off', since: at }
      return
    }
    const isPresent = imagePullPolicy === 'Never' || (imagePullPolicy !== 'Always' && this.#host.images.has(image))
    if (isPresent && this.plan.pullError === undefined) {
      this.#record('Normal', 'Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`)
      this.#activity = { kind: 'starting', since: at }
    } else {
      this.#record('Normal', 'Pulling', `Pulling image "${image}"`)
      this.#activity = { kind: 'pulling', since: at }
    }
  }

  /** The time of the next step of this container. Infinity when no step is planned. */
  get due(): number {
    const { kind } = this.#activity
    if (kind === 'none') return Math.min(this.#exitDue, this.#readyDue, this.#probeAt ?? Number.POSITIVE_INFINITY)
    const { since } = this.#activity
    switch (kind) {
      case 'pulling':
        return this.#planned(since + this.plan.pullMs)
      case 'starting':
        return this.#planned(since + this.plan.startMs)
      case 'pull-failed':
      case 'ended':
        return since + syncMs
      case 'pull-back-off':
        return Math.max(since + syncMs, this.#pullBackOff.until(since))
      case 'crash-back-off':
        return this.#crashBackOff.until(since)
    }
  }

  /** Takes the step that is due at `at`. */
  step(at: number): void {
    const { image = '', name } = this.spec
    switch (this.#activity.kind) {
      case 'none':
        return this.#stepOfRunning(at)
      case 'pulling':
        if (this.plan.pullError !== undefined) return this.#failPull(at, this.plan.pullError)
        this.#host.images.add(image)
        this.#record('Normal', 'Pulled', pulledMessage(image, at - this.#activity.since))
        this.#activity = { kind: 'starting', since: at }
        return
      case 'pull-failed':
        this.#record('Normal', 'BackOff', `Back-off pulling image "${image}"`)
        this.#record('Warning', 'Failed', 'Error: ImagePullBackOff')
        this.#wait('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${this.#pullMessage}`)
        this.#activity = { kind: 'pull-back-off', since: this.#activity.since }
        return
      case 'pull-back-off':
        return this.begin(at)
      case 'starting':
        return this.#start(at)
      case 'ended': {
        const { since } = this.#activity
        const until = this.#crashBackOff.until(since)
        if (until <= at) {
          this.#crashBackOff.next(since, at)
          return this.begin(at)
        }
        const { pod } = this.#host
        this.#record('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${pod}`)
        const delay = formatGoDuration(this.#crashBackOff.delayMs)
        this.#wait('CrashLoopBackOff', `back-off ${delay} restarting failed container=${name} pod=${pod}`)
        this.#activity = { kind: 'crash-back-off', since }
        return
      }
      case 'crash-back-off':
        this.#crashBackOff.next(this.#activity.since, at)
        return this.begin(at)
    }
  }

  /** Stops the container for good. A running container terminates with `exitCode`. */
  stop(at: number, { exitCode }: { readonly exitCode: number }): void {
    this.#activity = { kind: 'none' }
    if (this.state.kind === 'running') this.#end(at, exitCode, exitCode === 0 ? 'Completed' : 'Error')
    else if (this.state.kind === 'waiting' && this.last !== undefined) {
      // The container waits for a restart. The restart is cancelled, and the status shows how the last run ended.
      this.state = { kind: 'terminated', ...this.last }
      this.last = undefined
    }
    this.#activity = { kind: 'none' }
  }

  /** Sets the state to terminated. The container has never run, and its Pod has ended. */
  markUnknown(): void {
    const message = 'The container could not be located when the pod was terminated'
    this.state = { kind: 'terminated', exitCode: 137, reason: 'ContainerStatusUnknown', message }
  }

  /**
   * Replaces the spec after a change of the image. If the container runs, the kubelet stops the container and begins with the new image at
   * once. If the kubelet is about to start or to restart the container, the kubelet also begins with the new image at once.
   */
  respec(spec: ContainerSpec, at: number): void {
    this.spec = spec
    if (this.isRunning) {
      this.#record('Normal', 'Killing', `Container ${spec.name} definition changed, will be restarted`)
      this.#end(at, stopped, 'Error')
    } else if (this.#activity.kind === 'none') return
    this.#crashBackOff = new BackOff()
    this.#pullBackOff = new BackOff()
    this.begin(at)
  }

  get #runMs(): number | undefined {
    return this.#isFailing ? this.plan.runMs : this.plan.healthyRunMs
  }

  get #isFailing(): boolean {
    return this.restartCount < this.plan.failures
  }

  get #exitDue(): number {
    return this.state.kind === 'running' && this.#runMs !== undefined
      ? this.#planned(this.state.startedAt + this.#runMs)
      : Number.POSITIVE_INFINITY
  }

  get #readyDue(): number {
    if (this.state.kind !== 'running') return Number.POSITIVE_INFINITY
    const { readyMs } = this.plan
    if (this.isReady) return readyMs === Number.POSITIVE_INFINITY ? this.#plannedAt : Number.POSITIVE_INFINITY
    return this.#planned(this.state.startedAt + readyMs)
  }

  #planned(at: number): number {
    return Math.max(at, this.#plannedAt)
  }

  #stepOfRunning(at: number): void {
    if (this.#exitDue <= at) {
      const exitCode = this.#isFailing ? this.plan.exitCode : 0
      const reason = this.plan.isOomKilled && exitCode !== 0 ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error'
      this.#end(at, exitCode, reason)
      return
    }
    if (this.#readyDue <= at) {
      this.isReady = !this.isReady
      this.#probeAt = this.isReady ? undefined : at
    }
    if (this.#probeAt === undefined || this.#probeAt > at) return
    const { periodSeconds = defaultProbePeriodSeconds } = this.spec.readinessProbe ?? {}
    this.#record('Warning', 'Unhealthy', 'Readiness probe failed: simulated')
    this.#probeAt = at + Math.max(1, periodSeconds) * 1000
  }

  #start(at: number): void {
    const { state } = this
    if (state.kind === 'terminated') {
      const { kind: _kind, ...ended } = state
      this.last = ended
    }
    if (this.last !== undefined) this.restartCount += 1
    this.state = { kind: 'running', startedAt: at }
    this.#activity = { kind: 'none' }
    this.#record('Normal', 'Created', 'Container created')
    this.#record('Normal', 'Started', 'Container started')
    this.isReady = this.plan.readyMs === 0
    this.#scheduleProbe(at)
  }

  /**
   * Schedules the first failure of the readiness probe after the initial delay of the probe, but at least 1 s after `at`. If the container
   * is ready, or becomes ready at once, the probe does not fail.
   */
  #scheduleProbe(at: number): void {
    const { initialDelaySeconds = 0 } = this.spec.readinessProbe ?? {}
    this.#probeAt = this.isReady || this.plan.readyMs === 0 ? undefined : at + Math.max(1, initialDelaySeconds) * 1000
  }

  #failPull(at: number, error: string): void {
    const { image = '' } = this.spec
    this.#record('Warning', 'Failed', `Failed to pull image "${image}": ${error}`)
    this.#record('Warning', 'Failed', 'Error: ErrImagePull')
    this.#pullBackOff.next(at, at)
    this.#pullMessage = error
    this.#wait('ErrImagePull', error)
    this.#activity = { kind: 'pull-failed', since: at }
  }

  /** Changes the state to waiting. The previous state becomes `last` if it is terminated. */
  #wait(reason: string, message: string): void {
    if (this.state.kind === 'terminated') {
      const { kind: _kind, ...ended } = this.state
      this.last = ended
    }
    this.state = { kind: 'waiting', reason, message }
  }

  #end(at: number, exitCode: number, reason: string): void {
    const startedAt = this.state.kind === 'running' ? this.state.startedAt : at
    this.state = { kind: 'terminated', exitCode, reason, startedAt, finishedAt: at }
    this.isReady = false
    this.#probeAt = undefined
    this.#afterEnd(exitCode, at)
  }

  #afterEnd(exitCode: number, at: number): void {
    this.#activity = this.#host.restarts(this.spec, exitCode) ? { kind: 'ended', since: at } : { kind: 'none' }
  }

  #record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#host.record(this.spec, { type, reason, message })
  }
}

function pulledMessage(image: string, ms: number): string {
  const took = formatGoDuration(ms)
  return `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 0 bytes.`
}

/** Returns the state of a container as the API represents it. */
export function stateJson(state: ContainerState, containerID: string): object {
  switch (state.kind) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message !== undefined && { message: state.message }) } }
    case 'running':
      return { running: { startedAt: formatTime(state.startedAt) } }
    case 'terminated':
      return { terminated: endedJson(state, containerID) }
  }
}

export function endedJson({ exitCode, reason, message, startedAt, finishedAt }: Ended, containerID: string): object {
  return {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    startedAt: startedAt === undefined ? null : formatTime(startedAt),
    finishedAt: finishedAt === undefined ? null : formatTime(finishedAt),
    ...(finishedAt !== undefined && { containerID }),
  }
}
