/**
 * `ProcessPod`: the runtime of one Pod whose containers run as processes. It creates the sandbox, the volumes and the containers of the
 * Pod.
 */
import { sleep, within } from '../../../runtime/waiting.ts'
import { messageOf } from '../../../api/errors.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type {
  ContainerHost,
  ContainerSpec,
  ContainerTask,
  PodRuntime,
  PodRuntimeOptions,
  RuntimeEvent,
} from '../../controllers/kubelet/container-runtime.ts'
import { simulationPrefix } from '../../controllers/kubelet/simulated/simulation.ts'
import type { PodSandbox } from '../driver.ts'
import type { PodPlace } from '../environment/sources.ts'
import { removePodLogs } from '../logs/container-logs.ts'
import { podHostName } from '../volumes/host-name.ts'
import { PodVolumes } from '../volumes/pod-volumes.ts'
import { volumeReferencesOf } from '../volumes/volume-references.ts'
import { limitsNotEnforced, tokenOmitted } from './missing-events.ts'
import type { PodContext } from './pod-context.ts'
import { ProcessContainer } from './process-container.ts'
import { VolumeLoop } from './volume-loop.ts'

/** The time in milliseconds from a failed creation of a sandbox to the next attempt (k8s.io/kubernetes/pkg/kubelet: backOffPeriod). */
const sandboxRetryMs = 10_000
/**
 * The maximum time in milliseconds to wait until the containers of a destroyed Pod and their logs have ended. In the mode `plain`, a
 * process that has changed its user cannot be killed. The output of its container then stays open, so the log of the container does not
 * end.
 */
const finishMs = 5_000

/** The start of the name of the volume with the token of the ServiceAccount (k8s.io/kubernetes/plugin/pkg/admission/serviceaccount). */
const tokenVolumePrefix = 'kube-api-access-'

export interface ProcessPodOptions extends PodRuntimeOptions {
  /** Called when the Pod is destroyed. `done` resolves when the files of the Pod have been removed. `done` never rejects. */
  onDestroyed(done: Promise<void>): void
}

export class ProcessPod implements PodRuntime {
  readyAt = Number.POSITIVE_INFINITY
  removedAt = Number.POSITIVE_INFINITY
  sandboxAttempt: number
  readonly evictionAt = Number.POSITIVE_INFINITY
  pod: ReadonlyPod
  readonly context: PodContext
  readonly volumes: PodVolumes
  /** The containers, keyed by name. */
  readonly containers = new Map<string, ProcessContainer>()
  readonly #options: ProcessPodOptions
  readonly #events: RuntimeEvent[] = []
  /** The reasons and messages of the Events that `recordOnce` has recorded. */
  readonly #recorded = new Set<string>()
  readonly #stop = new AbortController()
  /** Resolves with the sandbox when the volumes are ready. Resolves with undefined when the Pod ends before it has a sandbox. */
  #sandbox: Promise<PodSandbox | undefined>
  readonly #volumesReady = Promise.withResolvers<void>()
  #loop: VolumeLoop | undefined
  #removal: Promise<void> | undefined

  constructor(pod: ReadonlyPod, context: PodContext, options: ProcessPodOptions) {
    this.pod = pod
    this.context = context
    this.#options = options
    const { stateFolder, objects, clock, random, logger, changeOwnership, setGroup, removeFolder } = context
    this.volumes = new PodVolumes(pod, {
      stateFolder,
      sources: objects,
      createToken: (request) => objects.createToken(request),
      allocatable: options.allocatable,
      omits: (volume) => this.#omits(volume),
      ...(changeOwnership !== undefined && { changeOwnership }),
      ...(setGroup !== undefined && { setGroup }),
      ...(removeFolder !== undefined && { removeFolder }),
      clock,
      random,
      onProblem: (error) => logger.warn({ err: error, namespace: pod.metadata.namespace, name: pod.metadata.name }, 'volume not updated'),
    })
    this.sandboxAttempt = hadContainers(pod) ? 1 : 0
    const omitted = pod.spec?.volumes?.find(({ name }) => this.#omits(name))
    this.recordOnce(omitted && tokenOmitted(omitted.name))
    this.recordOnce(limitsNotEnforced(pod))
    this.#sandbox = this.#prepare()
  }

  /**
   * In the mode `plain`, returns true for the volume with the token of the ServiceAccount. In this mode, all processes share one file
   * system, so two Pods cannot have different tokens at the same path.
   */
  #omits(volume: string): boolean {
    return this.context.driver.mode === 'plain' && volume.startsWith(tokenVolumePrefix)
  }

  get podIP(): string {
    return this.#options.podIP
  }

  /** True for a Pod that has the network of its node. */
  get isOnHost(): boolean {
    return this.pod.spec?.hostNetwork === true
  }

  /**
   * The host name in the kernel. If a Pod has the network of its node, this is the name of the node
   * (k8s.io/kubernetes/pkg/kubelet/kuberuntime: generatePodSandboxConfig).
   *
   * @throws {Error} when the name is invalid. The message is that of the kubelet.
   */
  get hostname(): string {
    const { dns, node } = this.context
    return this.isOnHost ? node.hostname : podHostName(this.pod, dns.clusterDomain).nodename
  }

  /** The addresses and resources to which the environment variables of containers can refer. */
  get place(): PodPlace {
    const { podIP, allocatable } = this.#options
    return { hostIPs: [this.pod.status?.hostIP ?? podIP], podIPs: [podIP], allocatable }
  }

  /** Resolves with the sandbox. Rejects when the Pod has ended before it had a sandbox. */
  async sandbox(): Promise<PodSandbox> {
    const sandbox = await this.#sandbox
    if (sandbox === undefined) throw new Error('the pod has ended')
    return sandbox
  }

