/** `simulatedRuntime`: a runtime that runs no processes. Options and annotations determine the times of all steps in advance. */
import type { Clock } from '../../../../runtime/clock.ts'
import { systemClock } from '../../../../runtime/clock.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import type {
  ContainerRun,
  ContainerRuntime,
  ContainerSpec,
  ContainerTask,
  Exit,
  Operation,
  PodRuntime,
  PodRuntimeOptions,
  ProbesOptions,
  RuntimeError,
  RuntimeEvent,
} from '../container-runtime.ts'
import type { NodeMachine } from '../node-machines.ts'
import { isSidecar } from '../restart-policy.ts'
import type { ReferenceChecks } from './reference-checks.ts'
import { SimulatedProbes } from './simulated-probes.ts'
import { SimulatedVolumes } from './simulated-volumes.ts'
import type { ContainerPlan, ContainerRole, PodPlan, SimulationOptions } from './simulation.ts'
import { healthyProbes, planOf } from './simulation.ts'

/** The exit codes of a process that was ended by SIGTERM and by SIGKILL. */
const [terminated, killed] = [143, 137]

export interface SimulatedRuntimeOptions {
  readonly simulation?: SimulationOptions
  /** Checks the objects to which simulated Pods refer. If `checks` is absent, these objects need not exist. */
  readonly checks?: ReferenceChecks
  /** The clock for the delays between two checks. Default: the clock of the system. */
  readonly clock?: Clock
}

export function simulatedRuntime(options: SimulatedRuntimeOptions = {}): ContainerRuntime {
  return { scheme: 'simulated', runPod: (pod, context) => new SimulatedPod(pod, options, context) }
}

class SimulatedPod implements PodRuntime {
  removedAt = Number.POSITIVE_INFINITY
  readonly sandboxAttempt = 0
  #pod: ReadonlyPod
  #plan: PodPlan
  /**
   * The time at which the current value of `#plan.evictMs` took effect: the creation of this `SimulatedPod`, or the last change of the
   * value. The Pod is not evicted before this time, even if a new value results in an earlier time.
   */
  #plannedAt: number
  readonly #startedAt: number
  readonly #volumes: SimulatedVolumes
  readonly #options: SimulatedRuntimeOptions
  readonly #context: PodRuntimeOptions
  readonly #containers: SimulatedContainer[] = []

  constructor(pod: ReadonlyPod, options: SimulatedRuntimeOptions, context: PodRuntimeOptions) {
    const { checks, clock = systemClock } = options
    const { now, wake } = context
    this.#pod = pod
    this.#plan = planOf(pod, options.simulation)
    this.#options = options
    this.#context = context
    this.#plannedAt = now
    this.#volumes = new SimulatedVolumes({ checks, clock, now, wake, pod: () => this.#pod })
    this.#startedAt = startTimeOf(pod) ?? context.now
  }

  get readyAt(): number {
    return this.#volumes.readyAt
  }

  get problems(): readonly string[] {
    return this.#plan.problems
  }

