/**
 * `SimulatedContainer`: the life of one container on a node, as a sequence of steps such as a pull or a start, each due at a certain time.
 */
import { formatGoDuration } from '../../../formats/go-duration.ts'
import type { ReadonlyPod } from '../scheduler/place-pod.ts'
import { BackOff } from './back-off.ts'
import { ContainerProbes } from './container-probes.ts'
import type { ContainerState, Ended } from './container-state.ts'
import type { ProbeKind } from './probe.ts'
import { probeFailure } from './probe-failure.ts'
import { isSidecar } from './restart-policy.ts'
import type { ContainerPlan } from './simulation.ts'
import { healthyProbes } from './simulation.ts'

/** A container in the spec of a Pod: an init container, a sidecar, a regular or an ephemeral container. */
export type ContainerSpec = NonNullable<ReadonlyPod['spec']>['containers'][number]

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
  /** A probe has failed, for which the kubelet stops the container. */
  | { readonly kind: 'stopping'; readonly until: number; readonly exitCode: number }

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
  readonly podIP: string
  /** The time that containers of the Pod get to stop. */
  readonly graceSeconds: number
  /** Returns true when the kubelet restarts the container after it has ended with `exitCode`. */
  restarts(container: ContainerSpec, exitCode: number): boolean
  /** Returns true when the kubelet restarts the container after it has stopped the container because of a failed probe. */
  restartsAfterProbe(container: ContainerSpec): boolean
  record(container: ContainerSpec, event: ContainerEvent): void
}

/**
 * The time from a failed pull or the end of a container to the next sync of the kubelet (k8s.io/kubernetes/pkg/kubelet:
 * genericPlegRelistPeriod).
 */
const syncMs = 1000
/** The exit codes of a process that SIGTERM or SIGKILL has ended. */
const [stopped, killed] = [143, 137]
/** The least time to stop (k8s.io/kubernetes/pkg/kubelet/kuberuntime: minimumGracePeriodInSeconds). */
const minGraceSeconds = 2

/** A container in the status of a Pod whose kubelet begins. */
export interface KnownContainer {
  readonly restartCount: number
  readonly isStarted: boolean
  readonly isReady: boolean
  readonly last: Ended | undefined
}

export class SimulatedContainer {
  spec: ContainerSpec
  plan: ContainerPlan
  state: ContainerState
  last: Ended | undefined
  restartCount = 0
  #activity: Activity = { kind: 'none' }
  /** The time at which `plan` took effect. If a step should have happened earlier according to `plan`, the step is due at this time. */
  #plannedAt: number
  /** Undefined when the container does not run. */
  #probes: ContainerProbes | undefined
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

  /** True when the container runs and its startup probe has succeeded. */
  get isStarted(): boolean {
    return this.#probes?.isStarted === true
  }

  get isReady(): boolean {
    return this.#probes?.isReady === true
  }

  /** True when the container has ended and will not be restarted. */
  get isDone(): boolean {
    return this.state.kind === 'terminated' && this.#activity.kind === 'none'
  }

  /** Continues with the state that the status of the Pod shows, for example after a restart of the cluster. */
  resume(known: KnownContainer, now: number): void {
    this.restartCount = known.restartCount
    this.last = known.last
    if (this.state.kind === 'running') this.#probe(this.state.startedAt, now, known)
    else if (this.state.kind === 'terminated') this.#afterEnd(this.state.exitCode, now)
    else if (this.last !== undefined) this.begin(now)
  }

