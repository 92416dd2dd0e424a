/**
 * `Container`: the life of one container on a node. The life is a sequence of steps, such as a pull or a start. Each step is due at a
 * certain time.
 */
import { formatGoDuration } from '../../../formats/go-duration.ts'
import { BackOff } from './back-off.ts'
import type {
  ContainerRun,
  ContainerSpec,
  ContainerTask,
  Exit,
  Operation,
  ProbeKind,
  Probes,
  RuntimeError,
  RuntimeEvent,
} from './container-runtime.ts'
import type { ContainerState, Ended } from './container-state.ts'

/**
 * The work that the kubelet does for a container. `since` is the time of the event with which the work began:
 *
 * - `pulling`: the start of the pull
 * - `pull-failed`, `pull-back-off`: the failure of the pull
 * - `start-failed`: the failure of the start
 * - `ended`, `crash-back-off`: the end of the container
 */
type Activity =
  /**
   * There is no work. The container is running, or has ended and will not be restarted, or waits for the sandbox or for init containers.
   */
  | { readonly kind: 'none' }
  | { readonly kind: 'pulling'; readonly since: number; readonly pull: Operation }
  /** The pull of the image has failed. At its next sync, the kubelet reports ImagePullBackOff. */
  | { readonly kind: 'pull-failed'; readonly since: number }
  | { readonly kind: 'pull-back-off'; readonly since: number }
  | { readonly kind: 'starting' }
  /** The container could not be created. The kubelet tries again after `createAgainMs`. */
  | { readonly kind: 'start-failed'; readonly since: number }
  /** The container has ended. At the next sync, the kubelet restarts the container or reports CrashLoopBackOff. */
  | { readonly kind: 'ended'; readonly since: number }
  | { readonly kind: 'crash-back-off'; readonly since: number }
  /** The kubelet stops the container. `next` is the action of the kubelet after the container has ended. */
  | { readonly kind: 'stopping'; readonly next: 'restart' | 'restart-after-probe' | 'nothing' }

/** The data of the Pod and the functions of the kubelet that a `Container` needs. */
export interface ContainerHost {
  /** The name of the Pod in messages of the kubelet: name_namespace(uid) (k8s.io/kubernetes/pkg/kubelet/util/format: Pod). */
  readonly pod: string
  /** The grace period in seconds that a container gets when the kubelet stops it. */
  readonly graceSeconds: number
  /** Returns true when the kubelet restarts a container that has ended with `exitCode`. */
  restarts(container: ContainerSpec, exitCode: number): boolean
  /** Returns true when the kubelet restarts a container that was stopped because of a failed probe. */
  restartsAfterProbe(container: ContainerSpec): boolean
  record(container: ContainerSpec, event: RuntimeEvent): void
}

/**
 * The time in milliseconds from the failure of a pull, or from the end of a container, to the next sync of the kubelet
 * (k8s.io/kubernetes/pkg/kubelet: genericPlegRelistPeriod).
 */
const syncMs = 1000
/** The time in milliseconds after which the kubelet tries again to create a container (k8s.io/kubernetes/pkg/kubelet: backOffPeriod). */
const createAgainMs = 10_000
/** The shortest grace period after a failed probe (k8s.io/kubernetes/pkg/kubelet/kuberuntime: minimumGracePeriodInSeconds). */
const minGraceSeconds = 2
/** The exit code that containerd reports for a container that was created but could not be started. */
const startErrorCode = 128

/**
 * The reason that the runtime reports when the postStart hook of a container has failed. It also becomes the reason of the container's
 * state `waiting` (k8s.io/kubernetes/pkg/kubelet/kuberuntime: ErrPostStartHook).
 */
const postStartError = 'PostStartHookError'

/** The values that the kubelet restores for a container from the status of the Pod, for example after a restart of the embedded cluster. */
export interface KnownContainer {
  readonly restartCount: number
  readonly isStarted: boolean
  readonly isReady: boolean
  readonly last: Ended | undefined
}

export class Container {
  spec: ContainerSpec
  state: ContainerState
  last: Ended | undefined
  restartCount = 0
  #activity: Activity = { kind: 'none' }
  /** The current run while the container is being started, runs, or is being stopped; otherwise undefined. */
  #run: ContainerRun | undefined
  /** Undefined when the container does not run. */
  #probes: Probes | undefined
  readonly #task: ContainerTask
  readonly #host: ContainerHost
  /** True for an init container, including a sidecar. */
  readonly #isInit: boolean
  #crashBackOff = new BackOff()
  #pullBackOff = new BackOff()
  #pullMessage = ''

  constructor(spec: ContainerSpec, options: { task: ContainerTask; state: ContainerState; host: ContainerHost; isInit: boolean }) {
    this.spec = spec
    this.state = options.state
    this.#task = options.task
    this.#host = options.host
    this.#isInit = options.isInit
  }