  get evictionAt(): number {
    const { evictMs } = this.#plan
    if (evictMs === undefined) return Number.POSITIVE_INFINITY
    return Math.max(this.#startedAt + evictMs, this.#plannedAt, this.#context.machine.evictions.earliest)
  }

  takeEvents(): readonly RuntimeEvent[] {
    return this.#volumes.takeEvents()
  }

  update(pod: ReadonlyPod, now: number): void {
    if (pod === this.#pod) return
    this.#pod = pod
    const plan = planOf(pod, this.#options.simulation)
    if (plan.evictMs !== this.#plan.evictMs) this.#plannedAt = now
    this.#plan = plan
    for (const container of this.#containers) container.replan(this.#planOf(container.spec), now)
  }

  evicted(at: number): void {
    this.#context.machine.evictions.evicted(at)
  }

  container(spec: ContainerSpec): ContainerTask {
    const { machine, podIP, now, wake } = this.#context
    const { checks, clock = systemClock } = this.#options
    const check = (container: ContainerSpec): Promise<RuntimeError | undefined> | undefined => checks?.variables(this.#pod, container)
    const made = new SimulatedContainer(spec, this.#planOf(spec), { machine, podIP, now, check, clock, wake })
    this.#containers.push(made)
    return made
  }

  remove(at: number): void {
    this.#volumes.end()
    this.removedAt = at
  }

  destroy(): undefined {
    this.#volumes.end()
  }

  #planOf(spec: ContainerSpec): ContainerPlan {
    return this.#plan.of(spec.name, roleOf(spec, this.#pod))
  }
}

interface SimulatedContainerOptions {
  readonly machine: NodeMachine
  readonly podIP: string
  readonly now: number
  /**
   * Checks the objects to which the variables of the container refer. Resolves with the error of a container that cannot be created, or
   * with undefined if the container can be created. Returns undefined instead of a promise when the variables refer to no object.
   */
  check(container: ContainerSpec): Promise<RuntimeError | undefined> | undefined
  readonly clock: Clock
  wake(): void
}

class SimulatedContainer implements ContainerTask {
  spec: ContainerSpec
  readonly podIP: string
  plan: ContainerPlan
  /** The time at which the current `plan` took effect. If `plan` results in an earlier time for a step, the step is due at `plannedAt`. */
  plannedAt: number
  readonly #options: SimulatedContainerOptions
  #run: SimulatedRun | undefined

  constructor(spec: ContainerSpec, plan: ContainerPlan, options: SimulatedContainerOptions) {
    this.spec = spec
    this.plan = plan
    this.plannedAt = options.now
    this.podIP = options.podIP
    this.#options = options
  }

  /** Replaces the plan. If the new plan requires a step before `now`, the step is due at `now`. */
  replan(plan: ContainerPlan, now: number): void {
    const before = this.plan
    this.plan = plan
    if (JSON.stringify(before) === JSON.stringify(plan)) return
    this.plannedAt = now
    this.#run?.replan(now)
  }

  respec(spec: ContainerSpec): void {
    this.spec = spec
  }

  hasImage(): boolean {
    const { image = '', imagePullPolicy } = this.spec
    return this.plan.pullError === undefined && (imagePullPolicy === 'Never' || this.#options.machine.images.has(image))
  }

  pull(at: number): Operation {
    return new SimulatedPull(this, at)
  }

  start(at: number, restarts: number): ContainerRun {
    this.#options.machine.images.add(this.spec.image ?? '')
    const { check, clock, wake } = this.#options
    const run = new SimulatedRun(this, { startsAfter: at, restarts })
    this.#run = run
    const checking = check(this.spec)
    if (checking !== undefined)
      run.waitFor(checking, () => {
        wake()
        return clock.now()
      })
    return run
  }

  resume(startedAt: number, restarts: number): ContainerRun {
    this.#run = new SimulatedRun(this, { startedAt, restarts })
    return this.#run
  }
}

class SimulatedPull implements Operation {
  readonly #container: SimulatedContainer
  readonly #since: number

  constructor(container: SimulatedContainer, since: number) {
    this.#container = container
    this.#since = since
  }

  get endsAt(): number {
    const { plan, plannedAt } = this.#container
    return Math.max(this.#since + plan.pullMs, plannedAt)
  }

  get error(): RuntimeError | undefined {
    const { pullError } = this.#container.plan
    return pullError === undefined ? undefined : { reason: 'ErrImagePull', message: pullError }
  }
}

class SimulatedRun implements ContainerRun {
  readonly #container: SimulatedContainer
  readonly #restarts: number
  #startsAfter: number
  #startError: RuntimeError | undefined
  #startedAt: number | undefined
  #stop: { readonly at: number; readonly graceMs: number } | undefined
  #probes: SimulatedProbes | undefined

  constructor(
    container: SimulatedContainer,
    { startsAfter = 0, startedAt, restarts }: { readonly startsAfter?: number; readonly startedAt?: number; readonly restarts: number },
  ) {
    this.#container = container
    this.#startsAfter = startsAfter
    this.#startedAt = startedAt
    this.#restarts = restarts
  }

  get start(): Operation {
    const { plan, plannedAt } = this.#container
    return { endsAt: this.#startedAt ?? Math.max(this.#startsAfter + plan.startMs, plannedAt), error: this.#startError }
  }

  /**
   * Delays the start of the container until a check has ended. When the check has ended, `onEnd` is called. `onEnd` returns the current
   * time.
   */
  waitFor(checking: Promise<RuntimeError | undefined>, onEnd: () => number): void {
    this.#startsAfter = Number.POSITIVE_INFINITY
    void checking.then((error) => {
      this.#startError = error
      this.#startsAfter = onEnd()
    })
  }

  get exit(): Exit {
    const own = this.#ownExit
    if (this.#stop === undefined) return own
    const { at, graceMs } = this.#stop
    // If the container is stopped before it has started, the container ends immediately.
    const stopMs = this.#startedAt === undefined ? 0 : this.#container.plan.stopMs
    const stopped = { at: at + Math.min(stopMs, graceMs), exitCode: stopMs > graceMs ? killed : terminated }
    return own.at <= stopped.at ? own : stopped
  }

  probe(options: ProbesOptions): SimulatedProbes {
    this.#startedAt = options.startedAt
    this.#probes = new SimulatedProbes(this.#container.spec, this.#plan, { ...options, podIP: this.#container.podIP })
    return this.#probes
  }

  prepareToStop(): void {
    // Simulated containers have no hooks.
  }

  stop(at: number, graceMs: number): void {
    const before = this.#stop
    if (before === undefined) this.#stop = { at, graceMs }
    else if (at + graceMs < before.at + before.graceMs) this.#stop = { at: before.at, graceMs: Math.max(0, at + graceMs - before.at) }
  }

  replan(now: number): void {
    this.#probes?.replan(this.#plan, now)
  }

  get #isFailing(): boolean {
    return this.#restarts < this.#container.plan.failures
  }

  /** The plan of this run. If the container has restarted at least `failures` times, all probes succeed. */
  get #plan(): ContainerPlan {
    const { plan } = this.#container
    return this.#isFailing ? plan : { ...plan, probes: healthyProbes }
  }

  /** The end of this run according to the plan. If the kubelet stops the container, the run can end earlier. */
  get #ownExit(): Exit {
    const { plan, plannedAt } = this.#container
    const runMs = this.#isFailing ? plan.runMs : plan.healthyRunMs
    if (this.#startedAt === undefined || runMs === undefined) return { at: Number.POSITIVE_INFINITY, exitCode: 0 }
    const at = Math.max(this.#startedAt + runMs, plannedAt)
    const exitCode = this.#isFailing ? plan.exitCode : 0
    return { at, exitCode, ...(plan.isOomKilled && exitCode !== 0 && { reason: 'OOMKilled' }) }
  }
}

function roleOf(container: ContainerSpec, { spec }: ReadonlyPod): ContainerRole {
  if ((spec?.initContainers ?? []).some(({ name }) => name === container.name)) return isSidecar(container) ? 'sidecar' : 'init'
  return (spec?.containers ?? []).some(({ name }) => name === container.name) ? 'regular' : 'ephemeral'
}

function startTimeOf({ status }: ReadonlyPod): number | undefined {
  const ms = Date.parse(String(status?.startTime))
  return Number.isNaN(ms) ? undefined : ms
}
