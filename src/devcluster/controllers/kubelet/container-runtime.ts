/**
 * `ContainerRuntime`: the interface of a runtime that runs the containers of Pods. The interface corresponds to the Container Runtime
 * Interface (CRI) of Kubernetes. The kubelet decides when a container starts, restarts and stops. The runtime reports the time at which
 * each step, such as a pull or a start, ends. A simulated runtime knows this time in advance. A runtime that runs processes reports
 * Infinity until the step has ended.
 *
 * All times are in milliseconds since 1970.
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
  /** The IP address that all Pods have, if this runtime gives Pods no separate network. Default: each Pod gets a separate address. */
  readonly sharedAddress?: string | undefined
  /** The types whose objects the runtime reads, in addition to Pods. Default: none. */
  readonly watches?: readonly RuntimeWatch[]
  runPod(pod: ReadonlyPod, options: PodRuntimeOptions): PodRuntime
}

/** A watch that the kubelet opens for the runtime. */
export interface RuntimeWatch {
  readonly type: ResourceType
  /** Called with each object that is new, changed or deleted. Returns the Pods that the kubelet must reconcile. */
  map(object: ReadonlyObject): readonly ObjectKey[]
}

export interface PodRuntimeOptions {
  readonly machine: NodeMachine
  /** The allocatable resources of the node. */
  readonly allocatable: Readonly<Record<string, string>>
  readonly podIP: string
  readonly now: number
  /**
   * Makes the kubelet reconcile the Pod. The runtime calls `wake` in three cases:
   * - The runtime has changed a due time, such as `readyAt` or `endsAt`, from Infinity to a known time.
   * - The runtime has new Events.
   * - The runtime has changed `sandboxAttempt`.
   */
  wake(): void
}

/** A pull of an image, or a start of a container. */
export interface Operation {
  /**
   * The time at which the started container began to run. If the container has a postStart hook, `endsAt` is later than `startedAt`,
   * because the start of a container ends only when the hook ends.
   */
  readonly startedAt?: number
  /** The time at which the operation ends. Infinity until this time is known. */
  readonly endsAt: number
  /** The error of an operation that fails. Undefined if the operation succeeds. */
  readonly error: RuntimeError | undefined
}

export interface RuntimeError {
  /**
   * The reason of the failure. Two kinds of failed starts have their own reasons:
   *
   * - CreateContainerConfigError, CreateContainerError: the container was not created.
   * - PostStartHookError: the container has run and ended.
   *
   * The kubelet replaces any other reason of a failed start with RunContainerError, and the reason of a failed pull with ErrImagePull.
   */
  readonly reason: string
  readonly message: string
  /** The Events about the failure of the postStart hook. */
  readonly events?: readonly RuntimeEvent[]
}

/** The containers of one Pod. */
export interface PodRuntime {
  /**
   * The time at which the network and the volumes of the Pod are ready. Infinity until this time is known. No container begins before this
   * time.
   */
  readonly readyAt: number
  /**
   * The number of sandboxes that the Pod had before the current one (CRI: PodSandboxMetadata.attempt). A sandbox is the network and the
   * namespaces that the containers of the Pod share. If a sandbox ends unexpectedly, the runtime creates a new sandbox, and the kubelet
   * starts the containers again.
   */
  readonly sandboxAttempt: number
  /** The time at which the kubelet evicts the Pod because the node lacks resources. Infinity if the kubelet never evicts the Pod. */
  readonly evictionAt: number
  /** The errors in those annotations of the Pod that configure the runtime. Annotations with errors have no effect. */
  readonly problems: readonly string[]
  /** Returns the Events about the Pod since the previous call, e.g. FailedMount. */
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
   * Removes everything that the Pod has on this machine, such as its network and its logs. The kubelet calls `destroy` when the Pod object
   * has been deleted, or when another client has set the phase of the Pod to Succeeded or Failed. Before the call, the kubelet stops the
   * containers with a grace period of 0.
   *
   * If the network of the Pod is removed at once, returns undefined. If the removal of the network takes time, returns a promise that
   * resolves when the network has been removed. The files of the Pod can be removed later. The promise never rejects.
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

/**
 * A container of a Pod. Each start of the container begins a new `ContainerRun`. The `ContainerTask` remains the same when the container
 * restarts.
 */
export interface ContainerTask {
  /** Replaces the spec. The next pull and the next start use the new spec. */
  respec(spec: ContainerSpec): void
  /** Returns true when the node has the image of the container. */
  hasImage(): boolean
  pull(at: number): Operation
  /** Starts the container. `restarts` is the number of earlier runs of the container. */
  start(at: number, restarts: number): ContainerRun
  /**
   * Continues a run that began before the embedded cluster was stopped. Returns undefined if the processes of the container ended together
   * with the embedded cluster, because such a run cannot be continued.
   */
  resume(startedAt: number, restarts: number, now: number): ContainerRun | undefined
}

/** One run of a container. */
export interface ContainerRun {
  readonly start: Operation
  /** The end of the run. */
  readonly exit: Exit
  /** Begins the probes of the container. */
  probe(options: ProbesOptions): Probes
  /**
   * Begins the preStop hook. The container continues to run until the kubelet calls `stop`. `stop` waits for the end of the hook, but at
   * most until `graceMs` milliseconds after the call of `prepareToStop`. A hook that has not ended by then is not aborted, and can run
   * until the container has ended (k8s.io/kubernetes/pkg/kubelet/kuberuntime: executePreStopHook).
   */
  prepareToStop(at: number, graceMs: number): void
  /**
   * Stops the container. If `graceMs` is not 0, the preStop hook runs first. Then the container gets the stop signal. When the grace period
   * is over, the container is killed. A later call of `stop` can only shorten the grace period.
   */
  stop(at: number, graceMs: number): void
}

export interface Exit {
  /** The time at which the run ended. Infinity until this time is known. */
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
  /**
   * The probe results that the status of the Pod contains. Set only if the current run of the container began before the latest start of
   * the embedded cluster.
   */
  readonly known?: { readonly isStarted: boolean; readonly isReady: boolean }
  /** Called each time a probe fails. */
  onFailure(kind: ProbeKind, output: string): void
}

/** The probes of one run of a container. */
export interface Probes {
  /** True when the startup probe has succeeded, or when the container has no startup probe. */
  readonly isStarted: boolean
  readonly isReady: boolean
  /** The time at which the kubelet must call `step`. Infinity until this time is known. */
  readonly due: number
  /**
   * Handles the probes that are due at `at`. If the startup probe or the liveness probe has reached its failure threshold, returns the kind
   * of this probe. The kubelet then stops the container.
   */
  step(at: number): ProbeKind | undefined
  /** Ends the startup and liveness probes, because the container is being stopped. */
  stopKilling(): void
  /** Ends all probes, because the container has ended. */
  end(): void
}