  /** True when the kubelet has begun to pull the image or to start the container. */
  get hasBegun(): boolean {
    return this.#activity.kind !== 'none' || this.state.kind !== 'waiting'
  }

  get isRunning(): boolean {
    return this.state.kind === 'running'
  }

  /** True when the container may have processes: it is being started, it runs, or it is being stopped. */
  get isActive(): boolean {
    return this.#run !== undefined
  }

  /**
   * True when the container runs and its startup probe has succeeded. If the container has no startup probe, true when the container runs.
   */
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

  /**
   * Continues from the state in the status of the Pod, for example after a restart of the embedded cluster. If the container had ended, its
   * restart is due at once, because a restarted kubelet has forgotten its back-offs.
   */
  resume(known: KnownContainer, now: number): void {
    this.restartCount = known.restartCount
    this.last = known.last
    if (this.state.kind === 'running') this.#resumeRun(this.state.startedAt, known, now)
    else if (this.state.kind === 'terminated') this.#afterEnd(this.state.exitCode, now)
    else if (this.last !== undefined) this.#activity = { kind: 'crash-back-off', since: now }
  }

  /** Begins the pull of the image, or the start of the container if the image is on the node. */
  begin(at: number): void {
    const { image = '', imagePullPolicy } = this.spec
    const isPresent = this.#task.hasImage()
    if (imagePullPolicy === 'Never' && !isPresent) {
      const message = `Container image "${image}" is not present with pull policy of Never`
      this.#record('Warning', 'ErrImageNeverPull', message)
      this.#record('Warning', 'Failed', 'Error: ErrImageNeverPull')
      this.#wait('ErrImageNeverPull', message)
      this.#pullBackOff.next(at, at)
      this.#activity = { kind: 'pull-back-off', since: at }
      return
    }
    if (isPresent && imagePullPolicy !== 'Always') {
      this.#record('Normal', 'Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`)
      return this.#beginStart(at)
    }
    this.#record('Normal', 'Pulling', `Pulling image "${image}"`)
    this.#activity = { kind: 'pulling', since: at, pull: this.#task.pull(at) }
  }