  /** Replaces the plan. If a step should have happened before `now` according to the new plan, the step is due at `now`. */
  replan(plan: ContainerPlan, now: number): void {
    const before = this.plan
    this.plan = plan
    if (JSON.stringify(before) === JSON.stringify(plan)) return
    this.#plannedAt = now
    this.#probes?.replan(this.#planOfRun, now)
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
    const activity = this.#activity
    const probeDue = this.#probes?.due ?? Number.POSITIVE_INFINITY
    switch (activity.kind) {
      case 'none':
        return Math.min(this.#exitDue, probeDue)
      case 'stopping':
        return Math.min(activity.until, probeDue)
      case 'pulling':
        return this.#planned(activity.since + this.plan.pullMs)
      case 'starting':
        return this.#planned(activity.since + this.plan.startMs)
      case 'pull-failed':
      case 'ended':
        return activity.since + syncMs
      case 'pull-back-off':
        return Math.max(activity.since + syncMs, this.#pullBackOff.until(activity.since))
      case 'crash-back-off':
        return this.#crashBackOff.until(activity.since)
    }
  }

  /** Takes the step that is due at `at`. */
  step(at: number): void {
    const { image = '' } = this.spec
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
      case 'ended':
        return this.#restart(at, { endedAt: this.#activity.since, backOffSince: this.#activity.since })
      case 'crash-back-off':
        this.#crashBackOff.next(this.#activity.since, at)
        return this.begin(at)
      case 'stopping':
        if (this.#activity.until > at) return this.#stepOfProbes(at)
        return this.#endStopped(at, this.#activity.exitCode)
    }
  }

  /** Ends the startup and liveness probes, because the Pod is being deleted. */
  terminate(): void {
    this.#probes?.stopKilling()
  }

  /** Ends the container because its Pod ends, and prevents its restart. */
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
    this.#stepOfProbes(at)
  }

  #stepOfProbes(at: number): void {
    const failed = this.#probes?.step(at)
    if (failed !== undefined) this.#stopAfterProbe(failed, at)
  }

  /** Stops the container after its startup or liveness probe has failed (k8s.io/kubernetes/pkg/kubelet/kuberuntime: computePodActions). */
  #stopAfterProbe(kind: ProbeKind, at: number): void {
    const { name, startupProbe, livenessProbe } = this.spec
    const [title, restart] = isSidecar(this.spec)
      ? ['Init container', '']
      : ['Container', this.#host.restartsAfterProbe(this.spec) ? ', will be restarted' : '']
    this.#record('Normal', 'Killing', `${title} ${name} failed ${kind} probe${restart}`)
    const probe = kind === 'startup' ? startupProbe : livenessProbe
    const graceMs = Math.max(minGraceSeconds, probe?.terminationGracePeriodSeconds ?? this.#host.graceSeconds) * 1000
    const { stopMs } = this.plan
    this.#activity = { kind: 'stopping', until: at + Math.min(stopMs, graceMs), exitCode: stopMs > graceMs ? killed : stopped }
  }

  /**
   * Ends a container that was stopped because of a failed probe, and restarts it. The kubelet measures the back-off from the end of the
   * run before, so it delays only restarts after short runs (k8s.io/kubernetes/pkg/kubelet/kuberuntime: doBackOff).
   */
  #endStopped(at: number, exitCode: number): void {
    const backOffSince = this.last?.finishedAt
    this.#end(at, exitCode, 'Error')
    if (!this.#host.restartsAfterProbe(this.spec)) return
    if (backOffSince === undefined) this.begin(at)
    else this.#restart(at, { endedAt: at, backOffSince })
  }

  /** Restarts the container, or reports CrashLoopBackOff if the back-off since `backOffSince` is not over. */
  #restart(at: number, { endedAt, backOffSince }: { readonly endedAt: number; readonly backOffSince: number }): void {
    if (this.#crashBackOff.until(backOffSince) <= at) {
      this.#crashBackOff.next(backOffSince, at)
      return this.begin(at)
    }
    const { name } = this.spec
    const { pod } = this.#host
    this.#record('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${pod}`)
    const delay = formatGoDuration(this.#crashBackOff.delayMs)
    this.#wait('CrashLoopBackOff', `back-off ${delay} restarting failed container=${name} pod=${pod}`)
    this.#activity = { kind: 'crash-back-off', since: endedAt }
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
    this.#probe(at, at)
  }

  /** Begins the probes of a run. */
  #probe(startedAt: number, now: number, known?: KnownContainer): void {
    const { podIP } = this.#host
    this.#probes = new ContainerProbes(this.spec, this.#planOfRun, {
      startedAt,
      now,
      ...(known !== undefined && { known }),
      onFailure: (kind, probe) => this.#record('Warning', 'Unhealthy', probeFailure(kind, probe, this.spec, podIP)),
    })
  }

  get #planOfRun(): ContainerPlan {
    return this.#isFailing ? this.plan : { ...this.plan, probes: healthyProbes }
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
    this.#probes = undefined
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
