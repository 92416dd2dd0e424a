/**
 * `ContainerRuntime`: the interface of a runtime that runs the containers of Pods. It corresponds to the Container Runtime Interface of a
 * real kubelet. The kubelet decides when a container starts, restarts and stops. The runtime reports when each step ends. A simulation
 * knows this time in advance. A runtime of processes knows this time only when the step has ended.
 */
import type { ResourceType } from '../../../api/group-version-kind.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { ReadonlyObject, ReadonlyPod } from '../api-types.ts'
import type { NodeMachine } from './node-machines.ts'

/** A container in the spec of a Pod: an init container, a sidecar, a regular or an ephemeral container. */
export type ContainerSpec = NonNullable<ReadonlyPod['spec']>['containers'][number]

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]
export type ProbeSpec = NonNullable<ContainerSpec['readinessProbe']>

/** Creates the runtime of each Pod. */
export interface ContainerRuntime {
  /** The scheme of the ids of containers, e.g. `simulated` for `simulated://9f86d0…`. */
  readonly scheme: string
  /** The address of all Pods, when they have no network of their own. Default: each Pod gets an address of its own. */
  readonly sharedAddress?: string | undefined
  /** The types whose objects the runtime reads besides Pods. Default: none. */
  readonly watches?: readonly RuntimeWatch[]
  runPod(pod: ReadonlyPod, options: PodRuntimeOptions): PodRuntime
}

/** A watch that the kubelet opens for the runtime. */
export interface RuntimeWatch {
  readonly type: ResourceType
  /** Called with each object that is new, changed or deleted. Returns the Pods to reconcile. */
  map(object: ReadonlyObject): readonly ObjectKey[]
}

export interface PodRuntimeOptions {
  readonly machine: NodeMachine
  /** The allocatable resources of the node. */
  readonly allocatable: Readonly<Record<string, string>>
  readonly podIP: string
  readonly now: number
  /** Makes the kubelet reconcile the Pod. The runtime calls `wake` when a time is known that was Infinity before. */
  wake(): void
}

/** A pull or a start. All times are in milliseconds since 1970. */
export interface Operation {
  /** The time at which the container began to run. This time is before `endsAt` if a postStart hook followed. Default: `endsAt`. */
  readonly startedAt?: number
  /** The time at which the operation ends. Infinity until this time is known. */
  readonly endsAt: number
  /** The error of an operation that fails. Undefined if the operation succeeds. */
  readonly error: RuntimeError | undefined
}

export interface RuntimeError {
  /**
   * The reason in the waiting state of the container, e.g. CreateContainerConfigError. The kubelet ignores the reason of a pull. If the
   * reason is PostStartHookError, the container has already run and ended.
   */
  readonly reason: string
  readonly message: string
  /** The Events about the failure of the postStart hook. */
  readonly events?: readonly RuntimeEvent[]
}

/** The containers of one Pod. */
export interface PodRuntime {
  /** The time at which the network and the volumes of the Pod exist. Infinity until it is known. No container begins earlier. */
  readonly readyAt: number
  /**
   * The number of earlier sandboxes of the Pod, as in the Container Runtime Interface. When a sandbox has ended by itself, the runtime
   * creates a new sandbox. The containers then begin anew in the new sandbox.
   */
  readonly sandboxAttempt: number
  /** The time at which the kubelet evicts the Pod because its node lacks resources. Infinity for never. */
  readonly evictionAt: number
  /** The errors in the annotations for the runtime. Annotations with errors have no effect. */
  readonly problems: readonly string[]
  /** Events about the Pod since the previous call, e.g. FailedMount. */
  takeEvents(): readonly RuntimeEvent[]
  /** Applies a change of the Pod. */
  update(pod: ReadonlyPod, now: number): void
  /** Called when the kubelet evicts the Pod. */
  evicted(at: number): void
  container(spec: ContainerSpec, host: ContainerHost): ContainerTask
  /** Removes the network of the Pod, but not the logs. The kubelet calls `remove` once, when all containers have ended. */
  remove(at: number): void
  /** The time at which the network has been removed. Infinity until this time is known. */
  readonly removedAt: number
  /**
   * Removes everything that the Pod has on this machine, because the object of the Pod is gone. The kubelet has already stopped the
   * containers with a grace period of 0. Returns undefined if the network is removed at once. Otherwise returns a promise that resolves
   * when the network has been removed. The promise never rejects.
   */
  destroy(): Promise<void> | undefined
}

/** An Event about a Pod or a container. */
export interface RuntimeEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The part of the kubelet that the runtime calls for a container. */
export interface ContainerHost {
  record(event: RuntimeEvent): void
}

/** One container of a Pod, in all its runs. */
export interface ContainerTask {
  /** Replaces the spec. The next pull and the next start use the new spec. */
  respec(spec: ContainerSpec): void
  /** Returns true when a start needs no pull. */
  hasImage(): boolean
  pull(at: number): Operation
  /** Starts the container. `restarts` is the number of runs before this one. */
  start(at: number, restarts: number): ContainerRun
  /**
   * Continues a run that began before the embedded cluster was stopped. Returns undefined when this run ended together with the cluster.
   */
  resume(startedAt: number, restarts: number, now: number): ContainerRun | undefined
}

/** One run of a container. */
export interface ContainerRun {
  readonly start: Operation
  /** The end of the run. */
  readonly exit: Exit
  /** Begins the probes. If the container already ran when the kubelet began, `known` is the state of the container. */
  probe(options: ProbesOptions): Probes
  /** Begins the preStop hook, and aborts the hook after `graceMs`. The container keeps running. The kubelet calls `stop` later. */
  prepareToStop(at: number, graceMs: number): void
  /**
   * Stops the container. First the preStop hook runs, unless `graceMs` is 0. Then the container gets the stop signal. When the grace period
   * is over, the container is killed. A later call can only shorten the grace period.
   */
  stop(at: number, graceMs: number): void
}

export interface Exit {
  /** Infinity until this time is known. */
  readonly at: number
  readonly exitCode: number
  /** Default: Completed for exit code 0, Error for other exit codes. */
  readonly reason?: string
  /** The content of the termination message file of the container. */
  readonly message?: string
}

export interface ProbesOptions {
  readonly startedAt: number
  readonly now: number
  readonly known?: { readonly isStarted: boolean; readonly isReady: boolean }
  /** Is called for each probe that fails. */
  onFailure(kind: ProbeKind, output: string): void
}

/** The probes of one run of a container. */
export interface Probes {
  /** True when the startup probe has succeeded, or when there is none. */
  readonly isStarted: boolean
  readonly isReady: boolean
  /** The time at which `step` has something to do. Infinity until this time is known. */
  readonly due: number
  /** Takes the steps that are due at `at`. If a failed probe requires that the container is stopped, returns the kind of this probe. */
  step(at: number): ProbeKind | undefined
  /** Ends the startup and liveness probes, because the container is being stopped. */
  stopKilling(): void
  /** Ends all probes, because the container has ended. */
  end(): void
}