  /** The time of the next step of this container. Infinity when no step is planned. */
  get due(): number {
    const activity = this.#activity
    switch (activity.kind) {
      case 'none':
      case 'stopping':
        return Math.min(this.#run?.exit.at ?? Number.POSITIVE_INFINITY, this.#probes?.due ?? Number.POSITIVE_INFINITY)
      case 'pulling':
        return activity.pull.endsAt
      case 'starting':
        return this.#run?.start.endsAt ?? Number.POSITIVE_INFINITY
      case 'pull-failed':
      case 'ended':
        return activity.since + syncMs
      case 'start-failed':
        return activity.since + createAgainMs
      case 'pull-back-off':
        return Math.max(activity.since + syncMs, this.#pullBackOff.until(activity.since))
      case 'crash-back-off':
        return this.#crashBackOff.until(activity.since)
    }
  }

  /** Performs the next step of the container. `at` is the time at which the step is due. This time can be in the past. */
  step(at: number): void {
    const activity = this.#activity
    const { image = '' } = this.spec
    switch (activity.kind) {
      case 'none':
      case 'stopping':
        return this.#stepOfRunning(at)
      case 'pulling':
        if (activity.pull.error !== undefined) return this.#failPull(at, activity.pull.error.message)
        this.#record('Normal', 'Pulled', pulledMessage(image, at - activity.since))
        return this.#beginStart(at)
      case 'pull-failed':
        this.#record('Normal', 'BackOff', `Back-off pulling image "${image}"`)
        this.#record('Warning', 'Failed', 'Error: ImagePullBackOff')
        this.#wait('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${this.#pullMessage}`)
        this.#activity = { kind: 'pull-back-off', since: activity.since }
        return
      case 'pull-back-off':
      case 'start-failed':
        return this.begin(at)
      case 'starting':
        return this.#started(at)
      case 'ended':
        return this.#restart(at, { endedAt: activity.since, backOffSince: activity.since })
      case 'crash-back-off':
        this.#crashBackOff.next(activity.since, at)
        return this.begin(at)
    }
  }

  /**
   * Stops the container, because its Pod or its sandbox ends. A running container gets `graceMs` to stop. A pending pull or restart is
   * cancelled.
   */
  stop(at: number, graceMs: number): void {
    if (this.#run === undefined) return this.#cancel()
    this.#beginStop()
    this.#run.stop(at, graceMs)
  }

  /**
   * Begins the preStop hook of a sidecar when its Pod ends, because the preStop hooks of all containers run at the same time. The sidecar
   * itself stops later. The caller calls `stop` when all containers that stop before the sidecar have ended
   * (k8s.io/kubernetes/pkg/kubelet/kuberuntime: killContainer).
   */
  prepareToStop(at: number, graceMs: number): void {
    if (this.#run === undefined) return this.#cancel()
    this.#beginStop()
    this.#run.prepareToStop(at, graceMs)
  }

  /** Called when the Pod has ended and this container has never run. Sets the state of the container to terminated. */
  markUnknown(): void {
    const message = 'The container could not be located when the pod was terminated'
    this.state = { kind: 'terminated', exitCode: 137, reason: 'ContainerStatusUnknown', message }
  }

  /**
   * Replaces the spec of the container after a change of the image.
   *
   * - If the container is starting or running, the kubelet stops the container, and then begins the pull or the start with the new image.
   * - If the kubelet is pulling the image, or waits for the next attempt to pull the image or to start the container, the kubelet begins
   *   the pull or the start with the new image at once.
   * - In all other cases, for example when the container is already stopping, only the spec is replaced.
   */
  respec(spec: ContainerSpec, at: number): void {
    this.spec = spec
    this.#task.respec(spec)
    if (this.#activity.kind === 'stopping') return
    if (this.#run !== undefined) {
      if (this.isRunning) this.#record('Normal', 'Killing', `Container ${spec.name} definition changed, will be restarted`)
      return this.#stopRun(at, this.#host.graceSeconds * 1000, 'restart')
    }
    if (this.#activity.kind === 'none') return
    this.#beginAnew(at)
  }

  /** Sets the state of a stopped container to waiting. The container begins again in the new sandbox of its Pod. */
  renew(reason: string): void {
    this.#activity = { kind: 'none' }
    this.#wait(reason)
  }

  #beginStop(): void {
    if (this.isRunning && !this.#isStoppingForGood) this.#record('Normal', 'Killing', `Stopping container ${this.spec.name}`)
    this.#probes?.stopKilling()
    this.#activity = { kind: 'stopping', next: 'nothing' }
  }

  get #isStoppingForGood(): boolean {
    return this.#activity.kind === 'stopping' && this.#activity.next === 'nothing'
  }

  /** Cancels a pull, a start or a restart. If the container has run before, restores the terminated state of its latest run. */
  #cancel(): void {
    this.#activity = { kind: 'none' }
    if (this.state.kind !== 'waiting' || this.last === undefined) return
    this.state = { kind: 'terminated', ...this.last }
    this.last = undefined
  }

  #beginAnew(at: number): void {
    this.#crashBackOff = new BackOff()
    this.#pullBackOff = new BackOff()
    this.begin(at)
  }

  #beginStart(at: number): void {
    const isRestart = this.last !== undefined || this.state.kind === 'terminated'
    this.#run = this.#task.start(at, isRestart ? this.restartCount + 1 : this.restartCount)
    this.#activity = { kind: 'starting' }
  }

  #stopRun(at: number, graceMs: number, next: 'restart' | 'restart-after-probe'): void {
    this.#activity = { kind: 'stopping', next }
    this.#run?.stop(at, graceMs)
  }

  #stepOfRunning(at: number): void {
    const exit = this.#run?.exit
    if (exit !== undefined && exit.at <= at) return this.isRunning ? this.#end(at, exit) : this.#endBeforeStart(at)
    const failed = this.#probes?.step(at)
    if (failed !== undefined) this.#stopAfterProbe(failed, at)
  }