  get problems(): readonly string[] {
    const names = Object.keys(this.pod.metadata.annotations ?? {}).filter((name) => name.split('/')[0]?.endsWith(simulationPrefix))
    return names.map((name) => `${name} has no effect: the containers of this cluster are processes`)
  }

  record(event: RuntimeEvent): void {
    this.#events.push(event)
  }

  /**
   * Records an Event once. If an Event with the same reason and message was recorded earlier, for example before the restart of a
   * container, nothing is recorded.
   */
  recordOnce(event: RuntimeEvent | undefined): void {
    if (event === undefined) return
    const text = `${event.reason}: ${event.message}`
    if (this.#recorded.has(text)) return
    this.#recorded.add(text)
    this.record(event)
  }

  wake(): void {
    this.#options.wake()
  }

  takeEvents(): readonly RuntimeEvent[] {
    return this.#events.splice(0)
  }

  update(pod: ReadonlyPod): void {
    const { labels, annotations } = this.pod.metadata
    this.pod = pod
    this.recordOnce(limitsNotEnforced(pod))
    if (pod.metadata.labels !== labels || pod.metadata.annotations !== annotations) this.#loop?.changed()
  }

  /** Called when a ConfigMap or a Secret of the namespace has changed. */
  objectChanged(kind: 'configMaps' | 'secrets', name: string): void {
    if (volumeReferencesOf(this.pod)[kind].has(name)) this.#loop?.changed()
  }

  evicted(): void {
    // The kubelet evicts no Pod of this runtime, because `evictionAt` is Infinity.
  }

  container(spec: ContainerSpec, host: ContainerHost): ContainerTask {
    const made = new ProcessContainer(this, spec, host)
    this.containers.set(spec.name, made)
    return made
  }

  remove(): void {
    void this.halt()
  }

  destroy(): Promise<void> {
    const halted = this.#finish().then(() => this.halt())
    this.#options.onDestroyed(this.#removeFiles(halted))
    return halted
  }

  /** Waits until the containers have ended, but at most for `finishMs`. Never rejects. */
  async #finish(): Promise<void> {
    const ends = [...this.containers.values()].map((container) => container.finish())
    await within(this.context.clock, finishMs, Promise.all(ends)).catch(() => undefined)
  }

  async #removeFiles(halted: Promise<void>): Promise<void> {
    const { stateFolder, logger } = this.context
    const { namespace, name, uid } = this.pod.metadata
    await halted
    await this.#finish()
    try {
      await this.volumes.remove()
      await removePodLogs(stateFolder, uid)
    } catch (error) {
      logger.warn({ err: error, namespace, name }, 'the files of a Pod could not be removed')
    }
  }

  /** Creates the sandbox and the volumes, and then sets `readyAt`. Resolves with undefined when the Pod ends before it has a sandbox. */
  async #prepare(): Promise<PodSandbox | undefined> {
    const { clock } = this.context
    const attempt = this.sandboxAttempt
    const sandbox = await this.#createSandbox()
    if (sandbox === undefined) return undefined
    void sandbox.ended.then(() => this.#replaceSandbox(sandbox))
    this.#loop ??= new VolumeLoop(this.volumes, {
      clock,
      signal: this.#stop.signal,
      pod: () => this.pod,
      onReady: () => this.#volumesReady.resolve(),
      onErrors: (errors) => {
        for (const { reason, message } of errors) this.record({ type: 'Warning', reason, message })
        this.wake()
      },
    })
    await Promise.race([this.#volumesReady.promise, this.#loop.ended])
    if (!this.#stop.signal.aborted && attempt === this.sandboxAttempt) this.readyAt = clock.now()
    this.wake()
    return sandbox
  }

  /**
   * Removes a sandbox that has ended unexpectedly, and creates a new sandbox. If the sandbox has ended because the Pod ends, does nothing.
   */
  #replaceSandbox(ended: PodSandbox): void {
    if (this.#stop.signal.aborted) return
    this.readyAt = Number.POSITIVE_INFINITY
    this.sandboxAttempt += 1
    this.#sandbox = this.#remove(ended).then(() => this.#prepare())
    this.wake()
  }

  /** Tries to create the sandbox until the driver succeeds. If the Pod ends before the driver succeeds, resolves with undefined. */
  async #createSandbox(): Promise<PodSandbox | undefined> {
    const { driver, clock } = this.context
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        return await driver.createSandbox({ hostname: this.hostname, address: this.#options.podIP, hostNetwork: this.isOnHost })
      } catch (error) {
        const message = `Failed to create pod sandbox: rpc error: code = Unknown desc = ${messageOf(error)}`
        this.record({ type: 'Warning', reason: 'FailedCreatePodSandBox', message })
        this.wake()
        await sleep(clock, sandboxRetryMs, signal).catch(() => undefined)
      }
    }
    return undefined
  }

  /** Kills the containers that are still running, and removes the network. Never rejects. */
  halt(): Promise<void> {
    this.#stop.abort()
    this.#removal ??= this.#removeSandbox()
    return this.#removal
  }

  async #removeSandbox(): Promise<void> {
    await this.#loop?.ended
    await this.#remove(await this.#sandbox)
    this.removedAt = this.context.clock.now()
    this.wake()
  }

  /** Removes the sandbox. Never rejects. */
  async #remove(sandbox: PodSandbox | undefined): Promise<void> {
    const { namespace, name } = this.pod.metadata
    try {
      await sandbox?.remove()
    } catch (error) {
      this.context.logger.warn({ err: error, namespace, name }, 'the network of a Pod could not be removed')
    }
  }
}

/** Returns true for a Pod with a container that was created before the embedded cluster was restarted. */
function hadContainers({ status }: ReadonlyPod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return all.some(({ containerID = '' }) => containerID !== '')
}