  /** Handles the end of a run that was stopped before the container had started. */
  #endBeforeStart(at: number): void {
    const isForGood = this.#isStoppingForGood
    this.#run = undefined
    if (isForGood) this.#cancel()
    else this.#beginAnew(at)
  }

  /** Stops the container after its startup or liveness probe has failed (k8s.io/kubernetes/pkg/kubelet/kuberuntime: computePodActions). */
  #stopAfterProbe(kind: ProbeKind, at: number): void {
    const { name, startupProbe, livenessProbe } = this.spec
    const [title, restart] = this.#isInit
      ? ['Init container', '']
      : ['Container', this.#host.restartsAfterProbe(this.spec) ? ', will be restarted' : '']
    this.#record('Normal', 'Killing', `${title} ${name} failed ${kind} probe${restart}`)
    const probe = kind === 'startup' ? startupProbe : livenessProbe
    const graceSeconds = Math.max(minGraceSeconds, probe?.terminationGracePeriodSeconds ?? this.#host.graceSeconds)
    this.#stopRun(at, graceSeconds * 1000, 'restart-after-probe')
  }

  /**
   * Restarts a container that was stopped because of a failed probe (k8s.io/kubernetes/pkg/kubelet/kuberuntime: doBackOff). If the back-off
   * that began at `backOffSince` is over, the container restarts immediately. Otherwise, the container restarts after a new back-off, which
   * begins at the end of the stopped run.
   *
   * @param at the end of the stopped run.
   * @param backOffSince the end of the run before the stopped run. If the stopped run was the first run, the value is undefined, and the
   *   container restarts immediately.
   */
  #restartAfterProbe(at: number, backOffSince: number | undefined): void {
    if (!this.#host.restartsAfterProbe(this.spec)) return
    if (backOffSince === undefined) this.begin(at)
    else this.#restart(at, { endedAt: at, backOffSince })
  }

  /** Restarts the container. If the back-off that began at `backOffSince` is not over yet, reports CrashLoopBackOff instead. */
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

  /** Handles the result of a container start: success or failure. */
  #started(at: number): void {
    const error = this.#run?.start.error
    if (error?.reason === 'CreateContainerConfigError' || error?.reason === 'CreateContainerError') {
      this.#run = undefined
      this.#record('Warning', 'Failed', `Error: ${error.message}`)
      this.#wait(error.reason, error.message)
      this.#activity = { kind: 'start-failed', since: at }
      return
    }
    this.#recordLast()
    this.#record('Normal', 'Created', 'Container created')
    if (error !== undefined && error.reason !== postStartError) return this.#failStart(at, error.message)
    const { startedAt = at } = this.#run!.start
    this.state = { kind: 'running', startedAt }
    this.#activity = { kind: 'none' }
    this.#record('Normal', 'Started', 'Container started')
    if (error !== undefined) return this.#failPostStart(at, error)
    this.#probe({ startedAt, now: at })
  }

  /** Handles a start that failed after the container was created. */
  #failStart(at: number, message: string): void {
    this.#record('Warning', 'Failed', `Error: ${message}`)
    this.#end(at, { at, exitCode: startErrorCode, reason: 'StartError', message })
    if (this.#activity.kind === 'ended') this.#wait('RunContainerError', message)
  }

  /** Handles a failed postStart hook. The runtime has already stopped the container. */
  #failPostStart(at: number, { message, events = [] }: RuntimeError): void {
    for (const event of events) this.#host.record(this.spec, event)
    this.#end(at, { ...this.#run!.exit, at })
    if (this.#activity.kind === 'ended') this.#wait(postStartError, message)
  }

  /** If the container has run before, stores the end of its latest run in `last`, and counts the restart. */
  #recordLast(): void {
    const { state } = this
    if (state.kind === 'terminated') {
      const { kind: _kind, ...ended } = state
      this.last = ended
    }
    if (this.last !== undefined) this.restartCount += 1
  }

  #resumeRun(startedAt: number, known: KnownContainer, now: number): void {
    this.#run = this.#task.resume(startedAt, known.restartCount, now)
    if (this.#run === undefined) return this.#end(now, { at: now, exitCode: 255, reason: 'Unknown' })
    this.#probe({ startedAt, now, known })
  }

  /** Begins the probes of a run. */
  #probe(options: { readonly startedAt: number; readonly now: number; readonly known?: KnownContainer }): void {
    this.#probes = this.#run?.probe({
      ...options,
      onFailure: (kind, output) => this.#record('Warning', 'Unhealthy', `${probeTitles[kind]} probe failed: ${output}`),
    })
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

  /** Changes the state to waiting. If the previous state is terminated, stores the previous state in `last`. */
  #wait(reason: string, message?: string): void {
    if (this.state.kind === 'terminated') {
      const { kind: _kind, ...ended } = this.state
      this.last = ended
    }
    this.state = { kind: 'waiting', reason, ...(message !== undefined && { message }) }
  }

  #end(at: number, { exitCode, reason = exitCode === 0 ? 'Completed' : 'Error', message }: Exit): void {
    const startedAt = this.state.kind === 'running' ? this.state.startedAt : at
    const backOffSince = this.last?.finishedAt
    const next = this.#activity.kind === 'stopping' ? this.#activity.next : undefined
    this.state = { kind: 'terminated', exitCode, reason, ...(message !== undefined && { message }), startedAt, finishedAt: at }
    this.#probes?.end()
    this.#probes = undefined
    this.#run = undefined
    this.#activity = { kind: 'none' }
    if (next === 'restart') return this.#beginAnew(at)
    if (next === 'restart-after-probe') return this.#restartAfterProbe(at, backOffSince)
    if (next === undefined) this.#afterEnd(exitCode, at)
  }

  #afterEnd(exitCode: number, at: number): void {
    this.#activity = this.#host.restarts(this.spec, exitCode) ? { kind: 'ended', since: at } : { kind: 'none' }
  }

  #record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#host.record(this.spec, { type, reason, message })
  }
}

/** The names of the probes in the messages of Events with the reason Unhealthy (k8s.io/kubernetes/pkg/kubelet/prober: prober.probe). */
const probeTitles: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' }

function pulledMessage(image: string, ms: number): string {
  const took = formatGoDuration(ms)
  return `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 0 bytes.`
}
